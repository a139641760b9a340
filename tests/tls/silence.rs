//! The handshake has its place inside the connect deadline.

use std::time::Duration;

use echo_wire::connector::{Cause, Config, Connection, Error, Step, Tls};
use tokio::time::Instant;

use crate::{
    authority::Authority,
    bed::bed,
    support::{Cut, Proxy, Script, Way},
};

#[tokio::test(start_paused = true)]
async fn a_peer_that_says_nothing_is_given_up_at_the_deadline() {
    let within = Duration::from_secs(5);
    let tls = Tls::new().root_der(Authority::new("any").der()).unwrap();
    let config = Config::tcp("h", 1).tls(tls).unwrap().connect_timeout(within).unwrap();
    let (stream, peer) = Script::memory();
    let script = tokio::spawn(peer.stall());
    let began = Instant::now();
    let error = Connection::over(stream, &config).await.unwrap_err();
    assert!(
        matches!(error, Error::NotReady { step: Step::Tls, cause: Cause::Deadline }),
        "{error:?}"
    );
    assert_eq!(error.to_string(), "not ready at TLS handshake: the deadline passed");
    assert_eq!(began.elapsed(), within);
    script.abort();
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_and_not_taken_for_a_plain_one() {
    let Some(bed) = bed() else { return };
    bed.server.pause();
    let config = bed.config().connect_timeout(Duration::from_millis(200)).unwrap();
    let error = Connection::connect(&config).await.unwrap_err();
    assert!(
        matches!(error, Error::NotReady { step: Step::Tls, cause: Cause::Deadline }),
        "{error:?}"
    );
    bed.server.resume();
}

#[tokio::test]
async fn a_server_that_is_slow_to_answer_gets_the_rest_of_the_time() {
    let Some(bed) = bed() else { return };
    bed.server.pause();
    // It is asked whether it is plain after a second at most; then it still comes through.
    let config = bed.config().connect_timeout(Duration::from_secs(60)).unwrap();
    let connect = tokio::spawn(async move { Connection::connect(&config).await });
    let proxied = Proxy::start(bed.address());
    let config = Config::tcp("127.0.0.1", proxied.port()).tls(bed.tls()).unwrap();
    let config = config.connect_timeout(Duration::from_secs(60)).unwrap();
    let asked = tokio::spawn(async move { Connection::connect(&config).await });
    proxied.connections_reach(2).await;
    bed.server.resume();
    asked.await.unwrap().unwrap();
    connect.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_cut_anywhere_in_a_connect_is_a_lost_connection() {
    let Some(bed) = bed() else { return };
    let proxy = Proxy::start(bed.address());
    let config = || Config::tcp("127.0.0.1", proxy.port()).tls(bed.tls()).unwrap();
    echo_bytes(&config()).await;
    let (up, down) = (proxy.bytes(Way::Up), proxy.bytes(Way::Down));
    for cut in [Cut::Close, Cut::Reset] {
        for (way, bytes) in [(Way::Up, up), (Way::Down, down)] {
            for at in (0..bytes).step_by(usize::try_from(bytes / 24).unwrap()) {
                proxy.cut_after(way, at, cut);
                let met = Connection::connect(&config()).await;
                // Once we have all that we want, the cut comes too late.
                if proxy.keep(way) {
                    continue;
                }
                let Err(error) = met else { continue };
                let Error::NotReady { cause: Cause::Closed | Cause::Io(_), step } = error else {
                    panic!("{cut:?} after {at} bytes {way:?}: {error:?}")
                };
                assert_ne!(step, Step::Dial);
            }
        }
    }
}

async fn echo_bytes(config: &Config) {
    crate::bed::echo(&mut Connection::connect(config).await.unwrap()).await;
}
