//! TLS on one side only: told for what it is, though neither side's server says so itself.

use echo_wire::connector::{Cause, Config, Connection, Error, Pool, Step, TlsError};

use crate::{
    authority::Authority,
    bed::{PROTOCOLS, bed, echo, policy, refused},
    support::{Listener, Proxy, Script, bounded, flavors},
};

fn any_roots() -> echo_wire::connector::Tls {
    echo_wire::connector::Tls::new().root_der(Authority::new("any").der()).unwrap()
}

#[tokio::test]
async fn a_plain_server_behind_a_tls_url() {
    for flavor in flavors() {
        // With a password, too: what is asked of it needs none.
        for words in [&[][..], &["--requirepass", "pw"]] {
            let server = flavor.server().args(words.iter().copied()).start();
            let config = Config::from_url(&server.url().replace("redis://", "rediss://")).unwrap();
            let config = config.tls(any_roots()).unwrap();
            let why = refused(&config).await;
            assert_eq!(why, TlsError::PeerIsPlain);
            assert!(why.to_string().contains("redis://"), "{why}");
            let error = Pool::connect(config, 2).await.unwrap_err();
            assert!(matches!(error, Error::TlsRefused(TlsError::PeerIsPlain)), "{error:?}");
        }
    }
}

#[tokio::test]
async fn a_tls_server_behind_a_plain_url() {
    let Some(bed) = bed() else { return };
    let url = format!("redis://{}", bed.address());
    let why = refused(&Config::from_url(&url).unwrap()).await;
    assert_eq!(why, TlsError::PeerIsTls);
    assert!(why.to_string().contains("rediss://"), "{why}");
    for protocol in PROTOCOLS {
        let config = Config::from_url(&url).unwrap().protocol(protocol);
        assert_eq!(refused(&config).await, TlsError::PeerIsTls);
    }
    assert!(bed.server.cli(&["GET", "{emq}:version"]).is_empty(), "nobody came to the store");
}

#[tokio::test]
async fn a_peer_that_answers_a_handshake_with_something_else() {
    for answer in ["HTTP/1.1 400 Bad Request\r\n", "-ERR unknown command\r\n", "+OK\r\n"] {
        let (stream, mut peer) = Script::memory();
        let script = tokio::spawn(async move {
            peer.send(answer).await;
            peer.finish().await;
            peer.read_to_close().await;
        });
        let config = Config::tcp("h", 1).tls(any_roots()).unwrap();
        let error = Connection::over(stream, &config).await.unwrap_err();
        assert!(matches!(error, Error::TlsRefused(TlsError::PeerIsPlain)), "{answer}: {error:?}");
        script.await.unwrap();
    }
}

#[tokio::test]
async fn a_peer_that_answers_a_command_with_a_tls_alert() {
    for protocol in PROTOCOLS {
        let (stream, mut peer) = Script::memory();
        let script = tokio::spawn(async move {
            peer.send([21, 3, 1, 0, 2, 2, 70]).await;
            peer.finish().await;
            peer.read_to_close().await;
        });
        let config = Config::tcp("h", 1).protocol(protocol);
        let error = Connection::over(stream, &config).await.unwrap_err();
        assert!(matches!(error, Error::TlsRefused(TlsError::PeerIsTls)), "{error:?}");
        script.await.unwrap();
    }
}

#[tokio::test]
async fn a_peer_that_only_dies_is_not_taken_for_one_that_speaks_otherwise() {
    let listener = Listener::open();
    let port = listener.port();
    let deaths = tokio::spawn(async move {
        loop {
            listener.accept().await.close();
        }
    });
    let plain = Config::tcp("127.0.0.1", port);
    let tls = plain.clone().tls(any_roots()).unwrap();
    for (config, steps) in [(plain, &[Step::Hello, Step::SetInfo][..]), (tls, &[Step::Tls])] {
        let error = bounded("it ends", Connection::connect(&config)).await.unwrap_err();
        let Error::NotReady { step, cause: Cause::Closed | Cause::Io(_) } = error else {
            panic!("{error:?}")
        };
        assert!(steps.contains(&step), "{step}");
    }
    deaths.abort();
}

#[tokio::test]
async fn a_server_that_we_have_met_is_not_asked_what_it_speaks() {
    let Some(bed) = bed() else { return };
    let proxy = Proxy::start(bed.server.address());
    let config = Config::tcp("127.0.0.1", proxy.port()).policy(policy());
    echo(&mut Connection::connect(&config).await.unwrap()).await;
    proxy.switch_target(bed.address());
    let before = proxy.connections();
    let error = Connection::connect(&config).await.unwrap_err();
    assert!(matches!(error, Error::NotReady { .. }), "{error:?}");
    assert_eq!(proxy.connections() - before, 1);
}
