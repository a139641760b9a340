//! One reply, element by element, over as many reads as it takes.
//!
//! The machine keeps its place when the bytes run out: the tape so far, the stack of open
//! aggregates, and how far the bytes must reach before it is worth going on. No byte is parsed
//! twice but those of a head that a read cut in two. The stack is explicit and bounded.

use super::{
    ProtocolErrorKind,
    kind::Kind,
    scan::{Item, Leaf, Rules, Scan},
    stack::{Open, Stack},
    tape::{self, Node, RawNode},
    tiny::{self, tiny},
};

/// A reply in the making. All positions count from the reply's first byte.
#[derive(Debug, Default)]
pub(super) struct Frame {
    tape: Vec<RawNode>,
    open: Stack,
    /// The next item. `at <= bytes.len()`, and the bytes before it are done with.
    at: usize,
    /// No line end lies before it.
    searched: usize,
    /// Where the bytes must reach to at least.
    need: usize,
    /// Whether `need` is where a bulk ends.
    in_bulk: bool,
    streamed: Option<Streamed>,
}

/// A streamed string: its chunks are moved together in place, so that it ends as one text.
#[derive(Debug, Clone, Copy)]
struct Streamed {
    start: usize,
    len: usize,
}

impl Frame {
    /// Goes on with these bytes, all that came of the reply. `Ok(true)`: it is whole and ends at
    /// [`Frame::len`]; `Ok(false)`: more bytes are needed.
    pub(super) fn advance(
        &mut self,
        bytes: &mut [u8],
        rules: &Rules,
    ) -> Result<bool, ProtocolErrorKind> {
        if self.at == 0 && rules.tiny_fits && self.flat(bytes, rules) {
            return Ok(true);
        }
        if !self.open.is_empty() {
            self.reserve(bytes.len().saturating_sub(self.at));
        }
        loop {
            let whole = match self.streamed {
                Some(string) => self.chunk(bytes, string, rules)?,
                None if rules.tiny_fits => match self.run(bytes, rules)? {
                    Some(whole) => Some(whole),
                    None => self.item(bytes, rules)?,
                },
                None => self.item(bytes, rules)?,
            };
            if let Some(whole) = whole {
                return Ok(whole);
            }
        }
    }

    /// The whole reply, if it is a small aggregate of tiny elements that lies there whole: the
    /// commonest there is, which needs no stack. `false`, and nothing done: any other.
    #[inline]
    fn flat(&mut self, bytes: &[u8], rules: &Rules) -> bool {
        let bytes = bytes.get(..tiny::REPLY).unwrap_or(bytes);
        let Some((kind, total, mut ahead)) = tiny::header(bytes, rules.resp2_only) else {
            return false;
        };
        // More than these are better off with room for all of them at once.
        if total > FLAT {
            return false;
        }
        let node = Node { kind, value: total as u64, end: tape::end(total.wrapping_add(1)) };
        self.tape.push(node.pack());
        for index in 1..=total {
            let Some((leaf, behind)) = tiny(ahead, rules.resp2_only) else {
                self.tape.clear();
                return false;
            };
            ahead = behind;
            let next = bytes.len().wrapping_sub(ahead.len());
            let leaf = leaf.map_text(|text| place(text, next));
            self.tape.push(Node::leaf(leaf, index).pack());
        }
        self.at = bytes.len().wrapping_sub(ahead.len());
        true
    }

    /// As many tiny elements and small aggregates as lie ahead. `Some(true)`: the reply is whole.
    fn run(&mut self, bytes: &[u8], rules: &Rules) -> Result<Option<bool>, ProtocolErrorKind> {
        let limit = usize::try_from(rules.limits.reply).unwrap_or(usize::MAX).min(bytes.len());
        let mut ahead = bytes.get(self.at..limit).unwrap_or_default();
        loop {
            ahead = self.run_leaves(ahead, limit, rules);
            self.at = limit.wrapping_sub(ahead.len());
            let whole = if self.open.last().is_some_and(Open::is_full) {
                self.aggregate_done(rules)?
            } else if let Some((kind, total, behind)) = tiny::header(ahead, rules.resp2_only) {
                ahead = behind;
                let next = limit.wrapping_sub(ahead.len());
                self.open(kind, Some(total as u64), next, ahead.len(), rules)?
            } else {
                return Ok(None);
            };
            if whole {
                self.at = limit.wrapping_sub(ahead.len());
                return Ok(Some(true));
            }
        }
    }

