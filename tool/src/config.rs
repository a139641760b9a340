//! From the command line to a config.

use std::time::Duration;

use echo_wire::connector::{Config, Error};

use crate::arguments::Place;

impl Place {
    /// A config that claims an empty store, as every program that works here does.
    pub(crate) fn config(&self) -> Result<Config, Error> {
        let mut config = Config::from_url(&self.url)?.client_name("echo-wire")?;
        if let Some(wire) = &self.wire {
            config = config.wire(wire.clone())?;
        }
        if let Some(within) = self.timeout {
            config = config.connect_timeout(within)?.response_timeout(within)?;
        }
        Ok(config)
    }

    /// A config that only looks. Who may read from a replica never claims, whoever answers: that is
    /// how the crate promises not to write.
    pub(crate) fn looking(&self) -> Result<Config, Error> {
        Ok(self.config()?.read_from_replica(true))
    }

    /// The wire that is asked for.
    pub(crate) fn wire(&self) -> &str {
        self.wire.as_deref().unwrap_or(echo_wire::connector::WIRE_VERSION)
    }
}

/// A duration from the command line: `250ms`, `2s`, `1m`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
    let number: u64 = number.parse().map_err(|_| "a number and ms, s or m, as 250ms".to_owned())?;
    match unit {
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs).ok_or("too long".to_owned()),
        _ => Err("a number and ms, s or m, as 250ms".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_number_and_a_unit() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(duration("1m"), Ok(Duration::from_secs(60)));
        for bad in ["", "s", "1", "1h", "-1s", "1.5s", "999999999999999999999s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
