//! A script: its source and the hash that it is called by.

use std::{fmt, sync::OnceLock};

use bytes::Bytes;

use super::ScriptCall;
use crate::resp::{
    Arg, Sink,
    encode::{argument, begin, end},
};

/// A Lua script for the server: its source, and the SHA-1 of it, by which it is called.
///
/// Made once, as a `static` if the source is known when the program is compiled; the hash is
/// computed at the first use. A clone shares the source and knows the hash: it allocates nothing.
///
/// ```
/// use echo_wire::connector::Script;
///
/// /// Takes the oldest job of a queue and remembers who has it.
/// static CLAIM: Script = Script::new(
///     "local job = redis.call('LPOP', KEYS[1])
///      if job then redis.call('HSET', KEYS[2], job, ARGV[1]) end
///      return job",
/// );
/// let call = CLAIM.call().key("emq:{mail}:wait").key("emq:{mail}:active").arg("mailer-7");
/// assert_eq!((call.key_count(), call.arg_count()), (2, 1));
/// assert_eq!(CLAIM.sha1(), "8f5d001359df2ba58ec1cbcb14a2d886011d5d89");
/// ```
///
/// [`Connector::eval`](super::super::Connector::eval) runs a call by itself,
/// [`Pipeline::eval`](super::super::Pipeline::eval) puts it among other commands.
///
/// # One error that a script must not answer
///
/// `NOSCRIPT No matching script` is how a server says that it has not run a script because it does
/// not have it. A script that makes up this very answer is taken at its word, and is run again.
///
/// Source: Valkey's pages "Scripting with Lua", "EVAL", "EVALSHA".
pub struct Script {
    source: Bytes,
    sha1: OnceLock<Sha1>,
    read_only: bool,
}

/// A SHA-1 in hexadecimal, as the servers write it.
type Sha1 = [u8; 40];

impl Script {
    /// A script whose source is part of the program.
    pub const fn new(source: &'static str) -> Self {
        Self {
            source: Bytes::from_static(source.as_bytes()),
            sha1: OnceLock::new(),
            read_only: false,
        }
    }

    /// A script whose source is made or read when the program runs. The hash is computed here.
    ///
    /// ```
    /// use echo_wire::connector::Script;
    ///
    /// let source = format!("return {}", 6 * 7);
    /// assert_eq!(Script::from_source(source).sha1(), "1fa00e76656cc152ad327c13fe365858fd7be306");
    /// ```
    pub fn from_source(source: impl Into<Bytes>) -> Self {
        let script = Self { source: source.into(), sha1: OnceLock::new(), read_only: false };
        script.hash();
        script
    }

    /// Has it called by EVALSHA_RO and EVAL_RO (Valkey; Redis from 7.0 on): the server refuses it
    /// any write, and a replica may run it.
    #[must_use = "the script is taken and given back"]
    pub const fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Whether [`read_only`](Self::read_only) was said.
    pub const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// A call of it, without keys and arguments yet.
    #[inline]
    pub fn call(&self) -> ScriptCall<'_> {
        ScriptCall::new(self)
    }

    /// The source, as it is sent.
    pub fn source(&self) -> &[u8] {
        &self.source
    }

    /// The SHA-1 of the source, 40 hexadecimal digits in lower case.
    pub fn sha1(&self) -> &str {
        std::str::from_utf8(self.hash()).unwrap_or_default()
    }

    #[inline]
    pub(super) fn hash(&self) -> &Sha1 {
        self.sha1.get_or_init(|| sha1(&self.source))
    }

    pub(super) fn shared_source(&self) -> &Bytes {
        &self.source
    }

    /// Whether both are the same to a server.
    #[inline]
    pub(in crate::connector) fn is(&self, other: &Self) -> bool {
        self.hash() == other.hash()
    }

    /// Appends SCRIPT LOAD. Source: Valkey's page "SCRIPT LOAD".
    pub(in crate::connector) fn encode_load<S: Sink>(&self, sink: &mut S) {
        begin("SCRIPT", 2, sink);
        argument(&Arg::from("LOAD"), sink);
        argument(&Arg::from(&self.source), sink);
        end(sink);
    }
}

impl Clone for Script {
    fn clone(&self) -> Self {
        let sha1 = OnceLock::from(*self.hash());
        Self { source: self.source.clone(), sha1, read_only: self.read_only }
    }
}

/// Its hash and its length: the source may be long.
impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("sha1", &self.sha1())
            .field("bytes", &self.source.len())
            .finish_non_exhaustive()
    }
}

fn sha1(source: &[u8]) -> Sha1 {
    const HEX: [u8; 16] = *b"0123456789abcdef";
    let digest = sha1_smol::Sha1::from(source).digest().bytes();
    let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or_default();
    let mut hex = [0; 40];
    for (pair, byte) in hex.chunks_exact_mut(2).zip(digest) {
        pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180's examples.
    #[test]
    fn the_hash_is_sha_1_in_lower_case() {
        for (source, sha1) in [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            ),
        ] {
            assert_eq!(Script::new(source).sha1(), sha1);
            assert_eq!(Script::from_source(source.to_owned()).clone().sha1(), sha1);
        }
    }
}
