//! What each type reads as, and what stands beside a value.

use echo_wire::resp::{Decoder, Limits, Null, Reply, Value};

fn replies(stream: &[u8]) -> Vec<Reply> {
    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(stream);
    let replies = std::iter::from_fn(|| decoder.next().unwrap()).collect();
    assert!(decoder.is_idle(), "{} bytes left", decoder.buffered().len());
    replies
}

fn one(stream: &[u8]) -> Reply {
    let [reply] = replies(stream).try_into().unwrap();
    reply
}

#[test]
fn the_three_nulls_are_one_null_and_keep_their_form() {
    let forms = [(&b"$-1\r\n"[..], Null::Bulk), (b"*-1\r\n", Null::Array), (b"_\r\n", Null::Resp3)];
    for (wire, form) in forms {
        let reply = one(wire);
        assert!(reply.is_null());
        assert_eq!(reply.value(), Value::Null(form));
        assert_eq!(reply.to::<Option<Vec<i64>>>().unwrap(), None);
        let inside = one(&[b"*1\r\n", wire].concat());
        assert_eq!(inside.value().elements().unwrap().get(0).unwrap().value(), Value::Null(form));
    }
    for (empty, len) in [(&b"*0\r\n"[..], 0), (b"%0\r\n", 0), (b"~0\r\n", 0)] {
        assert!(!one(empty).is_null());
        assert_eq!(one(empty).to::<Vec<(i64, i64)>>().map_or(0, |pairs| pairs.len()), len);
    }
    assert!(!one(b"$0\r\n\r\n").is_null());
}

#[test]
fn doubles_keep_their_sign_and_every_nan_reads_as_one() {
    for (text, value) in [
        ("inf", f64::INFINITY),
        ("-inf", f64::NEG_INFINITY),
        ("1e308", 1e308),
        ("-0", -0.0),
        ("3", 3.0),
        ("1.5E-2", 0.015),
    ] {
        let Value::Double(read) = one(format!(",{text}\r\n").as_bytes()).value() else {
            panic!("{text} is a double")
        };
        assert_eq!(read.to_bits(), value.to_bits(), "{text}");
    }
    for text in ["nan", "-nan", "NAN", "nan(0x8000000000000)", "-NAN(ind)"] {
        let reply = one(format!(",{text}\r\n").as_bytes());
        let Value::Double(read) = reply.value() else { panic!("{text} is a double") };
        assert_eq!(read.to_bits(), f64::NAN.to_bits(), "{text}");
        assert_eq!(reply, reply.clone(), "equal to itself");
    }
}

#[test]
fn a_bulk_error_is_an_error_and_a_big_number_keeps_its_digits() {
    let error = one(b"!11\r\nERR a\r\nb\xff c\r\n").as_error().unwrap();
    assert_eq!((error.code(), error.as_bytes()), ("ERR", &b"ERR a\r\nb\xff c"[..]));
    let digits = b"1234567999999999999999999999999999999";
    let reply = one(&[b"(", &digits[..], b"\r\n"].concat());
    assert_eq!(reply.value(), Value::BigNumber(digits));
    assert_eq!(reply.to::<u128>().unwrap_or(0), 1_234_567_999_999_999_999_999_999_999_999_999_999);
    assert!(reply.to::<i64>().is_err());
}

