//! Cluster slots: which of the 16 384 parts of a cluster holds a key.
//!
//! Source: the Valkey cluster specification, "Key distribution model" and "Hash tags".

/// The cluster slot of a key, 0 to 16383: CRC16 of its hash tag, or of the whole key where it has
/// none, modulo 16384.
///
/// The hash tag is what stands between the first `{` and the first `}` after it, unless nothing
/// does.
///
/// ```
/// use echo_wire::keyspace::slot;
///
/// assert_eq!(slot(b"123456789"), 12739);
/// assert_eq!(slot(b"{emq}:version"), 9051);
/// assert_eq!(slot(b"emq:{mail}:wait"), slot(b"emq:{mail}:active"));
/// ```
pub fn slot(key: &[u8]) -> u16 {
    crc16(hash_tag(key).unwrap_or(key)) % SLOTS
}

/// The number of slots.
const SLOTS: u16 = 16_384;

/// What stands between the first `{` and the first `}` after it, unless nothing does.
pub(super) fn hash_tag(key: &[u8]) -> Option<&[u8]> {
    let open = memchr::memchr(b'{', key)?;
    let (_, after) = key.split_at_checked(open.checked_add(1)?)?;
    let close = memchr::memchr(b'}', after)?;
    after.get(..close).filter(|tag| !tag.is_empty())
}

/// CRC16 as XMODEM has it: polynomial 0x1021, high bit first, from zero, not reflected.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        let [high, _] = crc.to_be_bytes();
        let step = TABLE.get(usize::from(high ^ byte)).copied().unwrap_or(0);
        crc << 8 ^ step
    })
}

static TABLE: [u16; 256] = table();

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "evaluated by the compiler, where a mistake does not compile"
)]
const fn table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut crc = (i as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_vectors() {
        for (key, want) in [
            ("{}{x}", 3257),
            ("foo{}{bar}", 8363),
            ("foo{{bar}}zap", 4015),
            ("A}B{C", 7939),
            ("foo{bar}zap", 5061),
            ("{}", 15257),
            ("123456789", 12739),
            ("{emq}:version", 9051),
        ] {
            assert_eq!(slot(key.as_bytes()), want, "{key}");
        }
    }
}
