//! Who a connection is: a user and a password, which is never shown.

use std::fmt;

use bytes::Bytes;
use memchr::memmem;

use super::dialect::Auth;
use crate::resp::{Command, ServerError};

/// A user and a password as bytes; neither has to be UTF-8. The password is in no `Debug`, and no
/// error repeats it.
///
/// ```
/// use echo_wire::connector::Credentials;
///
/// let credentials = Credentials::user_and_password("worker", "s3cr3t");
/// assert_eq!(format!("{credentials:?}"), "Credentials { user: worker, password: (secret) }");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// `None`: the server's `default` user.
    user: Option<Bytes>,
    password: Secret,
}

/// So many of a password's first bytes are enough to hide a text.
const HEAD: usize = 4;
/// The user that a server knows without being told a name.
const DEFAULT_USER: &[u8] = b"default";

impl Credentials {
    /// The password of the server's default user. It may be empty: for a user without one any is
    /// right, an empty one too.
    pub fn password(password: impl Into<Bytes>) -> Self {
        Self { user: None, password: Secret(password.into()) }
    }

    /// A user (of the server's ACL) and its password, which may be empty.
    pub fn user_and_password(user: impl Into<Bytes>, password: impl Into<Bytes>) -> Self {
        Self { user: Some(user.into()), password: Secret(password.into()) }
    }

    /// AUTH in this form.
    pub(super) fn auth(&self, form: Auth) -> Command<'_> {
        let auth = Command::new("AUTH");
        match form {
            Auth::UserAndPassword => auth.arg(self.user()).arg(self.secret()),
            Auth::PasswordAlone => auth.arg(self.secret()),
        }
    }

    /// The user's name, `default` if none was given.
    pub(super) fn user(&self) -> &[u8] {
        self.user.as_deref().unwrap_or(DEFAULT_USER)
    }

    /// Whether the server would take the password alone for the same user.
    pub(super) fn is_default_user(&self) -> bool {
        self.user() == DEFAULT_USER
    }

    /// The password. Only the encoder of HELLO and AUTH has a use for it.
    pub(super) fn secret(&self) -> &[u8] {
        &self.password.0
    }

    /// Whether a text of the server's may repeat the password: servers name the arguments of a
    /// command that they do not know, cut short and with line ends replaced.
    pub(super) fn may_be_in(&self, text: &[u8]) -> bool {
        let unchanged = self.secret().split(|byte| b"\0\r\n".contains(byte)).next();
        let head = unchanged.unwrap_or_default();
        let head = head.get(..HEAD).unwrap_or(head);
        !self.secret().is_empty() && memmem::find(text, head).is_some()
    }

    /// The error, without its text where that may repeat the password.
    pub(super) fn hidden_in(&self, error: ServerError) -> ServerError {
        if !self.may_be_in(error.as_bytes()) {
            return error;
        }
        // The code decides what comes of it. No server makes an argument its first word, in capitals.
        let is_code = error.code().bytes().all(|byte| byte.is_ascii_uppercase());
        let code = if is_code { error.code() } else { "ERR" };
        ServerError::new(format!("{code} (its text is not shown)"))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &format_args!("{}", self.user().escape_ascii()))
            .field("password", &self.password)
            .finish()
    }
}

/// Bytes that no Debug and no Display shows, not even their length.
#[derive(Clone, PartialEq, Eq)]
struct Secret(Bytes);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(password: &'static [u8], words: &str) -> String {
        let credentials = Credentials::password(password);
        credentials.hidden_in(ServerError::new(words.as_bytes().to_vec())).to_string()
    }

    #[test]
    fn a_text_that_may_repeat_the_password_is_not_shown() {
        let unknown =
            |echo| format!("ERR unknown command 'HELLO', with args beginning with: {echo}");
        let short = "ERR (its text is not shown)";
        let echoes: [(&[u8], &str); 6] = [
            (b"hunter2", "'3' 'AUTH' 'default' 'hunter2' "),
            (b"hunter2-and-so-on", "'3' 'AUTH' 'default' 'hunter2-and' "),
            (b"hunter2\r\n", "'3' 'AUTH' 'default' 'hunter2  ' "),
            (b"hunter2\0tail", "'3' 'AUTH' 'default' 'hunter2' "),
            (b"\r\nx", "'3' 'AUTH' 'default' '  x' "),
            (b"e", "'e' "),
        ];
        for (password, echo) in echoes {
            assert_eq!(hidden(password, &unknown(echo)), short, "{echo}");
        }
        assert_eq!(hidden(b"hunter2", "hunter2 is unknown"), short);
        assert_eq!(hidden(b"LOADING", "LOADING now"), "LOADING (its text is not shown)");
    }

    #[test]
    fn any_other_text_is_shown() {
        let words = "WRONGPASS invalid username-password pair or user is disabled.";
        assert_eq!(hidden(b"hunter2", words), words);
        assert_eq!(hidden(b"", words), words);
    }
}
