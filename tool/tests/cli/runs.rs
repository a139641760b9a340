//! Runs of the binary.

use std::{
    io::Write as _,
    process::{Command, Stdio},
    thread,
};

use serde_json::Value as Json;

/// How a run ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The one line of JSON that it printed.
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// All lines of JSON that it printed.
    pub(crate) fn jsons(&self) -> Vec<Json> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("a JSON value")).collect()
    }
}

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_echo-wire"));
    command.args(args).env_remove("NO_COLOR").env_remove("ECHO_WIRE_URL").stdin(Stdio::null());
    command
}

pub(crate) fn run(args: &[&str]) -> Ran {
    finish(command(args).output().unwrap())
}

/// With these bytes on standard input.
pub(crate) fn fed(args: &[&str], input: &[u8]) -> Ran {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    // It may end before it has read all.
    let feeding = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap();
    finish(output)
}

pub(crate) fn finish(output: std::process::Output) -> Ran {
    Ran {
        code: output.status.code().expect("it ended by itself"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
