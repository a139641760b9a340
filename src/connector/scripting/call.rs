//! A call of a script: its keys and its arguments.

use std::fmt;

use smallvec::SmallVec;

use super::{Form, Script};
use crate::resp::{
    Arg, Command, Sink,
    encode::{argument, begin, end},
};

/// A call of a [`Script`] under construction: keys, then arguments, all borrowed. From
/// [`Script::call`].
///
/// Keys are what Lua finds in `KEYS`, arguments what it finds in `ARGV`; both take whatever turns
/// into an [`Arg`]. Building allocates nothing up to [`Command::INLINE`] of both together.
///
/// ```
/// use echo_wire::connector::Script;
///
/// static ADD: Script = Script::new("return redis.call('RPUSH', KEYS[1], unpack(ARGV))");
///
/// let add = ADD.call().key("emq:{mail}:wait").arg("a").arg(17);
/// assert_eq!((add.key_count(), add.arg_count()), (1, 2));
///
/// // Many arguments are added in place; a chain moves the call at each step.
/// let mut add = ADD.call().key("emq:{mail}:wait");
/// for id in 0..100 {
///     add.push_arg(id);
/// }
/// assert_eq!(add.arg_count(), 100);
/// ```
#[derive(Clone)]
#[must_use = "a call does nothing until a connection sends it"]
pub struct ScriptCall<'a> {
    script: &'a Script,
    /// keys ≤ words.len()
    keys: usize,
    /// The keys, then the arguments.
    words: SmallVec<[Arg<'a>; Command::INLINE]>,
}

impl<'a> ScriptCall<'a> {
    #[inline]
    pub(super) fn new(script: &'a Script) -> Self {
        Self { script, keys: 0, words: SmallVec::new() }
    }

    /// Adds a key, behind the keys there are.
    #[inline]
    pub fn key(mut self, key: impl Into<Arg<'a>>) -> Self {
        self.push_key(key);
        self
    }

    /// Adds each of `keys`.
    #[inline]
    pub fn keys<I>(mut self, keys: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Arg<'a>>,
    {
        keys.into_iter().for_each(|key| self.push_key(key));
        self
    }

    /// Adds an argument.
    #[inline]
    pub fn arg(mut self, arg: impl Into<Arg<'a>>) -> Self {
        self.push_arg(arg);
        self
    }

    /// Adds each of `args`.
    #[inline]
    pub fn args<I>(mut self, args: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Arg<'a>>,
    {
        args.into_iter().for_each(|arg| self.push_arg(arg));
        self
    }

    /// Adds a key in place, behind the keys there are.
    #[inline]
    pub fn push_key(&mut self, key: impl Into<Arg<'a>>) {
        self.words.insert(self.keys, key.into());
        self.keys = self.keys.saturating_add(1);
    }

    /// Adds an argument in place.
    #[inline]
    pub fn push_arg(&mut self, arg: impl Into<Arg<'a>>) {
        self.words.push(arg.into());
    }

    /// What is called.
    pub fn script(&self) -> &'a Script {
        self.script
    }

    /// The number of keys.
    pub fn key_count(&self) -> usize {
        self.keys
    }

    /// The number of arguments, the keys not counted.
    pub fn arg_count(&self) -> usize {
        self.words.len().saturating_sub(self.keys)
    }

    /// The command in this form.
    pub(in crate::connector) fn command(&self, form: Form) -> Command<'_> {
        let command = Command::new(form.command(self.script.is_read_only()));
        let command = match form {
            Form::Hash => command.arg(self.script.hash()),
            Form::Source => command.arg(self.script.shared_source()),
        };
        command.arg(self.keys).args(self.words.iter().cloned())
    }

    /// Appends the call in this form.
    pub(in crate::connector) fn encode<S: Sink>(&self, form: Form, sink: &mut S) {
        encode_head(self.script, form, self.command_args(), sink);
        self.encode_tail(sink);
    }

    /// How many arguments the command has: the script, the number of keys, and all words.
    pub(super) fn command_args(&self) -> usize {
        self.words.len().saturating_add(2)
    }

    /// What follows the script in either form.
    pub(in crate::connector) fn encode_tail<S: Sink>(&self, sink: &mut S) {
        argument(&Arg::from(self.keys), sink);
        self.words.iter().for_each(|word| argument(word, sink));
        end(sink);
    }
}

/// What comes before the number of keys: the form.
pub(super) fn encode_head<S: Sink>(script: &Script, form: Form, args: usize, sink: &mut S) {
    begin(form.command(script.is_read_only()), args, sink);
    match form {
        Form::Hash => argument(&Arg::from(script.hash()), sink),
        Form::Source => argument(&Arg::from(script.shared_source()), sink),
    }
}

/// The script and the numbers: keys and arguments may be other people's data.
impl fmt::Debug for ScriptCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptCall")
            .field("script", &self.script)
            .field("key_count", &self.keys)
            .field("arg_count", &self.arg_count())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;

    static SCRIPT: Script = Script::new("return 1");
    static READ: Script = Script::new("return 1").read_only();

    fn encoded(call: &ScriptCall<'_>, form: Form) -> String {
        let mut out = BytesMut::new();
        call.encode(form, &mut out);
        let mut as_command = BytesMut::new();
        call.command(form).encode(&mut as_command);
        assert_eq!(out, as_command);
        String::from_utf8(out.to_vec()).unwrap()
    }

    #[test]
    fn keys_stand_before_arguments_in_whatever_order_they_come() {
        let call = SCRIPT.call().arg("x").key("a").args([1, 2]).keys(["b", "c"]);
        assert_eq!(
            encoded(&call, Form::Source),
            "*9\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n$1\r\n3\r\n\
             $1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nx\r\n$1\r\n1\r\n$1\r\n2\r\n"
        );
        assert_eq!((call.key_count(), call.arg_count()), (3, 3));
    }

    #[test]
    fn each_form_has_its_command_and_its_read_only_one() {
        let sha1 = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
        for (script, form, head) in [
            (&SCRIPT, Form::Hash, format!("$7\r\nEVALSHA\r\n$40\r\n{sha1}")),
            (&READ, Form::Hash, format!("$10\r\nEVALSHA_RO\r\n$40\r\n{sha1}")),
            (&READ, Form::Source, "$7\r\nEVAL_RO\r\n$8\r\nreturn 1".into()),
        ] {
            assert_eq!(encoded(&script.call(), form), format!("*3\r\n{head}\r\n$1\r\n0\r\n"));
        }
    }
}
