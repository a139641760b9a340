//! Where a key lands: its space, queue, type, slot, and why.
//!
//! ```text
//! cargo run --example keys -- '{emq}:version' 'emq:{mail}:pending' 'emq:{mail}:job:USR0KHTOWnGLuC'
//! ```
#![allow(clippy::arithmetic_side_effects, reason = "dates of this age stay small")]

use std::{
    env,
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use echo_wire::keyspace::{classify, slot};

fn main() -> ExitCode {
    let keys: Vec<OsString> = env::args_os().skip(1).collect();
    if keys.is_empty() {
        eprintln!("usage: keys <key>…");
        return ExitCode::from(2);
    }
    let mut out = io::stdout().lock();
    for key in &keys {
        // A reader that has seen enough (`| head`) is no failure.
        if print(key.as_encoded_bytes(), &mut out).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}

fn print(key: &[u8], out: &mut impl Write) -> io::Result<()> {
    let class = classify(key);
    writeln!(out, "{}", key.escape_ascii())?;
    writeln!(out, "  space  {}", class.space())?;
    writeln!(out, "  queue  {}", class.queue().unwrap_or("-"))?;
    writeln!(out, "  type   {}", class.key_type().unwrap_or("-"))?;
    if let Some(job) = class.job() {
        let (kind, snowflake) = (job.kind(), job.snowflake());
        let minted = utc(job.minted_at());
        writeln!(out, "  job    {job}: a {kind}, minted {minted}, snowflake {snowflake}")?;
    }
    writeln!(out, "  slot   {}", slot(key))?;
    writeln!(out, "  why    {class}")
}

/// A time as `2026-01-28T15:04:57.641Z`. Years begin in March here, so that a leap day is the
/// last one of its year, and come in eras of 400, which all have the same number of days.
fn utc(time: SystemTime) -> String {
    let millis = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
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
