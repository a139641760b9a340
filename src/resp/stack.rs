//! The aggregates that are open: whose header came and not yet all of their elements.

use super::{Limits, ProtocolErrorKind, kind::Kind};

/// Open aggregates, the outermost first. Bounded by [`Limits::depth`].
#[derive(Debug, Default)]
pub(super) struct Stack {
    open: Vec<Open>,
    /// Attributes read for the reply itself.
    attributes: u32,
}

/// An aggregate whose elements are not all here.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) kind: Kind,
    /// Its index in the tape.
    pub(super) node: usize,
    /// Where its first element starts.
    pub(super) start: usize,
    /// Its elements so far (two a pair).
    pub(super) done: u64,
    /// How many it must have; `None`: until its end mark.
    pub(super) total: Option<u64>,
    /// How deep it lies, the attributes before it included.
    pub(super) depth: u32,
    /// Attributes read for its next element.
    pub(super) attributes: u32,
}

impl Open {
    pub(super) fn is_full(&self) -> bool {
        self.total == Some(self.done)
    }
}

impl Stack {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The innermost.
    pub(super) fn last(&self) -> Option<&Open> {
        self.open.last()
    }

    /// The innermost.
    pub(super) fn last_mut(&mut self) -> Option<&mut Open> {
        self.open.last_mut()
    }

    /// How deep an aggregate lies that starts here, if it may.
    #[inline]
    pub(super) fn depth(&self, kind: Kind, limits: &Limits) -> Result<u32, ProtocolErrorKind> {
        let (above, attributes) = match self.open.last() {
            Some(open) => (open.depth, open.attributes),
            None => (0, self.attributes),
        };
        let depth = above.saturating_add(attributes).saturating_add(1);
        if depth > limits.depth {
            return Err(ProtocolErrorKind::DepthLimit);
        }
        if kind == Kind::Push && !self.open.is_empty() {
            return Err(ProtocolErrorKind::NestedPush);
        }
        Ok(depth)
    }

    pub(super) fn push(&mut self, open: Open) {
        self.open.push(open);
    }

    pub(super) fn pop(&mut self) -> Option<Open> {
        self.open.pop()
    }

    /// An attribute is whole: it takes no place, its value is still to come.
    pub(super) fn attribute_done(&mut self) {
        let count = match self.open.last_mut() {
            Some(open) => &mut open.attributes,
            None => &mut self.attributes,
        };
        *count = count.saturating_add(1);
    }

    /// How much of something the rest of the reply will take, judged by what each open aggregate
    /// has taken for its elements so far.
    pub(super) fn estimate(&self, taken: impl Fn(&Open) -> usize) -> usize {
        let rest = self.open.iter().map(|open| {
            let left = open.total.unwrap_or(0).saturating_sub(open.done);
            (taken(open) as u64).checked_div(open.done).unwrap_or(0).saturating_mul(left)
        });
        usize::try_from(rest.max().unwrap_or(0)).unwrap_or(usize::MAX)
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.attributes = 0;
    }
}
