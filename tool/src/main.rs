//! `echo-wire`: looks at a store through the crate of the same name. `echo-wire help` has it all.
//!
//! A verb a file: `fence`, `keys`, `ping`, `watch`, `resp`. `arguments` is the command line,
//! `exit` what a run tells the shell, `paint` the colours, `config` the way from a URL to a config,
//! `escape` how bytes are shown.
mod arguments;
mod config;
mod escape;
mod exit;
mod fence;
mod keys;
mod paint;
mod ping;
mod resp;
mod watch;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{
    arguments::{Arguments, Verb},
    paint::Paint,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Arguments { verb, color, json } = Arguments::parse();
    let paint = Paint::new(color);
    let run = match verb {
        Verb::Fence(asked) => fence::run(&asked, json, paint).await,
        Verb::Keys(asked) => keys::run(&asked, json, paint),
        Verb::Ping(asked) => ping::run(&asked, json, paint).await,
        Verb::Resp(asked) => resp::run(&asked, json, paint),
        Verb::Watch(asked) => watch::run(&asked, json, paint).await,
    };
    exit::end(run)
}
