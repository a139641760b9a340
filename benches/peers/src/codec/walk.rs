//! The floor: where each element ends and what it says, by hand, keeping nothing. It believes every
//! byte, so it is no decoder.

/// How many elements there are, and the sum of what they say: an integer its value, a text its length.
pub fn walk(mut rest: &[u8]) -> (u64, i64) {
    let (mut count, mut sum) = (0, 0);
    while let [kind, tail @ ..] = rest {
        count += 1;
        rest = match kind {
            b'+' => {
                let end = memchr::memchr(b'\r', tail).expect("whole frames");
                sum += end as i64;
                &tail[end + 2..]
            }
            _ => {
                let (number, used) = number(tail);
                match kind {
                    b'$' if number >= 0 => {
                        sum += number;
                        &tail[used + number as usize + 2..]
                    }
                    b':' => {
                        sum += number;
                        &tail[used..]
                    }
                    _ => &tail[used..],
                }
            }
        };
    }
    (count, sum)
}

/// A line's number, and the line's length with its CRLF.
fn number(line: &[u8]) -> (i64, usize) {
    let negative = line[0] == b'-';
    let mut at = usize::from(negative);
    let mut number = 0;
    while line[at].is_ascii_digit() {
        number = number * 10 + i64::from(line[at] - b'0');
        at += 1;
    }
    (if negative { -number } else { number }, at + 2)
}
