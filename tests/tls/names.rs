//! A server has to be called what it was dialled as, or what the settings say; it is told the name,
//! unless that is an address, and nothing of protocols.

use echo_wire::connector::{Config, ConfigPart, Connection, Endpoint, Tls, TlsError};

use crate::{
    bed::{Clients, bed_of, echo, refused},
    support::Listener,
};

#[tokio::test]
async fn a_certificate_for_another_name_is_refused_unless_that_name_is_asked_for() {
    let Some(bed) =
        bed_of(Clients::Any, |authority| authority.sign(&["cache.internal", "10.9.8.7"]))
    else {
        return;
    };
    for host in ["localhost", "127.0.0.1"] {
        let why = refused(&bed.at(host)).await;
        let TlsError::Untrusted(words) = &why else { panic!("{why:?}") };
        assert!(words.contains("cache.internal"), "{words}");
        for name in ["cache.internal", "CACHE.internal", "10.9.8.7"] {
            let tls = bed.tls().server_name(name).unwrap();
            let config = bed.at(host).tls(tls).unwrap();
            echo(&mut Connection::connect(&config).await.unwrap()).await;
        }
    }
}

/// The extensions of the first thing that a client sends: type and content.
fn extensions(hello: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |n: usize, byte| n << 8 | usize::from(*byte));
    // The record's head, the message's head, version, random; then session, suites, compression.
    let mut rest = &hello[5 + 4 + 2 + 32..];
    for head in [1, 2, 1] {
        rest = &rest[head + number(&rest[..head])..];
    }
    rest = &rest[2..];
    let mut extensions = Vec::new();
    while !rest.is_empty() {
        let (kind, len) = (number(&rest[..2]), number(&rest[2..4]));
        extensions.push((u16::try_from(kind).unwrap(), rest[4..4 + len].to_vec()));
        rest = &rest[4 + len..];
    }
    extensions
}

const SERVER_NAME: u16 = 0;
const ALPN: u16 = 16;

#[tokio::test]
async fn the_server_is_told_its_name_but_no_address_and_no_protocol() {
    let named = |tls: Tls, name: &str| tls.server_name(name).unwrap();
    for (host, tls, told) in [
        ("localhost", Tls::new(), Some("localhost")),
        ("127.0.0.1", Tls::new(), None),
        ("127.0.0.1", named(Tls::new(), "cache.internal"), Some("cache.internal")),
        ("localhost", named(Tls::new(), "::1"), None),
    ] {
        let listener = Listener::open();
        let root = crate::authority::Authority::new("any").der();
        let tls = tls.root_der(root).unwrap();
        let config = Config::tcp(host, listener.port()).tls(tls).unwrap();
        let connect = tokio::spawn(async move { Connection::connect(&config).await });
        let mut peer = listener.accept().await;
        peer.finish().await;
        let hello = peer.read_to_close().await;
        connect.abort();
        let extensions = extensions(&hello);
        let name = extensions.iter().find(|(kind, _)| *kind == SERVER_NAME);
        assert_eq!(name.is_some(), told.is_some(), "{host}");
        if let (Some((_, name)), Some(told)) = (name, told) {
            assert!(name.ends_with(told.as_bytes()), "{}", name.escape_ascii());
        }
        assert!(extensions.iter().all(|(kind, _)| *kind != ALPN));
        assert!(extensions.len() > 3, "the parts are read rightly");
    }
}

#[test]
fn a_host_that_no_certificate_can_name_needs_another_name() {
    let config = |host: &str| Config::tcp(host, 1);
    for host in ["my host", "", "a..b"] {
        let error = config(host).tls(Tls::new()).unwrap_err();
        assert_eq!(error.part(), ConfigPart::Host, "{host}");
        assert!(config(host).tls(Tls::new().server_name("cache").unwrap()).is_ok(), "{host}");
        assert_eq!(Tls::new().server_name(host).unwrap_err().part(), ConfigPart::ServerName);
    }
    for host in ["::1", "fe80::1%eth0", "10.0.0.7", "a-b.c", "my_host"] {
        assert!(config(host).tls(Tls::new()).is_ok(), "{host}");
    }
    assert_eq!(Config::unix("/s").tls(Tls::new()).unwrap_err().part(), ConfigPart::Tls);
}

#[test]
fn urls_of_tls_are_read_as_those_without() {
    for scheme in ["rediss", "valkeys", "REDISS"] {
        let url = format!("{scheme}://user:pw@[::1]:7000/3?client_name=w");
        let endpoint = Endpoint::Tcp { host: "::1".into(), port: 7000 };
        let config = Config::from_url(&url).unwrap();
        assert_eq!(*config.endpoint(), endpoint);
        assert!(format!("{config:?}").contains("Tls {"), "{config:?}");
    }
    assert!(!format!("{:?}", Config::from_url("redis://h").unwrap()).contains("Tls {"));
    assert_eq!(Config::from_url("rediss://a..b").unwrap_err().part(), ConfigPart::Host);
}
