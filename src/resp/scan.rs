//! One element's head (and, where it has no children, its body) at one place of the wire.
//!
//! Follows the RESP specification, <https://valkey.io/topics/protocol/>, and is strict: a line
//! ends with CRLF and holds neither, a length is digits only, `-1` only where RESP2 wrote nulls.
//! Knows nothing of nesting: that is [`frame`](super::frame)'s.

use super::{
    Limits, ProtocolErrorKind,
    digits::{self, integer, length},
    double,
    kind::Kind,
    value::Null,
};

/// An element without children.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Leaf<T> {
    /// Any of the string-like kinds; the text stands right before the element's last CRLF.
    Text(Kind, T),
    Integer(i64),
    Double(f64),
    Boolean(bool),
    Null(Null),
}

impl<T> Leaf<T> {
    /// The same leaf, its text given in another way.
    #[inline]
    pub(super) fn map_text<U>(self, text: impl FnOnce(T) -> U) -> Leaf<U> {
        match self {
            Self::Text(kind, t) => Leaf::Text(kind, text(t)),
            Self::Integer(value) => Leaf::Integer(value),
            Self::Double(value) => Leaf::Double(value),
            Self::Boolean(value) => Leaf::Boolean(value),
            Self::Null(form) => Leaf::Null(form),
        }
    }
}

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Item<'a> {
    Leaf(Leaf<&'a [u8]>),
    /// An aggregate of so many elements (two a pair); `None`: until its end mark.
    Open(Kind, Option<u64>),
    /// `$?`: chunks follow.
    Streamed,
    /// `.`: the end of a streamed aggregate.
    End,
}

/// An item and the place behind it, or how far the bytes must reach before asking again is worth
/// it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scan<T> {
    Found(T, usize),
    /// The bytes end within the head or line.
    MoreHead,
    /// The bytes end within a bulk's body or its CRLF, which ends here.
    MoreBody(usize),
}

pub(super) type Scanned<T> = Result<Scan<T>, ProtocolErrorKind>;

/// What a scan goes by: the limits, the generation, and how much of a line was searched before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) limits: Limits,
    pub(super) resp2_only: bool,
    /// Whether the limits let every tiny element through.
    pub(super) tiny_fits: bool,
}

