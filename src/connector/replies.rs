//! The replies of a batch, and their reading as types of yours.

use std::{fmt, ops::Deref, slice, vec};

use crate::resp::{ConvertError, FromReply, Reply};

/// One reply for each command of a batch, in order. A slice of [`Reply`] to look at,
/// [`to`](Self::to) to read them all at once. Where only success matters, `to::<Vec<()>>()` reads
/// them: `()` is anything but an error.
///
/// ```
/// use echo_wire::{connector::Replies, resp::{Decoder, Limits}};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b":3\r\n$4\r\nmail\r\n-WRONGTYPE not a list\r\n");
/// let replies: Replies = std::iter::from_fn(|| decoder.next().unwrap()).collect();
/// assert_eq!((replies.len(), replies[2].is_error()), (3, true));
///
/// // The server's error is told with its place, counted from 0.
/// let error = replies.to::<(i64, String, i64)>().unwrap_err();
/// assert_eq!(error.to_string(), "the server answered WRONGTYPE not a list at [2]");
///
/// // Or it is a value, where it is expected.
/// use echo_wire::resp::ServerError;
/// let (count, name, length): (i64, String, Result<i64, ServerError>) = replies.to()?;
/// assert_eq!((count, name.as_str(), length.unwrap_err().code()), (3, "mail", "WRONGTYPE"));
/// # Ok::<(), echo_wire::resp::ConvertError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
#[must_use = "a command's error is a value in its slot, and is seen nowhere else"]
pub struct Replies(Vec<Reply>);

impl Replies {
    /// Reads all of them: a tuple of up to twelve types, one a reply, or a `Vec` of one type for
    /// any number.
    ///
    /// # Errors
    ///
    /// There are more or fewer replies than the tuple is long; or one of them does not read as its
    /// type: the first element of [`ConvertError::path`] is its place, and
    /// [`ConvertError::server_error`] the server's error, if that is what stood there. All commands
    /// have been answered in any case.
    pub fn to<T: FromReplies>(&self) -> Result<T, ConvertError> {
        T::from_replies(self)
    }

    /// The replies as a `Vec`.
    pub fn into_vec(self) -> Vec<Reply> {
        self.0
    }
}

/// What the replies of a batch can be read as: `Vec<T>`, and tuples of up to twelve.
///
/// Implemented here only; a type of your own for one reply implements [`FromReply`].
///
/// ```
/// use echo_wire::{connector::{FromReplies, Replies}, resp::{Decoder, Limits}};
///
/// fn read<T: FromReplies>(wire: &[u8]) -> T {
///     let mut decoder = Decoder::new(Limits::default());
///     decoder.feed(wire);
///     std::iter::from_fn(|| decoder.next().unwrap()).collect::<Replies>().to().unwrap()
/// }
/// assert_eq!(read::<Vec<i64>>(b":1\r\n:2\r\n"), [1, 2]);
/// assert_eq!(read::<(i64, String)>(b":1\r\n+two\r\n"), (1, "two".to_owned()));
/// ```
pub trait FromReplies: Sized + sealed::Sealed {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// As [`Replies::to`].
    fn from_replies(replies: &[Reply]) -> Result<Self, ConvertError>;
}

mod sealed {
    #[expect(unnameable_types, reason = "that is what seals")]
    pub trait Sealed {}
}

impl<T: FromReply> sealed::Sealed for Vec<T> {}

impl<T: FromReply> FromReplies for Vec<T> {
    fn from_replies(replies: &[Reply]) -> Result<Self, ConvertError> {
        let read = |(place, reply): (usize, &Reply)| reply.to().map_err(|e| e.inside(place));
        replies.iter().enumerate().map(read).collect()
    }
}

macro_rules! tuples {
    ($(($wanted:literal: $($t:ident $reply:ident $place:tt)+))*) => {$(
        impl<$($t: FromReply),+> sealed::Sealed for ($($t,)+) {}

        impl<$($t: FromReply),+> FromReplies for ($($t,)+) {
            fn from_replies(replies: &[Reply]) -> Result<Self, ConvertError> {
                let [$($reply),+] = replies else {
                    return Err(ConvertError::count($wanted, replies.len()));
                };
                Ok(($($reply.to::<$t>().map_err(|e| e.inside($place))?,)+))
            }
        }
    )*};
}

tuples! {
    ("one reply": A a 0)
    ("2 replies": A a 0 B b 1)
    ("3 replies": A a 0 B b 1 C c 2)
    ("4 replies": A a 0 B b 1 C c 2 D d 3)
    ("5 replies": A a 0 B b 1 C c 2 D d 3 E e 4)
    ("6 replies": A a 0 B b 1 C c 2 D d 3 E e 4 F f 5)
    ("7 replies": A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6)
    ("8 replies": A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7)
    ("9 replies": A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7 I i 8)
    ("10 replies": A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7 I i 8 J j 9)
    ("11 replies": A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7 I i 8 J j 9 K k 10)
    ("12 replies": A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7 I i 8 J j 9 K k 10 L l 11)
}

impl Deref for Replies {
    type Target = [Reply];

    fn deref(&self) -> &[Reply] {
        &self.0
    }
}

impl From<Vec<Reply>> for Replies {
    fn from(replies: Vec<Reply>) -> Self {
        Self(replies)
    }
}

impl FromIterator<Reply> for Replies {
    fn from_iter<I: IntoIterator<Item = Reply>>(replies: I) -> Self {
        Self(replies.into_iter().collect())
    }
}

impl IntoIterator for Replies {
    type Item = Reply;
    type IntoIter = vec::IntoIter<Reply>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Replies {
    type Item = &'a Reply;
    type IntoIter = slice::Iter<'a, Reply>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Debug for Replies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::{Decoder, Limits};

    fn replies(wire: &str) -> Replies {
        let mut decoder = Decoder::new(Limits::default());
        decoder.feed(wire.as_bytes());
        std::iter::from_fn(|| decoder.next().unwrap()).collect()
    }

    #[test]
    fn too_many_and_too_few_replies_are_told_apart_from_wrong_ones() {
        let two = replies(":1\r\n:2\r\n");
        let error = two.to::<(i64,)>().unwrap_err();
        assert_eq!(error.to_string(), "wanted one reply, came 2 replies");
        let error = two.to::<(i64, i64, i64)>().unwrap_err();
        assert_eq!(error.to_string(), "wanted 3 replies, came 2 replies");
        assert!(error.path().is_empty() && error.server_error().is_none());
        assert!(replies("").to::<Vec<i64>>().unwrap().is_empty());
    }

    #[test]
    fn a_mismatch_deep_inside_is_told_with_the_place_of_its_reply_first() {
        let batch = replies("+OK\r\n*2\r\n:1\r\n+x\r\n");
        let error = batch.to::<((), Vec<i64>)>().unwrap_err();
        assert_eq!(error.path(), [1, 1]);
        let error = batch.to::<Vec<Vec<i64>>>().unwrap_err();
        assert_eq!(error.path(), [0]);
    }

    #[test]
    fn twelve_replies_keep_their_order() {
        let wire: String = (0..12).map(|n| format!(":{n}\r\n")).collect();
        type Twelve = (u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8);
        let read: Twelve = replies(&wire).to().unwrap();
        assert_eq!(read, (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
    }
}
