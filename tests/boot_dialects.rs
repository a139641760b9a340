//! HELLO where the server knows it, RESP2 where it does not, and the credentials in each: byte for
//! byte what is sent.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use echo_wire::{
    connector::{Cause, Config, Connection, Error, Step, WIRE_VERSION},
    resp::{Command, Protocol},
};
use support::{Listener, Script, encoded};

const HELLO_MAP: &str = "%3\r\n+server\r\n+valkey\r\n+proto\r\n:3\r\n+role\r\n+master\r\n";
const NO_HELLO: &str = "-ERR unknown command 'HELLO'\r\n";
const ROLE: &str = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
const OURS: &str = "$12\r\nechomq:2.0.0\r\n";
const NOAUTH: &str = "-NOAUTH Authentication required.\r\n";

fn config() -> Config {
    Config::tcp("unused", 1).look_for_eviction(false)
}

/// What follows HELLO or AUTH in any flight.
fn info() -> Vec<u8> {
    let lib_ver = env!("CARGO_PKG_VERSION");
    let name = encoded(&["CLIENT", "SETINFO", "LIB-NAME", "echo_wire"]);
    [name, encoded(&["CLIENT", "SETINFO", "LIB-VER", lib_ver])].concat()
}

fn get() -> Vec<u8> {
    encoded(&["GET", "{emq}:version"])
}

fn resp3_flight(hello: &[&[u8]]) -> Vec<u8> {
    [encoded(hello), info(), get()].concat()
}

fn resp2_flight(auth: Option<&[&[u8]]>) -> Vec<u8> {
    let auth = auth.map(encoded).unwrap_or_default();
    [auth, info(), encoded(&["ROLE"]), get()].concat()
}

/// Flights and the answers to them, played to a connection over memory.
async fn play(config: Config, dialogue: Vec<(Vec<u8>, String)>) -> Result<Connection, Error> {
    let (stream, mut peer) = Script::memory();
    let script = tokio::spawn(async move {
        for (flight, answers) in dialogue {
            peer.expect(flight).await;
            peer.send(answers).await;
        }
        peer
    });
    let result = Connection::over(stream, &config).await;
    let mut peer = script.await.unwrap();
    if result.is_err() {
        peer.expect_close().await;
    }
    result
}

/// A user and a password, as they are sent.
type Sent = Option<(&'static [u8], &'static [u8])>;

/// Configs with each kind of credentials, and what they stand for.
fn credentials() -> Vec<(Config, Sent)> {
    vec![
        (config(), None),
        (config().password("pw"), Some((b"default", b"pw"))),
        (config().user_and_password("worker", "pw"), Some((b"worker", b"pw"))),
        (config().user_and_password("worker", ""), Some((b"worker", b""))),
        (config().password(&b"\xff\0\r\n"[..]), Some((b"default", b"\xff\0\r\n"))),
    ]
}

#[tokio::test]
async fn credentials_travel_inside_hello() {
    for (config, credentials) in credentials() {
        let hello = match credentials {
            None => vec![&b"HELLO"[..], b"3"],
            Some((user, password)) => vec![&b"HELLO"[..], b"3", b"AUTH", user, password],
        };
        let answers = format!("{HELLO_MAP}+OK\r\n+OK\r\n{OURS}");
        let connection = play(config, vec![(resp3_flight(&hello), answers)]).await.unwrap();
        assert_eq!(connection.protocol(), Protocol::Resp3);
    }
}

#[tokio::test]
async fn every_way_to_refuse_hello_leads_to_resp2_on_the_same_socket() {
    let refusals = [
        NO_HELLO,
        "-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n",
        "-unsupported command 'HELLO'\r\n",
        "-NOPROTO unsupported protocol version\r\n",
        "-NOPERM this user has no permissions to run the 'hello' command\r\n",
        "-ERR wrong number of arguments for 'hello' command\r\n",
        "!21\r\nERR unknown command x\r\n",
    ];
    for refusal in refusals {
        for (config, credentials) in credentials() {
            let (hello, auth, auth_answer) = match credentials {
                None => (vec![&b"HELLO"[..], b"3"], None, ""),
                Some((user, password)) => (
                    vec![&b"HELLO"[..], b"3", b"AUTH", user, password],
                    Some(vec![&b"AUTH"[..], user, password]),
                    "+OK\r\n",
                ),
            };
            // What the commands behind HELLO said is set aside: they ran unauthenticated.
            let first = format!("{refusal}{NOAUTH}{NOAUTH}{NOAUTH}");
            let second = format!("{auth_answer}+OK\r\n-ERR unknown subcommand\r\n{ROLE}{OURS}");
            let dialogue =
                vec![(resp3_flight(&hello), first), (resp2_flight(auth.as_deref()), second)];
            let connection = play(config, dialogue).await.unwrap();
            assert_eq!(connection.protocol(), Protocol::Resp2, "{refusal}");
            assert_eq!(connection.declined().len(), 1, "of the flight that counted");
        }
    }
}

