//! Replies as servers send them.

/// A stream of replies, and what is counted in it.
pub struct Shape {
    pub name: &'static str,
    pub stream: Vec<u8>,
    /// Replies in the stream.
    pub replies: usize,
    /// What a figure is given for: each reply, or each element of one.
    pub unit: &'static str,
    pub units: u64,
    /// Fed in pieces of so many bytes; 0: whole.
    pub piece: usize,
}

const TINY: usize = 10_000;
pub const PIECE: usize = 16 * 1024;

pub fn all() -> Vec<Shape> {
    let tiny = [
        ("`+OK`", "+OK\r\n"),
        ("`:12345`", ":12345\r\n"),
        ("`$-1`", "$-1\r\n"),
        ("a bulk string of 16 B", "$16\r\n0123456789abcdef\r\n"),
        ("an array of three", "*3\r\n$5\r\nfield\r\n$5\r\nvalue\r\n:42\r\n"),
    ];
    let tiny = tiny.map(|(name, frame)| Shape {
        name,
        stream: frame.repeat(TINY).into_bytes(),
        replies: TINY,
        unit: "reply",
        units: TINY as u64,
        piece: 0,
    });
    let one = |name, stream: Vec<u8>, piece, units| Shape {
        name,
        stream,
        replies: 1,
        unit: "element",
        units,
        piece,
    };
    let large = bulk(&"x".repeat(8 << 20)).into_bytes();
    let many = array(100_000, 32);
    let rest = [
        one("an array of 10 000 × 32 B", array(10_000, 32), 0, 10_000),
        one("XREADGROUP, 100 entries × 8 pairs", entries(100), 0, 100 * 19 + 4),
        one("nested maps (RESP3), 8 in 8 in 8 in 8", maps(3), 0, 8 + 64 + 512 + 4096 + 4096),
        one("an array of 100 000 × 32 B, whole", many.clone(), 0, 100_000),
        one("the same in pieces of 16 KiB", many, PIECE, 100_000),
        Shape { unit: "MiB", ..one("a bulk string of 8 MiB, whole", large.clone(), 0, 8) },
        Shape { unit: "MiB", ..one("the same in pieces of 16 KiB", large, PIECE, 8) },
    ];
    tiny.into_iter().chain(rest).collect()
}

fn bulk(text: &str) -> String {
    format!("${}\r\n{text}\r\n", text.len())
}

fn array(count: usize, len: usize) -> Vec<u8> {
    format!("*{count}\r\n{}", bulk(&"x".repeat(len)).repeat(count)).into_bytes()
}

/// What XREADGROUP answers: entries with eight fields each.
fn entries(count: usize) -> Vec<u8> {
    let pair = bulk("field") + &bulk("a value of some length");
    let entry = format!("*2\r\n{}*16\r\n{}", bulk("1700000000000-0"), pair.repeat(8));
    format!("*1\r\n*2\r\n{}*{count}\r\n{}", bulk("jobs"), entry.repeat(count)).into_bytes()
}

/// Maps of eight entries, nested so deep. The keys differ: some decoders make hash maps.
fn maps(depth: usize) -> Vec<u8> {
    let value = if depth == 0 { b":1\r\n".to_vec() } else { maps(depth - 1) };
    let entry = |n| [bulk(&format!("key{n}")).as_bytes(), &value].concat();
    [b"%8\r\n".to_vec(), (0..8).flat_map(entry).collect()].concat()
}
