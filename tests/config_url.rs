//! A config from a URL: what each part means, and that a wrong one is named without being shown.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod support;

use echo_wire::connector::{Config, ConfigPart, Connection, Endpoint, WIRE_VERSION};
use support::{Script, flavors};

fn tcp(host: &str, port: u16) -> Endpoint {
    Endpoint::Tcp { host: host.into(), port }
}

#[test]
fn an_endpoint_is_read_from_every_form() {
    let unix = |path: &str| Endpoint::Unix(path.into());
    let table = [
        ("redis://localhost", tcp("localhost", 6379)),
        ("valkey://localhost:7000", tcp("localhost", 7000)),
        ("REDIS://localhost/", tcp("localhost", 6379)),
        ("redis://10.0.0.7:1", tcp("10.0.0.7", 1)),
        ("redis://[::1]", tcp("::1", 6379)),
        ("redis://[::1]:65535/3", tcp("::1", 65535)),
        ("redis://user:pw@[fe80::1%25eth0]:7", tcp("fe80::1%eth0", 7)),
        ("redis://my%2Dhost", tcp("my-host", 6379)),
        ("redis://u:p@ss@host", tcp("host", 6379)),
        ("unix:///run/valkey.sock", unix("/run/valkey.sock")),
        ("unix://u:p@/tmp/a%20b%3F.sock?db=1", unix("/tmp/a b?.sock")),
    ];
    for (url, endpoint) in table {
        assert_eq!(*Config::from_url(url).unwrap().endpoint(), endpoint, "{url}");
        assert_eq!(*url.parse::<Config>().unwrap().endpoint(), endpoint, "{url}");
    }
}

#[test]
fn a_wrong_part_is_named_and_nothing_of_the_url_is_shown() {
    use ConfigPart::*;
    let table = [
        ("", Scheme),
        ("localhost:6379", Scheme),
        ("http://h", Scheme),
        ("redis:/h", Scheme),
        ("redis://", Host),
        ("redis:///0", Host),
        ("redis://:6379", Host),
        ("redis://user:hunter2@", Host),
        ("redis://[::1", Host),
        ("redis://[localhost]", Host),
        ("redis://[::1]x", Port),
        ("redis://a b", Host),
        ("redis://a]b", Host),
        ("redis://a%7fb", Host),
        ("redis://[fe80::1%25e%0a]", Host),
        ("redis://%ff", Host),
        ("redis://%zz", Host),
        ("redis://h:", Port),
        ("redis://h:0", Port),
        ("redis://h:65536", Port),
        ("redis://h:+1", Port),
        ("redis://::1:6379", Host),
        ("redis://h/x", Database),
        ("redis://h/-1", Database),
        ("redis://h/1/2", Database),
        ("redis://h/4294967296", Database),
        ("redis://h/1?db=1", Database),
        ("redis://h?db=", Database),
        ("redis://@h", User),
        ("redis://hunter2%zz:x@h", User),
        ("redis://:hunter2%zz@h", Password),
        ("redis://:hunter2%4@h", Password),
        ("redis://:hunter2%@h", Password),
        ("redis://:hunter2/x@h", Host),
        ("redis://u:hunter2/x@h", Port),
        ("redis://h#hunter2", Fragment),
        ("redis://:hunter2#x@h", Fragment),
        ("redis://h?hunter2", Option),
        ("redis://h?hunter2=1", Option),
        ("redis://h?protocol=3&protocol=3", Option),
        ("redis://h?protocol=hunter2", Protocol),
        ("redis://h?read_from_replica=hunter2", ReadFromReplica),
        ("redis://h?client_name=a%20hunter2", ClientName),
        ("redis://h?client_name=a%0d%0ahunter2", ClientName),
        ("redis://h?client_name=", ClientName),
        ("redis://h?connect_timeout=5", Timeout),
        ("redis://h?connect_timeout=0s", Timeout),
        ("redis://h?connect_timeout=-1s", Timeout),
        ("redis://h?response_timeout=1h", Timeout),
        ("redis://u:p@h?password=hunter2", User),
        ("unix://hunter2/run/s", Host),
        ("unix://", SocketPath),
        ("unix:///", SocketPath),
        ("unix:///a%00", SocketPath),
        ("unix:///a%ff", SocketPath),
    ];
    for (url, part) in table {
        let error = Config::from_url(url).unwrap_err();
        assert_eq!(error.part(), part, "{url}: {error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{url}: {error}");
    }
}

#[cfg(not(feature = "tls"))]
#[test]
fn a_url_of_tls_says_which_feature_it_needs() {
    for url in ["rediss://h", "valkeys://u:hunter2@h:7000/3"] {
        let error = Config::from_url(url).unwrap_err();
        assert_eq!(error.part(), ConfigPart::Scheme, "{url}");
        assert!(error.to_string().contains("feature `tls`"), "{error}");
    }
}

