//! `echo-wire keys`: where keys land, and why.

use std::{
    io::{self, BufRead as _, Write},
    time::{Duration, UNIX_EPOCH},
};

use echo_wire::keyspace::{Class, classify, slot};
use serde_json::json;

use crate::{
    arguments::Keys,
    escape,
    exit::{Exit, Stop},
    paint::Paint,
};

/// Longest key that is shown whole, in bytes.
const SHOWN: usize = 512;

pub(crate) fn run(asked: &Keys, json: bool, paint: Paint) -> Result<Exit, Stop> {
    let mut out = io::stdout().lock();
    let mut print = |key: &[u8]| match json {
        true => as_json(key, &mut out),
        false => as_text(key, paint, &mut out),
    };
    match asked.keys.as_slice() {
        [dash] if dash == "-" => {
            let mut input = io::stdin().lock();
            let mut line = Vec::new();
            while input.read_until(b'\n', &mut line)? > 0 {
                print(line.strip_suffix(b"\n").unwrap_or(&line))?;
                line.clear();
            }
        }
        keys => keys.iter().try_for_each(|key| print(key.as_encoded_bytes()))?,
    }
    Ok(Exit::Done)
}

fn as_text(key: &[u8], paint: Paint, out: &mut impl Write) -> io::Result<()> {
    let class = classify(key);
    let space = match class {
        Class::Foreign(_) => paint.bad(class.space()),
        Class::Job { id: Err(_), .. } => paint.wait(class.space()),
        _ => paint.good(class.space()),
    };
    writeln!(out, "{}", paint.name(escape::short(key, SHOWN)))?;
    writeln!(out, "  space  {space}")?;
    if let Some(queue) = class.queue() {
        writeln!(out, "  queue  {queue}")?;
    }
    if let Some(key_type) = class.key_type() {
        writeln!(out, "  type   {key_type}")?;
    }
    if let Some(job) = class.job() {
        let age = job.minted_at().duration_since(UNIX_EPOCH).unwrap_or_default();
        writeln!(out, "  job    a {} minted {}", job.kind(), utc(age))?;
    }
    writeln!(out, "  slot   {}", slot(key))?;
    writeln!(out, "  why    {}", paint.dim(class))
}

fn as_json(key: &[u8], out: &mut impl Write) -> io::Result<()> {
    let class = classify(key);
    let job = class.job().map(|job| {
        let millis = job.minted_at().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let millis = u64::try_from(millis).unwrap_or(u64::MAX);
        json!({ "id": job.to_string(), "kind": job.kind().as_str(), "snowflake": job.snowflake(), "minted_ms": millis })
    });
    let told = json!({
        "key": escape::json(key),
        "space": class.space(),
        "queue": class.queue(),
        "type": class.key_type(),
        "job": job,
        "slot": slot(key),
        "why": class.to_string(),
    });
    writeln!(out, "{told}")
}

/// A time as `2026-01-28T15:04:57.641Z`. Years begin in March here, so that a leap day is the last
/// one of its year, and come in eras of 400, which all have the same number of days.
fn utc(age: Duration) -> String {
    let millis = age.as_millis();
    let (days, in_day) = (millis / 86_400_000 + 719_468, millis % 86_400_000);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let (hour, minute) = (in_day / 3_600_000, in_day / 60_000 % 60);
    let (second, milli) = (in_day / 1_000 % 60, in_day % 1_000);
    let year = era * 400 + year + carry;
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_as_a_calendar_has_it() {
        for (seconds, want) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (1_704_067_199, "2023-12-31T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(utc(Duration::from_secs(seconds)), want);
        }
    }
}
