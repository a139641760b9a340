//! Any bytes, read as every type that there is: a kept reply reads as the lent one and as its own
//! copy, types that mean the same agree, and an error points at something that is there.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fmt::Debug,
};

use bytes::Bytes;
use echo_wire::resp::{
    ConvertError, Decoder, FromReply, Limits, Reply, ReplyRef, ServerError, Value,
};

pub(crate) fn check(stream: &[u8]) {
    let mut owned = Decoder::new(Limits::default());
    let mut lent = Decoder::new(Limits::default());
    owned.feed(stream);
    lent.feed(stream);
    while let Ok(Some(reply)) = owned.next() {
        let again = lent.next_ref().expect("the same stream").expect("the same reply");
        everything(&reply, again);
        // What stands inside is read as well, from where it stands.
        if let (Some(items), Some(others)) = (list(reply.as_ref()), list(again)) {
            for (item, other) in items.iter().zip(others.iter()).take(8) {
                everything(&item.to_reply(), *other);
            }
        }
    }
}

fn everything(reply: &Reply, lent: ReplyRef<'_>) {
    let copy = reply.detach();
    let views = [reply.as_ref(), lent, copy.as_ref()];
    integers(views);
    strings(views);
    lists(views);
    pairs(views);
    wrapped(views);
    tuples(views);
}

/// Reads all three; they must say the same. (A NaN is not equal to itself, so by their words.)
fn read<T: FromReply + Debug>(views: [ReplyRef<'_>; 3]) -> Result<T, ConvertError> {
    let [one, two, three] = views.map(ReplyRef::to::<T>);
    // A hash set has no order to print: its elements are compared where it is read.
    if !std::any::type_name::<T>().contains("Hash") {
        let words = format!("{one:?}");
        assert_eq!(words, format!("{two:?}"), "lent");
        assert_eq!(words, format!("{three:?}"), "copied");
    }
    if let Err(error) = &one {
        assert_eq!(two.as_ref().err(), Some(error));
        assert_eq!(three.as_ref().err(), Some(error));
        points_at_something(error, views[0]);
    }
    one
}

/// Each index of the path is one of the aggregate that it leads into.
fn points_at_something(error: &ConvertError, reply: ReplyRef<'_>) {
    assert!(!error.to_string().is_empty());
    let mut at = reply;
    for index in error.path() {
        at = *list(at).expect("only an aggregate has an inside").get(index).expect("its index");
    }
    match error.server_error() {
        Some(server) => assert_eq!(at.as_error().as_ref(), Some(server)),
        None => assert!(!at.is_error(), "an error is reported as itself"),
    }
    assert!(error.came().starts_with(at.value().type_name()), "{error}");
}

/// The elements of an aggregate, a map's keys and values in turn.
fn list<'a>(reply: ReplyRef<'a>) -> Option<Vec<ReplyRef<'a>>> {
    match reply.value() {
        Value::Map(map) => Some(map.flat().iter().collect()),
        value => Some(value.elements()?.iter().collect()),
    }
}

