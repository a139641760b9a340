//! The oracle: a decoder as plain as the specification. It recurses, copies, and starts again from
//! the first byte each time, and shares nothing with the crate but the names of the types.

use crate::tree::Tree;

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    More,
    Bad,
}

type Parsed<T> = Result<T, Stop>;

/// The first reply and its length.
pub(crate) fn decode(bytes: &[u8]) -> Parsed<(Tree, usize)> {
    let mut at = Reader { bytes, at: 0 };
    let tree = at.value(true)?;
    Ok((tree, at.at))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Parsed<u8> {
        let byte = *self.bytes.get(self.at).ok_or(Stop::More)?;
        self.at += 1;
        Ok(byte)
    }

    fn expect(&mut self, byte: u8) -> Parsed<()> {
        if self.byte()? == byte { Ok(()) } else { Err(Stop::Bad) }
    }

    fn crlf(&mut self) -> Parsed<()> {
        self.expect(b'\r')?;
        self.expect(b'\n')
    }

    fn line(&mut self) -> Parsed<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            match self.byte()? {
                b'\r' => break,
                b'\n' => return Err(Stop::Bad),
                byte => line.push(byte),
            }
        }
        self.expect(b'\n')?;
        Ok(line)
    }

    /// A line that only digits may stand in, so that a wrong one is refused at once, as is one that
    /// no 64 bits can hold.
    fn digits(&mut self) -> Parsed<String> {
        let mut digits = String::new();
        loop {
            match self.byte()? {
                b'\r' if !digits.is_empty() => break,
                byte if byte.is_ascii_digit() && digits.len() < 64 => {
                    digits.push(byte.into());
                    digits.parse::<u64>().map_err(|_| Stop::Bad)?;
                }
                _ => return Err(Stop::Bad),
            }
        }
        self.expect(b'\n')?;
        Ok(digits)
    }

    fn length(&mut self) -> Parsed<usize> {
        self.digits()?.parse().map_err(|_| Stop::Bad)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn body(&mut self, len: usize) -> Parsed<Vec<u8>> {
        if len > 512 << 20 {
            return Err(Stop::Bad);
        }
        // The CRLF is looked at when both of its bytes can be there.
        let whole = self.bytes.get(self.at..self.at + len + 2).ok_or(Stop::More)?;
        self.at += len;
        self.crlf()?;
        Ok(whole[..len].to_vec())
    }

    fn null(&mut self) -> Parsed<bool> {
        if self.peek() != Some(b'-') {
            return Ok(false);
        }
        self.at += 1;
        self.expect(b'1')?;
        self.crlf()?;
        Ok(true)
    }

    fn streamed(&mut self) -> Parsed<bool> {
        if self.peek() != Some(b'?') {
            return Ok(false);
        }
        self.at += 1;
        self.crlf()?;
        Ok(true)
    }

    fn end_mark(&mut self) -> Parsed<bool> {
        if self.peek() != Some(b'.') {
            return Ok(false);
        }
        self.at += 1;
        self.crlf()?;
        Ok(true)
    }

    fn list(&mut self) -> Parsed<Vec<Tree>> {
        let mut items = Vec::new();
        if self.streamed()? {
            while !self.end_mark()? {
                items.push(self.value(false)?);
            }
        } else {
            let count = self.length()?;
            if count > i64::MAX as usize {
                return Err(Stop::Bad);
            }
            for _ in 0..count {
                items.push(self.value(false)?);
            }
        }
        Ok(items)
    }

    fn pairs(&mut self, may_stream: bool) -> Parsed<Vec<(Tree, Tree)>> {
        let mut pairs = Vec::new();
        if may_stream && self.streamed()? {
            while !self.end_mark()? {
                pairs.push((self.value(false)?, self.value(false)?));
            }
        } else {
            let count = self.length()?;
            if count > i64::MAX as usize / 2 {
                return Err(Stop::Bad);
            }
            for _ in 0..count {
                pairs.push((self.value(false)?, self.value(false)?));
            }
        }
        Ok(pairs)
    }

    fn chunks(&mut self) -> Parsed<Vec<u8>> {
        let mut whole = Vec::new();
        loop {
            self.expect(b';')?;
            match self.length()? {
                0 => return Ok(whole),
                len => whole.extend(self.body(len)?),
            }
        }
    }

    fn value(&mut self, top: bool) -> Parsed<Tree> {
        Ok(match self.byte()? {
            b'+' => Tree::Simple(self.line()?),
            b'-' => Tree::Error(self.line()?),
            b':' => Tree::Integer(self.integer()?),
            b'$' if self.null()? => Tree::Null("bulk"),
            b'$' if self.streamed()? => Tree::Bulk(self.chunks()?),
            b'$' => {
                let len = self.length()?;
                Tree::Bulk(self.body(len)?)
            }
            b'*' if self.null()? => Tree::Null("array"),
            b'*' => Tree::Array(self.list()?),
            b'_' => {
                self.crlf()?;
                Tree::Null("resp3")
            }
            b'#' => {
                let value = match self.byte()? {
                    b't' => true,
                    b'f' => false,
                    _ => return Err(Stop::Bad),
                };
                self.crlf()?;
                Tree::Boolean(value)
            }
            b',' => Tree::Double(double(&self.line()?)?.to_bits()),
            b'(' => {
                let line = self.line()?;
                let digits = match &line[..] {
                    [b'-' | b'+', digits @ ..] => digits,
                    digits => digits,
                };
                if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                    return Err(Stop::Bad);
                }
                Tree::BigNumber(line)
            }
            b'!' => {
                let len = self.length()?;
                Tree::BulkError(self.body(len)?)
            }
            b'=' => {
                let len = self.length()?;
                if len < 4 {
                    return Err(Stop::Bad);
                }
                let body = self.body(len)?;
                if body[3] != b':' {
                    return Err(Stop::Bad);
                }
                Tree::Verbatim(body[..3].to_vec(), body[4..].to_vec())
            }
            b'%' => Tree::Map(self.pairs(true)?),
            b'~' => Tree::Set(self.list()?),
            b'>' if self.peek() == Some(b'?') => return Err(Stop::Bad),
            b'>' if !top => {
                self.length()?;
                return Err(Stop::Bad);
            }
            b'>' => Tree::Push(self.list()?),
            b'|' => Tree::Attribute(self.pairs(false)?, Box::new(self.value(top)?)),
            b'.' => {
                self.crlf()?;
                return Err(Stop::Bad);
            }
            _ => return Err(Stop::Bad),
        })
    }

    fn integer(&mut self) -> Parsed<i64> {
        let sign = match self.peek() {
            Some(b'-') => "-",
            Some(b'+') => "+",
            _ => "",
        };
        self.at += sign.len();
        format!("{sign}{}", self.digits()?).parse().map_err(|_| Stop::Bad)
    }
}

fn double(text: &[u8]) -> Parsed<f64> {
    let text = std::str::from_utf8(text).map_err(|_| Stop::Bad)?;
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    if unsigned == "inf" {
        return Ok(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    if let Some(tail) = unsigned.strip_prefix("nan").or_else(|| unsigned.strip_prefix("NAN")) {
        let inner = tail.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
        let word = |t: &str| t.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        return if tail.is_empty() || inner.is_some_and(word) {
            Ok(f64::NAN)
        } else {
            Err(Stop::Bad)
        };
    }
    // Rust's grammar, less what is not RESP's: no words, and digits on both sides of a point.
    let narrow = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b))
        && text.split('.').all(|part| part.ends_with(|c: char| c.is_ascii_digit()))
        && text.split('.').skip(1).all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
        && !text.trim_start_matches(['+', '-']).starts_with('.');
    if narrow { text.parse().map_err(|_| Stop::Bad) } else { Err(Stop::Bad) }
}
