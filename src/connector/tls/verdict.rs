//! What rustls' errors mean for a connection.

use std::io;

use tokio_rustls::rustls::{
    self, AlertDescription as Alert, CertificateError as Certificate, InvalidMessage,
};

use super::super::{Error, step::Step, tls_error::TlsError};

/// A handshake came to nothing.
pub(super) fn of_handshake(error: io::Error) -> Error {
    let step = Step::Tls;
    match meaning(&error) {
        Some(meaning) => meaning.verdict(step),
        None => Error::NotReady { step, cause: error.into() },
    }
}

/// The failure of a socket, which says what TLS has to do with it.
pub(super) fn named(error: io::Error) -> io::Error {
    match meaning(&error) {
        Some(meaning) => io::Error::new(error.kind(), meaning),
        None => error,
    }
}

fn meaning(error: &io::Error) -> Option<TlsError> {
    let error: &rustls::Error = error.get_ref()?.downcast_ref()?;
    Some(match error {
        // The first byte is none that TLS knows.
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => TlsError::PeerIsPlain,
        rustls::Error::InvalidCertificate(certificate) => of_certificate(certificate),
        rustls::Error::NoCertificatesPresented => TlsError::Untrusted(error.to_string()),
        rustls::Error::AlertReceived(alert) => of_alert(*alert),
        rustls::Error::PeerIncompatible(_) => TlsError::Refused(error.to_string()),
        _ => TlsError::Failed(error.to_string()),
    })
}

fn of_certificate(error: &Certificate) -> TlsError {
    match error {
        Certificate::Expired
        | Certificate::ExpiredContext { .. }
        | Certificate::NotValidYet
        | Certificate::NotValidYetContext { .. } => TlsError::OutOfDate(error.to_string()),
        Certificate::UnknownIssuer => TlsError::Untrusted("no root that we trust signed it".into()),
        _ => TlsError::Untrusted(error.to_string()),
    }
}

fn of_alert(alert: Alert) -> TlsError {
    let said = format!("{alert:?}");
    match alert {
        Alert::CertificateRequired
        | Alert::NoCertificate
        | Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateExpired
        | Alert::CertificateUnknown
        | Alert::CertificateUnobtainable
        | Alert::UnknownCA
        | Alert::AccessDenied => TlsError::ClientCertificate(said),
        Alert::HandshakeFailure
        | Alert::ProtocolVersion
        | Alert::InsufficientSecurity
        | Alert::UnrecognisedName
        | Alert::MissingExtension
        | Alert::UnsupportedExtension => TlsError::Refused(said),
        _ => TlsError::Failed(said),
    }
}
