//! The replies that servers send by the thousand, decided before any tape or split.

use super::{Limits, kind::Kind, scan::Leaf, value::Null};

/// The reply that lies whole at the front, with its length on the wire, if it is one of the
/// commonest: `+OK`, an integer, a null, a short bulk string. `None` says nothing: the thorough
/// way decides.
#[inline]
pub(super) fn tiny(bytes: &[u8], resp2_only: bool) -> Option<(Leaf<'_>, usize)> {
    match bytes {
        [b'+', b'O', b'K', b'\r', b'\n', ..] => {
            Some((Leaf::Text(Kind::SimpleString, bytes.get(1..3)?), 5))
        }
        [b':', rest @ ..] => integer(rest),
        [b'$', b'-', b'1', b'\r', b'\n', ..] => Some((Leaf::Null(Null::Bulk), 5)),
        [b'_', b'\r', b'\n', ..] if !resp2_only => Some((Leaf::Null(Null::Resp3), 3)),
        [b'$', rest @ ..] => bulk(rest),
        _ => None,
    }
}

/// Whether these limits let every tiny reply through.
pub(super) fn within(limits: &Limits) -> bool {
    limits.line >= 2 && limits.bulk >= 999 && limits.reply >= 1024
}

/// Up to eighteen digits cannot overflow.
#[inline]
fn integer(rest: &[u8]) -> Option<(Leaf<'_>, usize)> {
    let mut value = 0_i64;
    for (at, byte) in rest.iter().enumerate().take(19) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            let whole = at > 0 && matches!(rest.get(at..), Some([b'\r', b'\n', ..]));
            return whole.then(|| (Leaf::Integer(value), at.wrapping_add(3)));
        }
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
    }
    None
}

/// A bulk of up to 999 bytes.
#[inline]
fn bulk(rest: &[u8]) -> Option<(Leaf<'_>, usize)> {
    let digit = |byte: u8| Some(usize::from(byte.wrapping_sub(b'0'))).filter(|digit| *digit < 10);
    let (len, head, rest) = match rest {
        [a, b'\r', b'\n', rest @ ..] => (digit(*a)?, 4_usize, rest),
        [a, b, b'\r', b'\n', rest @ ..] => {
            (digit(*a)?.wrapping_mul(10).wrapping_add(digit(*b)?), 5, rest)
        }
        [a, b, c, b'\r', b'\n', rest @ ..] => {
            let tens = digit(*a)?.wrapping_mul(10).wrapping_add(digit(*b)?);
            (tens.wrapping_mul(10).wrapping_add(digit(*c)?), 6, rest)
        }
        _ => return None,
    };
    let (text, rest) = rest.split_at_checked(len)?;
    let used = head.wrapping_add(len).wrapping_add(2);
    matches!(rest, [b'\r', b'\n', ..]).then_some((Leaf::Text(Kind::BulkString, text), used))
}
