//! What a script says and hears: commands on the wire, and a primary's answers at connect.

/// The command as an array of bulk strings.
pub fn encoded<A: AsRef<[u8]>>(words: &[A]) -> Vec<u8> {
    let mut wire = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        wire.extend_from_slice(&bulk(word));
    }
    wire
}

/// The text as a bulk string.
pub fn bulk(text: impl AsRef<[u8]>) -> Vec<u8> {
    let text = text.as_ref();
    [format!("${}\r\n", text.len()).as_bytes(), text, b"\r\n"].concat()
}

/// The command these bytes begin with and its length; `None` while it is not whole.
pub(super) fn command_at_head(bytes: &[u8]) -> Option<(Vec<String>, usize)> {
    let (count, mut at) = header(bytes, 0, b'*')?;
    let mut words = Vec::new();
    for _ in 0..count {
        let (len, start) = header(bytes, at, b'$')?;
        let word = bytes.get(start..start + len)?;
        let end = bytes.get(start + len..start + len + 2)?;
        assert_eq!(end, b"\r\n", "the end of a bulk string");
        words.push(String::from_utf8_lossy(word).into_owned());
        at = start + len + 2;
    }
    Some((words, at))
}

/// What a primary that holds `version` answers to one command of the connect sequence; after a
/// HELLO in RESP3.
pub(super) fn boot_answer(command: &[String], is_resp3: bool, version: &str) -> Vec<u8> {
    let map = if is_resp3 { b"%1\r\n" } else { b"*2\r\n" };
    let words: Vec<_> = command.iter().map(String::as_str).collect();
    match words[..] {
        ["HELLO", "3", ..] => {
            "%3\r\n$6\r\nserver\r\n$6\r\nvalkey\r\n$5\r\nproto\r\n:3\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
                .into()
        }
        ["AUTH" | "SELECT" | "CLIENT", ..] => "+OK\r\n".into(),
        ["ROLE"] => "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n".into(),
        ["CONFIG", "GET", name] => [map.to_vec(), bulk(name), bulk("noeviction")].concat(),
        ["GET", _] => bulk(version),
        _ => panic!("not a command of the connect sequence: {command:?}"),
    }
}

/// The number in a header of this kind at `at`, and where the next byte after it is.
fn header(bytes: &[u8], at: usize, kind: u8) -> Option<(usize, usize)> {
    let rest = bytes.get(at..)?;
    let came = *rest.first()?;
    assert!(
        came == kind,
        "no command, a header {:?} is missing: {}",
        kind as char,
        rest.escape_ascii()
    );
    let len = rest.windows(2).position(|two| two == b"\r\n")?;
    let digits = std::str::from_utf8(&rest[1..len]).expect("digits");
    Some((digits.parse().expect("a length"), at + len + 2))
}
