//! One story: a server, a connector, its callers, and how it ends.

use std::io;

use echo_wire::{
    connector::{Config, Connector, Error},
    resp::Command,
};
use tokio::{
    io::duplex,
    runtime::Handle,
    time::{sleep, timeout},
};

use crate::{
    book::{Pages, Seen},
    caller::Caller,
    connection::Connection,
    plan::{Plan, seconds},
    reader::{Heard, listen},
    restless::{Restless, elsewhere},
    support::Random,
    world::{Transcript, World},
};

pub async fn story(seed: u64, transcript: Transcript) -> Seen {
    let plan = Plan::new(&mut Random::new(seed));
    let world = World::new(plan, transcript);
    world.note(&format!("{plan:?}"));
    let connector = match connect(&world, seed).await {
        Ok(connector) => connector,
        Err(error) => {
            assert!(plan.usurped_after.is_some(), "{error:?}");
            assert!(matches!(error, Error::VersionFence { .. }), "{error:?}");
            return Seen {
                usurped: 1,
                ..the_end(&world, None, Heard::default(), Pages::new()).await
            };
        }
    };
    let reader = plan.reader.map(|pause| {
        let listens = listen(connector.clone(), world.clone(), pause);
        tokio::spawn(elsewhere(Random::new(seed), listens))
    });
    let closing = plan.closed_after.map(|after| {
        let connector = connector.clone();
        tokio::spawn(async move {
            sleep(after).await;
            connector.close().await;
        })
    });
    let callers: Vec<_> = (1..=plan.callers)
        .map(|number| {
            let random = Random::new(seed * 7_919 + number);
            let (connector, world) = (connector.clone(), world.clone());
            let elsewhere_by = Random::new(seed * 104_729 + number);
            tokio::spawn(elsewhere(
                elsewhere_by,
                Caller { connector, world, number, random }.work(),
            ))
        })
        .collect();
    let mut pages = Pages::new();
    for caller in callers {
        pages.extend(timeout(seconds(100_000), caller).await.expect("no caller hangs").unwrap());
    }
    if let Some(closing) = closing {
        timeout(seconds(1_000), closing).await.expect("a close ends").unwrap();
    }
    let usurped = is_refused(&world, &connector).await;
    let quiet = async {
        while connector.stats().pending > 0 {
            sleep(seconds(1)).await;
        }
    };
    timeout(seconds(1_000), quiet).await.expect("nothing is owed for ever");
    connector.close().await;
    let heard = match reader {
        Some(reader) => timeout(seconds(1_000), reader).await.expect("no reader hangs").unwrap(),
        None => Heard::default(),
    };
    Seen { usurped, ..the_end(&world, Some(connector), heard, pages).await }
}

async fn connect(world: &World, seed: u64) -> Result<Connector, Error> {
    let dialled = world.clone();
    let dial = move || {
        let number = {
            let mut state = dialled.state();
            state.connections += 1;
            state.connections
        };
        let (ours, theirs) = duplex(dialled.plan.capacity);
        let random = |salt: u64| Random::new(seed * 1_000_003 + 2 * number + salt);
        let serves = Connection::new(dialled.clone(), number, random(0)).serve(theirs);
        tokio::spawn(elsewhere(random(7), serves));
        let ours = Restless::new(ours, random(1));
        async move { Ok::<_, io::Error>(ours) }
    };
    let config = Config::tcp("chaos", 1).policy(world.plan.policy());
    Connector::over(dial, config.connect_timeout(seconds(3)).unwrap()).await
}

/// Once another wire has the store, the connector stops for good. 1: it did.
async fn is_refused(world: &World, connector: &Connector) -> u64 {
    if !world.is_usurped() || world.plan.closed_after.is_some() {
        return 0;
    }
    let refusal = async {
        while !matches!(
            connector.command(Command::new("PING")).await,
            Err(Error::VersionFence { .. })
        ) {
            sleep(seconds(1)).await;
        }
    };
    timeout(seconds(10_000), refusal).await.expect("another wire is refused");
    let again = connector.command(Command::new("PING")).await;
    assert!(matches!(again, Err(Error::VersionFence { .. })), "{again:?}");
    1
}

/// Nothing is left behind, and everybody was told the truth.
async fn the_end(world: &World, connector: Option<Connector>, heard: Heard, pages: Pages) -> Seen {
    let stats = connector.as_ref().map(Connector::stats).unwrap_or_default();
    drop(connector);
    // What was on its way arrives, or is cut.
    sleep(seconds(3_600)).await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
    assert!(stats.connects == 0 || stats.connects == stats.reconnects + 1, "{stats:?}");
    let state = world.state();
    assert!(state.wrongs.is_empty(), "{:?}", state.wrongs);
    assert!(stats.protocol_errors <= state.garbage, "{stats:?}, {} times garbage", state.garbage);
    let mut seen = Seen {
        pushes: stats.pushes,
        messages: heard.messages,
        gaps: heard.gaps,
        lagged: heard.lagged,
        reconnects: stats.reconnects,
        noscripts: stats.noscripts,
        vanished: stats.fences_vanished,
        broken: stats.protocol_errors,
        overloads: stats.overloads,
        timeouts: stats.timeouts,
        silences: stats.silences,
        ..Seen::default()
    };
    seen.audit(&pages, &state.list);
    drop(state);
    seen.digest = world.digest();
    seen
}
