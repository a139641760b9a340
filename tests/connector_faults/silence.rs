//! A peer that says nothing: stopped, or behind a path that has died without a word. Callers are
//! told in time, the link is given up and replaced, and what was answered late reaches nobody.

use echo_wire::connector::{Cause, Config, Connector, Error, Event, Policy};

use crate::{
    bed::{HOUR, config, disconnected, event, everywhere, fenced, millis, policy},
    load::Load,
    support::{Proxy, Server, Way},
};

fn impatient(url: &str) -> Config {
    let policy = Policy { response_timeout: millis(100), watchdog: millis(250), ..policy() };
    config(url, policy).connect_timeout(millis(250)).unwrap()
}

/// Somebody takes our connection and never answers HELLO.
fn attempt_timed_out(event: Event) -> Option<()> {
    match event {
        Event::Reconnecting { cause: Error::NotReady { cause: Cause::Deadline, .. }, .. } => {
            Some(())
        }
        _ => None,
    }
}

#[test]
fn a_stopped_server_is_given_up_and_what_it_answers_when_it_goes_on_reaches_nobody() {
    everywhere(async |server| {
        let connector = Connector::connect(impatient(&server.url())).await.unwrap();
        let mut events = connector.events();
        let load = Load::start(&connector, 16);
        for stop in 1..=3 {
            load.goes_on(200).await;
            let before = load.tally().timeouts;
            server.pause();
            load.reaches("callers are told", |tally| tally.timeouts >= before + 16).await;
            let why = disconnected(&mut events).await;
            assert!(matches!(why, Error::Timeout { .. }), "{why:?}");
            assert_eq!(connector.stats().silences, stop);
            // The kernel takes connections for a stopped server as well.
            event(&mut events, attempt_timed_out).await;
            server.resume();
            fenced(&mut events).await;
        }
        load.goes_on(200).await;
        load.finish().await;
        assert_eq!(connector.stats().protocol_errors, 0);
    });
}

#[test]
fn a_path_that_died_without_a_word_is_given_up_whichever_way_it_died() {
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        let connector = Connector::connect(impatient(&proxy.url())).await.unwrap();
        let mut events = connector.events();
        let load = Load::start(&connector, 16);
        for ways in [&[Way::Up][..], &[Way::Down], &[Way::Up, Way::Down]] {
            load.goes_on(200).await;
            ways.iter().for_each(|way| proxy.stall(*way));
            let why = disconnected(&mut events).await;
            assert!(matches!(why, Error::Timeout { .. }), "{why:?}");
            event(&mut events, attempt_timed_out).await;
            // What was stuck now reaches the server, which answers into sockets that are closed.
            proxy.resume();
            fenced(&mut events).await;
        }
        load.goes_on(200).await;
        load.finish().await;
        assert!(connector.stats().silences >= 3);
    });
}

#[test]
fn an_idle_peer_that_died_is_found_without_a_caller() {
    everywhere(async |server: Server| {
        let policy = Policy { heartbeat: millis(10), watchdog: millis(100), ..policy() };
        let config = config(&server.url(), policy).connect_timeout(millis(250)).unwrap();
        let connector = Connector::connect(config).await.unwrap();
        let mut events = connector.events();
        server.pause();
        let why = disconnected(&mut events).await;
        assert!(matches!(why, Error::Timeout { .. }), "{why:?}");
        server.resume();
        fenced(&mut events).await;
        assert_eq!(connector.stats().silences, 1);
    });
}

#[test]
fn a_peer_that_is_slow_and_not_silent_is_kept() {
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        let policy = Policy { response_timeout: millis(30), watchdog: HOUR, ..policy() };
        let connector = Connector::connect(config(&proxy.url(), policy)).await.unwrap();
        let load = Load::start(&connector, 16);
        for _ in 0..5 {
            load.goes_on(100).await;
            let before = load.tally().timeouts;
            proxy.stall(Way::Down);
            load.reaches("callers are told", |tally| tally.timeouts > before).await;
            proxy.resume();
        }
        load.goes_on(100).await;
        load.finish().await;
        assert_eq!((connector.stats().connects, proxy.connections()), (1, 1));
    });
}
