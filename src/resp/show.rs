//! Replies as a person reads them in a log or a failed test; a loop, whatever the depth.

use std::fmt::{self, Write as _};

use super::{ReplyRef, Value, kind::Kind, scan::Leaf, tape::Tape};

/// One element and all below it.
pub(super) fn reply(reply: ReplyRef<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match reply.as_leaf() {
        Some(one) => leaf(one, f),
        None => {
            let (tape, range) = reply.nodes();
            nodes(tape, range.start, range.end, f)
        }
    }
}

/// The children of an aggregate.
pub(super) fn elements(
    tape: Tape<'_>,
    first: u32,
    end: u32,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_char('[')?;
    nodes(tape, first, end, f)?;
    f.write_char(']')
}

/// An aggregate that is being shown.
struct Shown {
    end: u32,
    close: &'static str,
    /// Elements shown, and whether every second one is a value behind its key.
    count: u64,
    pairs: bool,
}

fn nodes(tape: Tape<'_>, first: u32, end: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut open = vec![Shown { end, close: "", count: 0, pairs: false }];
    let mut after_attribute = false;
    let mut at = first;
    loop {
        while let Some(inner) = open.pop_if(|inner| inner.end <= at) {
            f.write_str(inner.close)?;
            after_attribute = inner.close == "| ";
            if open.is_empty() {
                return Ok(());
            }
        }
        let Some(inner) = open.last_mut() else { return Ok(()) };
        if !after_attribute {
            f.write_str(match (inner.count, inner.pairs) {
                (0, _) => "",
                (n, true) if n % 2 == 1 => ": ",
                _ => ", ",
            })?;
            inner.count = inner.count.saturating_add(1);
        }
        after_attribute = false;
        let node = tape.node(at);
        at = at.saturating_add(1);
        let (start, close) = match node.kind {
            Kind::Array => ("[", "]"),
            Kind::Map => ("{", "}"),
            Kind::Set => ("~[", "]"),
            Kind::Push => (">[", "]"),
            Kind::Attribute => ("|", "| "),
            _ => {
                if let Some(one) = tape.leaf(node) {
                    leaf(one, f)?;
                }
                continue;
            }
        };
        f.write_str(start)?;
        open.push(Shown { end: node.end, close, count: 0, pairs: node.kind.has_pairs() });
    }
}

fn leaf(leaf: Leaf<&[u8]>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match Value::of_leaf(leaf) {
        Value::Integer(value) => write!(f, "{value}"),
        Value::Double(value) => write!(f, "{value:?}"),
        Value::Boolean(value) => write!(f, "{value}"),
        Value::Null(_) => f.write_str("null"),
        Value::SimpleString(text) => write!(f, "+{}", text.escape_ascii()),
        Value::SimpleError(text) => write!(f, "-{}", text.escape_ascii()),
        Value::BulkError(text) => write!(f, "!\"{}\"", text.escape_ascii()),
        Value::BigNumber(text) => write!(f, "({}", text.escape_ascii()),
        Value::VerbatimString { format, text } => {
            write!(f, "={}:\"{}\"", format.escape_ascii(), text.escape_ascii())
        }
        other => write!(f, "\"{}\"", other.text().unwrap_or_default().escape_ascii()),
    }
}
