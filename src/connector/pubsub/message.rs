//! What a subscription's reader gets.

use std::fmt;

use crate::resp::{Reply, Value};

/// A published message.
///
/// ```
/// use echo_wire::connector::Message;
/// use echo_wire::resp::{Decoder, Limits};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b">4\r\n$8\r\npmessage\r\n$3\r\njob\r\n$5\r\njob:7\r\n$4\r\ndone\r\n");
/// let push = decoder.next()?.unwrap();
/// let message = Message::from_push(push).unwrap();
/// assert_eq!((message.channel(), message.payload()), (&b"job:7"[..], &b"done"[..]));
/// assert_eq!(message.pattern(), Some(&b"job"[..]));
/// # Ok::<(), echo_wire::resp::ProtocolError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Message {
    /// A push of three text elements, or of four: kind, pattern if there are four, channel, payload.
    push: Reply,
}

/// One thing that a subscription's reader is told.
///
/// ```
/// use echo_wire::connector::Delivery;
/// assert!(matches!(Delivery::Lagged(3), Delivery::Lagged(lost) if lost == 3));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Delivery {
    /// A message.
    Message(Message),
    /// The reader was slow: this many messages, the oldest, were dropped here.
    Lagged(u64),
    /// The connection was lost and the subscription is in force again: whatever was published in
    /// between was missed.
    Gap,
}

impl Message {
    /// The message in a push of kind `message`, `pmessage` or `smessage`; `None` if it is another.
    pub fn from_push(push: Reply) -> Option<Self> {
        let message = matches!(
            texts(&push)?,
            [Some(b"message" | b"smessage"), Some(_), Some(_), None]
                | [Some(b"pmessage"), Some(_), Some(_), Some(_)]
        );
        message.then_some(Self { push })
    }

    /// The channel that it was published to.
    pub fn channel(&self) -> &[u8] {
        match self.elements() {
            [_, _, Some(channel), Some(_)] | [_, Some(channel), _, None] => channel,
            _ => &[],
        }
    }

    /// What was published.
    pub fn payload(&self) -> &[u8] {
        match self.elements() {
            [_, _, _, Some(payload)] | [_, _, Some(payload), None] => payload,
            _ => &[],
        }
    }

    /// The pattern by which it was found, if it was by one.
    pub fn pattern(&self) -> Option<&[u8]> {
        match self.elements() {
            [_, pattern, _, Some(_)] => pattern,
            _ => None,
        }
    }

    /// Bytes of its texts.
    pub(super) fn len(&self) -> usize {
        self.elements().into_iter().flatten().fold(0, |sum, text| sum.saturating_add(text.len()))
    }

    fn elements(&self) -> [Option<&[u8]>; 4] {
        texts(&self.push).unwrap_or_default()
    }
}

/// The first four elements of a push, as far as they are text.
fn texts(push: &Reply) -> Option<[Option<&[u8]>; 4]> {
    let Value::Push(elements) = push.value() else { return None };
    let mut elements = elements.iter();
    Some(std::array::from_fn(|_| elements.next().and_then(|element| element.value().text())))
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let payload = self.payload();
        f.debug_struct("Message")
            .field("channel", &format_args!("{}", self.channel().escape_ascii()))
            .field("payload", &format_args!("{} bytes", payload.len()))
            .finish()
    }
}
