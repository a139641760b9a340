//! Replies read as types: what reads, what does not, and what the refusal says.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bytes::Bytes;
use echo_wire::resp::{ConvertError, Decoder, FromReply, Limits, Reply};

fn reply(stream: &[u8]) -> Reply {
    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(stream);
    decoder.next().unwrap().unwrap()
}

fn to<T: FromReply>(stream: &[u8]) -> Result<T, ConvertError> {
    reply(stream).to()
}

fn refusal<T: FromReply + std::fmt::Debug>(stream: &[u8]) -> String {
    to::<T>(stream).unwrap_err().to_string()
}

#[test]
fn numbers_read_from_integers_and_from_strings_within_their_range() {
    assert_eq!(to::<i64>(b":-5\r\n"), Ok(-5));
    assert_eq!(to::<u8>(b":255\r\n"), Ok(255));
    assert_eq!(to::<usize>(b"$2\r\n42\r\n"), Ok(42));
    assert_eq!(to::<i128>(b"(170141183460469231731687303715884105727\r\n"), Ok(i128::MAX));
    assert_eq!(to::<f64>(b",1.5\r\n"), Ok(1.5));
    assert_eq!(to::<f64>(b"$4\r\n-inf\r\n"), Ok(f64::NEG_INFINITY));
    assert_eq!(to::<f64>(b":3\r\n"), Ok(3.0));
    assert_eq!(to::<bool>(b"#t\r\n"), Ok(true));
    assert_eq!(to::<bool>(b":0\r\n"), Ok(false));

    assert_eq!(refusal::<u8>(b":256\r\n"), "wanted u8, came integer 256");
    assert_eq!(refusal::<u64>(b":-1\r\n"), "wanted u64, came integer -1");
    assert_eq!(refusal::<i64>(b"$2\r\n4x\r\n"), "wanted i64, came bulk string \"4x\"");
    assert_eq!(refusal::<i64>(b",2.0\r\n"), "wanted i64, came double 2");
    assert_eq!(refusal::<f64>(b"$8\r\ninfinity\r\n"), "wanted f64, came bulk string \"infinity\"");
    assert_eq!(refusal::<bool>(b":2\r\n"), "wanted bool, came integer 2");
    assert_eq!(refusal::<bool>(b"+OK\r\n"), "wanted bool, came simple string \"OK\"");
}

