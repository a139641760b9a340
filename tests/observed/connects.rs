//! A connect is a span with its steps, and every change of a connector an event.

use echo_wire::connector::{Connection, Connector, Event, Pool};
use tracing::Level;

use crate::{
    bed::{event, quick},
    support::everywhere,
    watcher::{Seen, Watcher},
};

const CONNECT: &str = "echo_wire::connect";
const EVENT: &str = "echo_wire::event";

fn steps(told: &[Seen]) -> Vec<&str> {
    told.iter().map(|event| event.field("step")).filter(|step| !step.is_empty()).collect()
}

#[test]
fn a_connect_is_a_span_with_its_steps_and_its_end() {
    everywhere(async |server, config| {
        let (watcher, _guard) = Watcher::up_to(Level::DEBUG);
        let config = config.client_name("w1").unwrap().password("");
        let connection = Connection::connect(&config).await.unwrap();
        let told = watcher.take(CONNECT);
        let is_resp3 = format!("{:?}", connection.protocol()).contains('3');
        let mut wanted = vec!["dial", "credentials"];
        wanted.push(if is_resp3 { "HELLO" } else { "AUTH" });
        wanted.extend(["CLIENT SETNAME", "CLIENT SETINFO", "CLIENT SETINFO"]);
        if !is_resp3 {
            wanted.push("ROLE");
        }
        wanted.extend(["CONFIG GET maxmemory-policy", "fence GET"]);
        wanted.extend(["fence SET NX", "fence confirming GET"]);
        assert_eq!(steps(&told), wanted);
        let end = told.last().unwrap();
        assert_eq!((end.level, end.field("message")), (Level::INFO, "fenced"));

        let spans = watcher.spans();
        assert!(told.iter().all(|event| event.within == Some(0)), "{told:?}");
        assert_eq!((spans.len(), spans[0].level), (1, Level::INFO));
        assert_eq!(spans[0].field("endpoint"), server.address());
        assert_eq!(spans[0].field("wire"), "echomq:2.0.0");
        assert_eq!(spans[0].field("tls"), "false");
        assert_eq!(spans[0].field("passage"), "claimed");
        assert_eq!(spans[0].field("protocol"), if is_resp3 { "3" } else { "2" });
    });
}

#[test]
fn a_connect_that_fails_says_at_which_step_and_why() {
    everywhere(async |server, config| {
        server.cli(&["SET", "{emq}:version", "acme:1"]);
        let (watcher, _guard) = Watcher::up_to(Level::DEBUG);
        Connection::connect(&config).await.unwrap_err();
        let told = watcher.take(CONNECT);
        let end = told.last().unwrap();
        assert_eq!((end.level, end.field("kind")), (Level::WARN, "version_fence"));
        assert!(end.field("error").contains("found acme:1"), "{end:?}");
        assert_eq!(*steps(&told).last().unwrap(), "CONFIG GET maxmemory-policy");
        assert_eq!(watcher.spans()[0].field("passage"), "");
    });
}

#[test]
fn every_change_of_a_connector_is_an_event() {
    everywhere(async |server, config| {
        let (watcher, _guard) = Watcher::up_to(Level::DEBUG);
        let connector = Connector::connect(quick(config)).await.unwrap();
        let mut events = connector.events();
        server.cli(&["SET", "{emq}:version", "acme:1"]);
        server.cli(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        event(&mut events, |event| matches!(event, Event::Fatal(_))).await;
        let told = watcher.take(EVENT);
        let heads: Vec<_> = told
            .iter()
            .map(|event| {
                assert_eq!(event.field("endpoint"), server.address());
                let head = event.field("message").split(':').next().unwrap().to_owned();
                (event.level, head)
            })
            .collect();
        let wanted = [
            (Level::DEBUG, "connected"),
            (Level::INFO, "fenced"),
            (Level::WARN, "disconnected"),
            (Level::WARN, "reconnecting"),
            (Level::ERROR, "fatal"),
        ];
        assert_eq!(heads, wanted.map(|(level, head)| (level, head.to_owned())));
        assert_eq!(watcher.spans().len(), 2, "an attempt each");
    });
}

#[test]
fn a_pool_tells_of_all_its_members() {
    everywhere(async |_, config| {
        let (watcher, _guard) = Watcher::up_to(Level::INFO);
        let pool = Pool::connect(quick(config), 3).await.unwrap();
        assert_eq!(watcher.take(EVENT).len(), 3, "fenced, each");
        pool.close().await;
        let told = watcher.take(EVENT);
        assert_eq!(told.len(), 3);
        assert!(told.iter().all(|event| event.level == Level::INFO), "an end that was wanted");
    });
}