impl Rules {
    /// The item at `at`. `searched`: no line end lies before it, from an earlier, shorter look.
    pub(super) fn item<'a>(
        &self,
        bytes: &'a [u8],
        at: usize,
        searched: usize,
    ) -> Scanned<Item<'a>> {
        let Some((first, rest)) = bytes.get(at..).and_then(<[u8]>::split_first) else {
            return Ok(Scan::MoreHead);
        };
        let body = at.saturating_add(1);
        let place = Place { bytes, body, searched };
        match first {
            b'+' => self.line(place, Kind::SimpleString),
            b'-' => self.line(place, Kind::SimpleError),
            b':' => Ok(head(integer(rest)?, body, |n| Item::Leaf(Leaf::Integer(n)))),
            b'$' => self.bulk(place, rest),
            b'*' => self.aggregate(Kind::Array, body, rest),
            _ if self.resp2_only => Err(ProtocolErrorKind::UnknownType),
            b'_' => Ok(head(word(rest, b"", ProtocolErrorKind::BadNull)?, body, |()| {
                Item::Leaf(Leaf::Null(Null::Resp3))
            })),
            b'#' => boolean(rest, body),
            b',' => self.line(place, Kind::Double),
            b'(' => self.line(place, Kind::BigNumber),
            b'!' => self.sized(place, rest, Kind::BulkError),
            b'=' => self.sized(place, rest, Kind::VerbatimString),
            b'%' => self.aggregate(Kind::Map, body, rest),
            b'~' => self.aggregate(Kind::Set, body, rest),
            b'>' => self.aggregate(Kind::Push, body, rest),
            b'|' => self.aggregate(Kind::Attribute, body, rest),
            b'.' => Ok(head(word(rest, b"", ProtocolErrorKind::BadLine)?, body, |()| Item::End)),
            _ => Err(ProtocolErrorKind::UnknownType),
        }
    }

    /// One chunk of a streamed string: `;<length>CRLF<bytes>CRLF`, the last one `;0CRLF`.
    pub(super) fn chunk<'a>(&self, bytes: &'a [u8], at: usize) -> Scanned<&'a [u8]> {
        let Some((first, rest)) = bytes.get(at..).and_then(<[u8]>::split_first) else {
            return Ok(Scan::MoreHead);
        };
        if *first != b';' {
            return Err(ProtocolErrorKind::BadChunk);
        }
        let Some((len, used)) = length(rest)? else { return Ok(Scan::MoreHead) };
        let start = at.saturating_add(1).saturating_add(used);
        if len == 0 {
            return Ok(Scan::Found(&[], start));
        }
        self.body(bytes, start, len)
    }

    fn line<'a>(&self, place: Place<'a>, kind: Kind) -> Scanned<Item<'a>> {
        let Some((text, next)) = line(place, self.limits.line)? else {
            return Ok(Scan::MoreHead);
        };
        let leaf = match kind {
            Kind::Double => Leaf::Double(double::parse(text).ok_or(ProtocolErrorKind::BadDouble)?),
            Kind::BigNumber if !digits::is_number(text) => {
                return Err(ProtocolErrorKind::BadBigNumber);
            }
            _ => Leaf::Text(kind, text),
        };
        Ok(Scan::Found(Item::Leaf(leaf), next))
    }

    fn bulk<'a>(&self, place: Place<'a>, rest: &'a [u8]) -> Scanned<Item<'a>> {
        match rest.first() {
            Some(b'-') => {
                Ok(head(null(rest)?, place.body, |()| Item::Leaf(Leaf::Null(Null::Bulk))))
            }
            Some(b'?') if !self.resp2_only => {
                Ok(head(word(rest, b"?", ProtocolErrorKind::BadLength)?, place.body, |()| {
                    Item::Streamed
                }))
            }
            _ => self.sized(place, rest, Kind::BulkString),
        }
    }

    fn sized<'a>(&self, place: Place<'a>, rest: &'a [u8], kind: Kind) -> Scanned<Item<'a>> {
        let Some((len, used)) = length(rest)? else { return Ok(Scan::MoreHead) };
        if kind == Kind::VerbatimString && len < 4 {
            return Err(ProtocolErrorKind::BadVerbatim);
        }
        let (text, next) = match self.body(place.bytes, place.body.saturating_add(used), len)? {
            Scan::Found(text, next) => (text, next),
            Scan::MoreHead => return Ok(Scan::MoreHead),
            Scan::MoreBody(until) => return Ok(Scan::MoreBody(until)),
        };
        if kind == Kind::VerbatimString && text.get(3) != Some(&b':') {
            return Err(ProtocolErrorKind::BadVerbatim);
        }
        Ok(Scan::Found(Item::Leaf(Leaf::Text(kind, text)), next))
    }

    /// `len` bytes from `start` on and their CRLF.
    fn body<'a>(&self, bytes: &'a [u8], start: usize, len: u64) -> Scanned<&'a [u8]> {
        if len > self.limits.bulk {
            return Err(ProtocolErrorKind::BulkLimit);
        }
        let len = usize::try_from(len).map_err(|_| ProtocolErrorKind::BulkLimit)?;
        // Within a reply's limit, which is below 4 GiB, on every platform that can hold it.
        let end = start.checked_add(len).ok_or(ProtocolErrorKind::ReplyLimit)?;
        let next = end.checked_add(2).ok_or(ProtocolErrorKind::ReplyLimit)?;
        if next as u64 > self.limits.reply {
            return Err(ProtocolErrorKind::ReplyLimit);
        }
        match (bytes.get(start..end), bytes.get(end..next)) {
            (Some(text), Some(b"\r\n")) => Ok(Scan::Found(text, next)),
            (Some(_), Some(_)) => Err(ProtocolErrorKind::BadTerminator),
            _ => Ok(Scan::MoreBody(next)),
        }
    }

    fn aggregate<'a>(&self, kind: Kind, body: usize, rest: &'a [u8]) -> Scanned<Item<'a>> {
        match rest.first() {
            Some(b'-') if kind == Kind::Array => {
                return Ok(head(null(rest)?, body, |()| Item::Leaf(Leaf::Null(Null::Array))));
            }
            // The specification streams arrays, sets and maps; nothing else.
            Some(b'?')
                if !self.resp2_only && matches!(kind, Kind::Array | Kind::Set | Kind::Map) =>
            {
                let scan = word(rest, b"?", ProtocolErrorKind::BadLength)?;
                return Ok(head(scan, body, |()| Item::Open(kind, None)));
            }
            _ => {}
        }
        let Some((count, used)) = length(rest)? else { return Ok(Scan::MoreHead) };
        let elements = if kind.has_pairs() { count.checked_mul(2) } else { Some(count) };
        match elements {
            Some(elements) if elements <= self.limits.elements => {
                Ok(Scan::Found(Item::Open(kind, Some(elements)), body.saturating_add(used)))
            }
            _ => Err(ProtocolErrorKind::ElementLimit),
        }
    }
}