    /// As many tiny elements of the innermost aggregate as lie ahead, with nothing to decide
    /// between them. Gives what lies behind them.
    #[inline]
    fn run_leaves<'a>(&mut self, mut ahead: &'a [u8], limit: usize, rules: &Rules) -> &'a [u8] {
        let Some(open) = self.open.last_mut() else { return ahead };
        let most = open.total.unwrap_or(rules.limits.elements).saturating_sub(open.done);
        let mut left = most;
        while left > 0
            && let Some((leaf, behind)) = tiny(ahead, rules.resp2_only)
        {
            ahead = behind;
            let next = limit.wrapping_sub(ahead.len());
            let leaf = leaf.map_text(|text| place(text, next));
            self.tape.push(Node::leaf(leaf, self.tape.len()).pack());
            left = left.wrapping_sub(1);
        }
        if left < most {
            open.attributes = 0;
            open.done = open.done.saturating_add(most.wrapping_sub(left));
        }
        ahead
    }

    /// One item; `Some` ends the loop.
    fn item(&mut self, bytes: &[u8], rules: &Rules) -> Result<Option<bool>, ProtocolErrorKind> {
        let (item, next) = match rules.item(bytes, self.at, self.searched)? {
            Scan::Found(item, next) => (item, next),
            Scan::MoreHead => return Ok(Some(self.wait_for_head(bytes))),
            Scan::MoreBody(until) => return Ok(Some(self.wait_for_body(until))),
        };
        if next as u64 > rules.limits.reply {
            return Err(ProtocolErrorKind::ReplyLimit);
        }
        let whole = match item {
            Item::Leaf(leaf) => {
                self.push_leaf(leaf, next);
                self.value_done(rules)?
            }
            Item::Open(kind, total) => {
                self.open(kind, total, next, bytes.len().saturating_sub(next), rules)?
            }
            Item::Streamed => {
                self.streamed = Some(Streamed { start: next, len: 0 });
                false
            }
            Item::End => self.end_mark(rules)?,
        };
        self.at = next;
        Ok(whole.then_some(true))
    }

    /// One chunk of a streamed string, moved up to those before it.
    fn chunk(
        &mut self,
        bytes: &mut [u8],
        string: Streamed,
        rules: &Rules,
    ) -> Result<Option<bool>, ProtocolErrorKind> {
        let (len, next) = match rules.chunk(bytes, self.at)? {
            Scan::Found(text, next) => (text.len(), next),
            Scan::MoreHead => return Ok(Some(self.wait_for_head(bytes))),
            Scan::MoreBody(until) => return Ok(Some(self.wait_for_body(until))),
        };
        if next as u64 > rules.limits.reply {
            return Err(ProtocolErrorKind::ReplyLimit);
        }
        if len == 0 {
            let value = tape::pack_text(string.start, string.len);
            self.push(Node { kind: Kind::BulkString, value, end: self.next_index() });
            self.streamed = None;
            let whole = self.value_done(rules)?;
            self.at = next;
            return Ok(whole.then_some(true));
        }
        let total = string.len.saturating_add(len);
        if total as u64 > rules.limits.bulk {
            return Err(ProtocolErrorKind::BulkLimit);
        }
        // A found chunk is its text and CRLF, right before `next`.
        let end = next.saturating_sub(2);
        bytes.copy_within(end.saturating_sub(len)..end, string.start.saturating_add(string.len));
        self.streamed = Some(Streamed { start: string.start, len: total });
        self.at = next;
        Ok(None)
    }

    // Always: a small aggregate's cost is the calls it takes.
    #[inline(always)]
    fn open(
        &mut self,
        kind: Kind,
        total: Option<u64>,
        next: usize,
        unread: usize,
        rules: &Rules,
    ) -> Result<bool, ProtocolErrorKind> {
        let depth = self.open.depth(kind, &rules.limits)?;
        let node = self.tape.len();
        // As many as were announced and can be in the bytes that are here.
        let most = unread / SHORTEST;
        let nodes = total.map_or(0, |total| usize::try_from(total).unwrap_or(most).min(most));
        self.tape.reserve(nodes.saturating_add(1));
        self.push(Node { kind, value: total.unwrap_or(0), end: self.next_index() });
        if total == Some(0) {
            return if kind == Kind::Attribute {
                self.open.attribute_done();
                Ok(false)
            } else {
                self.value_done(rules)
            };
        }
        self.open.push(Open { kind, node, start: next, done: 0, total, depth, attributes: 0 });
        Ok(false)
    }

    fn end_mark(&mut self, rules: &Rules) -> Result<bool, ProtocolErrorKind> {
        match self.open.last() {
            Some(Open { total: None, attributes: 0, kind, done, .. }) => {
                if kind.has_pairs() && done % 2 != 0 {
                    return Err(ProtocolErrorKind::OddMap);
                }
            }
            _ => return Err(ProtocolErrorKind::UnexpectedEnd),
        }
        self.aggregate_done(rules)
    }

    /// A value is whole, and with it each aggregate whose last element it is. `true`: the reply is.
    fn value_done(&mut self, rules: &Rules) -> Result<bool, ProtocolErrorKind> {
        while let Some(open) = self.open.last_mut() {
            open.done = open.done.saturating_add(1);
            open.attributes = 0;
            if open.total.is_none() && open.done > rules.limits.elements {
                return Err(ProtocolErrorKind::ElementLimit);
            }
            if !open.is_full() {
                return Ok(false);
            }
            if self.close() == Some(Kind::Attribute) {
                self.open.attribute_done();
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The innermost aggregate is whole. `true`: the reply is.
    // Always: as `open`.
    #[inline(always)]
    fn aggregate_done(&mut self, rules: &Rules) -> Result<bool, ProtocolErrorKind> {
        if self.close() == Some(Kind::Attribute) {
            self.open.attribute_done();
            return Ok(false);
        }
        self.value_done(rules)
    }

    /// Writes what is now known into the innermost aggregate's node.
    fn close(&mut self) -> Option<Kind> {
        let open = self.open.pop()?;
        let node = Node { kind: open.kind, value: open.done, end: tape::end(self.tape.len()) };
        if let Some(raw) = self.tape.get_mut(open.node) {
            *raw = node.pack();
        }
        Some(open.kind)
    }

    fn push_leaf(&mut self, leaf: Leaf<&[u8]>, next: usize) {
        let leaf = leaf.map_text(|text| place(text, next));
        self.push(Node::leaf(leaf, self.tape.len()));
    }

    fn push(&mut self, node: Node) {
        self.tape.push(node.pack());
    }

    fn next_index(&self) -> u32 {
        tape::end(self.tape.len().saturating_add(1))
    }

    fn wait_for_head(&mut self, bytes: &[u8]) -> bool {
        self.need = bytes.len().saturating_add(1);
        self.in_bulk = false;
        // The last byte may be the CR of a CRLF.
        self.searched = bytes.len().saturating_sub(1);
        false
    }

    fn wait_for_body(&mut self, until: usize) -> bool {
        self.need = until;
        self.in_bulk = true;
        false
    }

    /// Whether nothing can be done with so many bytes of the reply.
    #[inline]
    pub(super) fn waits(&self, here: usize) -> bool {
        here < self.need
    }

    /// The bytes of the reply that are done with: all of them once it is whole.
    pub(super) fn len(&self) -> usize {
        self.at
    }

    /// The nodes so far.
    pub(super) fn nodes(&self) -> &[RawNode] {
        &self.tape
    }

    /// The nodes, taken out.
    pub(super) fn take_nodes(&mut self) -> Vec<RawNode> {
        std::mem::take(&mut self.tape)
    }

    /// Where the bulk that is being waited for ends, if one is.
    pub(super) fn bulk_end(&self) -> Option<usize> {
        self.in_bulk.then_some(self.need)
    }

    /// How many bytes the rest of the reply will take, judged by the elements that came.
    pub(super) fn rest(&self) -> usize {
        self.open.estimate(|open| self.at.saturating_sub(open.start))
    }

    /// Room for the nodes of the rest of the reply: no more than announced, and no more than
    /// [`EARNED`] for each node that came.
    fn reserve(&mut self, unread: usize) {
        let len = self.tape.len();
        let spare = self.tape.capacity().saturating_sub(len);
        if spare < unread / SHORTEST {
            let rest = self.open.estimate(|open| len.saturating_sub(open.node));
            let earned = len.saturating_mul(EARNED).min(MAX_EARNED).max(len);
            self.tape.reserve(rest.min(earned));
        }
    }

    /// Ready for the next reply; what was allocated is kept, within reason.
    #[inline]
    pub(super) fn reset(&mut self) {
        self.tape.clear();
        if self.tape.capacity() > KEPT_NODES {
            self.tape.shrink_to(KEPT_NODES);
        }
        self.open.clear();
        self.at = 0;
        self.searched = 0;
        self.need = 0;
        self.in_bulk = false;
        self.streamed = None;
    }
}

/// Start and length of a text whose element ends at `next`: its CRLF is between them.
fn place(text: &[u8], next: usize) -> (usize, usize) {
    (next.wrapping_sub(2).wrapping_sub(text.len()), text.len())
}

/// Elements of an aggregate that is tried as a whole first.
const FLAT: usize = 16;
/// The shortest element, `_` and CRLF.
const SHORTEST: usize = 3;
/// Each node that came earns room for so many more that were announced …
const EARNED: usize = 64;
/// … until this is reached (8 MiB); from there the room doubles.
const MAX_EARNED: usize = 512 * 1024;
/// Nodes (16 bytes each) whose room stays with the decoder between replies.
const KEPT_NODES: usize = 16 * 1024;
