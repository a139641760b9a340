//! The decoders, each as its documentation has a connection use it: bytes go in as they come, whole
//! replies come out. `say` adds up what a reply says, to check that all say the same.

use bytes::{Bytes, BytesMut};
use echo_wire::resp::{Decoder, Limits, Reply, ReplyRef, Value};

use super::{shapes::Shape, walk::walk};

/// Decodes a whole stream and keeps its replies; those of the last time are dropped for it.
pub trait Decode {
    const NAME: &'static str;
    type Reply;
    /// Whether it can decode this at all.
    fn takes(_shape: &Shape) -> bool {
        true
    }
    fn decode(&mut self, shape: &Shape, replies: &mut Vec<Self::Reply>);
    fn say(reply: &Self::Reply) -> i64;
}

fn pieces(shape: &Shape) -> impl Iterator<Item = &[u8]> {
    let piece = if shape.piece == 0 { 64 * 1024 } else { shape.piece };
    // A large reply whole is one piece; many small ones come as a socket would give them.
    let piece = if shape.piece == 0 && shape.replies == 1 { shape.stream.len() } else { piece };
    shape.stream.chunks(piece)
}

/// The floor.
#[derive(Default)]
pub struct Walk;

impl Decode for Walk {
    const NAME: &'static str = "the walk by hand (floor)";
    type Reply = i64;
    fn decode(&mut self, shape: &Shape, replies: &mut Vec<i64>) {
        replies.clear();
        replies.push(walk(std::hint::black_box(&shape.stream)).1);
    }
    fn say(reply: &i64) -> i64 {
        *reply
    }
}

/// The floor for a large bulk string: appending the pieces into a buffer of its size.
#[derive(Default)]
pub struct Append;

impl Decode for Append {
    const NAME: &'static str = "appending the bytes (floor)";
    type Reply = Bytes;
    fn decode(&mut self, shape: &Shape, replies: &mut Vec<Bytes>) {
        replies.clear();
        let mut whole = BytesMut::with_capacity(shape.stream.len());
        pieces(shape).for_each(|piece| whole.extend_from_slice(piece));
        replies.push(whole.freeze());
    }
    fn say(reply: &Bytes) -> i64 {
        walk(reply).1
    }
}

/// Each reply owned, built in the place where it stays, as the link does with callers' slots.
pub struct Owned(Decoder);

impl Default for Owned {
    fn default() -> Self {
        Self(Decoder::new(Limits::default()))
    }
}

impl Decode for Owned {
    const NAME: &'static str = "echo_wire, owned";
    type Reply = Reply;
    fn decode(&mut self, shape: &Shape, replies: &mut Vec<Reply>) {
        replies.resize_with(shape.replies, Reply::default);
        let mut filled = 0;
        for piece in pieces(shape) {
            self.0.feed(piece);
            while filled < shape.replies && self.0.next_into(&mut replies[filled]).expect("valid") {
                filled += 1;
            }
        }
        assert_eq!(filled, shape.replies);
    }
    fn say(reply: &Reply) -> i64 {
        say(reply.as_ref())
    }
}

/// Each reply where it lies, every value in it read.
#[derive(Default)]
pub struct Borrowed(Owned);

impl Decode for Borrowed {
    const NAME: &'static str = "echo_wire, borrowed, all read";
    type Reply = i64;
    fn decode(&mut self, shape: &Shape, replies: &mut Vec<i64>) {
        replies.clear();
        let mut sum = 0;
        for piece in pieces(shape) {
            self.0.0.feed(piece);
            while let Some(reply) = self.0.0.next_ref().expect("valid") {
                sum += say(reply);
            }
        }
        replies.push(sum);
    }
    fn say(reply: &i64) -> i64 {
        *reply
    }
}

fn say(reply: ReplyRef<'_>) -> i64 {
    match reply.value() {
        Value::Integer(value) => value,
        Value::Null(_) => 0,
        Value::Array(items) => items.iter().map(say).sum(),
        Value::Map(pairs) => pairs.flat().iter().map(say).sum(),
        value => value.text().map_or(0, |text| text.len() as i64),
    }
}

/// redis-rs: its parser, which takes a whole reply from a reader. Its decoder of pieces is private.
#[derive(Default)]
pub struct RedisRs;

