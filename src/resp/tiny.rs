//! The elements that servers send by the thousand, decided in a few instructions.
//!
//! Each function here takes what lies ahead and gives what it found and the bytes behind it.
//! `None` says nothing: the thorough way ([`scan`](super::scan)) decides. All are inlined without
//! asking: handing a result on through memory would cost as much as finding it.

use super::{Limits, kind::Kind, scan::Leaf, value::Null};

/// The element that lies whole ahead, if it is one of the commonest: a bulk string below 1000
/// bytes, an integer, `+OK`, a null.
#[inline(always)]
pub(super) fn tiny(ahead: &[u8], resp2_only: bool) -> Option<(Leaf<&[u8]>, &[u8])> {
    let (first, rest) = ahead.split_first()?;
    match first {
        b'$' => bulk(rest),
        b':' => integer(rest),
        b'+' => {
            let (text, behind) = rest.split_at_checked(2)?;
            let behind = behind.strip_prefix(b"\r\n").filter(|_| text == b"OK")?;
            Some((Leaf::Text(Kind::SimpleString, text), behind))
        }
        b'_' if !resp2_only => Some((Leaf::Null(Null::Resp3), rest.strip_prefix(b"\r\n")?)),
        _ => None,
    }
}

/// The header of a small aggregate: its kind and its elements (two a pair).
#[inline(always)]
pub(super) fn header(ahead: &[u8], resp2_only: bool) -> Option<(Kind, usize, &[u8])> {
    let (first, rest) = ahead.split_first()?;
    let kind = match first {
        b'*' => Kind::Array,
        b'%' if !resp2_only => Kind::Map,
        b'~' if !resp2_only => Kind::Set,
        _ => return None,
    };
    let (count, line) = length(rest)?;
    let elements = if kind == Kind::Map { count.wrapping_mul(2) } else { count };
    Some((kind, elements, rest.get(line..)?))
}

/// Whether these limits let everything through that is found here.
pub(super) fn within(limits: &Limits) -> bool {
    limits.line >= 2
        && limits.bulk >= 999
        && limits.reply >= REPLY as u64
        && limits.elements >= 1998
        && limits.depth >= 1
}

/// Bytes of a reply that are tiny altogether.
pub(super) const REPLY: usize = 1024;

#[inline(always)]
fn bulk(rest: &[u8]) -> Option<(Leaf<&[u8]>, &[u8])> {
    let Some((len, line)) = length(rest) else {
        return Some((Leaf::Null(Null::Bulk), rest.strip_prefix(b"-1\r\n")?));
    };
    let (body, behind) = rest.split_at_checked(len.wrapping_add(line).wrapping_add(2))?;
    let (front, crlf) = body.split_last_chunk::<2>()?;
    let text = front.get(line..)?;
    (crlf == b"\r\n").then_some((Leaf::Text(Kind::BulkString, text), behind))
}

/// A number below 1000 and its line's length: one to three digits and CRLF, seen at once. (No
/// whole bulk is shorter than the five bytes that are looked at: `0 CRLF CRLF`.)
#[inline(always)]
fn length(rest: &[u8]) -> Option<(usize, usize)> {
    let [a, b, c, d, e] = *rest.first_chunk()?;
    if is_crlf(b, c) {
        Some((digit(a)?, 3))
    } else if is_crlf(c, d) {
        Some((ten(digit(a)?, digit(b)?), 4))
    } else if is_crlf(d, e) {
        Some((ten(ten(digit(a)?, digit(b)?), digit(c)?), 5))
    } else {
        None
    }
}

/// Compared as one 16-bit word.
#[inline(always)]
fn is_crlf(a: u8, b: u8) -> bool {
    u16::from_le_bytes([a, b]) == u16::from_le_bytes(*b"\r\n")
}

#[inline(always)]
fn digit(byte: u8) -> Option<usize> {
    let digit = byte.wrapping_sub(b'0');
    (digit <= 9).then_some(usize::from(digit))
}

/// Ten times the digits so far and the next one.
#[inline(always)]
fn ten(digits: usize, next: usize) -> usize {
    digits.wrapping_mul(10).wrapping_add(next)
}

#[inline(always)]
fn integer(rest: &[u8]) -> Option<(Leaf<&[u8]>, &[u8])> {
    let (negative, digits) = match rest {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut value = 0_i64;
    let mut behind = digits;
    while let [byte @ b'0'..=b'9', tail @ ..] = behind {
        value = value.wrapping_mul(10).wrapping_add(i64::from(byte.wrapping_sub(b'0')));
        behind = tail;
    }
    // Eighteen digits cannot have overflowed.
    if !(1..=18).contains(&digits.len().wrapping_sub(behind.len())) {
        return None;
    }
    let value = if negative { value.wrapping_neg() } else { value };
    Some((Leaf::Integer(value), behind.strip_prefix(b"\r\n")?))
}