fn integers(views: [ReplyRef<'_>; 3]) {
    let wide = read::<i128>(views).ok();
    macro_rules! narrow {
        ($($int:ty)*) => {$(
            if let Ok(value) = read::<$int>(views) {
                assert_eq!(i128::try_from(value).ok(), wide);
            }
        )*};
    }
    narrow!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    if let (Ok(value), Some(wide)) = (read::<u128>(views), wide) {
        assert_eq!(i128::try_from(value), Ok(wide));
    }
    if let Value::Integer(value) = views[0].value() {
        assert_eq!(wide, Some(value.into()));
        assert_eq!(read::<i64>(views), Ok(value));
        assert_eq!(read::<u8>(views).ok(), u8::try_from(value).ok());
        #[allow(clippy::cast_precision_loss, reason = "as the crate says that it does")]
        let near = value as f64;
        assert_eq!(read::<f64>(views), Ok(near));
    }
    match (read::<bool>(views), views[0].value()) {
        (Ok(read), Value::Boolean(value)) => assert_eq!(read, value),
        (Ok(read), _) => assert_eq!(wide, Some(read.into())),
        (Err(_), value) => assert!(!matches!(value, Value::Boolean(_) | Value::Integer(0 | 1))),
    }
    if let (Value::Double(value), read) = (views[0].value(), read::<f64>(views)) {
        assert_eq!(read.map(f64::to_bits), Ok(value.to_bits()));
    }
}

fn strings(views: [ReplyRef<'_>; 3]) {
    let bytes = read::<Bytes>(views).ok();
    let text = views[0].value().text().filter(|_| !views[0].is_error());
    assert_eq!(bytes.as_deref(), text);
    assert_eq!(read::<Vec<u8>>(views).ok().as_deref(), text);
    let utf8 = text.and_then(|text| std::str::from_utf8(text).ok());
    assert_eq!(read::<String>(views).ok().as_deref(), utf8);
}

fn lists(views: [ReplyRef<'_>; 3]) {
    let items: Option<Vec<ReplyRef<'_>>> =
        views[0].value().elements().map(|items| items.iter().collect());
    let each = |items: &Vec<ReplyRef<'_>>| {
        items.iter().map(|item| item.to::<Bytes>().ok()).collect::<Option<Vec<Bytes>>>()
    };
    let expected = items.as_ref().and_then(each);
    let found = read::<Vec<Bytes>>(views).ok();
    assert_eq!(found, expected);
    let set: Option<BTreeSet<Bytes>> = found.map(|items| items.into_iter().collect());
    assert_eq!(read::<BTreeSet<Bytes>>(views).ok(), set);
    let hashed: Option<HashSet<Bytes>> = set.map(|items| items.into_iter().collect());
    assert_eq!(read::<HashSet<Bytes>>(views).ok(), hashed);
    drop(read::<Vec<f64>>(views));
    drop(read::<Vec<Vec<i64>>>(views));
    drop(read::<Vec<Option<String>>>(views));
    drop(read::<Vec<Result<bool, ServerError>>>(views));
    if let (Ok(kept), Some(items)) = (read::<Vec<Reply>>(views), items) {
        assert_eq!(kept.len(), items.len());
        kept.iter().zip(items).for_each(|(kept, item)| assert_eq!(*kept, item.to_reply()));
    }
}

fn pairs(views: [ReplyRef<'_>; 3]) {
    let found = read::<Vec<(Bytes, Bytes)>>(views).ok();
    let sorted: Option<BTreeMap<Bytes, Bytes>> = found.map(|pairs| pairs.into_iter().collect());
    assert_eq!(read::<BTreeMap<Bytes, Bytes>>(views).ok(), sorted);
    let hashed: Option<HashMap<Bytes, Bytes>> = sorted.map(|pairs| pairs.into_iter().collect());
    assert_eq!(read::<HashMap<Bytes, Bytes>>(views).ok(), hashed);
    drop(read::<Vec<(String, f64)>>(views));
    drop(read::<BTreeMap<i64, Vec<(String, Option<i64>)>>>(views));
    drop(read::<Vec<(u64, BTreeMap<String, String>)>>(views));
}

fn wrapped(views: [ReplyRef<'_>; 3]) {
    let plain = read::<i64>(views);
    let optional = read::<Option<i64>>(views);
    let checked = read::<Result<i64, ServerError>>(views);
    match (views[0].is_null(), views[0].as_error()) {
        (true, _) => assert_eq!((optional, checked.is_err()), (Ok(None), true)),
        (_, Some(error)) => {
            assert_eq!(optional.unwrap_err().server_error(), Some(&error));
            assert_eq!(checked, Ok(Err(error)));
        }
        (false, None) => {
            assert_eq!(optional, plain.clone().map(Some));
            assert_eq!(checked, plain.map(Ok));
        }
    }
    assert_eq!(read::<()>(views).is_err(), views[0].is_error());
    match read::<Reply>(views) {
        Ok(kept) => assert_eq!(kept, views[0].to_reply()),
        Err(_) => assert!(views[0].is_error()),
    }
    drop(read::<Option<Result<Vec<Option<f64>>, ServerError>>>(views));
}

fn tuples(views: [ReplyRef<'_>; 3]) {
    let len = views[0].value().elements().map(echo_wire::resp::Elements::len);
    macro_rules! of {
        ($($len:literal: $tuple:ty)*) => {$(
            if read::<$tuple>(views).is_ok() {
                assert_eq!(len, Some($len));
            }
        )*};
    }
    of! {
        1: (Option<Reply>,)
        2: (Bytes, Option<Reply>)
        3: (Bytes, i64, Option<Reply>)
        4: (Reply, Reply, (), ())
        5: ((), (), (), (), Reply)
        6: ((), (), (), (), (), Option<i64>)
        7: ((), (), (), (), (), (), Vec<Reply>)
        8: ((), (), (), (), (), (), (), (i64, f64))
    }
    assert!(
        len != Some(2) || read::<(Result<(), ServerError>, Result<(), ServerError>)>(views).is_ok()
    );
}