/// The words of HELLO, and all other commands, as they arrive at a server.
async fn sent(url: &str) -> (Vec<u8>, Vec<Vec<String>>) {
    let (stream, mut peer) = Script::memory();
    let script = tokio::spawn(async move {
        let commands = peer.pass(WIRE_VERSION).await;
        (peer.received().to_vec(), commands)
    });
    Connection::over(stream, &Config::from_url(url).unwrap()).await.ok();
    script.await.unwrap()
}

#[tokio::test]
async fn credentials_are_decoded_exactly_once() {
    let table: [(&str, &str, &[u8]); 12] = [
        ("redis://:p%40ss%2F%25@h", "default", b"p@ss/%"),
        ("redis://:a+b=@h", "default", b"a+b="),
        ("redis://:%2540@h", "default", b"%40"),
        ("redis://u:@h", "u", b""),
        ("redis://u@h", "u", b""),
        ("redis://:@h", "default", b""),
        ("redis://a%3Ab:c:d@h", "a:b", b"c:d"),
        ("redis://u:p@ss@h", "u", b"p@ss"),
        ("redis://:%ff%00%0d%0a@h", "default", b"\xff\0\r\n"),
        ("redis://h?user=u&password=a+b%3D", "u", b"a+b="),
        ("unix:///s?password=x%26y", "default", b"x&y"),
        ("unix://u:p@/s", "u", b"p"),
    ];
    for (url, user, password) in table {
        let (bytes, _) = sent(url).await;
        let hello = [&b"HELLO"[..], b"3", b"AUTH", user.as_bytes(), password];
        assert!(bytes.starts_with(&support::encoded(&hello)), "{url}: {}", bytes.escape_ascii());
    }
    let (bytes, _) = sent("redis://h").await;
    assert!(bytes.starts_with(&support::encoded(&["HELLO", "3"])));
}

#[tokio::test]
async fn options_reach_the_server() {
    let (_, commands) = sent("redis://h/7?client_name=w%2D1&protocol=2").await;
    assert_eq!(commands[0], ["SELECT", "7"]);
    assert_eq!(commands[1], ["CLIENT", "SETNAME", "w-1"]);
    let (_, commands) = sent("unix:///s?db=7&read_from_replica=true&response_timeout=1s").await;
    assert_eq!(commands[1], ["SELECT", "7"]);
    let (_, commands) = sent("redis://h/0").await;
    assert!(commands.iter().all(|command| command[0] != "SELECT"), "0 is where one begins");
}

#[test]
fn a_password_is_in_no_debug_and_no_display() {
    let config = Config::from_url("redis://worker:hunter2@h").unwrap();
    assert!(!format!("{config:?} {config:#?} {}", config.endpoint()).contains("hunter2"));
    assert!(format!("{config:?}").contains("worker"));
    let bytes = config.password(&b"hunter2"[..]);
    let shown = format!("{bytes:?}");
    assert!(!shown.contains("hunter2") && !shown.contains("104, 117"), "{shown}");
}

#[tokio::test]
async fn a_password_is_in_no_error_of_a_connect_though_the_server_repeats_it() {
    let unknown = "-ERR unknown command 'x', with args beginning with: 'worker' 'hunter2' \r\n";
    let answers = [
        "-WRONGPASS no\r\n",
        "+hunter2\r\n",
        "-hunter2\r\n",
        unknown,
        "HTTP/1.1\r\n",
        "!7\r\nhunter2\r\n",
        "$7\r\nhunter2\r\n",
    ];
    for answer in answers {
        for protocol in ["", "?protocol=2", "?protocol=3"] {
            // It closes after one answer, or says the same to everything.
            for count in [1, 100] {
                let (stream, mut peer) = Script::memory();
                let script = tokio::spawn(async move {
                    peer.command().await;
                    peer.send(answer.repeat(count)).await;
                    peer.finish().await;
                    peer
                });
                let url = format!("redis://worker:hunter2@h{protocol}");
                let error = Connection::over(stream, &Config::from_url(&url).unwrap()).await;
                let error = error.unwrap_err();
                assert!(!format!("{error} {error:?}").contains("hunter2"), "{answer}: {error:?}");
                script.await.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn real_servers_that_repeat_the_password_do_not_bring_it_into_an_error() {
    for flavor in flavors() {
        let server = flavor
            .server()
            .args(["--rename-command", "HELLO", "", "--rename-command", "AUTH", ""])
            .start();
        let repeated = server.raw().call(&["AUTH", "worker", "hunter2"]);
        assert!(format!("{repeated:?}").contains("hunter2"), "nothing to hide: {repeated:?}");
        for protocol in ["2", "3"] {
            let url = format!("redis://worker:hunter2@{}?protocol={protocol}", server.address());
            let error = Connection::connect(&url.parse().unwrap()).await.unwrap_err();
            assert!(error.is_fatal(), "{error:?}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
    }
}
