//! What a RESP3 server may send beside replies, wherever it may stand.

use crate::support::Random;

/// An attribute that belongs to whatever follows: of one pair or two, nested now and then.
fn attribute(out: &mut Vec<u8>, random: &mut Random) {
    let attribute: &str = match random.below(4) {
        0 => "|1\r\n+ttl\r\n:3600\r\n",
        1 => "|2\r\n$3\r\nkey\r\n*2\r\n:1\r\n%1\r\n+a\r\n#t\r\n$0\r\n\r\n_\r\n",
        2 => "|1\r\n+of\r\n|1\r\n+an\r\n+attribute\r\n*1\r\n-ERR not an error\r\n",
        _ => "|0\r\n",
    };
    out.extend_from_slice(attribute.as_bytes());
}

/// A push that answers nobody.
fn push(out: &mut Vec<u8>, random: &mut Random) {
    let push: &str = match random.below(7) {
        0 => ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n",
        1 => ">2\r\n$10\r\ninvalidate\r\n_\r\n",
        2 => ">3\r\n$7\r\nmessage\r\n$6\r\nothers\r\n$2\r\n:1\r\n",
        3 => ">4\r\n+pmessage\r\n+o*\r\n+others\r\n$0\r\n\r\n",
        4 => ">1\r\n-ERR not an error\r\n",
        // A kind that nobody knows yet.
        5 => ">3\r\n+weather\r\n,21.5\r\n~2\r\n+sun\r\n+wind\r\n",
        _ => ">2\r\n+monitor\r\n+1.2 [0 unix] \"GET\"\r\n",
    };
    out.extend_from_slice(push.as_bytes());
}

/// Before the next frame, which is a reply or the end of what is there: in `percent` of places.
pub fn between(out: &mut Vec<u8>, percent: u64, random: &mut Random) {
    while random.below(100) < percent {
        while random.below(100) < percent {
            attribute(out, random);
        }
        push(out, random);
    }
}

/// Before a frame at any depth, which it decorates.
pub fn before(out: &mut Vec<u8>, percent: u64, random: &mut Random) {
    while random.below(100) < percent {
        attribute(out, random);
    }
}

/// What is no RESP.
pub fn garbage(random: &mut Random) -> &'static str {
    const GARBAGE: [&str; 9] = [
        "?\r\n",
        "$-2\r\n",
        "*-7\r\n",
        ":12x\r\n",
        "_x\r\n",
        "#x\r\n",
        "+a\nb\r\n",
        "$1\r\nabc\r\n",
        "\r\n",
    ];
    GARBAGE[random.below(GARBAGE.len() as u64) as usize]
}
