//! A command: its name and its arguments, borrowed until they are encoded.
//!
//! Source: the RESP specification, "Sending commands to a Redis server": a command is an array of
//! bulk strings, the first of which is its name.

use std::fmt;

use bytes::BytesMut;
use smallvec::SmallVec;

use super::{
    argument::Arg,
    encode::{self, Sink},
};

/// A command under construction: a name and arguments, all borrowed.
///
/// Building and encoding allocate nothing up to [`Command::INLINE`] arguments, enough for an
/// EVALSHA of three keys and eight arguments; more of them go to a `Vec`. Text and bytes are
/// borrowed as they are, numbers are written as text into the command itself.
///
/// A name is one word of the server's command list; a subcommand is its first argument
/// (`Command::new("CLIENT").arg("INFO")`). Name and arguments are sent with their lengths, so no
/// byte in them can end an argument or begin another command. The array is never empty, because a
/// command always has a name; a name that is empty or unknown is answered by the server with
/// `ERR unknown command`, one reply like any other.
///
/// ```
/// use bytes::BytesMut;
/// use echo_wire::resp::Command;
///
/// let set = Command::new("SET").arg("jobs").arg(17).arg("EX").arg(2.5);
/// assert_eq!((set.name(), set.arg_count()), ("SET", 4));
///
/// let mut out = BytesMut::new();
/// set.encode(&mut out);
/// assert_eq!(&out[..], b"*5\r\n$3\r\nSET\r\n$4\r\njobs\r\n$2\r\n17\r\n$2\r\nEX\r\n$3\r\n2.5\r\n");
/// ```
#[derive(Clone)]
#[must_use = "a command does nothing until a connection sends it"]
pub struct Command<'a> {
    name: &'a str,
    args: SmallVec<[Arg<'a>; Command::INLINE]>,
    blocking: bool,
}

impl<'a> Command<'a> {
    /// How many arguments a command holds without allocating.
    pub const INLINE: usize = 13;

    /// A command without arguments yet.
    #[inline]
    pub fn new(name: &'a str) -> Self {
        Self { name, args: SmallVec::new(), blocking: false }
    }

    /// Appends one argument: text, bytes, a number, a key, or whatever turns [into](Arg) one.
    ///
    /// A chain may move the command at each step, some 350 bytes. That costs nothing to speak of
    /// up to three or four arguments; [`push`](Self::push) adds many in place.
    #[inline]
    pub fn arg(mut self, arg: impl Into<Arg<'a>>) -> Self {
        self.push(arg);
        self
    }

    /// Appends each of `args`.
    ///
    /// ```
    /// use echo_wire::resp::Command;
    ///
    /// let more = vec!["c".to_owned()];
    /// let del = Command::new("DEL").args(["a", "b"]).args(&more);
    /// assert_eq!(del.iter().collect::<Vec<_>>(), [b"a", b"b", b"c"]);
    /// ```
    #[inline]
    pub fn args<I>(mut self, args: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Arg<'a>>,
    {
        args.into_iter().for_each(|arg| self.push(arg));
        self
    }

    /// Appends one argument in place.
    #[inline]
    pub fn push(&mut self, arg: impl Into<Arg<'a>>) {
        self.args.push(arg.into());
    }

    /// Says that the server may keep the reply back until something happens. BLPOP and its kin are
    /// known; this is for what no table knows, a module's command or a renamed one.
    ///
    /// ```
    /// use echo_wire::{connector::Traits, resp::Command};
    ///
    /// let wait = Command::new("MODULE.POP").arg("queue").blocking();
    /// assert!(Traits::of(&wait).is_blocking());
    /// ```
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// Whether [`blocking`](Self::blocking) was said.
    #[inline]
    pub fn is_marked_blocking(&self) -> bool {
        self.blocking
    }

    /// The name, as it was given.
    #[inline]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The number of arguments, the name not counted.
    #[inline]
    pub fn arg_count(&self) -> usize {
        self.args.len()
    }

    /// The argument at `index` (0 is the first after the name), as the bytes that are sent.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.args.get(index).map(Arg::as_bytes)
    }

