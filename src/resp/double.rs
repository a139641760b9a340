//! The grammar of a double, narrower than Rust's own parser.

/// A double's text as the specification writes it: `[<+|->]<digits>[.<digits>][<E|e>[sign]<digits>]`,
/// `inf`, `-inf`, `nan`, and the other forms in which C libraries print a NaN (servers before
/// Redis 7.2 passed those on): `-nan`, `NAN`, `nan(...)`. Every NaN reads as one.
pub(super) fn parse(text: &[u8]) -> Option<f64> {
    match text {
        b"inf" => return Some(f64::INFINITY),
        b"-inf" => return Some(f64::NEG_INFINITY),
        _ if is_nan(text) => return Some(f64::NAN),
        _ if !is_decimal(text) => return None,
        _ => {}
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn is_nan(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let Some(tail) = text.strip_prefix(b"nan").or_else(|| text.strip_prefix(b"NAN")) else {
        return false;
    };
    match tail {
        [] => true,
        [b'(', payload @ .., b')'] => {
            payload.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
        }
        _ => false,
    }
}

fn is_decimal(text: &[u8]) -> bool {
    let (whole, rest) = digits(sign(text));
    let rest = match rest {
        [b'.', fraction @ ..] => match digits(fraction) {
            (true, rest) => rest,
            (false, _) => return false,
        },
        rest => rest,
    };
    let exponent = match rest {
        [] => true,
        [b'e' | b'E', exponent @ ..] => matches!(digits(sign(exponent)), (true, [])),
        _ => false,
    };
    whole && exponent
}

fn sign(text: &[u8]) -> &[u8] {
    match text {
        [b'+' | b'-', rest @ ..] => rest,
        rest => rest,
    }
}

/// Whether digits lead, and what follows them.
fn digits(text: &[u8]) -> (bool, &[u8]) {
    let count = text.iter().take_while(|b| b.is_ascii_digit()).count();
    (count > 0, text.get(count..).unwrap_or_default())
}
