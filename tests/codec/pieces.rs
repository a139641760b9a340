//! Ways to cut a stream into reads, the same on every run.

/// A small generator of numbers that look random (xorshift), from a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// The whole, byte by byte, each cut in two (of a short stream), and random pieces.
pub(crate) fn ways(stream: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut ways = vec![vec![stream], stream.chunks(1).collect()];
    if stream.len() <= 200 {
        ways.extend((1..stream.len()).map(|cut| vec![&stream[..cut], &stream[cut..]]));
    }
    ways.extend((1..=8).map(|seed| random(stream, seed, stream.len().min(16))));
    ways
}

/// Pieces of 1 to `longest` bytes.
pub(crate) fn random(mut stream: &[u8], seed: u64, longest: usize) -> Vec<&[u8]> {
    let mut random = Random::new(seed);
    let mut pieces = Vec::new();
    while !stream.is_empty() {
        let (piece, rest) = stream.split_at((random.below(longest) + 1).min(stream.len()));
        pieces.push(piece);
        stream = rest;
    }
    pieces
}
