//! Who a connection is: a user and a password, which is never shown.

use std::fmt;

use bytes::Bytes;

/// A user and a password as bytes; neither has to be UTF-8.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Credentials {
    /// `None`: the server's `default` user.
    user: Option<Bytes>,
    password: Secret,
}

/// The user that a server knows without being told a name.
const DEFAULT_USER: &[u8] = b"default";

impl Credentials {
    pub(super) fn new(user: Option<Bytes>, password: Bytes) -> Self {
        Self { user, password: Secret(password) }
    }

    /// The user's name, `default` if none was given.
    pub(super) fn user(&self) -> &[u8] {
        self.user.as_deref().unwrap_or(DEFAULT_USER)
    }

    /// Whether the server would take the password alone for the same user.
    pub(super) fn is_default_user(&self) -> bool {
        self.user() == DEFAULT_USER
    }

    /// The password. Only the encoder of AUTH has a use for it.
    pub(super) fn password(&self) -> &[u8] {
        &self.password.0
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
