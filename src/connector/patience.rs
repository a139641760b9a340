//! How long a command may keep its reply back, by its own words.
//!
//! Source: the command pages of BLPOP and its kin (timeouts in seconds, a fraction allowed), of
//! XREAD, XREADGROUP, WAIT and WAITAOF (in milliseconds). Zero is for ever in all of them.

use std::{borrow::Cow, time::Duration};

use super::command_table::Traits;
use crate::resp::Command;

/// How long the server may keep a reply back by request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// It does not wait.
    None,
    AtMost(Duration),
    Forever,
}

/// A command that may wait on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waiting {
    /// Its place among the commands it is sent with; 0 is the first.
    pub(super) place: usize,
    pub(super) name: Cow<'static, str>,
    pub(super) patience: Patience,
    /// Whether its reply may hold what the server has handed out with it: a popped element, say.
    /// WAIT and WAITAOF answer numbers only.
    pub(super) hands_out: bool,
}

impl Waiting {
    /// `None`: the command does not wait.
    pub(super) fn of(command: &Command<'_>, traits: &Traits, place: usize) -> Option<Self> {
        if !traits.is_blocking() {
            return None;
        }
        let name = match traits.name() {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(command.name().to_owned()),
        };
        let hands_out = !matches!(&*name, "WAIT" | "WAITAOF");
        Some(Self { place, patience: Patience::of(command, &name), hands_out, name })
    }
}

impl Patience {
    /// Of a command that waits. What cannot be read is for ever: the server answers it with an
    /// error at once, or understands more than we do.
    fn of(command: &Command<'_>, name: &str) -> Self {
        let last = || command.get(command.arg_count().checked_sub(1)?);
        let wait = match name {
            "BLMOVE" | "BLPOP" | "BRPOP" | "BRPOPLPUSH" | "BZPOPMAX" | "BZPOPMIN" => {
                last().and_then(seconds)
            }
            "BLMPOP" | "BZMPOP" => command.get(0).and_then(seconds),
            "WAIT" => command.get(1).and_then(milliseconds),
            "WAITAOF" => command.get(2).and_then(milliseconds),
            "XREAD" => block(command, 0),
            // GROUP, its name and the consumer's come first, and may read as anything.
            "XREADGROUP" => block(command, 3),
            _ => None,
        };
        match wait {
            Some(wait) if !wait.is_zero() => Self::AtMost(wait),
            _ => Self::Forever,
        }
    }

    /// Of commands that wait one after another.
    pub(super) fn sum<'w>(all: impl IntoIterator<Item = &'w Waiting>) -> Self {
        all.into_iter().fold(Self::None, |sum, waiting| match (sum, waiting.patience) {
            (Self::Forever, _) | (_, Self::Forever) => Self::Forever,
            (Self::None, other) | (other, Self::None) => other,
            (Self::AtMost(a), Self::AtMost(b)) => Self::AtMost(a.saturating_add(b)),
        })
    }

    /// How long to wait for the reply, where a server that does not wait has `grace` for it.
    pub(super) fn limit(self, grace: Duration) -> Option<Duration> {
        match self {
            Self::None => Some(grace),
            Self::AtMost(wait) => wait.checked_add(grace),
            Self::Forever => None,
        }
    }
}

