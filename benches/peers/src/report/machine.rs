//! What it ran on.

use std::{fmt::Write, fs, process::Command};

use crate::wire::place::program;

pub fn write(page: &mut String) -> std::fmt::Result {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    // Not what this thread is kept on.
    let cores = cpu.matches("model name").count();
    writeln!(page, "- {}", said("date", &["+%Y-%m-%d"]))?;
    writeln!(
        page,
        "- {cores} × {}; {}",
        model.map_or("unknown", |(_, model)| model),
        said("uname", &["-sr"])
    )?;
    writeln!(page, "- {}, release with fat LTO", said("rustc", &["--version"]))?;
    let server = said(program().to_str().unwrap_or_default(), &["--version"]);
    writeln!(page, "- {}, on a core of its own", server.split(" sha").next().unwrap_or_default())?;
    let names = ["redis", "fred", "rustis", "redis-protocol", "resp-rs", "tokio"];
    let versions: Vec<_> = names.iter().filter_map(|name| version(name)).collect();
    writeln!(page, "- {}; TCP_NODELAY is on for all\n", versions.join(", "))
}

fn said(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output();
    output.map_or_else(
        |_| "unknown".into(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

fn version(name: &str) -> Option<String> {
    let lock = include_str!("../../Cargo.lock");
    let (_, behind) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    Some(format!("{name} {}", behind.split('"').next()?))
}
