//! `watch`: events and the version key, as they happen.

use std::{
    io::{BufRead as _, BufReader, Lines},
    process::{Child, ChildStdout, Command, Stdio},
};

use serde_json::Value as Json;

use crate::{
    runs::{command, run},
    support::{Server, WIRE, flavors},
};

/// A watch under way; ended when it is dropped.
struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(server: &Server) -> Self {
        let args = ["watch", &server.url(), "--json", "--every", "20ms"];
        let mut child = command(&args).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Reads on to the next line of this event.
    fn until(&mut self, event: &str) -> Json {
        loop {
            let line = self.lines.next().unwrap_or_else(|| panic!("no {event}")).unwrap();
            let told: Json = serde_json::from_str(&line).unwrap();
            if told["event"] == event {
                return told;
            }
        }
    }

    fn code(mut self) -> Option<i32> {
        self.lines.by_ref().for_each(drop);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn it_follows_the_version_key_and_ends_where_another_wire_takes_over() {
    for flavor in flavors() {
        let server = flavor.server().start();
        server.cli(&["SET", "{emq}:version", WIRE]);
        let mut watching = Watching::start(&server);
        assert_eq!(watching.until("connected")["wire"], WIRE);
        assert_eq!(watching.until("version key")["holds"], WIRE);
        server.cli(&["DEL", "{emq}:version"]);
        assert!(watching.until("version key")["holds"].is_null());
        assert_eq!(server.cli(&["DBSIZE"]), "0", "it claims nothing");
        server.cli(&["SET", "{emq}:version", "acme:1"]);
        let stopped = watching.until("stopped");
        assert!(stopped["cause"].as_str().unwrap().contains("found acme:1"), "{stopped}");
        assert_eq!(watching.code(), Some(3));
    }
}

#[test]
fn it_tells_of_a_loss_and_of_the_way_back() {
    for flavor in flavors() {
        let server = flavor.server().start();
        server.cli(&["SET", "{emq}:version", WIRE]);
        let mut watching = Watching::start(&server);
        watching.until("version key");
        server.cli(&["CLIENT", "KILL", "TYPE", "normal"]);
        watching.until("disconnected");
        assert!(watching.until("reconnecting")["after_ms"].as_f64().unwrap() > 0.0);
        assert_eq!(watching.until("connected")["passage"], "verified");
        assert_eq!(watching.until("version key")["holds"], WIRE, "told anew after a gap");
    }
}

#[test]
fn a_store_that_nobody_has_claimed_is_waited_for() {
    let server = flavors()[0].server().start();
    let mut watching = Watching::start(&server);
    let waiting = watching.until("waiting");
    assert!(waiting["cause"].as_str().unwrap().contains("no version key"), "{waiting}");
    server.cli(&["SET", "{emq}:version", WIRE]);
    watching.until("connected");
}

#[test]
fn an_interrupt_is_an_orderly_end() {
    let server = flavors()[0].server().start();
    server.cli(&["SET", "{emq}:version", WIRE]);
    let mut watching = Watching::start(&server);
    watching.until("version key");
    let pid = watching.child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
    assert_eq!(watching.code(), Some(0));
}

#[test]
fn it_ends_by_itself_when_that_was_asked_for_and_says_when_it_cannot_begin() {
    let server = flavors()[0].server().start();
    server.cli(&["SET", "{emq}:version", WIRE]);
    let ran = run(&["watch", &server.url(), "--within", "1s"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("the fence passed, the store speaks echomq:2.0.0"), "{ran:?}");
    server.cli(&["SET", "{emq}:version", "acme:1"]);
    let ran = run(&["watch", &server.url()]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.out.contains("stopped"), "{ran:?}");
}
