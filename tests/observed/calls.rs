//! A call is an event with its name, its time and its outcome. No argument is told, ever.

use echo_wire::{
    connector::{Connection, Connector, Credentials, Pipeline, Script},
    resp::Command,
};
use tracing::Level;

use crate::{
    bed::quick,
    support::{at_most, everywhere},
    watcher::Watcher,
};

const COMMAND: &str = "echo_wire::command";
const SECRET: &str = "hunter2";

static ECHO: Script = Script::new("return {ARGV[1], 'hunter2'}");

fn pair() -> Pipeline {
    Pipeline::new()
        .command(Command::new("SET").arg("k").arg(SECRET))
        .command(Command::new("GET").arg(SECRET))
}

/// Name, commands and outcome of each.
fn taken(watcher: &Watcher) -> Vec<String> {
    let told = watcher.take(COMMAND);
    let line = |event: &crate::watcher::Seen| {
        assert_eq!(event.level, Level::DEBUG);
        event.field("micros").parse::<u64>().unwrap();
        let fields = ["command", "commands", "outcome", "code"].map(|name| event.field(name));
        fields.join(" ").trim_end().to_owned()
    };
    told.iter().map(line).collect()
}

#[test]
fn the_name_the_time_and_the_outcome_of_each_call_and_nothing_else() {
    everywhere(async |server, config| {
        let (watcher, _guard) = Watcher::up_to(Level::TRACE);
        server.cli(&["ACL", "SETUSER", "app", "reset", "on", ">hunter2", "~*", "&*", "+@all"]);
        let config = quick(config.user_and_password("app", SECRET));
        let connector = Connector::connect(config.clone()).await.unwrap();
        let mut worker = connector.dedicated().await.unwrap();
        let mut alone = Connection::connect(&config).await.unwrap();
        assert_eq!(taken(&watcher), [""; 0], "boot's are steps of a connect");

        connector.command(Command::new("set").arg("k").arg(SECRET)).await.unwrap();
        connector.command(Command::new("LPUSH").arg("k").arg(SECRET)).await.unwrap_err();
        // The server repeats its arguments.
        connector.command(Command::new("NONE").arg(SECRET)).await.unwrap_err();
        connector.command(Command::new("BLPOP").arg("k").arg(0)).await.unwrap_err();
        let _ = connector.pipeline(&pair()).await.unwrap();
        let _ = connector.transaction(&pair()).await.unwrap();
        connector.eval(ECHO.call().key(SECRET).arg(SECRET)).await.unwrap();
        let credentials = Credentials::user_and_password("app", SECRET);
        connector.authenticate(credentials).await.unwrap();
        let shared = [
            "set 1 ok",
            "LPUSH 1 server WRONGTYPE",
            "NONE 1 server ERR",
            "pipeline 2 ok",
            "transaction 2 ok",
            "EVALSHA 1 ok",
        ];
        assert_eq!(taken(&watcher), shared, "what is refused here is not sent");

        worker.command(Command::new("SET").arg("k").arg(SECRET)).await.unwrap();
        let _ = worker.pipeline(&pair()).await.unwrap();
        worker.eval(ECHO.call().arg(SECRET)).await.unwrap();
        let mut watch = worker.watch(["k"]).await.unwrap();
        watch.command(Command::new("GET").arg("k")).await.unwrap();
        let _ = watch.exec(&pair()).await.unwrap();
        let pop = worker.command(Command::new("BLPOP").arg(SECRET).arg(0));
        assert!(at_most(3, pop).await.is_none());
        let dedicated = [
            "SET 1 ok",
            "pipeline 2 ok",
            "EVALSHA 1 ok",
            "WATCH 1 ok",
            "GET 1 ok",
            "transaction 2 ok",
            "BLPOP 1 dropped",
        ];
        assert_eq!(taken(&watcher), dedicated);

        alone.command(Command::new("SET").arg("k").arg(SECRET)).await.unwrap();
        let _ = alone.pipeline(&pair()).await.unwrap();
        server.cli(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        alone.command(Command::new("GET").arg(SECRET)).await.unwrap_err();
        assert_eq!(taken(&watcher), ["SET 1 ok", "pipeline 2 ok", "GET 1 disconnected"]);

        connector.close().await;
        assert!(!watcher.text().contains(SECRET), "{}", watcher.text());
    });
}

#[test]
fn nobody_who_listens_from_info_on_is_told_of_calls() {
    everywhere(async |_, config| {
        let (watcher, _guard) = Watcher::up_to(Level::INFO);
        let connector = Connector::connect(config).await.unwrap();
        connector.command(Command::new("PING")).await.unwrap();
        assert!(watcher.take(COMMAND).is_empty());
    });
}