    /// The arguments in order, each as the bytes that are sent.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.args.iter().map(Arg::as_bytes)
    }

    /// Appends the command to `out`: one array of bulk strings.
    ///
    /// Allocates only if `out` has to grow.
    pub fn encode(&self, out: &mut BytesMut) {
        self.encode_to(out);
    }

    /// Appends the command to `sink`, which may take large shared arguments without a copy.
    pub(crate) fn encode_to<S: Sink>(&self, sink: &mut S) {
        encode::command(self.name, &self.args, sink);
    }
}

/// Name and number of arguments only: arguments may be passwords or other people's data.
impl fmt::Debug for Command<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("name", &self.name)
            .field("arg_count", &self.arg_count())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn encoded(command: &Command<'_>) -> String {
        let mut out = BytesMut::new();
        command.encode(&mut out);
        String::from_utf8(out.to_vec()).unwrap()
    }

    #[test]
    fn a_command_is_never_an_empty_array() {
        assert_eq!(encoded(&Command::new("PING")), "*1\r\n$4\r\nPING\r\n");
        assert_eq!(encoded(&Command::new("")), "*1\r\n$0\r\n\r\n");
    }

    #[test]
    fn line_ends_inside_an_argument_stay_inside() {
        let command = Command::new("GET").arg("a\r\n$1\r\nb").arg("");
        assert_eq!(encoded(&command), "*3\r\n$3\r\nGET\r\n$8\r\na\r\n$1\r\nb\r\n$0\r\n\r\n");
    }

    #[test]
    fn a_command_stays_small_enough_to_be_kept_across_an_await() {
        assert_eq!(size_of::<Arg<'_>>(), 24);
        assert!(size_of::<Command<'_>>() <= 352);
    }

    #[test]
    fn arguments_past_the_inline_ones_keep_their_order() {
        let words: Vec<String> = (0..40).map(|i| format!("w{i}")).collect();
        let command = Command::new("DEL").args(&words).arg(40);
        assert_eq!(command.arg_count(), 41);
        assert!(command.iter().zip(&words).all(|(arg, word)| arg == word.as_bytes()));
        assert_eq!(command.get(12), Some(&b"w12"[..]));
        assert_eq!(command.get(13), Some(&b"w13"[..]));
        assert_eq!(command.get(40), Some(&b"40"[..]));
        assert_eq!(command.get(41), None);
        assert!(encoded(&command).starts_with("*42\r\n$3\r\nDEL\r\n$2\r\nw0\r\n"));
        assert!(encoded(&command).ends_with("$3\r\nw39\r\n$2\r\n40\r\n"));
    }

    #[test]
    fn every_kind_of_argument_is_a_bulk_string() {
        let shared = Bytes::from_static(b"shared");
        let owned = "owned".to_owned();
        let command = Command::new("X")
            .arg(&shared)
            .arg(&owned)
            .arg(b"array")
            .arg(i64::MIN)
            .arg(u64::MAX)
            .arg(7_u8)
            .arg(0.5)
            .arg(-f64::MIN_POSITIVE);
        let args: Vec<_> = command.iter().map(<[u8]>::to_vec).collect();
        let want: [&[u8]; 8] = [
            b"shared",
            b"owned",
            b"array",
            b"-9223372036854775808",
            b"18446744073709551615",
            b"7",
            b"0.5",
            b"-22250738585072014e-324",
        ];
        assert_eq!(args, want);
    }

    #[test]
    fn debug_shows_no_argument() {
        let auth = Command::new("AUTH").arg("secret");
        assert_eq!(format!("{auth:?}"), r#"Command { name: "AUTH", arg_count: 1 }"#);
    }
}