#[tokio::test]
async fn a_database_a_name_and_the_look_at_the_policy_have_their_places() {
    let config = Config::tcp("unused", 1).database(5).client_name("w1").unwrap();
    let named = [encoded(&["SELECT", "5"]), encoded(&["CLIENT", "SETNAME", "w1"]), info()].concat();
    let policy = encoded(&["CONFIG", "GET", "maxmemory-policy"]);
    let first = [encoded(&["HELLO", "3"]), named.clone(), policy.clone(), get()].concat();
    let second = [named, encoded(&["ROLE"]), policy, get()].concat();
    let dialogue = vec![
        (first, format!("{NO_HELLO}{}{OURS}", "+OK\r\n".repeat(5))),
        (
            second,
            format!(
                "{}{ROLE}*2\r\n$16\r\nmaxmemory-policy\r\n$11\r\nallkeys-lru\r\n{OURS}",
                "+OK\r\n".repeat(4)
            ),
        ),
    ];
    let connection = play(config, dialogue).await.unwrap();
    assert_eq!(connection.eviction_policy(), Some("allkeys-lru"));
}

#[tokio::test]
async fn an_old_server_takes_the_password_of_the_default_user_alone() {
    let arity = "-ERR wrong number of arguments for 'auth' command\r\n";
    for config in [config().password("pw"), config().user_and_password("default", "pw")] {
        let dialogue = |last: String| {
            let hello = resp3_flight(&[&b"HELLO"[..], b"3", b"AUTH", b"default", b"pw"]);
            let two = resp2_flight(Some(&[&b"AUTH"[..], b"default", b"pw"]));
            let alone = resp2_flight(Some(&[&b"AUTH"[..], b"pw"]));
            vec![
                (hello, format!("{NO_HELLO}{NOAUTH}{NOAUTH}{NOAUTH}")),
                (two, format!("{arity}{NOAUTH}{NOAUTH}{NOAUTH}{NOAUTH}")),
                (alone, last),
            ]
        };
        let unknown = "-ERR unknown command\r\n".repeat(3);
        let connection = play(config.clone(), dialogue(format!("+OK\r\n{unknown}{OURS}"))).await;
        assert_eq!(connection.unwrap().protocol(), Protocol::Resp2);

        let wrong = format!("-ERR invalid password\r\n{}", NOAUTH.repeat(4));
        let error = play(config, dialogue(wrong)).await.unwrap_err();
        assert!(matches!(error, Error::AuthRefused { step: Step::Auth, .. }), "{error:?}");
    }

    // A user that such a server cannot know is not turned into its only one.
    let dialogue = vec![
        (
            resp3_flight(&[&b"HELLO"[..], b"3", b"AUTH", b"worker", b"pw"]),
            format!("{NO_HELLO}{}", NOAUTH.repeat(3)),
        ),
        (
            resp2_flight(Some(&[&b"AUTH"[..], b"worker", b"pw"])),
            format!("{arity}{}", NOAUTH.repeat(4)),
        ),
    ];
    let error = play(config().user_and_password("worker", "pw"), dialogue).await.unwrap_err();
    assert!(matches!(error, Error::AuthRefused { step: Step::Auth, .. }), "{error:?}");
}

