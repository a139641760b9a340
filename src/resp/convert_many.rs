//! Lists, pairs, maps and tuples from replies.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    hash::{BuildHasher, Hash},
};

use super::{ConvertError, ElementsIter, FromReply, ReplyRef, Value};

impl<T: FromReply> FromReply for Vec<T> {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        T::list_from_reply(reply)
    }
}

impl<T: FromReply + Eq + Hash, S: BuildHasher + Default> FromReply for HashSet<T, S> {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        Ok(T::list_from_reply(reply)?.into_iter().collect())
    }
}

impl<T: FromReply + Ord> FromReply for BTreeSet<T> {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        Ok(T::list_from_reply(reply)?.into_iter().collect())
    }
}

impl<K: FromReply + Eq + Hash, V: FromReply, S: BuildHasher + Default> FromReply
    for HashMap<K, V, S>
{
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        Ok(pairs(reply)?.into_iter().collect())
    }
}

impl<K: FromReply + Ord, V: FromReply> FromReply for BTreeMap<K, V> {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        Ok(pairs(reply)?.into_iter().collect())
    }
}

/// The pairs of a map, of RESP2's array in its place, or of an array of two-element arrays (as
/// `ZRANGE … WITHSCORES` answers in RESP3).
fn pairs<K: FromReply, V: FromReply>(reply: ReplyRef<'_>) -> Result<Vec<(K, V)>, ConvertError> {
    let flat = match reply.value() {
        Value::Map(map) => map.flat(),
        Value::Array(items) if items.get(0).is_some_and(is_pair) => {
            let pair = |(index, item)| pair(item).map_err(|e: ConvertError| e.inside(index));
            return items.iter().enumerate().map(pair).collect();
        }
        Value::Array(items) if items.len() % 2 == 0 => items,
        _ => return Err(ConvertError::mismatch("pairs", reply)),
    };
    let mut pairs = Vec::with_capacity(flat.len() / 2);
    let mut items = flat.iter().enumerate();
    while let (Some((at, key)), Some((behind, value))) = (items.next(), items.next()) {
        let key = K::from_reply(key).map_err(|e| e.inside(at))?;
        let value = V::from_reply(value).map_err(|e| e.inside(behind))?;
        pairs.push((key, value));
    }
    Ok(pairs)
}

fn is_pair(reply: ReplyRef<'_>) -> bool {
    matches!(reply.value(), Value::Array(items) if items.len() == 2)
}

fn pair<A: FromReply, B: FromReply>(reply: ReplyRef<'_>) -> Result<(A, B), ConvertError> {
    let mut items = exactly(2, "a list of 2", reply)?;
    Ok((element(&mut items, reply, 0)?, element(&mut items, reply, 1)?))
}

/// The elements of a list, if there are so many.
fn exactly<'a>(
    len: usize,
    wanted: &'static str,
    reply: ReplyRef<'a>,
) -> Result<ElementsIter<'a>, ConvertError> {
    match reply.value().elements() {
        Some(items) if items.len() == len => Ok(items.iter()),
        _ => Err(ConvertError::mismatch(wanted, reply)),
    }
}

/// The next element, the one at `index`, as `T`.
fn element<T: FromReply>(
    items: &mut ElementsIter<'_>,
    list: ReplyRef<'_>,
    index: usize,
) -> Result<T, ConvertError> {
    let item = items.next().ok_or_else(|| ConvertError::mismatch("one more element", list))?;
    T::from_reply(item).map_err(|e| e.inside(index))
}

impl<A: FromReply, B: FromReply> FromReply for (A, B) {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        pair(reply)
    }

    fn list_from_reply(reply: ReplyRef<'_>) -> Result<Vec<Self>, ConvertError> {
        pairs(reply)
    }
}

macro_rules! tuples {
    ($(($wanted:literal $len:literal: $($t:ident $at:tt)+))*) => {$(
        impl<$($t: FromReply),+> FromReply for ($($t,)+) {
            fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
                let mut items = exactly($len, $wanted, reply)?;
                Ok(($(element::<$t>(&mut items, reply, $at)?,)+))
            }
        }
    )*};
}

tuples! {
    ("a list of 1" 1: A 0)
    ("a list of 3" 3: A 0 B 1 C 2)
    ("a list of 4" 4: A 0 B 1 C 2 D 3)
    ("a list of 5" 5: A 0 B 1 C 2 D 3 E 4)
    ("a list of 6" 6: A 0 B 1 C 2 D 3 E 4 F 5)
    ("a list of 7" 7: A 0 B 1 C 2 D 3 E 4 F 5 G 6)
    ("a list of 8" 8: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7)
}