impl Decode for RedisRs {
    const NAME: &'static str = "redis-rs";
    type Reply = redis::Value;
    fn takes(shape: &Shape) -> bool {
        shape.piece == 0
    }
    fn decode(&mut self, shape: &Shape, replies: &mut Vec<redis::Value>) {
        replies.clear();
        let mut rest = &shape.stream[..];
        let mut parser = redis::Parser::new();
        // It reads ahead into a buffer of its own.
        for _ in 0..shape.replies {
            replies.push(parser.parse_value(&mut rest).expect("valid"));
        }
    }
    fn say(reply: &redis::Value) -> i64 {
        match reply {
            redis::Value::Int(value) => *value,
            redis::Value::BulkString(text) => text.len() as i64,
            redis::Value::SimpleString(text) => text.len() as i64,
            redis::Value::Okay => 2,
            redis::Value::Array(items) => items.iter().map(Self::say).sum(),
            redis::Value::Map(pairs) => {
                pairs.iter().map(|(key, value)| Self::say(key) + Self::say(value)).sum()
            }
            _ => 0,
        }
    }
}

/// redis-protocol, which fred is built on: shares of the buffer. Its RESP2 decoder, fred's default.
#[derive(Default)]
pub struct RedisProtocol(BytesMut);

impl Decode for RedisProtocol {
    const NAME: &'static str = "redis-protocol (fred)";
    type Reply = redis_protocol::resp2::types::BytesFrame;
    fn takes(shape: &Shape) -> bool {
        !shape.stream.starts_with(b"%")
    }
    fn decode(&mut self, shape: &Shape, replies: &mut Vec<Self::Reply>) {
        use redis_protocol::resp2::decode::decode_bytes_mut;
        replies.clear();
        for piece in pieces(shape) {
            self.0.extend_from_slice(piece);
            while let Some((frame, _, _)) = decode_bytes_mut(&mut self.0).expect("valid") {
                replies.push(frame);
            }
        }
    }
    fn say(reply: &Self::Reply) -> i64 {
        use redis_protocol::resp2::types::BytesFrame as Frame;
        match reply {
            Frame::Integer(value) => *value,
            Frame::BulkString(text) | Frame::SimpleString(text) => text.len() as i64,
            Frame::Array(items) => items.iter().map(Self::say).sum(),
            _ => 0,
        }
    }
}

/// The same, its RESP3 decoder, which reads no null of RESP2.
#[derive(Default)]
pub struct RedisProtocol3(BytesMut);

impl Decode for RedisProtocol3 {
    const NAME: &'static str = "redis-protocol (fred)";
    type Reply = redis_protocol::resp3::types::BytesFrame;
    fn takes(shape: &Shape) -> bool {
        shape.stream.starts_with(b"%")
    }
    fn decode(&mut self, shape: &Shape, replies: &mut Vec<Self::Reply>) {
        use redis_protocol::resp3::decode::complete::decode_bytes_mut;
        replies.clear();
        for piece in pieces(shape) {
            self.0.extend_from_slice(piece);
            while let Some((frame, _, _)) = decode_bytes_mut(&mut self.0).expect("valid") {
                replies.push(frame);
            }
        }
    }
    fn say(reply: &Self::Reply) -> i64 {
        use redis_protocol::resp3::types::BytesFrame as Frame;
        match reply {
            Frame::Number { data, .. } => *data,
            Frame::BlobString { data, .. } => data.len() as i64,
            Frame::Map { data, .. } => {
                data.iter().map(|(key, value)| Self::say(key) + Self::say(value)).sum()
            }
            _ => 0,
        }
    }
}

/// resp-rs: shares of what it is fed.
#[derive(Default)]
pub struct RespRs(resp_rs::resp3::Parser);

impl Decode for RespRs {
    const NAME: &'static str = "resp-rs";
    type Reply = resp_rs::resp3::Frame;
    fn decode(&mut self, shape: &Shape, replies: &mut Vec<Self::Reply>) {
        replies.clear();
        for piece in pieces(shape) {
            self.0.feed(Bytes::copy_from_slice(piece));
            while let Some(frame) = self.0.next_frame().expect("valid") {
                replies.push(frame);
            }
        }
    }
    fn say(reply: &Self::Reply) -> i64 {
        use resp_rs::resp3::Frame;
        match reply {
            Frame::Integer(value) => *value,
            Frame::SimpleString(text) | Frame::BulkString(Some(text)) => text.len() as i64,
            Frame::Array(Some(items)) => items.iter().map(Self::say).sum(),
            Frame::Map(pairs) => {
                pairs.iter().map(|(key, value)| Self::say(key) + Self::say(value)).sum()
            }
            _ => 0,
        }
    }
}
