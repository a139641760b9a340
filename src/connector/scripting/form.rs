//! How a call of a script is sent, and what its answer says about that.

use crate::resp::ServerError;

/// What stands for the script in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::connector) enum Form {
    /// EVALSHA: it runs where the script is loaded.
    Hash,
    /// EVAL: it runs anywhere, and loads the script.
    Source,
}

impl Form {
    pub(super) fn command(self, read_only: bool) -> &'static str {
        match (self, read_only) {
            (Self::Hash, false) => "EVALSHA",
            (Self::Hash, true) => "EVALSHA_RO",
            (Self::Source, false) => "EVAL",
            (Self::Source, true) => "EVAL_RO",
        }
    }
}

/// Whether the server says that it does not have the script, so that nothing ran.
///
/// Its own words, not the code alone: a script may answer an error of that code after it has
/// written. Valkey 9 says `NOSCRIPT No matching script.`, all others `… Please use EVAL.` after it.
pub(in crate::connector) fn is_missing(error: &ServerError) -> bool {
    let words = error.as_bytes();
    words.strip_prefix(b"ERR ").unwrap_or(words).starts_with(b"NOSCRIPT No matching script")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_missing_where_the_server_says_so_and_not_where_a_script_does() {
        for (line, missing) in [
            ("NOSCRIPT No matching script.", true),
            ("NOSCRIPT No matching script. Please use EVAL.", true),
            ("ERR NOSCRIPT No matching script.", true),
            ("NOSCRIPT of the play is lost", false),
            ("ERR No matching script.", false),
        ] {
            assert_eq!(is_missing(&ServerError::new(line)), missing, "{line}");
        }
    }
}
