//! Streams as a server writes them, and such as none would.

use echo_wire::resp::Protocol;

use crate::{pieces::Random, server, tree::Tree};

pub(crate) struct Stream {
    pub(crate) bytes: Vec<u8>,
    pub(crate) protocol: Protocol,
    /// Nested too deep for what recurses.
    pub(crate) is_deep: bool,
    /// The longest of its pieces.
    pub(crate) longest: usize,
}

/// A third is of RESP2. Of all, a half is as a server would write it, the rest cut short, damaged, or put
/// together of small things that fit in no order.
pub(crate) fn any(random: &mut Random) -> Stream {
    let protocol = if random.below(3) == 0 { Protocol::Resp2 } else { Protocol::Resp3 };
    let longest = [1, 3, 20, 200, 4000][random.below(5)];
    let is_deep = random.below(2000) == 0;
    let bytes = match random.below(16) {
        _ if is_deep => deep(random),
        0..8 => written(random, protocol),
        8 | 9 => {
            let mut bytes = written(random, protocol);
            bytes.truncate(random.below(bytes.len()));
            bytes
        }
        10..14 => damaged(random, protocol),
        _ => scraps(random),
    };
    Stream { bytes, protocol, is_deep, longest }
}

fn written(random: &mut Random, protocol: Protocol) -> Vec<u8> {
    let mut bytes = Vec::new();
    let streams = random.below(16) == 0;
    for _ in 0..1 + random.below(4) {
        let depth = random.below(4);
        // Long texts are of no interest here, and most of the bytes.
        let mut choose = |bound: usize| match bound {
            8 if random.below(16) != 0 => random.below(6),
            bound => random.below(bound),
        };
        let mut tree = server::grow(&mut choose, depth);
        if protocol == Protocol::Resp2 {
            tree = old(tree);
        }
        let mut streamed = || streams && protocol == Protocol::Resp3 && random.below(4) == 0;
        server::encode(&tree, &mut bytes, &mut streamed);
    }
    bytes
}

/// As a server says it to a client of RESP2.
fn old(tree: Tree) -> Tree {
    let all = |items: Vec<Tree>| Tree::Array(items.into_iter().map(old).collect());
    match tree {
        Tree::Set(items) | Tree::Push(items) | Tree::Array(items) => all(items),
        Tree::Map(pairs) => all(pairs.into_iter().flat_map(|(key, value)| [key, value]).collect()),
        Tree::Attribute(_, inner) => old(*inner),
        Tree::Null("resp3") => Tree::Null("bulk"),
        Tree::Boolean(value) => Tree::Integer(value.into()),
        Tree::Double(bits) => Tree::Bulk(f64::from_bits(bits).to_string().into_bytes()),
        Tree::BigNumber(text) | Tree::Verbatim(_, text) => Tree::Bulk(text),
        Tree::BulkError(mut text) => {
            text.retain(|byte| !b"\r\n".contains(byte));
            Tree::Error(text)
        }
        other => other,
    }
}

fn damaged(random: &mut Random, protocol: Protocol) -> Vec<u8> {
    let mut bytes = written(random, protocol);
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        match random.below(4) {
            _ if bytes.is_empty() => {}
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes[at] = b"+-:$*_#,(!=%~>|;.?\r\n0123456789"[random.below(30)],
            2 => drop(bytes.remove(at)),
            _ => bytes.insert(at, b"+-:$*\r\n;.?19"[random.below(12)]),
        }
    }
    bytes
}

/// Small things, most of them whole; so heads and bodies meet that are wrong in every way.
fn scraps(random: &mut Random) -> Vec<u8> {
    const SCRAPS: &[&str] = &[
        "+OK\r\n",
        "-ERR no\r\n",
        ":1\r\n",
        ":0\r\n",
        ":-1\r\n",
        ":+1\r\n",
        ":007\r\n",
        ":-0\r\n",
        ":-\r\n",
        ":9223372036854775807\r\n",
        ":-9223372036854775808\r\n",
        ":9223372036854775808\r\n",
        ":18446744073709551616",
        ": 1\r\n",
        ":1 \r\n",
        ":\r\n",
        ":1\n",
        "$0\r\n\r\n",
        "$1\r\na\r\n",
        "$-1\r\n",
        "$-2\r\n",
        "$01\r\na\r\n",
        "$+1\r\na\r\n",
        "$1\r\nabc",
        "$1\r\n\r\n\r\n",
        "$\r\n",
        "$?\r\n",
        ";1\r\na\r\n",
        ";0\r\n",
        "$600000000\r\n",
        "$18446744073709551616\r\n",
        "*0\r\n",
        "*1\r\n",
        "*2\r\n",
        "*3\r\n",
        "*-1\r\n",
        "*-2\r\n",
        "*02\r\n",
        "*?\r\n",
        ".\r\n",
        "_\r\n",
        "_x\r\n",
        "#t\r\n",
        "#f\r\n",
        "#T\r\n",
        "#F\r\n",
        "#\0\r\n",
        "#\r\n",
        "#tt\r\n",
        ",1\r\n",
        ",1.5\r\n",
        ",-0\r\n",
        ",1.\r\n",
        ",.5\r\n",
        ",+1\r\n",
        ",1e5\r\n",
        ",1E+5\r\n",
        ",1e\r\n",
        ",inf\r\n",
        ",-inf\r\n",
        ",+inf\r\n",
        ",INF\r\n",
        ",Infinity\r\n",
        ",nan\r\n",
        ",NAN\r\n",
        ",-nan\r\n",
        ",Nan\r\n",
        ",nan(1)\r\n",
        ",1e999\r\n",
        ",1e-999\r\n",
        ",0x1p3\r\n",
        ", 1\r\n",
        ",\r\n",
        ",.\r\n",
        "(1\r\n",
        "(-1\r\n",
        "(+1\r\n",
        "(\r\n",
        "(-\r\n",
        "(1a\r\n",
        "(123456789012345678901234567890\r\n",
        "!3\r\nERR\r\n",
        "=5\r\ntxt:a\r\n",
        "=4\r\nmkd:\r\n",
        "=5\r\ntxt-a\r\n",
        "=3\r\ntxt\r\n",
        "=-1\r\n",
        "%0\r\n",
        "%1\r\n",
        "%2\r\n",
        "%-1\r\n",
        "%?\r\n",
        "~0\r\n",
        "~1\r\n",
        "~2\r\n",
        "~-1\r\n",
        "~?\r\n",
        ">0\r\n",
        ">1\r\n",
        ">2\r\n",
        ">-1\r\n",
        ">?\r\n",
        "|0\r\n",
        "|1\r\n",
        "|-1\r\n",
        "|?\r\n",
        "\r\n",
        "a\r\n",
        "+a\rb\r\n",
        "+a\nb\r\n",
        "+",
        "$",
        "*",
        "$1",
        "\r",
        "\n",
        "1",
    ];
    (0..1 + random.below(8)).flat_map(|_| SCRAPS[random.below(SCRAPS.len())].bytes()).collect()
}

/// Nested as deep as the limits are, one more or less.
fn deep(random: &mut Random) -> Vec<u8> {
    let head = ["*1\r\n", "~1\r\n", "%1\r\n:1\r\n"][random.below(3)];
    let levels = [100, 1023, 1024, 1025, 2000][random.below(5)];
    [head.repeat(levels).as_bytes(), b":1\r\n"].concat()
}