/// Where a line starts, and from where on its end is still to be searched.
#[derive(Clone, Copy)]
struct Place<'a> {
    bytes: &'a [u8],
    body: usize,
    searched: usize,
}

/// The text up to the CRLF, and the place behind it.
fn line(place: Place<'_>, limit: usize) -> Result<Option<(&[u8], usize)>, ProtocolErrorKind> {
    let from = place.body.max(place.searched);
    let found = place.bytes.get(from..).and_then(|rest| memchr::memchr2(b'\r', b'\n', rest));
    let end = found.map_or(place.bytes.len(), |n| from.saturating_add(n));
    let text = place.bytes.get(place.body..end).unwrap_or_default();
    if text.len() > limit {
        return Err(ProtocolErrorKind::LineLimit);
    }
    match place.bytes.get(end..).unwrap_or_default() {
        [b'\r', b'\n', ..] => Ok(Some((text, end.saturating_add(2)))),
        [] | [b'\r'] => Ok(None),
        _ => Err(ProtocolErrorKind::BadLine),
    }
}

/// `-1` and CRLF, the only negative length there is.
fn null(rest: &[u8]) -> Result<Option<((), usize)>, ProtocolErrorKind> {
    word(rest, b"-1", ProtocolErrorKind::BadLength)
}

/// This word and CRLF; anything else is an error of this kind.
fn word(
    rest: &[u8],
    word: &[u8],
    otherwise: ProtocolErrorKind,
) -> Result<Option<((), usize)>, ProtocolErrorKind> {
    let shared = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
    if shared < word.len() {
        return if shared == rest.len() { Ok(None) } else { Err(otherwise) };
    }
    match rest.get(shared..).unwrap_or_default() {
        [b'\r', b'\n', ..] => Ok(Some(((), shared.saturating_add(2)))),
        [] | [b'\r'] => Ok(None),
        [b'\r', ..] => Err(ProtocolErrorKind::BadLine),
        _ => Err(otherwise),
    }
}

fn boolean<'a>(rest: &[u8], body: usize) -> Scanned<Item<'a>> {
    let (expected, value): (&[u8], bool) = match rest.first() {
        None => return Ok(Scan::MoreHead),
        Some(b't') => (b"t", true),
        Some(b'f') => (b"f", false),
        Some(_) => return Err(ProtocolErrorKind::BadBoolean),
    };
    let found = word(rest, expected, ProtocolErrorKind::BadBoolean)?;
    Ok(head(found, body, |()| Item::Leaf(Leaf::Boolean(value))))
}

/// A head that used so many bytes behind its type byte.
fn head<T, U>(found: Option<(T, usize)>, body: usize, into: impl FnOnce(T) -> U) -> Scan<U> {
    match found {
        Some((value, used)) => Scan::Found(into(value), body.saturating_add(used)),
        None => Scan::MoreHead,
    }
}
