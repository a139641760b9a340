//! Colours, where somebody can see them.

use std::{
    env,
    fmt::Display,
    io::{self, IsTerminal as _},
};

use clap::ValueEnum;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set (<https://no-color.org>).
    Auto,
    Always,
    Never,
}

/// Wraps text in a colour, or leaves it as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    colors: bool,
    terminal: bool,
}

impl Paint {
    pub(crate) fn new(when: When) -> Self {
        let terminal = io::stdout().is_terminal();
        let unwanted = env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty());
        let colors = match when {
            When::Auto => terminal && !unwanted && env::var_os("TERM").is_none_or(|t| t != "dumb"),
            When::Always => true,
            When::Never => false,
        };
        Self { colors, terminal }
    }

    /// Whether a person watches: a line may be written anew in its place.
    pub(crate) fn is_live(self) -> bool {
        self.terminal
    }

    pub(crate) fn good(self, text: impl Display) -> String {
        self.with("1;32", text)
    }

    pub(crate) fn bad(self, text: impl Display) -> String {
        self.with("1;31", text)
    }

    pub(crate) fn wait(self, text: impl Display) -> String {
        self.with("1;33", text)
    }

    pub(crate) fn name(self, text: impl Display) -> String {
        self.with("36", text)
    }

    pub(crate) fn dim(self, text: impl Display) -> String {
        self.with("2", text)
    }

    fn with(self, code: &str, text: impl Display) -> String {
        if self.colors { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}
