//! A server that wants to know its clients gets a certificate, or says that it wants one.

use echo_wire::connector::{ConfigPart, Connection, Tls, TlsError};
use rcgen::KeyPair;

use crate::{
    authority::Authority,
    bed::{Bed, Clients, PROTOCOLS, bed_of, echo, refused},
};

fn choosy() -> Option<Bed> {
    bed_of(Clients::Known, |authority| authority.sign(&["localhost", "127.0.0.1"]))
}

#[tokio::test]
async fn a_certificate_that_is_wanted_is_shown() {
    let Some(bed) = choosy() else { return };
    let ours = bed.authority.sign(&["worker"]);
    let key = ours.key.serialize_der();
    let settings = [
        bed.tls().client_certificate_pem(&ours.pem, ours.key.serialize_pem()).unwrap(),
        bed.tls().client_certificate_der([ours.der.clone()], key).unwrap(),
    ];
    for tls in settings {
        for protocol in PROTOCOLS {
            let config = bed.at("localhost").tls(tls.clone()).unwrap().protocol(protocol);
            echo(&mut Connection::connect(&config).await.unwrap()).await;
        }
    }
}

#[tokio::test]
async fn without_one_the_server_is_told_apart_from_one_that_dies() {
    let Some(bed) = choosy() else { return };
    // It says so behind the handshake, in the midst of the boot, and closes: a race, so again.
    for round in 0..20 {
        let config = bed.config().protocol(PROTOCOLS[round % 2]);
        let config = if round < 10 { config } else { bed.config() };
        let why = refused(&config).await;
        assert!(matches!(why, TlsError::ClientCertificate(_)), "{why:?}");
        assert!(why.to_string().contains("wants a client certificate"), "{why}");
    }
}

#[tokio::test]
async fn one_that_somebody_else_signed_is_refused() {
    let Some(bed) = choosy() else { return };
    let stranger = Authority::new("another").sign(&["worker"]);
    let tls = bed.tls().client_certificate_pem(&stranger.pem, stranger.key.serialize_pem());
    let config = bed.config().tls(tls.unwrap()).unwrap();
    for _ in 0..10 {
        let why = refused(&config).await;
        assert!(matches!(why, TlsError::ClientCertificate(_)), "{why:?}");
    }
}

#[test]
fn a_key_that_is_not_the_certificates_is_not_taken() {
    let ours = Authority::new("ours").sign(&["worker"]);
    let other = KeyPair::generate().unwrap().serialize_pem();
    let settings = [
        Tls::new().client_certificate_pem(&ours.pem, other),
        Tls::new().client_certificate_pem(&ours.pem, ""),
        Tls::new().client_certificate_pem("", ours.key.serialize_pem()),
        Tls::new().client_certificate_der([ours.der.clone()], b"no key".to_vec()),
        Tls::new().client_certificate_der([b"none".to_vec()], ours.key.serialize_der()),
        Tls::new().client_certificate_der(Vec::<Vec<u8>>::new(), ours.key.serialize_der()),
    ];
    for tls in settings {
        assert_eq!(tls.unwrap_err().part(), ConfigPart::Tls);
    }
}

#[test]
fn no_certificate_and_no_key_is_shown() {
    let authority = Authority::new("ours");
    let ours = authority.sign(&["worker"]);
    let key = ours.key.serialize_der();
    let tls = Tls::new().roots_pem(authority.pem()).unwrap();
    let tls = tls.client_certificate_pem(&ours.pem, ours.key.serialize_pem()).unwrap();
    let config = echo_wire::connector::Config::tcp("h", 1).tls(tls.clone()).unwrap();
    let shown = format!("{tls:?} {tls:#?} {config:?} {config:#?}");
    for secret in [key, ours.der, authority.der()] {
        // As bytes, in hex, as text: none of the ways in which a Debug shows it.
        let window = &secret[40..48];
        let hex: String = window.iter().map(|byte| format!("{byte:02x}")).collect();
        let list = format!("{window:?}");
        let list = list.trim_matches(['[', ']']);
        let escaped = window.escape_ascii().to_string();
        for form in [hex.as_str(), &hex.to_uppercase(), list, &escaped] {
            assert!(!shown.contains(form), "{shown}");
        }
    }
    assert!(shown.contains("1 given") && shown.contains("client_certificate: true"), "{shown}");
}
