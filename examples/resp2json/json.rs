//! One reply as one line of tagged JSON; a loop, whatever the depth.

use std::fmt::Write as _;

use echo_wire::resp::{ElementsIter, Null, PairsIter, ReplyRef, Value};

/// What is still to be written, the next last.
enum Todo<'a> {
    Text(&'static str),
    Reply(ReplyRef<'a>),
    Value(Value<'a>),
    Elements(ElementsIter<'a>),
    Pairs(PairsIter<'a>),
}

/// The reply in the tagged form: `{"int":5}`, `{"array":[…]}`, `{"map":[[k,v],…]}`, …
pub(crate) fn render(reply: ReplyRef<'_>) -> String {
    let mut out = String::new();
    let mut todo = vec![Todo::Reply(reply)];
    while let Some(next) = todo.pop() {
        match next {
            Todo::Text(text) => out.push_str(text),
            Todo::Reply(reply) => with_attributes(reply, &mut todo),
            Todo::Value(value) => tagged(value, &mut out, &mut todo),
            Todo::Elements(mut items) => {
                if let Some(item) = items.next() {
                    if items.len() > 0 {
                        todo.push(Todo::Elements(items));
                        todo.push(Todo::Text(","));
                    }
                    todo.push(Todo::Reply(item));
                }
            }
            Todo::Pairs(mut pairs) => {
                if let Some((key, value)) = pairs.next() {
                    let more = pairs.len() > 0;
                    if more {
                        todo.push(Todo::Pairs(pairs));
                    }
                    todo.push(Todo::Text(if more { "]," } else { "]" }));
                    todo.push(Todo::Reply(value));
                    todo.push(Todo::Text(","));
                    todo.push(Todo::Reply(key));
                    todo.push(Todo::Text("["));
                }
            }
        }
    }
    out
}

/// Each attribute wraps what follows it.
fn with_attributes<'a>(reply: ReplyRef<'a>, todo: &mut Vec<Todo<'a>>) {
    let first = todo.len();
    for attribute in reply.attributes() {
        todo.push(Todo::Text(r#"{"attribute":{"attrs":["#));
        todo.push(Todo::Pairs(attribute.iter()));
        todo.push(Todo::Text(r#"],"value":"#));
    }
    todo.push(Todo::Value(reply.value()));
    todo.extend(reply.attributes().map(|_| Todo::Text("}}")));
    todo[first..].reverse();
}

fn tagged<'a>(value: Value<'a>, out: &mut String, todo: &mut Vec<Todo<'a>>) {
    let (open, children, close) = match value {
        Value::Array(items) => (r#"{"array":["#, Todo::Elements(items.iter()), "]}"),
        Value::Set(items) => (r#"{"set":["#, Todo::Elements(items.iter()), "]}"),
        Value::Push(items) => (r#"{"push":["#, Todo::Elements(items.iter()), "]}"),
        Value::Map(pairs) => (r#"{"map":["#, Todo::Pairs(pairs.iter()), "]}"),
        leaf => return self::leaf(leaf, out),
    };
    out.push_str(open);
    todo.push(Todo::Text(close));
    todo.push(children);
}

fn leaf(value: Value<'_>, out: &mut String) {
    let text = match value {
        Value::SimpleString(text) => utf8_or_hex("simple", text),
        Value::SimpleError(text) => utf8_or_hex("error", text),
        Value::Integer(value) => format!(r#"{{"int":{value}}}"#),
        Value::BulkString(text) => format!(r#"{{"bulk_hex":"{}"}}"#, hex(text)),
        Value::Null(Null::Bulk) => r#"{"null":"bulk"}"#.to_owned(),
        Value::Null(Null::Array) => r#"{"null":"array"}"#.to_owned(),
        Value::Null(Null::Resp3) => r#"{"null":"resp3"}"#.to_owned(),
        Value::Boolean(value) => format!(r#"{{"bool":{value}}}"#),
        Value::Double(value) => format!(r#"{{"double":"{}"}}"#, double(value)),
        Value::BigNumber(digits) => format!(r#"{{"bignum":{}}}"#, quoted(&lossy(digits))),
        Value::BulkError(text) => format!(r#"{{"blob_error_hex":"{}"}}"#, hex(text)),
        Value::VerbatimString { format, text } => {
            format!(r#"{{"verbatim":[{},"{}"]}}"#, quoted(&lossy(format)), hex(text))
        }
        Value::Array(_) | Value::Set(_) | Value::Push(_) | Value::Map(_) => String::new(),
    };
    out.push_str(&text);
}

fn utf8_or_hex(tag: &str, text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => format!(r#"{{"{tag}":{}}}"#, quoted(text)),
        Err(_) => format!(r#"{{"{tag}_hex":"{}"}}"#, hex(text)),
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The shortest digits that read back as the same number, always with a point or an exponent:
/// `1.5`, `10.0`, `1.5e-07`, `1e+16`, `inf`, `-inf`, `nan`.
fn double(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>().unwrap_or_default() {
        -4..16 => {
            let plain = format!("{value}");
            if plain.contains('.') { plain } else { plain + ".0" }
        }
        exponent => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
    }
}