#[test]
fn strings_read_from_every_string_like_type() {
    for wire in [&b"+hi\r\n"[..], b"$2\r\nhi\r\n", b"=6\r\ntxt:hi\r\n"] {
        assert_eq!(to::<String>(wire).unwrap(), "hi");
        assert_eq!(to::<Vec<u8>>(wire).unwrap(), b"hi");
        assert_eq!(to::<Bytes>(wire).unwrap(), "hi");
    }
    assert_eq!(to::<String>(b"(-12\r\n").unwrap(), "-12");
    assert_eq!(to::<Vec<u8>>(b"$2\r\n\xff\0\r\n").unwrap(), b"\xff\0");
    let refused = refusal::<String>(b"$2\r\n\xff\0\r\n");
    assert_eq!(refused, r#"wanted a UTF-8 string, came bulk string "\xff\x00""#);
    assert_eq!(refusal::<String>(b":1\r\n"), "wanted a UTF-8 string, came integer 1");
    let long = format!("${}\r\n{}\r\n", 100, "x".repeat(100));
    assert_eq!(refusal::<i64>(long.as_bytes()), "wanted i64, came bulk string of 100 bytes");
}

#[test]
fn a_null_is_read_by_option_only() {
    for null in [&b"$-1\r\n"[..], b"*-1\r\n", b"_\r\n"] {
        assert_eq!(to::<Option<String>>(null), Ok(None));
        assert_eq!(to::<()>(null), Ok(()));
        assert!(to::<Reply>(null).unwrap().is_null());
        assert_eq!(refusal::<String>(null), "wanted a UTF-8 string, came null");
        assert_eq!(refusal::<Vec<i64>>(null), "wanted a list, came null");
        assert_eq!(refusal::<HashMap<String, i64>>(null), "wanted pairs, came null");
        let listed = [b"*2\r\n:1\r\n", null].concat();
        assert_eq!(to::<Vec<Option<i64>>>(&listed), Ok(vec![Some(1), None]));
        assert_eq!(refusal::<Vec<i64>>(&listed), "wanted i64, came null at [1]");
    }
    assert_eq!(to::<Option<i64>>(b":7\r\n"), Ok(Some(7)));
}

#[test]
fn an_error_reply_is_the_server_s_error_wherever_it_stands() {
    let at_top = to::<Option<i64>>(b"-WRONGTYPE no\r\n").unwrap_err();
    assert_eq!(at_top.server_error().unwrap().code(), "WRONGTYPE");
    assert_eq!(at_top.to_string(), "the server answered WRONGTYPE no");
    assert!(to::<()>(b"!5\r\nERR x\r\n").unwrap_err().server_error().is_some());
    assert!(to::<Reply>(b"-ERR\r\n").unwrap_err().server_error().is_some());
    assert!(to::<Bytes>(b"-ERR\r\n").unwrap_err().server_error().is_some());
    assert!(to::<Vec<u8>>(b"-ERR\r\n").unwrap_err().server_error().is_some());

    let inside = to::<Vec<String>>(b"*3\r\n+a\r\n+b\r\n-OOM full\r\n").unwrap_err();
    assert_eq!(inside.server_error().unwrap().code(), "OOM");
    assert_eq!(inside.path(), [2]);
    assert_eq!(inside.to_string(), "the server answered OOM full at [2]");
}

#[test]
fn maps_read_from_maps_from_flat_arrays_and_from_arrays_of_pairs() {
    let expected = [("a".to_owned(), 1_u64), ("b".to_owned(), 2)];
    for wire in [
        &b"%2\r\n+a\r\n:1\r\n$1\r\nb\r\n:2\r\n"[..],
        b"*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n",
        b"*2\r\n*2\r\n$1\r\na\r\n:1\r\n*2\r\n$1\r\nb\r\n:2\r\n",
    ] {
        assert_eq!(to::<Vec<(String, u64)>>(wire).unwrap(), expected);
        assert_eq!(to::<HashMap<String, u64>>(wire).unwrap(), HashMap::from(expected.clone()));
        assert_eq!(to::<BTreeMap<String, u64>>(wire).unwrap(), BTreeMap::from(expected.clone()));
    }
    for empty in [&b"%0\r\n"[..], b"*0\r\n"] {
        assert_eq!(to::<HashMap<String, u64>>(empty).unwrap(), HashMap::new());
    }
    // Keys that come twice are both there where the type can hold them.
    let twice = b"%2\r\n+a\r\n:1\r\n+a\r\n:2\r\n";
    assert_eq!(to::<Vec<(String, i64)>>(twice).unwrap().len(), 2);
    assert_eq!(to::<HashMap<String, i64>>(twice).unwrap()["a"], 2);

    assert_eq!(
        refusal::<HashMap<String, i64>>(b"*3\r\n+a\r\n:1\r\n+b\r\n"),
        "wanted pairs, came array of 3"
    );
    assert_eq!(
        refusal::<HashMap<String, i64>>(b"%1\r\n+a\r\n+b\r\n"),
        "wanted i64, came simple string \"b\" at [1]"
    );
    assert_eq!(
        refusal::<Vec<(String, i64)>>(b"*2\r\n*2\r\n+a\r\n:1\r\n*1\r\n+a\r\n"),
        "wanted a list of 2, came array of 1 at [1]"
    );
}

#[test]
fn lists_sets_and_tuples_read_from_arrays_sets_and_pushes() {
    for wire in
        [&b"*3\r\n:1\r\n:2\r\n:2\r\n"[..], b"~3\r\n:1\r\n:2\r\n:2\r\n", b">3\r\n:1\r\n:2\r\n:2\r\n"]
    {
        assert_eq!(to::<Vec<i64>>(wire).unwrap(), [1, 2, 2]);
        assert_eq!(to::<HashSet<i64>>(wire).unwrap(), HashSet::from([1, 2]));
        assert_eq!(to::<BTreeSet<i64>>(wire).unwrap(), BTreeSet::from([1, 2]));
        assert_eq!(to::<(i64, u8, String)>(wire).unwrap_err().path(), [2]);
        assert_eq!(to::<(i64, u8, f64)>(wire).unwrap(), (1, 2, 2.0));
        assert_eq!(to::<(i64, i64)>(wire).unwrap_err().wanted(), "a list of 2");
    }
    assert_eq!(to::<(i64,)>(b"*1\r\n:1\r\n").unwrap(), (1,));
    assert_eq!(
        to::<(i64, (i64, i64), Vec<i64>, (), Option<i64>, Reply, i64, i64)>(
            b"*8\r\n:1\r\n*2\r\n:2\r\n:3\r\n*0\r\n+x\r\n_\r\n*1\r\n:4\r\n:5\r\n:6\r\n"
        )
        .unwrap(),
        (1, (2, 3), vec![], (), None, reply(b"*1\r\n:4\r\n"), 5, 6)
    );
    assert_eq!(refusal::<Vec<i64>>(b"+a\r\n"), "wanted a list, came simple string \"a\"");
}

#[test]
fn a_stream_reply_reads_in_one_line_and_a_mismatch_says_where() {
    type Entry = (String, Vec<(String, String)>);
    let wire = b"*1\r\n*2\r\n$4\r\njobs\r\n*2\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n\
        *2\r\n$3\r\n2-0\r\n*2\r\n$1\r\ng\r\n$1\r\nw\r\n";
    let streams: Vec<(String, Vec<Entry>)> = to(wire).unwrap();
    let (name, entries) = &streams[0];
    assert_eq!((name.as_str(), entries.len()), ("jobs", 2));
    assert_eq!(entries[1], ("2-0".into(), vec![("g".into(), "w".into())]));

    let error = to::<Vec<(String, Vec<(String, Vec<(String, i64)>)>)>>(wire).unwrap_err();
    assert_eq!(error.to_string(), "wanted i64, came bulk string \"v\" at [0][1][0][1][1]");
    assert_eq!((error.wanted(), error.came()), ("i64", "bulk string \"v\""));
}

#[test]
fn a_part_of_a_reply_becomes_a_reply_of_its_own() {
    let whole =
        reply(b"*2\r\n*3\r\n|1\r\n+t\r\n:1\r\n$5\r\nhello\r\n%1\r\n+k\r\n_\r\n:5\r\n+tail\r\n");
    let [inner, tail]: [Reply; 2] = whole.to::<Vec<Reply>>().unwrap().try_into().unwrap();
    drop(whole);
    assert_eq!(inner, reply(b"*3\r\n|1\r\n+t\r\n:1\r\n$5\r\nhello\r\n%1\r\n+k\r\n_\r\n:5\r\n"));
    assert_eq!(tail, reply(b"+tail\r\n"));
    let deep = inner.value().elements().unwrap().get(0).unwrap().to_reply();
    assert_eq!(deep, reply(b"|1\r\n+t\r\n:1\r\n$5\r\nhello\r\n"));
    assert_eq!(deep.attributes().count(), 1);
}
