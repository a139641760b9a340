//! Which server it is, as far as that decides what may be asked of it.

use super::findings::field;
use crate::resp::Reply;

/// Whether CLIENT UNBLOCK can do no harm there.
///
/// On older servers it ends the whole server when the client it names is held up by CLIENT PAUSE,
/// or by a failover, which pauses as well: <https://github.com/valkey-io/valkey/pull/2117>,
/// <https://github.com/redis/redis/pull/14164>. Whoever is not known to be mended is not asked.
pub(super) fn unblocks_safely(hello: &Reply) -> bool {
    let text = |name: &[u8]| field(hello, name).and_then(|field| field.value().text());
    let since = match text(b"server") {
        Some(b"valkey") => (9, 0),
        Some(b"redis") => (8, 4),
        _ => return false,
    };
    text(b"version").and_then(version).is_some_and(|version| version >= since)
}

/// The first two numbers of a version.
fn version(text: &[u8]) -> Option<(u32, u32)> {
    let mut numbers = std::str::from_utf8(text).ok()?.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::{Decoder, Limits};

    #[test]
    fn only_servers_known_to_be_mended_are_asked_to_unblock() {
        let hello = |server: &str, version: &str| {
            let mut decoder = Decoder::new(Limits::default());
            decoder.feed(
                format!("%2\r\n+server\r\n+{server}\r\n+version\r\n+{version}\r\n").as_bytes(),
            );
            unblocks_safely(&decoder.next().unwrap().unwrap())
        };
        for (server, version) in [
            ("valkey", "9.0.0"),
            ("valkey", "9.1.2"),
            ("valkey", "10.0"),
            ("redis", "8.4.0"),
            ("redis", "9.0.1"),
        ] {
            assert!(hello(server, version), "{server} {version}");
        }
        for (server, version) in [
            ("valkey", "8.1.9"),
            ("valkey", "7.2.4"),
            ("redis", "7.0.15"),
            ("redis", "7.4.2"),
            ("redis", "8.2.3"),
            ("dragonfly", "99.0.0"),
            ("valkey", "9"),
            ("valkey", "nine.zero"),
            ("valkey", ""),
        ] {
            assert!(!hello(server, version), "{server} {version}");
        }
        let mut decoder = Decoder::new(Limits::default());
        decoder.feed(b"%1\r\n+role\r\n+master\r\n");
        assert!(!unblocks_safely(&decoder.next().unwrap().unwrap()));
    }
}
