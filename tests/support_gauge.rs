//! The gauge of open files and live tasks. One test, alone in its process: files are the process's.
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a test may fail")]

mod support;

use std::future::pending;

use echo_wire::connector::{Config, Connection};
use support::{Gauge, flavors};

#[tokio::test]
async fn files_and_tasks_are_counted_and_seen_to_go() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let config = Config::from_url(&server.url()).unwrap();
        // What a first use leaves for good is no leak.
        Connection::connect(&config).await.unwrap().close().await;
        let start = Gauge::read();

        let connection = Connection::connect(&config).await.unwrap();
        let raw = server.raw();
        let tasks: Vec<_> = (0..3).map(|_| tokio::spawn(pending::<()>())).collect();
        let busy = Gauge::read();
        assert_eq!(busy.open_files, start.open_files + 2);
        assert_eq!(busy.alive_tasks, start.alive_tasks + 3);

        drop((connection, raw));
        tasks.iter().for_each(tokio::task::JoinHandle::abort);
        start.returns().await;
    }
}
