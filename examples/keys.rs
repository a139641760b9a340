//! Where a key lands: its space, queue, type, slot, and why.
//!
//! ```text
//! cargo run --example keys -- '{emq}:version' 'emq:{mail}:pending' 'emq:{mail}:job:USR0KHTOWnGLuC'
//! ```

use std::{
    env,
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
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
        let (kind, snowflake, millis) = (job.kind(), job.snowflake(), job.millis_since_2024());
        writeln!(
            out,
            "  job    {job}: kind {kind}, snowflake {snowflake}, minted {millis} ms into 2024"
        )?;
    }
    writeln!(out, "  slot   {}", slot(key))?;
    writeln!(out, "  why    {class}")
}
