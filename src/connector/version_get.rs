//! The fence's question, ready to be sent: it opens every connection and is the heartbeat of an
//! idle one.

/// `GET {emq}:version`, encoded.
pub(super) const VERSION_GET: &[u8] = b"*2\r\n$3\r\nGET\r\n$13\r\n{emq}:version\r\n";

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::VERSION_GET;
    use crate::{keyspace::VERSION_KEY, resp::Command};

    #[test]
    fn it_is_what_encoding_the_command_gives() {
        let mut encoded = BytesMut::new();
        Command::new("GET").arg(VERSION_KEY).encode(&mut encoded);
        assert_eq!(encoded, VERSION_GET);
    }
}
