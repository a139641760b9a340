//! What the reader sees: a heading a scene, a line a fact. Colour only on a terminal.

use std::{
    fmt::Display,
    io::{IsTerminal, Write, stdout},
    process,
};

pub(crate) struct Screen {
    colour: bool,
    scenes: u8,
    /// What did not come out as it must.
    failed: u8,
}

impl Screen {
    pub(crate) fn new() -> Self {
        let colour = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { colour, scenes: 0, failed: 0 }
    }

    /// A new scene.
    pub(crate) fn scene(&mut self, title: &str) {
        self.scenes += 1;
        let title = self.paint("1", format!("{}. {title}", self.scenes));
        line(format_args!("\n{title}"));
    }

    /// What is done, in plain words.
    pub(crate) fn say(&self, text: impl Display) {
        line(format_args!("   {text}"));
    }

    /// What somebody sent, or the server answered.
    pub(crate) fn show(&self, text: impl Display) {
        line(self.paint("2", format!("     {text}")));
    }

    /// What must be so; if it is not, the demo fails.
    pub(crate) fn expect(&mut self, holds: bool, text: impl Display) {
        let (colour, mark) = if holds { ("32", "✓") } else { ("31", "✗ NOT SO:") };
        line(format_args!("   {}", self.paint(colour, format!("{mark} {text}"))));
        self.failed += u8::from(!holds);
    }

    /// Whether all came out as it must.
    pub(crate) fn is_well(&self) -> bool {
        self.failed == 0
    }

    fn paint(&self, colour: &str, text: String) -> String {
        if self.colour { format!("\x1b[{colour}m{text}\x1b[0m") } else { text }
    }
}

/// One line on the screen. A reader that has seen enough (`| head`) ends the demo.
pub(crate) fn line(text: impl Display) {
    if writeln!(stdout(), "{text}").is_err() {
        process::exit(0);
    }
}
