//! A server is believed to be who its certificate says, if somebody we trust has signed that.

use std::process::Command as Process;

use echo_wire::connector::{
    Cause, Config, ConfigPart, Connection, Error, Passage, Step, Tls, TlsError,
};

use crate::{
    authority::Authority,
    bed::{Clients, Files, PROTOCOLS, bed, bed_of, echo, refused},
};

#[tokio::test]
async fn a_name_and_an_address_are_verified_in_both_generations() {
    let Some(bed) = bed() else { return };
    for host in ["localhost", "127.0.0.1"] {
        for protocol in PROTOCOLS {
            let config = bed.at(host).protocol(protocol);
            let mut connection = Connection::connect(&config).await.unwrap();
            assert_eq!(connection.protocol(), protocol);
            echo(&mut connection).await;
            connection.close().await;
        }
    }
    let again = Connection::connect(&bed.at("localhost")).await.unwrap();
    assert_eq!(again.passage(), Passage::Verified);
}

#[tokio::test]
async fn roots_are_taken_as_pem_and_as_der_among_others() {
    let Some(bed) = bed() else { return };
    let other = Authority::new("another");
    let pem = format!("{}\n{}", other.pem(), bed.authority.pem());
    let settings = [
        Tls::new().roots_pem(pem).unwrap(),
        Tls::new().root_der(bed.authority.der()).unwrap(),
        Tls::new().roots_pem(other.pem()).unwrap().root_der(bed.authority.der()).unwrap(),
    ];
    for tls in settings {
        let config = Config::tcp("127.0.0.1", bed.port()).tls(tls).unwrap();
        echo(&mut Connection::connect(&config).await.unwrap()).await;
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_we_trust_has_signed_is_refused() {
    let Some(bed) = bed() else { return };
    // The same name, another key.
    let other = Tls::new().roots_pem(Authority::new("ours").pem()).unwrap();
    let config = Config::tcp("127.0.0.1", bed.port()).tls(other).unwrap();
    assert!(matches!(refused(&config).await, TlsError::Untrusted(_)));
    let stranger = Tls::new().roots_pem(Authority::new("another").pem()).unwrap();
    let config = Config::tcp("127.0.0.1", bed.port()).tls(stranger).unwrap();
    let why = refused(&config).await;
    assert_eq!(why, TlsError::Untrusted("no root that we trust signed it".into()));
}

#[tokio::test]
async fn a_certificate_of_yesterday_is_tried_again() {
    let sign = |authority: &Authority| authority.sign_until(&["127.0.0.1"], 2020);
    let Some(bed) = bed_of(Clients::Any, sign) else { return };
    let error = Connection::connect(&bed.config()).await.unwrap_err();
    assert!(!error.is_fatal());
    let Error::NotReady { step: Step::Tls, cause: Cause::Tls(TlsError::OutOfDate(why)) } = error
    else {
        panic!("{error:?}")
    };
    assert!(why.contains("expired"), "{why}");
}

/// The system's roots are read from where the environment says, which is another process's here.
#[tokio::test]
async fn a_url_alone_trusts_the_roots_of_the_system_and_no_others() {
    let Some(bed) = bed() else { return };
    let files = Files::new(bed.server.port());
    let ours = files.write("ours.crt", &bed.authority.pem());
    let other = files.write("other.crt", &Authority::new("another").pem());
    for (roots, ends_well) in [(ours, true), (other, false)] {
        for scheme in ["rediss", "valkeys"] {
            let child = Process::new(std::env::current_exe().unwrap())
                .args(["--exact", "--ignored", "trust::in_another_process"])
                .env("SSL_CERT_FILE", &roots)
                .env_remove("SSL_CERT_DIR")
                .env("ECHO_WIRE_TEST_URL", format!("{scheme}://{}", bed.address()))
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&child.stdout);
            assert!(said.contains("running 1 test"), "{said}");
            assert_eq!(child.status.success(), ends_well, "{said}");
            assert_eq!(said.contains("Untrusted"), !ends_well, "{said}");
        }
    }
}

#[tokio::test]
#[ignore = "run by another test, with another environment"]
async fn in_another_process() {
    let url = std::env::var("ECHO_WIRE_TEST_URL").unwrap();
    echo(&mut Connection::connect(&url.parse().unwrap()).await.unwrap()).await;
}

#[test]
fn what_is_no_root_is_not_taken() {
    for pem in ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        assert_eq!(Tls::new().roots_pem(pem).unwrap_err().part(), ConfigPart::Tls, "{pem}");
    }
    assert_eq!(Tls::new().root_der(b"").unwrap_err().part(), ConfigPart::Tls);
}
