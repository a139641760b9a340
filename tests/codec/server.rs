//! What a server may say: replies grown from choices, and how it writes them.

use crate::tree::Tree;

/// A tree grown from choices (`choose(n)` answers a number below `n`), at most `depth` deep.
pub(crate) fn grow(choose: &mut impl FnMut(usize) -> usize, depth: usize) -> Tree {
    if choose(12) == 0 {
        return Tree::Push(some(choose, depth));
    }
    value(choose, depth)
}

fn value(choose: &mut impl FnMut(usize) -> usize, depth: usize) -> Tree {
    let kinds = if depth == 0 { 12 } else { 16 };
    match choose(kinds) {
        0 => Tree::Simple(text(choose, false)),
        1 => Tree::Error(text(choose, false)),
        2 | 3 => Tree::Integer(integer(choose)),
        4 | 5 => Tree::Bulk(text(choose, true)),
        6 => Tree::Null(["bulk", "array", "resp3"][choose(3)]),
        7 => Tree::Boolean(choose(2) == 1),
        8 => Tree::Double(float(choose).to_bits()),
        9 => Tree::BigNumber(integer(choose).to_string().into_bytes()),
        10 => Tree::BulkError(text(choose, true)),
        11 => Tree::Verbatim(b"txt".to_vec(), text(choose, true)),
        12 => Tree::Array(some(choose, depth - 1)),
        13 => Tree::Set(some(choose, depth - 1)),
        14 => Tree::Map(some_pairs(choose, depth - 1)),
        _ => Tree::Attribute(some_pairs(choose, depth - 1), Box::new(value(choose, depth - 1))),
    }
}

fn some(choose: &mut impl FnMut(usize) -> usize, depth: usize) -> Vec<Tree> {
    (0..choose(6)).map(|_| value(choose, depth)).collect()
}

fn some_pairs(choose: &mut impl FnMut(usize) -> usize, depth: usize) -> Vec<(Tree, Tree)> {
    (0..choose(4)).map(|_| (value(choose, depth), value(choose, depth))).collect()
}

fn integer(choose: &mut impl FnMut(usize) -> usize) -> i64 {
    let wide = (0..8).fold(0, |n: i64, _| n << 8 | choose(256) as i64);
    [wide, wide >> 40, wide >> 56, i64::MIN, i64::MAX, 0][choose(6)]
}

fn float(choose: &mut impl FnMut(usize) -> usize) -> f64 {
    let any = f64::from_bits(integer(choose).cast_unsigned());
    // Every NaN reads as one.
    let any = if any.is_nan() { f64::NAN } else { any };
    [any, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.5, f64::MIN_POSITIVE][choose(8)]
}

fn text(choose: &mut impl FnMut(usize) -> usize, any_byte: bool) -> Vec<u8> {
    let len = [0, 1, 5, 31, 32, 33, 200, 1100][choose(8)];
    let mut bytes: Vec<u8> = (0..len).map(|_| choose(256) as u8).collect();
    if !any_byte {
        bytes.retain(|byte| !b"\r\n".contains(byte));
    }
    bytes
}

/// Appends the tree as a server would write it. `streams` says, at each string and aggregate that
/// may be streamed, whether this one is.
pub(crate) fn encode(tree: &Tree, out: &mut Vec<u8>, streams: &mut impl FnMut() -> bool) {
    match tree {
        Tree::Simple(text) => line(b'+', text, out),
        Tree::Error(text) => line(b'-', text, out),
        Tree::Integer(value) => line(b':', value.to_string().as_bytes(), out),
        Tree::Null("bulk") => line(b'$', b"-1", out),
        Tree::Null("array") => line(b'*', b"-1", out),
        Tree::Null(_) => line(b'_', b"", out),
        Tree::Boolean(value) => line(b'#', if *value { b"t" } else { b"f" }, out),
        Tree::Double(bits) => line(b',', double(f64::from_bits(*bits)).as_bytes(), out),
        Tree::BigNumber(digits) => line(b'(', digits, out),
        Tree::Bulk(text) if streams() => chunks(text, out),
        Tree::Bulk(text) => sized(b'$', text, out),
        Tree::BulkError(text) => sized(b'!', text, out),
        Tree::Verbatim(format, text) => sized(b'=', &[format, &b":"[..], text].concat(), out),
        Tree::Array(items) => list(b'*', items, out, streams),
        Tree::Set(items) => list(b'~', items, out, streams),
        Tree::Push(items) => list(b'>', items, out, streams),
        Tree::Map(pairs) => aggregate(b'%', pairs.len(), &flat(pairs), out, streams),
        Tree::Attribute(pairs, value) => {
            aggregate(b'|', pairs.len(), &flat(pairs), out, streams);
            encode(value, out, streams);
        }
    }
}

fn line(first: u8, text: &[u8], out: &mut Vec<u8>) {
    out.push(first);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}

fn sized(first: u8, text: &[u8], out: &mut Vec<u8>) {
    line(first, text.len().to_string().as_bytes(), out);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}

fn chunks(text: &[u8], out: &mut Vec<u8>) {
    line(b'$', b"?", out);
    for chunk in text.chunks(3) {
        sized(b';', chunk, out);
    }
    line(b';', b"0", out);
}

fn flat(pairs: &[(Tree, Tree)]) -> Vec<Tree> {
    pairs.iter().flat_map(|(key, value)| [key.clone(), value.clone()]).collect()
}

fn list(first: u8, items: &[Tree], out: &mut Vec<u8>, streams: &mut impl FnMut() -> bool) {
    aggregate(first, items.len(), items, out, streams);
}

fn aggregate(
    first: u8,
    count: usize,
    items: &[Tree],
    out: &mut Vec<u8>,
    streams: &mut impl FnMut() -> bool,
) {
    let streamed = !b">|".contains(&first) && streams();
    let count = if streamed { "?".to_owned() } else { count.to_string() };
    line(first, count.as_bytes(), out);
    for item in items {
        encode(item, out, streams);
    }
    if streamed {
        line(b'.', b"", out);
    }
}

fn double(value: f64) -> String {
    match value {
        f64::INFINITY => "inf".to_owned(),
        f64::NEG_INFINITY => "-inf".to_owned(),
        value if value.is_nan() => "nan".to_owned(),
        value => format!("{value:e}"),
    }
}
