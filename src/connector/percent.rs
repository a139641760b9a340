//! Percent-decoding, once.
//!
//! Source: RFC 3986, section 2.1. A `+` is a plus sign: it means a space in HTML forms only.

/// The bytes that `text` stands for; `None` where a `%` is not followed by two hex digits.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let ([high, low], after) = rest.split_first_chunk()?;
        decoded.push((digit(*high)? << 4) | digit(*low)?);
        rest = after;
    }
    Some(decoded)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn decodes_exactly_once_and_leaves_plus_alone() {
        let table: [(&str, &[u8]); 7] = [
            ("", b""),
            ("plain", b"plain"),
            ("a+b=", b"a+b="),
            ("p%40ss%2F%25", b"p@ss/%"),
            ("%2540", b"%40"),
            ("%ff%FE%00", b"\xff\xfe\0"),
            ("é", "é".as_bytes()),
        ];
        for (text, bytes) in table {
            assert_eq!(decode(text).as_deref(), Some(bytes), "{text}");
        }
    }

    #[test]
    fn a_percent_sign_needs_two_hex_digits() {
        for text in ["%", "%4", "%zz", "%4z", "%+1", "a%", "%%41", "% 1"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
