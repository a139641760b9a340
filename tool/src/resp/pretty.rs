//! A value for a person: one line an element, nested by indentation.
//!
//! Recursive: the decoder's limit of depth is far below what the stack holds.

use std::io::{self, Write};

use echo_wire::resp::{ReplyRef, Value};

use crate::{escape, paint::Paint};

/// Longest text that is shown whole, in bytes.
const SHOWN: usize = 256;

pub(crate) fn reply(
    reply: ReplyRef<'_>,
    offset: u64,
    paint: Paint,
    out: &mut impl Write,
) -> io::Result<()> {
    write!(out, "{}  ", paint.dim(format!("{offset:>8}")))?;
    // What stands below begins under what stands on this line.
    element(reply, 10, paint, out)
}

fn element(
    reply: ReplyRef<'_>,
    indent: usize,
    paint: Paint,
    out: &mut impl Write,
) -> io::Result<()> {
    for attribute in reply.attributes() {
        writeln!(out, "{}", paint.dim(format!("attribute of {}", attribute.len())))?;
        for (key, value) in attribute.iter() {
            pair(key, value, indent + 2, paint, out)?;
        }
        write!(out, "{:indent$}", "")?;
    }
    let value = reply.value();
    let name = value.type_name();
    let (items, len) = match value {
        Value::Map(pairs) => {
            writeln!(out, "{}", paint.name(format!("{name} of {}", pairs.len())))?;
            for (key, value) in pairs.iter() {
                pair(key, value, indent + 2, paint, out)?;
            }
            return Ok(());
        }
        Value::Array(items) | Value::Set(items) | Value::Push(items) => (items, items.len()),
        leaf => return writeln!(out, "{}", self::leaf(leaf, paint)),
    };
    writeln!(out, "{}", paint.name(format!("{name} of {len}")))?;
    for (place, item) in items.iter().enumerate() {
        let number = format!("{}) ", place + 1);
        write!(out, "{:1$}{number}", "", indent + 2)?;
        element(item, indent + 2 + number.len(), paint, out)?;
    }
    Ok(())
}

/// `key => value`; a key that is no leaf has its value below it.
fn pair(
    key: ReplyRef<'_>,
    value: ReplyRef<'_>,
    indent: usize,
    paint: Paint,
    out: &mut impl Write,
) -> io::Result<()> {
    write!(out, "{:indent$}", "")?;
    let is_leaf =
        !matches!(key.value(), Value::Array(_) | Value::Set(_) | Value::Push(_) | Value::Map(_));
    if is_leaf && key.attributes().next().is_none() {
        write!(out, "{} => ", leaf(key.value(), paint))?;
    } else {
        element(key, indent, paint, out)?;
        write!(out, "{:indent$}=> ", "")?;
    }
    element(value, indent + 2, paint, out)
}

fn leaf(value: Value<'_>, paint: Paint) -> String {
    let text = |bytes| escape::short(bytes, SHOWN);
    match value {
        Value::SimpleString(status) => paint.good(text(status)),
        Value::SimpleError(error) | Value::BulkError(error) => {
            paint.bad(format!("(error) {}", text(error)))
        }
        Value::Integer(number) => format!("(integer) {number}"),
        Value::Double(number) => format!("(double) {number:?}"),
        Value::BigNumber(digits) => format!("(big number) {}", text(digits)),
        Value::Boolean(truth) => format!("({truth})"),
        Value::Null(_) => paint.dim("(null)"),
        Value::VerbatimString { format, text: body } => {
            format!("({}) \"{}\"", text(format), text(body))
        }
        value => format!("\"{}\"", text(value.text().unwrap_or_default())),
    }
}
