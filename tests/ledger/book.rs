//! What the callers were told.

/// One call: what it wanted to write, and how it ended.
#[derive(Debug, Clone)]
pub struct Entry {
    pub kind: Kind,
    /// Each id that it pushes, in the order of its commands, and the place that the reply named.
    pub pushes: Vec<Push>,
    /// How many INCR it has, and the total that its one was answered.
    pub incrs: u64,
    pub total: Option<u64>,
    /// Commands of it that count as sent when it is.
    pub commands: u64,
    pub told: Told,
}

#[derive(Debug, Clone)]
pub struct Push {
    pub list: u64,
    pub id: u64,
    /// The length of the list after it: its place, counted from one.
    pub place: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Command,
    Pipeline,
    Transaction,
    Script,
    /// On a connection of its own, without replies.
    Silent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    Answered,
    NotSent,
    /// It may have run: the connection was lost, or the time was up.
    Unknown,
    TimedOut,
    /// Nobody was there to be told.
    Dropped,
}

/// All entries.
#[derive(Debug, Default)]
pub struct Book {
    pub entries: Vec<Entry>,
}

impl Book {
    pub fn add(&mut self, pages: Vec<Entry>) {
        self.entries.extend(pages);
    }
}

impl Entry {
    pub fn new(kind: Kind) -> Self {
        Self { kind, pushes: Vec::new(), incrs: 0, total: None, commands: 0, told: Told::Dropped }
    }

    /// Whether it was let in for certain.
    pub fn is_taken(&self) -> bool {
        matches!(self.told, Told::Answered | Told::Unknown | Told::TimedOut)
    }

    pub fn is_batch(&self) -> bool {
        matches!(self.kind, Kind::Pipeline | Kind::Transaction)
    }

    pub fn push(&mut self, list: u64, id: u64) {
        self.pushes.push(Push { list, id, place: None });
    }
}