fn seconds(word: &[u8]) -> Option<Duration> {
    let seconds: f64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn milliseconds(word: &[u8]) -> Option<Duration> {
    std::str::from_utf8(word).ok()?.parse().ok().map(Duration::from_millis)
}

/// The value of BLOCK among the options, which end at STREAMS; the last one counts.
fn block(command: &Command<'_>, skip: usize) -> Option<Duration> {
    let mut words = command.iter().skip(skip);
    let mut wait = None;
    while let Some(word) = words.next().filter(|word| !word.eq_ignore_ascii_case(b"STREAMS")) {
        if word.eq_ignore_ascii_case(b"BLOCK") {
            wait = words.next().and_then(milliseconds);
        }
    }
    wait
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(10);

    fn waiting(words: &[&str]) -> Option<Waiting> {
        let command = Command::new(words[0]).args(&words[1..]);
        Waiting::of(&command, &Traits::of(&command), 0)
    }

    #[test]
    fn the_wait_is_what_the_command_says() {
        let table: [(&[&str], u64); 21] = [
            (&["BLPOP", "q", "2"], 2000),
            (&["blpop", "a", "b", "c", "0.25"], 250),
            (&["BRPOP", "q", "1e1"], 10_000),
            (&["BLMOVE", "a", "b", "LEFT", "RIGHT", "3"], 3000),
            (&["BRPOPLPUSH", "a", "b", "4"], 4000),
            (&["BZPOPMIN", "z", "5"], 5000),
            (&["BZPOPMAX", "z", "y", "6"], 6000),
            (&["BLMPOP", "7", "1", "q", "LEFT"], 7000),
            (&["BLMPOP", "7.5", "2", "q", "r", "LEFT", "COUNT", "10"], 7500),
            (&["BZMPOP", "8", "1", "z", "MIN"], 8000),
            (&["XREAD", "BLOCK", "900", "STREAMS", "s", "$"], 900),
            (&["xread", "count", "5", "block", "901", "streams", "s", "$"], 901),
            (&["XREAD", "BLOCK", "1", "BLOCK", "902", "STREAMS", "s", "$"], 902),
            (&["XREAD", "BLOCK", "903", "STREAMS", "BLOCK", "4"], 903),
            (&["XREADGROUP", "GROUP", "g", "c", "BLOCK", "904", "STREAMS", "s", ">"], 904),
            (&["XREADGROUP", "GROUP", "BLOCK", "1", "BLOCK", "905", "STREAMS", "s", ">"], 905),
            (&["XREADGROUP", "GROUP", "g", "STREAMS", "BLOCK", "906", "STREAMS", "s", ">"], 906),
            (&["XREADGROUP", "GROUP", "g", "c", "NOACK", "block", "907", "STREAMS", "s", ">"], 907),
            (&["WAIT", "1", "908"], 908),
            (&["WAITAOF", "1", "0", "909"], 909),
            (&["BLPOP", "q", "0.0001"], 0),
        ];
        for (words, millis) in table {
            let patience = waiting(words).unwrap().patience;
            let Patience::AtMost(wait) = patience else { panic!("{words:?}: {patience:?}") };
            assert_eq!(wait.as_millis(), u128::from(millis), "{words:?}");
            assert_eq!(patience.limit(GRACE).unwrap(), wait + GRACE, "{words:?}");
        }
    }

    #[test]
    fn zero_is_for_ever_and_so_is_what_cannot_be_read() {
        let table: [&[&str]; 20] = [
            &["BLPOP", "q", "0"],
            &["BLPOP", "q", "0.0"],
            &["BLPOP", "q", "-0"],
            &["BLMPOP", "0", "1", "q", "LEFT"],
            &["XREAD", "BLOCK", "0", "STREAMS", "s", "$"],
            &["XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">"],
            &["WAIT", "1", "0"],
            &["WAITAOF", "1", "1", "0"],
            // Each of these is answered by an error at once.
            &["BLPOP", "q", "-1"],
            &["BLPOP", "q", "soon"],
            &["BLPOP", "q", "inf"],
            &["BLPOP", "q", "nan"],
            &["BLPOP", "q", "1e300"],
            &["BLPOP", "q", ""],
            &["BLPOP"],
            &["BLMPOP"],
            &["WAIT", "1"],
            &["WAIT", "1", "-5"],
            &["XREAD", "BLOCK"],
            &["XREAD", "BLOCK", "0.5", "STREAMS", "s", "$"],
        ];
        for words in table {
            let patience = waiting(words).unwrap().patience;
            assert_eq!((patience, patience.limit(GRACE)), (Patience::Forever, None), "{words:?}");
        }
    }

    #[test]
    fn what_does_not_wait_has_the_grace_alone() {
        for words in [
            &["GET", "k"][..],
            &["LPOP", "q"],
            &["XREAD", "COUNT", "1", "STREAMS", "BLOCK", "0"],
            &["XREADGROUP", "GROUP", "BLOCK", "BLOCK", "STREAMS", "s", ">"],
            &["CLIENT", "PAUSE", "100000"],
            &["DEBUG", "SLEEP", "100"],
        ] {
            assert_eq!(waiting(words), None, "{words:?}");
        }
        assert_eq!(Patience::sum([]).limit(GRACE), Some(GRACE));
    }

    #[test]
    fn what_no_table_knows_waits_without_limit_once_it_is_marked_as_blocking() {
        let marked = [
            Command::new("MODULE.POP").arg("q").arg(5).blocking(),
            Command::new("FCALL").arg("f").arg(0).blocking(),
            Command::new("XREAD").arg("STREAMS").arg("s").arg("$").blocking(),
        ];
        for command in marked {
            let waiting = Waiting::of(&command, &Traits::of(&command), 0).unwrap();
            assert_eq!((waiting.patience, waiting.hands_out), (Patience::Forever, true));
            assert_eq!(waiting.name, command.name());
        }
        // The mark takes nothing away from what is known.
        let known = Command::new("BLPOP").arg("q").arg(2).blocking();
        let waiting = Waiting::of(&known, &Traits::of(&known), 0).unwrap();
        assert_eq!(waiting.patience, Patience::AtMost(Duration::from_secs(2)));
    }

    #[test]
    fn waits_in_a_row_add_up_and_for_ever_stays_for_ever() {
        let sum = |batch: &[&[&str]]| {
            let all: Vec<_> = batch.iter().filter_map(|words| waiting(words)).collect();
            Patience::sum(&all)
        };
        let (two, five, endless) =
            (&["BLPOP", "q", "2"][..], &["BRPOP", "q", "5"][..], &["BLPOP", "q", "0"][..]);
        assert_eq!(sum(&[two, &["PING"], five]), Patience::AtMost(Duration::from_secs(7)));
        assert_eq!(sum(&[two, endless, five]), Patience::Forever);
        assert_eq!(sum(&[&["PING"]]), Patience::None);
    }

    #[test]
    fn replies_of_wait_are_numbers_and_nothing_that_could_be_lost() {
        assert!(!waiting(&["WAIT", "1", "0"]).unwrap().hands_out);
        assert!(!waiting(&["waitaof", "1", "1", "0"]).unwrap().hands_out);
        assert!(waiting(&["blpop", "q", "0"]).unwrap().hands_out);
    }
}
