//! Integers and lengths on the wire: digits that end at the first byte that is none.

use super::ProtocolErrorKind;

/// Digits of one number at most, leading zeros included. Nothing that fits 64 bits needs more
/// than twenty, and a bound keeps looking again at a number cut by a read cheap.
const MAX_DIGITS: usize = 64;

/// A number and the bytes it used, its CRLF included; `None`: the bytes end too early.
pub(super) type Number<T> = Result<Option<(T, usize)>, ProtocolErrorKind>;

/// A length or count: digits and CRLF, no sign.
pub(super) fn length(rest: &[u8]) -> Number<u64> {
    unsigned(rest, ProtocolErrorKind::BadLength)
}

/// An integer: an optional sign, digits and CRLF.
pub(super) fn integer(rest: &[u8]) -> Number<i64> {
    let bad = ProtocolErrorKind::BadInteger;
    let (negative, digits, sign) = match rest {
        [] => return Ok(None),
        [b'-', digits @ ..] => (true, digits, 1),
        [b'+', digits @ ..] => (false, digits, 1),
        digits => (false, digits, 0_usize),
    };
    let Some((magnitude, used)) = unsigned(digits, bad)? else { return Ok(None) };
    let value = if negative {
        0_i64.checked_sub_unsigned(magnitude)
    } else {
        i64::try_from(magnitude).ok()
    };
    Ok(Some((value.ok_or(bad)?, sign.saturating_add(used))))
}

fn unsigned(rest: &[u8], bad: ProtocolErrorKind) -> Number<u64> {
    let mut value = 0_u64;
    for (at, byte) in rest.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return match rest.get(at..).unwrap_or_default() {
                _ if at == 0 => Err(bad),
                [b'\r', b'\n', ..] => Ok(Some((value, at.saturating_add(2)))),
                [b'\r'] => Ok(None),
                [b'\r' | b'\n', ..] => Err(ProtocolErrorKind::BadLine),
                _ => Err(bad),
            };
        }
        if at == MAX_DIGITS {
            return Err(bad);
        }
        value = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit))).ok_or(bad)?;
    }
    Ok(None)
}

/// Whether the whole text is an optional sign and digits: a big number.
pub(super) fn is_number(text: &[u8]) -> bool {
    let digits = match text {
        [b'-' | b'+', digits @ ..] => digits,
        digits => digits,
    };
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}
