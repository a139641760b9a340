//! The counters, the gauge and the histogram say what happened.

use std::{collections::BTreeMap, time::Duration};

use echo_wire::{
    connector::{Connection, Connector, Event, Pipeline, Script},
    resp::Command,
};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

use crate::{
    bed::{event, quick},
    support::{at_most, everywhere},
};

/// What came to each since the last look, with its labels; of a histogram, how many values.
fn values(snapshotter: &Snapshotter) -> BTreeMap<String, f64> {
    let snapshot = snapshotter.snapshot().into_vec();
    let value = |value| match value {
        DebugValue::Counter(count) => f64::from(u32::try_from(count).unwrap()),
        DebugValue::Gauge(level) => level.0,
        DebugValue::Histogram(values) => {
            assert!(values.iter().all(|seconds| (0.0..60.0).contains(&seconds.0)), "{values:?}");
            f64::from(u32::try_from(values.len()).unwrap())
        }
    };
    let name = |key: &metrics::Key| {
        let labels: Vec<_> = key.labels().map(metrics::Label::value).collect();
        let name = key.name().strip_prefix("echo_wire_").unwrap();
        [&[name][..], &labels].concat().join(" ")
    };
    snapshot
        .into_iter()
        .map(|(key, unit, description, is)| {
            assert!(unit.is_some() && description.is_some(), "{key:?} is not described");
            (name(key.key()), value(is))
        })
        .collect()
}

fn is(values: &BTreeMap<String, f64>, wanted: &[(&str, f64)]) {
    for (name, wanted) in wanted {
        assert_eq!(values.get(*name), Some(wanted), "{name} of {values:?}");
    }
}

#[test]
fn calls_are_counted_with_their_errors_and_their_times() {
    everywhere(async |_, config| {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        let _guard = metrics::set_default_local_recorder(&recorder);
        static ECHO: Script = Script::new("return ARGV[1]");
        let connector = Connector::connect(config).await.unwrap();
        for _ in 0..3 {
            connector.command(Command::new("PING")).await.unwrap();
        }
        connector.command(Command::new("NONE")).await.unwrap_err();
        let pair = Pipeline::new().command(Command::new("PING")).command(Command::new("NONE"));
        let _ = connector.pipeline(&pair).await.unwrap();
        let _ = connector.transaction(&pair).await.unwrap();
        connector.eval(ECHO.call().arg("said")).await.unwrap();
        let counted = values(&snapshotter);
        is(
            &counted,
            &[
                ("commands_total", 9.0),
                ("errors_total server", 1.0),
                ("pending", 0.0),
                ("call_seconds command", 4.0),
                ("call_seconds pipeline", 1.0),
                ("call_seconds transaction", 1.0),
                ("call_seconds script", 1.0),
                ("connects_total claimed", 1.0),
            ],
        );
        connector.close().await;
        connector.command(Command::new("PING")).await.unwrap_err();
        is(&values(&snapshotter), &[("errors_total closed", 1.0)]);
    });
}

#[test]
fn a_caller_who_waits_is_pending_and_one_who_has_gone_is_not() {
    everywhere(async |_, config| {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        let _guard = metrics::set_default_local_recorder(&recorder);
        let connector = Connector::connect(config).await.unwrap();
        let mut worker = connector.dedicated().await.unwrap();
        let mut pop = Box::pin(worker.command(Command::new("BLPOP").arg("q").arg(0)));
        assert!(at_most(3, &mut pop).await.is_none());
        is(&values(&snapshotter), &[("pending", 1.0)]);
        drop(pop);
        is(&values(&snapshotter), &[("pending", -1.0)]);
    });
}

#[test]
fn reconnects_and_refusals_of_the_fence_are_counted() {
    everywhere(async |server, config| {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        let _guard = metrics::set_default_local_recorder(&recorder);
        let config = quick(config);
        let connector = Connector::connect(config.clone()).await.unwrap();
        let mut events = connector.events();
        let kill = ["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"];
        server.cli(&kill);
        event(&mut events, |event| matches!(event, Event::Fenced(_))).await;
        is(
            &values(&snapshotter),
            &[
                ("reconnects_total", 1.0),
                ("disconnects_total disconnected", 1.0),
                ("connects_total claimed", 1.0),
                ("connects_total verified", 1.0),
            ],
        );
        server.cli(&["SET", "{emq}:version", "acme:1"]);
        server.cli(&kill);
        event(&mut events, |event| matches!(event, Event::Fatal(_))).await;
        Connection::connect(&config).await.unwrap_err();
        let counted = values(&snapshotter);
        is(&counted, &[("fence_refusals_total", 2.0), ("connect_errors_total version_fence", 2.0)]);
        // And one whose heartbeat meets it.
        server.cli(&["SET", "{emq}:version", "echomq:2.0.0"]);
        let policy = echo_wire::connector::Policy {
            heartbeat: Duration::from_millis(10),
            ..Default::default()
        };
        let connector = Connector::connect(config.policy(policy)).await.unwrap();
        let mut events = connector.events();
        server.cli(&["SET", "{emq}:version", "acme:1"]);
        event(&mut events, |event| matches!(event, Event::Fatal(_))).await;
        let counted = values(&snapshotter);
        is(&counted, &[("fence_refusals_total", 1.0), ("disconnects_total version_fence", 1.0)]);
    });
}