#[tokio::test]
async fn wrong_credentials_are_no_reason_to_try_resp2() {
    for (config, answer) in [
        (
            config().password("pw"),
            "-WRONGPASS invalid username-password pair or user is disabled.\r\n",
        ),
        (config(), "-NOAUTH HELLO must be called with the client already authenticated\r\n"),
    ] {
        let hello = match answer.contains("WRONGPASS") {
            true => resp3_flight(&[&b"HELLO"[..], b"3", b"AUTH", b"default", b"pw"]),
            false => resp3_flight(&[&b"HELLO"[..], b"3"]),
        };
        // The store would have let us in.
        let answers = format!("{answer}+OK\r\n+OK\r\n{OURS}");
        let error = play(config, vec![(hello, answers)]).await.unwrap_err();
        assert!(matches!(error, Error::AuthRefused { step: Step::Hello, .. }), "{error:?}");
        assert!(error.is_fatal());
    }
}

#[tokio::test]
async fn a_proxy_that_does_not_look_for_credentials_in_hello_gets_them_in_auth() {
    let dialogue = vec![
        (resp3_flight(&[&b"HELLO"[..], b"3", b"AUTH", b"default", b"pw"]), NOAUTH.repeat(4)),
        (
            resp2_flight(Some(&[&b"AUTH"[..], b"default", b"pw"])),
            format!("+OK\r\n{}{OURS}", "-ERR unsupported command\r\n".repeat(3)),
        ),
    ];
    let connection = play(config().password("pw"), dialogue).await.unwrap();
    assert_eq!(connection.protocol(), Protocol::Resp2);
}

#[tokio::test]
async fn what_time_heals_is_no_reason_to_try_resp2() {
    for code in ["LOADING", "BUSY", "MASTERDOWN", "TRYAGAIN"] {
        let answers = format!("-{code} not now\r\n").repeat(4);
        let hello = resp3_flight(&[&b"HELLO"[..], b"3"]);
        let error = play(config(), vec![(hello, answers)]).await.unwrap_err();
        assert!(matches!(error, Error::NotReady { step: Step::Hello, .. }), "{error:?}");
    }
}

#[tokio::test]
async fn who_insists_on_a_generation_gets_that_or_nothing() {
    let flight = resp2_flight(None);
    let answers = format!("+OK\r\n+OK\r\n{ROLE}{OURS}");
    let resp2 = config().protocol(Protocol::Resp2);
    let connection = play(resp2, vec![(flight, answers)]).await.unwrap();
    assert_eq!(connection.protocol(), Protocol::Resp2);

    let flight = resp3_flight(&[&b"HELLO"[..], b"3"]);
    let answers = format!("{NO_HELLO}+OK\r\n+OK\r\n{OURS}");
    let resp3 = config().protocol(Protocol::Resp3);
    let error = play(resp3, vec![(flight, answers)]).await.unwrap_err();
    assert!(matches!(error, Error::BootRefused { step: Step::Hello, .. }), "{error:?}");
}

#[tokio::test]
async fn hello_may_answer_in_either_generations_form_of_a_map() {
    let flat = "*4\r\n+proto\r\n:3\r\n+role\r\n+master\r\n";
    let bare = "%0\r\n";
    let older = "%1\r\n+proto\r\n:2\r\n";
    for (hello, protocol) in
        [(flat, Protocol::Resp3), (bare, Protocol::Resp3), (older, Protocol::Resp2)]
    {
        let answers = format!("{hello}+OK\r\n+OK\r\n{OURS}");
        let flight = resp3_flight(&[&b"HELLO"[..], b"3"]);
        let connection = play(config(), vec![(flight, answers)]).await.unwrap();
        assert_eq!(connection.protocol(), protocol, "{hello}");
    }
}

#[tokio::test]
async fn a_peer_that_hangs_up_on_hello_is_spoken_to_in_resp2_and_remembered_for_a_while() {
    for is_reset in [false, true] {
        let listener = Listener::open();
        let config =
            Config::from_url(&listener.url()).unwrap().look_for_eviction(false).password("pw");
        let peer = async {
            let mut first = listener.accept().await;
            first.expect(encoded(&["HELLO", "3", "AUTH", "default", "pw"])).await;
            match is_reset {
                true => first.reset(),
                false => first.close(),
            }
            // The second time, and the third, it is not asked again.
            let mut peers = Vec::new();
            for _ in 0..2 {
                let mut peer = listener.accept().await;
                let commands = peer.pass(WIRE_VERSION).await;
                assert_eq!(commands[0], ["AUTH", "default", "pw"]);
                peers.push(peer);
            }
            peers
        };
        let connects = async {
            for _ in 0..2 {
                let connection = Connection::connect(&config.clone()).await.unwrap();
                assert_eq!(connection.protocol(), Protocol::Resp2);
            }
        };
        tokio::join!(peer, connects);
    }
}

