//! `resp`: captures, whole, cut and malformed.

use std::fs;

use crate::runs::{fed, run};

#[test]
fn each_value_is_told_with_its_offset_as_a_person_reads_it() {
    let ran = fed(
        &["resp"],
        b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n%1\r\n+k\r\n*2\r\n:1\r\n_\r\n-ERR no\r\n,1.5\r\n#t\r\n",
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let want = "       0  array of 2
            1) \"GET\"
            2) \"a\"
      20  map of 1
            k => array of 2
                1) (integer) 1
                2) (null)
      39  (error) ERR no
      48  (double) 1.5
      54  (true)
";
    assert_eq!(ran.out, want);
}

#[test]
fn json_has_types_values_and_attributes() {
    let told = fed(&["resp", "--json"], b"|1\r\n+ttl\r\n:3\r\n$2\r\n\xff\x00\r\n*-1\r\n").jsons();
    assert_eq!(told[0]["type"], "bulk string");
    assert_eq!(told[0]["value"]["hex"], "ff00");
    assert_eq!(told[0]["attributes"][0][0][0]["value"], "ttl");
    assert_eq!((&told[1]["offset"], &told[1]["form"]), (&22.into(), &"array".into()));
}

#[test]
fn a_capture_that_ends_within_a_value_is_told_as_far_as_it_goes() {
    let ran = fed(&["resp"], b"+OK\r\n*2\r\n:1\r\n");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("0  OK\n"), "{ran:?}");
    assert!(ran.out.contains("5  incomplete: the capture ends 8 bytes into a value"), "{ran:?}");
    let told = fed(&["resp", "--json"], b"+OK\r\n*2\r\n:1\r\n").jsons();
    assert_eq!((&told[1]["offset"], &told[1]["incomplete_bytes"]), (&5.into(), &8.into()));
}

#[test]
fn a_malformed_capture_is_told_with_the_place() {
    let ran = fed(&["resp"], b"+OK\r\nHTTP/1.1 400\r\n");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("5  malformed: "), "{ran:?}");
    assert_eq!(fed(&["resp", "--json"], b"+OK\r\nHTTP/1.1\r\n").jsons()[1]["offset"], 5);
    assert_eq!(fed(&["resp", "--proto", "2"], b"#t\r\n").code, 1, "RESP2 has no booleans");
    assert_eq!(fed(&["resp", "--proto", "3"], b"#t\r\n").code, 0);
}

#[test]
fn a_capture_nested_as_deep_as_may_be_does_not_stop_it() {
    let ran = fed(&["resp"], &[b"*1\r\n".repeat(1023), b":1\r\n".to_vec()].concat());
    assert_eq!((ran.code, ran.out.lines().count()), (0, 1024), "{}", ran.err);
    let ran = fed(&["resp", "--json"], &[b"*1\r\n".repeat(1023), b":1\r\n".to_vec()].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn a_file_is_read_as_standard_input_is() {
    let file = std::env::temp_dir().join(format!("echo-wire-{}.resp", std::process::id()));
    fs::write(&file, b"+OK\r\n").unwrap();
    let ran = run(&["resp", file.to_str().unwrap()]);
    fs::remove_file(&file).unwrap();
    assert_eq!((ran.code, ran.out.as_str()), (0, "       0  OK\n"), "{ran:?}");
    let ran = run(&["resp", file.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("No such file"), "{ran:?}");
}
