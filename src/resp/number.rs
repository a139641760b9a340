//! Numbers as text, in a buffer of the caller's.

use std::io::Write as _;

/// The longest text of a number: `-22250738585072014e-324`.
pub(super) const LONGEST: usize = 23;

/// The decimal digits of an integer of at most 64 bits, at the end of `buf`.
pub(super) fn integer(negative: bool, magnitude: u64, buf: &mut [u8; LONGEST]) -> &[u8] {
    let mut rest = magnitude;
    let mut digits = 0_usize;
    for slot in buf.iter_mut().rev() {
        if rest == 0 && digits > 0 {
            if negative {
                *slot = b'-';
                digits = digits.saturating_add(1);
            }
            break;
        }
        *slot = b'0' | low_byte(rest % 10);
        rest /= 10;
        digits = digits.saturating_add(1);
    }
    buf.get(LONGEST.saturating_sub(digits)..).unwrap_or_default()
}

fn low_byte(value: u64) -> u8 {
    let [low, ..] = value.to_le_bytes();
    low
}

/// The shortest text that reads back as the same number, at the start of `buf`: plain where that
/// is short (`0.1`, `1500`), with an exponent elsewhere (`1e300`), `inf`, `-inf`, `nan`.
///
/// Valkey reads all of these but `nan` wherever it takes a score (ZADD); INCRBYFLOAT refuses the
/// infinities too. What it refuses it answers with `ERR value is not a valid float`.
pub(super) fn double(value: f64, buf: &mut [u8; LONGEST]) -> &[u8] {
    let magnitude = value.abs();
    let mut wide = [0; LONGEST + 1];
    let mut rest = &mut wide[..];
    let written = if value.is_nan() {
        write!(rest, "nan")
    } else if magnitude == 0.0 || (1e-4..1e17).contains(&magnitude) || value.is_infinite() {
        write!(rest, "{value}")
    } else {
        write!(rest, "{value:e}")
    };
    debug_assert!(written.is_ok(), "the longest text of a double has {} bytes", LONGEST + 1);
    let free = rest.len();
    let text = wide.get(..wide.len().saturating_sub(free)).unwrap_or_default();
    if text.len() > LONGEST { without_point(text, buf) } else { copy(text, buf) }
}

/// `-2.2250738585072014e-308` → `-22250738585072014e-324`: only a negative number of 17 digits
/// with an exponent of -100 and below is so long, so its exponent keeps three digits.
fn without_point<'b>(text: &[u8], buf: &'b mut [u8; LONGEST]) -> &'b [u8] {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let places = i32::try_from(fraction.len()).unwrap_or(0);
    let exponent = exponent.parse::<i32>().unwrap_or(0).saturating_sub(places);
    let mut rest = &mut buf[..];
    let written = write!(rest, "{whole}{fraction}e{exponent}");
    debug_assert!(written.is_ok(), "{text} does not fit");
    buf
}

fn copy<'b>(text: &[u8], buf: &'b mut [u8; LONGEST]) -> &'b [u8] {
    buf.iter_mut().zip(text).for_each(|(slot, byte)| *slot = *byte);
    buf.get(..text.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i64) -> String {
        let mut buf = [0; LONGEST];
        String::from_utf8(integer(value < 0, value.unsigned_abs(), &mut buf).to_vec()).unwrap()
    }

    fn float(value: f64) -> String {
        String::from_utf8(double(value, &mut [0; LONGEST]).to_vec()).unwrap()
    }

    #[test]
    fn integers_are_plain_decimal_digits() {
        for value in [0, 1, 9, 10, 99, 100, -1, -10, 1_234_567, i64::MAX, i64::MIN] {
            assert_eq!(int(value), value.to_string());
        }
        assert_eq!(integer(false, u64::MAX, &mut [0; LONGEST]), u64::MAX.to_string().as_bytes());
    }

    #[test]
    fn doubles_take_their_shortest_exact_form() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1500.0, "1500"),
            (-2.5, "-2.5"),
            (1e300, "1e300"),
            (1e-7, "1e-7"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (-f64::MIN_POSITIVE, "-22250738585072014e-324"),
        ] {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn every_double_reads_back_as_itself() {
        let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            for value in [f64::from_bits(bits), f64::from_bits(bits | 1 << 63 | 0xF)] {
                if !value.is_nan() {
                    let back: f64 = float(value).parse().unwrap();
                    assert_eq!(back.to_bits(), value.to_bits(), "{}", float(value));
                }
            }
        }
    }
}
