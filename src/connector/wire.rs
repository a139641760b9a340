//! The identity of a wire: what the fence looks for under the version key.

use std::{borrow::Cow, fmt};

use super::config_error::{ConfigError, Part};

/// The identity of the wire that this crate speaks. A code constant, not a label.
///
/// ```
/// use echo_wire::connector::WIRE_VERSION;
///
/// assert_eq!(WIRE_VERSION, "echomq:2.0.0");
/// ```
pub const WIRE_VERSION: &str = "echomq:2.0.0";

/// A wire's identity: 1 to 128 visible ASCII characters. Visible, so that nobody has to tell
/// `echomq:2.0.0` from the same with a line end behind it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Wire(Cow<'static, str>);

/// Longest identity taken, in bytes.
const LONGEST: usize = 128;

impl Wire {
    /// [`WIRE_VERSION`].
    pub(super) const OURS: Self = Self(Cow::Borrowed(WIRE_VERSION));

    pub(super) fn new(identity: Cow<'static, str>) -> Result<Self, ConfigError> {
        if identity.is_empty() || identity.len() > LONGEST {
            return Err(ConfigError::new(Part::Wire, "it has 1 to 128 characters"));
        }
        if !identity.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigError::new(Part::Wire, "only visible ASCII is allowed"));
        }
        Ok(Self(identity))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_short_visible_ascii() {
        assert_eq!(Wire::new(WIRE_VERSION.into()).unwrap(), Wire::OURS);
        assert!(Wire::new("x".repeat(128).into()).is_ok());
        for bad in ["", " ", "a b", "echomq:2.0.0\n", "naïve", "\0", &"x".repeat(129)] {
            assert_eq!(Wire::new(bad.to_owned().into()).unwrap_err().part(), Part::Wire, "{bad:?}");
        }
    }
}
