//! Another wire takes the store: every connector refuses, for good, and writes nothing more. When the
//! store is ours again, only new connectors come through.

use std::{sync::atomic::Ordering::Relaxed, thread::sleep, time::Duration};

use echo_wire::{
    connector::{Connector, Error},
    resp::Command,
};
use tokio::time::{Instant, timeout};

use crate::{
    office::Till,
    snapshot::{DONE, LISTS, POP, STREAM, TODO},
    support::{Server, VERSION_KEY, WIRE},
    wrecker::Wrecker,
};

const ANOTHER: &str = "acme:9";

pub fn usurp(wrecker: &Wrecker) {
    let Wrecker { server, office, runtime, .. } = wrecker;
    let (ledger, tills) = (&office.ledger, office.tills());
    tills.iter().for_each(|till| till.is_usurped.store(true, Relaxed));
    server.cli(&["SET", VERSION_KEY, ANOTHER]);
    runtime.block_on(async {
        for connector in tills.iter().flat_map(|till| till.pool.connectors()) {
            if !refuses_soon(connector).await {
                ledger.breach("another wire is in the store, and a connector goes on".into());
            }
        }
    });
    // All of them have gone from the server, those that waited on a connection of their own as well.
    let gone = (0..1_000).any(|_| {
        sleep(Duration::from_millis(10));
        server.clients().is_empty()
    });
    if !gone {
        ledger
            .breach(format!("another wire is in the store, and attached: {:?}", server.clients()));
    }
    let before = sizes(server);
    runtime.block_on(async {
        for till in &tills {
            if !all_verbs_refuse(till).await {
                ledger.breach("a verb gets through to another wire".into());
            }
        }
        let config = office.config();
        if !matches!(Connector::connect(config).await, Err(Error::VersionFence { .. })) {
            ledger.breach("a new connector takes another wire's store".into());
        }
    });
    let after = sizes(server);
    if before != after {
        ledger.breach(format!("another wire's store was written to: {before:?}, {after:?}"));
    }
    server.cli(&["SET", VERSION_KEY, WIRE]);
    runtime.block_on(async {
        for till in &tills {
            if !all_verbs_refuse(till).await {
                ledger.breach("a refused connector came back".into());
            }
        }
        office.renew().await;
    });
}

/// The next heartbeat sees it, if no reconnect does before.
async fn refuses_soon(connector: &Connector) -> bool {
    let deadline = Instant::now() + Duration::from_secs(30);
    while Instant::now() < deadline {
        if refused(connector.command(Command::new("PING")).await) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

async fn all_verbs_refuse(till: &Till) -> bool {
    let (pool, push) = (&till.pool, Command::new("RPUSH").arg(LISTS[0]).arg("nobody"));
    let batch = echo_wire::connector::Pipeline::new().command(&push);
    let all = async {
        refused(pool.command(&push).await)
            && refused(pool.pipeline(&batch).await)
            && refused(pool.transaction(&batch).await)
            && refused(pool.noreply_pipeline(&batch).await)
            && refused(pool.dedicated().await)
            && pool.connectors()[0].subscribe(["news"]).await.is_err()
    };
    timeout(Duration::from_secs(10), all).await.unwrap_or(false)
}

fn refused<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::VersionFence { .. }))
}

fn sizes(server: &Server) -> Vec<String> {
    let mut raw = server.raw();
    let mut sizes: Vec<_> =
        LISTS.into_iter().chain([TODO, DONE, POP]).map(|key| raw.text(&["LLEN", key])).collect();
    sizes.extend([raw.text(&["XLEN", STREAM]), raw.text(&["GET", VERSION_KEY])]);
    raw.quit();
    sizes
}
