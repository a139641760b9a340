//! How bytes are shown: escaped, and not at any length.

use serde_json::{Value as Json, json};

/// Bytes for a person, on one line, the first `most` of them.
pub(crate) fn short(bytes: &[u8], most: usize) -> String {
    match bytes.get(..most) {
        Some(head) if bytes.len() > most => {
            format!("{}… ({} bytes)", text(head), bytes.len())
        }
        _ => text(bytes),
    }
}

/// As UTF-8 where it is some, control characters escaped; else byte by byte.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let escape = |c: char| match c.is_control() || c == '\\' {
                true => c.escape_default().to_string(),
                false => c.to_string(),
            };
            text.chars().map(escape).collect()
        }
        Err(_not_utf8) => bytes.escape_ascii().to_string(),
    }
}

/// Bytes for a program: text where they are some, else `{"hex":"…"}`.
pub(crate) fn json(bytes: &[u8]) -> Json {
    match std::str::from_utf8(bytes) {
        Ok(text) => Json::from(text),
        Err(_not_utf8) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "hex": hex })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_value_reaches_the_terminal_as_a_control_byte() {
        assert_eq!(short(b"\x1b[31mred\r\n", 99), "\\u{1b}[31mred\\r\\n");
        assert_eq!(short("größe".as_bytes(), 99), "größe");
        assert_eq!(short(b"\xff\0", 99), "\\xff\\x00");
        assert_eq!(short(b"abcdef", 3), "abc… (6 bytes)");
    }

    #[test]
    fn what_is_no_text_is_hexadecimal_in_json() {
        assert_eq!(json(b"a\"b").to_string(), r#""a\"b""#);
        assert_eq!(json(b"\xff\0").to_string(), r#"{"hex":"ff00"}"#);
    }
}
