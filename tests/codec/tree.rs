//! A reply as an owned tree, to compare with.

use echo_wire::resp::{Null, Pairs, ReplyRef, Value};

/// A reply as an owned tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Simple(Vec<u8>),
    Error(Vec<u8>),
    Integer(i64),
    Bulk(Vec<u8>),
    Null(&'static str),
    Boolean(bool),
    /// By its bits, so that a NaN equals itself.
    Double(u64),
    BigNumber(Vec<u8>),
    BulkError(Vec<u8>),
    Verbatim(Vec<u8>, Vec<u8>),
    Array(Vec<Self>),
    Set(Vec<Self>),
    Push(Vec<Self>),
    Map(Vec<(Self, Self)>),
    Attribute(Vec<(Self, Self)>, Box<Self>),
}

/// The reply as a tree. It recurses: not for the deepest.
pub(crate) fn of(reply: ReplyRef<'_>) -> Tree {
    let mut tree = match reply.value() {
        Value::SimpleString(text) => Tree::Simple(text.to_vec()),
        Value::SimpleError(text) => Tree::Error(text.to_vec()),
        Value::Integer(value) => Tree::Integer(value),
        Value::BulkString(text) => Tree::Bulk(text.to_vec()),
        Value::Array(items) => Tree::Array(items.iter().map(of).collect()),
        Value::Null(Null::Bulk) => Tree::Null("bulk"),
        Value::Null(Null::Array) => Tree::Null("array"),
        Value::Null(Null::Resp3) => Tree::Null("resp3"),
        Value::Boolean(value) => Tree::Boolean(value),
        Value::Double(value) => Tree::Double(value.to_bits()),
        Value::BigNumber(digits) => Tree::BigNumber(digits.to_vec()),
        Value::BulkError(text) => Tree::BulkError(text.to_vec()),
        Value::VerbatimString { format, text } => Tree::Verbatim(format.to_vec(), text.to_vec()),
        Value::Map(map) => Tree::Map(pairs(map)),
        Value::Set(items) => Tree::Set(items.iter().map(of).collect()),
        Value::Push(items) => Tree::Push(items.iter().map(of).collect()),
    };
    let attributes: Vec<_> = reply.attributes().map(pairs).collect();
    for attribute in attributes.into_iter().rev() {
        tree = Tree::Attribute(attribute, Box::new(tree));
    }
    tree
}

fn pairs(pairs: Pairs<'_>) -> Vec<(Tree, Tree)> {
    pairs.iter().map(|(key, value)| (of(key), of(value))).collect()
}