#[tokio::test]
async fn a_peer_that_hangs_up_every_time_is_tried_twice_and_no_more() {
    let listener = Listener::open();
    let config = Config::from_url(&listener.url()).unwrap();
    let peer = async {
        for _ in 0..2 {
            let mut peer = listener.accept().await;
            peer.command().await;
            peer.close();
        }
    };
    let (error, ()) = tokio::join!(Connection::connect(&config), peer);
    let error = error.unwrap_err();
    assert!(matches!(error, Error::NotReady { .. }), "{error:?}");
    assert!(!error.is_fatal());
}

#[tokio::test]
async fn a_hang_up_is_not_remembered_unless_resp2_came_through() {
    let listener = Listener::open();
    let config = Config::from_url(&listener.url()).unwrap();
    let peer = async {
        for _ in 0..2 {
            let mut peer = listener.accept().await;
            peer.command().await;
            peer.close();
        }
        // A stranger that hangs up on both is asked whether it speaks TLS.
        listener.accept().await.close();
        let mut peer = listener.accept().await;
        assert_eq!(peer.pass(WIRE_VERSION).await[0], ["HELLO", "3"]);
        peer
    };
    let connects = async {
        Connection::connect(&config).await.unwrap_err();
        Connection::connect(&config).await.unwrap()
    };
    let (connection, _peer) = tokio::join!(connects, peer);
    assert_eq!(connection.protocol(), Protocol::Resp3);
}

#[tokio::test]
async fn an_error_and_a_close_are_the_servers_word_and_no_reason_to_try_again() {
    let listener = Listener::open();
    let url = Config::from_url(&listener.url()).unwrap();
    let configs = [
        url.clone(),
        url.clone().protocol(Protocol::Resp2),
        url.clone().protocol(Protocol::Resp3),
        url.clone().protocol(Protocol::Resp2).user_and_password("worker", "pw"),
        url.clone().protocol(Protocol::Resp2).password("pw"),
        url.protocol(Protocol::Resp2).database(3),
    ];
    for config in configs {
        let peer = async {
            let mut peer = listener.accept().await;
            peer.send("-ERR max number of clients reached\r\n").await;
            peer.close();
        };
        let (result, ()) = tokio::join!(Connection::connect(&config), peer);
        let error = result.unwrap_err();
        let Error::NotReady { cause: Cause::Reply(words), .. } = &error else {
            panic!("{config:?}: {error:?}")
        };
        assert_eq!(words.as_bytes(), b"ERR max number of clients reached");
    }
    let refusals = [
        ("-DENIED Redis is running in protected mode\r\n", "boot"),
        ("-WRONGPASS invalid username-password pair\r\n", "auth"),
        ("-NOAUTH Authentication required.\r\n", "auth"),
        ("-LOADING not now\r\n", "not ready"),
    ];
    for (words, kind) in refusals {
        let config = Config::from_url(&listener.url()).unwrap();
        let peer = async {
            let mut peer = listener.accept().await;
            peer.send(words).await;
            peer.close();
        };
        let (result, ()) = tokio::join!(Connection::connect(&config), peer);
        let got = match result.unwrap_err() {
            Error::BootRefused { .. } => "boot",
            Error::AuthRefused { .. } => "auth",
            Error::NotReady { .. } => "not ready",
            error => panic!("{error:?}"),
        };
        assert_eq!(got, kind, "{words}");
    }
}

#[tokio::test]
async fn resp2_is_served_after_a_refused_hello() {
    let (stream, mut peer) = Script::memory();
    let script = tokio::spawn(async move {
        peer.expect(resp3_flight(&[&b"HELLO"[..], b"3"])).await;
        peer.send(NO_HELLO.repeat(4)).await;
        peer.expect(resp2_flight(None)).await;
        peer.send(format!("+OK\r\n+OK\r\n{ROLE}{OURS}")).await;
        peer.expect_command(&["GET", "k"]).await;
        peer.send("$-1\r\n").await;
        peer
    });
    let mut connection = Connection::over(stream, &config()).await.unwrap();
    let reply = connection.command(&Command::new("GET").arg("k")).await.unwrap();
    assert!(reply.is_null());
    script.await.unwrap();
}