#[test]
fn an_attribute_takes_no_place_wherever_it_stands() {
    let attribute = b"|1\r\n+ttl\r\n:9\r\n";
    let ttl = |reply: &Reply| {
        let attributes: Vec<_> = reply.attributes().collect();
        attributes.iter().map(|a| a.get(b"ttl").unwrap().to::<i64>().unwrap()).sum::<i64>()
    };
    // Before a reply of any kind, one or several: one reply each.
    for value in
        [&b"+OK\r\n"[..], b"-ERR\r\n", b"_\r\n", b"*1\r\n:1\r\n", b"%1\r\n+server\r\n+v\r\n"]
    {
        let plain = one(value);
        for count in 0..4 {
            let reply = one(&[&attribute.repeat(count), value].concat());
            assert_eq!(ttl(&reply), 9 * count as i64);
            assert_eq!(reply.is_error(), plain.is_error());
            assert_eq!(reply.is_null(), plain.is_null());
            assert_eq!(reply.value(), plain.value());
            assert_eq!(reply == plain, count == 0, "attributes are compared too");
        }
    }
    // Before a push: still a push.
    let stream = [&attribute[..], b">2\r\n+message\r\n+hi\r\n", b"$1\r\na\r\n"].concat();
    let pushed: Vec<_> = replies(&stream).iter().map(Reply::is_push).collect();
    assert_eq!(pushed, [true, false]);
    // Inside an aggregate.
    let list = one(&[&b"*2\r\n"[..], attribute, b":1\r\n:2\r\n"].concat());
    assert_eq!(list.to::<Vec<i64>>().unwrap(), [1, 2]);
    let items = list.value().elements().unwrap();
    assert_eq!(items.get(1).unwrap().value(), Value::Integer(2));
    assert_eq!(ttl(&items.get(0).unwrap().to_reply()), 9);
    assert_eq!(items.get(1).unwrap().attributes().count(), 0);
    assert!(items.get(2).is_none());
    // As key and as value of a map.
    let map = one(&[&b"%1\r\n"[..], attribute, b"+k\r\n", attribute, b"+v\r\n"].concat());
    assert_eq!(map.to::<Vec<(String, String)>>().unwrap(), [("k".into(), "v".into())]);
}

#[test]
fn a_streamed_reply_reads_as_the_plain_one() {
    for (streamed, plain) in [
        (
            &b"$?\r\n;4\r\nHell\r\n;5\r\no wor\r\n;1\r\nd\r\n;0\r\n"[..],
            &b"$10\r\nHello word\r\n"[..],
        ),
        (b"*?\r\n:1\r\n$?\r\n;1\r\na\r\n;0\r\n.\r\n", b"*2\r\n:1\r\n$1\r\na\r\n"),
        (b"%?\r\n+k\r\n~?\r\n.\r\n.\r\n", b"%1\r\n+k\r\n~0\r\n"),
    ] {
        assert_eq!(one(streamed), one(plain));
        // What follows is not touched by moving the chunks together.
        let both = replies(&[streamed, plain, streamed].concat());
        assert_eq!(both, [one(plain), one(plain), one(plain)]);
    }
}

#[test]
fn a_reply_shows_what_it_says() {
    for (wire, shown) in [
        (&b"+OK\r\n"[..], "+OK"),
        (b"-ERR no\r\n", "-ERR no"),
        (b"$3\r\na\"\xff\r\n", r#""a\"\xff""#),
        (b"*3\r\n:1\r\n*0\r\n_\r\n", "[1, [], null]"),
        (b"%2\r\n+a\r\n#t\r\n+b\r\n~1\r\n,0.5\r\n", "{+a: true, +b: ~[0.5]}"),
        (b">2\r\n+m\r\n*1\r\n(7\r\n", ">[+m, [(7]]"),
        (b"*2\r\n|1\r\n+t\r\n:1\r\n|0\r\n:5\r\n:6\r\n", "[|+t: 1| || 5, 6]"),
        (b"=7\r\ntxt:abc\r\n", r#"=txt:"abc""#),
        (b"!3\r\nE x\r\n", r#"!"E x""#),
    ] {
        assert_eq!(format!("{:?}", one(wire)), shown);
    }
    let list = one(b"*2\r\n:1\r\n:2\r\n");
    assert_eq!(format!("{:?}", list.value()), "Array([1, 2])");
}

#[test]
fn a_pair_s_value_is_found_by_its_key_whatever_string_the_key_is() {
    let map = one(b"%3\r\n$4\r\nrole\r\n:1\r\n+proto\r\n:3\r\n=8\r\ntxt:mode\r\n:5\r\n");
    let Value::Map(map) = map.value() else { panic!("a map") };
    let values = ["role", "proto", "mode", "none"]
        .map(|key| map.get(key.as_bytes()).map(|value| value.to::<i64>().unwrap()));
    assert_eq!(values, [Some(1), Some(3), Some(5), None]);
    assert_eq!((map.len(), map.iter().len(), map.flat().len()), (3, 3, 6));
}

#[test]
fn a_reply_is_small_and_goes_anywhere() {
    fn anywhere<T: Send + Sync + 'static>() {}
    anywhere::<Reply>();
    anywhere::<Decoder>();
    assert_eq!(size_of::<Reply>(), 40);
    assert_eq!(size_of::<Result<bool, echo_wire::resp::ProtocolError>>(), 16);
    assert!(Reply::default().is_null());
}
