//! A subscriber that keeps what it is told.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::DefaultGuard,
};

/// What was told up to a level, by everything on this thread.
#[derive(Clone)]
pub struct Watcher {
    level: Level,
    told: Arc<Mutex<Told>>,
}

#[derive(Default)]
struct Told {
    spans: Vec<Seen>,
    entered: Vec<usize>,
    events: Vec<Seen>,
}

/// A span or an event.
#[derive(Clone, Debug)]
pub struct Seen {
    pub target: String,
    pub level: Level,
    pub fields: BTreeMap<String, String>,
    /// The span it was told in.
    pub within: Option<usize>,
}

impl Seen {
    fn new(metadata: &Metadata<'_>, within: Option<usize>) -> Self {
        let (target, level) = (metadata.target().to_owned(), *metadata.level());
        Self { target, level, fields: BTreeMap::new(), within }
    }

    /// A field as text; empty if it was left out.
    pub fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

impl Watcher {
    pub fn up_to(level: Level) -> (Self, DefaultGuard) {
        let watcher = Self { level, told: Arc::default() };
        let guard = tracing::subscriber::set_default(watcher.clone());
        (watcher, guard)
    }

    pub fn spans(&self) -> Vec<Seen> {
        self.told.lock().unwrap().spans.clone()
    }

    /// Events of this target, taken: each is given once.
    pub fn take(&self, target: &str) -> Vec<Seen> {
        let mut told = self.told.lock().unwrap();
        let (wanted, others) = told.events.drain(..).partition(|event| event.target == target);
        told.events = others;
        wanted
    }

    /// All that was told, as text.
    pub fn text(&self) -> String {
        let told = self.told.lock().unwrap();
        format!("{:?} {:?}", told.spans, told.events)
    }
}

impl Subscriber for Watcher {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("echo_wire") && *metadata.level() <= self.level
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut told = self.told.lock().unwrap();
        let mut seen = Seen::new(span.metadata(), told.entered.last().copied());
        span.record(&mut seen);
        told.spans.push(seen);
        Id::from_u64(told.spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        values.record(&mut self.told.lock().unwrap().spans[place(span)]);
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut told = self.told.lock().unwrap();
        let mut seen = Seen::new(event.metadata(), told.entered.last().copied());
        event.record(&mut seen);
        told.events.push(seen);
    }

    fn enter(&self, span: &Id) {
        self.told.lock().unwrap().entered.push(place(span));
    }

    fn exit(&self, _span: &Id) {
        self.told.lock().unwrap().entered.pop();
    }
}

fn place(span: &Id) -> usize {
    usize::try_from(span.into_u64()).unwrap() - 1
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name().into(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name().into(), value.into());
    }
}
