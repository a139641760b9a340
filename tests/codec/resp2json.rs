//! The example that people and checks use: lines, exit status, and the same whatever the chunk.

use echo_wire::resp::Protocol;

use crate::filter::{self, Options};

fn run(options: Options, input: &[u8]) -> (String, u8) {
    let mut out = Vec::new();
    let status = filter::run(options, input, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), status)
}

const WHOLE: Options = Options { chunk: usize::MAX, protocol: Protocol::Resp3 };

#[test]
fn each_reply_is_a_line_and_the_status_tells_how_the_input_ended() {
    for (input, lines, status) in [
        (&b""[..], "", 0),
        (b"+OK\r\n:5\r\n", "{\"simple\":\"OK\"}\n{\"int\":5}\n", 0),
        (b"+OK\r\n*2\r\n:1\r\n", "{\"simple\":\"OK\"}\n{\"incomplete\":true}\n", 3),
        (b"$5\r\nhel", "{\"incomplete\":true}\n", 3),
        (
            b"-\xff\r\n+a\"b\r\n:x\r\n+no\r\n",
            "{\"error_hex\":\"ff\"}\n{\"simple\":\"a\\\"b\"}\n\
             {\"protocol_error\":\"malformed integer\",\"offset\":10}\n",
            4,
        ),
        (
            b"|1\r\n+t\r\n,1e16\r\n|0\r\n%1\r\n=5\r\ntxt:a\r\n!1\r\nE\r\n",
            "{\"attribute\":{\"attrs\":[[{\"simple\":\"t\"},{\"double\":\"1e+16\"}]],\"value\":\
             {\"attribute\":{\"attrs\":[],\"value\":\
             {\"map\":[[{\"verbatim\":[\"txt\",\"61\"]},{\"blob_error_hex\":\"45\"}]]}}}}}\n",
            0,
        ),
    ] {
        for chunk in [1, 2, 3, 7, usize::MAX] {
            let printed = run(Options { chunk, ..WHOLE }, input);
            assert_eq!(printed, (lines.to_owned(), status), "chunks of {chunk}");
        }
    }
}

#[test]
fn the_second_generation_alone_refuses_the_third_s_types() {
    let strict = Options { protocol: Protocol::Resp2, ..WHOLE };
    let refused = "{\"protocol_error\":\"unknown type byte\",\"offset\":5}\n";
    assert_eq!(run(strict, b"$-1\r\n_\r\n"), (format!("{{\"null\":\"bulk\"}}\n{refused}"), 4));
}

#[test]
fn the_command_line_is_taken_as_written_or_refused() {
    let parse = |line: &str| Options::parse(line.split_whitespace().map(str::to_owned));
    assert_eq!(parse(""), Some(WHOLE));
    let both = Options { chunk: 7, protocol: Protocol::Resp2 };
    assert_eq!(parse("--proto 2 --chunk 7"), Some(both));
    for wrong in ["--chunk", "--chunk 0", "--chunk x", "--proto 4", "file", "--help me"] {
        assert_eq!(parse(wrong), None, "{wrong}");
    }
}
