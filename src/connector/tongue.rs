//! Whether a server speaks TLS where we do not, or the other way round.
//!
//! Neither says so by itself. A plain server waits for the end of what it takes for a command, and
//! a TLS server hangs up without a word. So a peer that we have never spoken to, and that does so,
//! is asked once more on another socket, in the other tongue: with a PING, which concerns nobody,
//! or with the first words of a handshake. No credentials are in either.

use std::{pin::pin, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{Instant, timeout_at},
};

use super::{
    Config, Error, cause::Cause, dialer::Dialer, endpoint::Endpoint, observe, step::Step,
    tls_error::TlsError, transport::Transport,
};

/// How long a peer may be silent to a handshake before it is asked.
const PATIENCE: Duration = Duration::from_secs(1);

/// Takes the socket through the handshake, if the config wants TLS.
pub(super) async fn secure(
    sock: Transport,
    config: &Config,
    dialer: Option<&Dialer>,
    deadline: Instant,
) -> Result<Transport, Error> {
    let Some(tls) = &config.tls else { return Ok(sock) };
    let mut handshake = pin!(tls.secure(sock));
    if is_stranger(config, dialer) {
        let now = Instant::now();
        let half = deadline.saturating_duration_since(now).checked_div(2).unwrap_or_default();
        let silent = now.checked_add(half.min(PATIENCE)).unwrap_or(deadline);
        match timeout_at(silent, &mut handshake).await {
            Ok(Err(error)) if is_mute(&error) => {
                let is_plain = is_plain(config, deadline).await;
                return Err(if is_plain {
                    Error::TlsRefused(TlsError::PeerIsPlain)
                } else {
                    error
                });
            }
            Ok(ended) => return ended.inspect(|_sock| observe::step(Step::Tls)),
            Err(_elapsed) if is_plain(config, deadline).await => {
                return Err(Error::TlsRefused(TlsError::PeerIsPlain));
            }
            Err(_elapsed) => {}
        }
    }
    let late = Error::NotReady { step: Step::Tls, cause: Cause::Deadline };
    let secured = timeout_at(deadline, handshake).await.unwrap_or(Err(late));
    secured.inspect(|_sock| observe::step(Step::Tls))
}

/// What a connect without TLS met, unless it was that the server speaks nothing else.
pub(super) async fn explained(
    error: Error,
    config: &Config,
    dialer: &Dialer,
    deadline: Instant,
) -> Error {
    let asks = config.tls.is_none() && is_stranger(config, Some(dialer)) && is_mute(&error);
    if asks && is_tls(config, deadline).await {
        return Error::TlsRefused(TlsError::PeerIsTls);
    }
    error
}

/// Whether the peer is one that can be asked, and that has never come through the fence.
fn is_stranger(config: &Config, dialer: Option<&Dialer>) -> bool {
    matches!((dialer, &config.endpoint), (Some(Dialer::Endpoint), Endpoint::Tcp { .. }))
        && !config.hello.has_met()
}

/// Whether it let us in and hung up without a word.
fn is_mute(error: &Error) -> bool {
    match error {
        Error::NotReady { step: Step::Dial, .. } => false,
        Error::NotReady { cause, .. } => matches!(cause, Cause::Closed | Cause::Io(_)),
        _ => false,
    }
}

async fn is_plain(config: &Config, deadline: Instant) -> bool {
    let said = said_to(b"PING\r\n", config, deadline).await;
    matches!(said, Some([b'+' | b'-', _]))
}

async fn is_tls(config: &Config, deadline: Instant) -> bool {
    let said = said_to(CLIENT_HELLO, config, deadline).await;
    matches!(said, Some(record) if is_record(&record))
}

/// Whether these are the first bytes of a TLS record that a server begins with: an alert or a
/// handshake, of version 3.
pub(super) fn is_record(bytes: &[u8]) -> bool {
    matches!(bytes, [21 | 22, 3, ..])
}

/// The first two bytes that the peer has to say to this.
async fn said_to(words: &[u8], config: &Config, deadline: Instant) -> Option<[u8; 2]> {
    let patience = Instant::now().checked_add(PATIENCE)?.min(deadline);
    let asked = async {
        let mut sock = Transport::dial(config, patience).await.ok()?;
        sock.write_all(words).await.ok()?;
        let mut said = [0; 2];
        sock.read_exact(&mut said).await.ok()?;
        Some(said)
    };
    timeout_at(patience, asked).await.ok()?
}

/// The least that a TLS server has to answer, if only with an alert. Source: RFC 5246, 7.4.1.2.
const CLIENT_HELLO: &[u8] = &[
    22, 3, 1, 0, 45, // a handshake record of 45 bytes
    1, 0, 0, 41, // a ClientHello of 41 bytes
    3, 3, // TLS 1.2
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, // 32 bytes of random; no key is made of it
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
    0, // no session
    0, 2, 0xc0, 0x2f, // one cipher suite
    1, 0, // no compression
];
