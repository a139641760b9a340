//! What decoding allocates, counted by an allocator that counts.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test stops at what it did not expect"
)]

use allocation_counter::measure;
use bytes::{BufMut as _, Bytes};
use echo_wire::resp::{Decoder, Limits, ProtocolErrorKind, Reply, Value};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

fn decoder() -> Decoder {
    Decoder::new(Limits::default())
}

/// Bytes held at most while `work` ran.
fn peak(work: impl FnOnce()) -> u64 {
    measure(work).bytes_max
}

/// Bytes held after `work`.
fn held<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let mut result = None;
    let info = measure(|| result = Some(work()));
    (result.unwrap(), u64::try_from(info.bytes_current).unwrap())
}

fn bulk(len: usize) -> Vec<u8> {
    [format!("${len}\r\n").as_bytes(), &vec![b'x'; len], b"\r\n"].concat()
}

fn array(count: usize, len: usize) -> Vec<u8> {
    [format!("*{count}\r\n").as_bytes(), &bulk(len).repeat(count)].concat()
}

#[test]
fn a_header_reserves_nothing_on_its_word() {
    for header in [
        "*4611686018427387904\r\n",
        "*9223372036854775807\r\n",
        "%4611686018427387903\r\n",
        "~4294967295\r\n",
        ">4294967295\r\n",
        "|4611686018427387903\r\n",
        "$536870912\r\n",
        "!536870912\r\n",
        "=536870912\r\n",
        "$?\r\n;536870912\r\n",
        "$4611686018427387904\r\n",
        "$9223372036854775807\r\n",
        "$9223372036854775806\r\n",
        "*99999999999999999999\r\n",
        "*?\r\n*?\r\n%?\r\n*4611686018427387904\r\n$536870912\r\n",
    ] {
        let most = peak(|| {
            let mut decoder = decoder();
            decoder.feed(header.as_bytes());
            let outcome = decoder.next();
            assert!(!matches!(outcome, Ok(Some(_))), "{header:?} is no reply");
            // A reader that believed it would now ask for room.
            assert!(decoder.read_buf().capacity() > 0);
            decoder.feed(b"+");
            assert!(!matches!(decoder.next(), Ok(Some(_))));
        });
        assert!(most < 256 * KIB, "{header:?} reserved {most} bytes");
    }
}

#[test]
fn a_hundred_thousand_nested_headers_stay_small() {
    for opener in ["*1\r\n", "%1\r\n+k\r\n", "~1\r\n", "|1\r\n+k\r\n", "|0\r\n", "*?\r\n"] {
        let stream = opener.repeat(100_000);
        let most = peak(|| {
            let mut decoder = decoder();
            for piece in stream.as_bytes().chunks(4096) {
                decoder.feed(piece);
                if let Err(error) = decoder.next() {
                    assert_eq!(error.kind(), ProtocolErrorKind::DepthLimit);
                    return;
                }
            }
            panic!("{opener:?} was followed");
        });
        assert!(most < MIB, "{opener:?} took {most} bytes");
    }
}

#[test]
fn tiny_replies_allocate_nothing() {
    let stream = [&b"+OK\r\n:12345\r\n$-1\r\n$16\r\n0123456789abcdef\r\n_\r\n#t\r\n,1.5\r\n"[..];
        100]
        .concat();
    let mut decoder = decoder();
    decoder.feed(&stream);
    let mut slot = Reply::default();
    let info = measure(|| {
        let mut count = 0;
        while decoder.next_into(&mut slot).unwrap() {
            std::hint::black_box(slot.clone());
            count += 1;
        }
        assert_eq!(count, 700);
    });
    // The rarer of them go by the tape, whose room is allocated once.
    assert!(info.count_total <= 1, "{} allocations", info.count_total);
}

#[test]
fn small_replies_share_their_allocations() {
    for (kind, one, most) in [
        ("64 byte bulks", bulk(64), 0.05),
        ("arrays of three", array(3, 10), 0.05),
        ("maps", b"%2\r\n+server\r\n$6\r\nvalkey\r\n+proto\r\n:3\r\n".to_vec(), 0.05),
        ("2 KiB bulks", bulk(2000), 1.1),
        ("arrays of 20 x 200 bytes", array(20, 200), 1.1),
    ] {
        let stream = one.repeat(1000);
        let mut kept = Vec::with_capacity(1000);
        let info = measure(|| {
            let mut decoder = decoder();
            decoder.feed(&stream);
            while let Some(reply) = decoder.next().unwrap() {
                kept.push(reply);
            }
        });
        assert_eq!(kept.len(), 1000);
        let each = info.count_total as f64 / 1000.0;
        assert!(each <= most, "{kind}: {each} allocations a reply");
        let payload = (stream.len() * 3) as u64;
        let held = info.bytes_current as u64;
        assert!(
            held <= payload + 256 * KIB,
            "{kind}: {held} bytes for {} on the wire",
            stream.len()
        );
    }
}

#[test]
fn dropped_small_replies_leave_their_block_for_the_next_ones() {
    let stream = bulk(64).repeat(500);
    let mut decoder = decoder();
    let mut slot = Reply::default();
    let mut round = |decoder: &mut Decoder| {
        decoder.feed(&stream);
        while decoder.next_into(&mut slot).unwrap() {}
    };
    round(&mut decoder);
    let info = measure(|| (0..20).for_each(|_| round(&mut decoder)));
    assert!(info.count_total <= 2, "{} allocations for 10 000 replies", info.count_total);
}

#[test]
fn a_large_aggregate_takes_a_constant_number_of_allocations() {
    let counts: Vec<u64> = [1_000, 10_000, 100_000]
        .map(|count| {
            let stream = array(count, 32);
            let mut decoder = decoder();
            decoder.feed(&stream);
            measure(|| drop(decoder.next().unwrap().unwrap())).count_total
        })
        .into();
    assert!(counts.iter().all(|count| *count <= 5), "{counts:?}");
}

#[test]
fn a_large_bulk_is_read_into_a_buffer_of_its_own_size() {
    for len in [70 * KIB as usize, 4 * MIB as usize] {
        read_in_place(len);
    }
}

fn read_in_place(len: usize) {
    let stream = bulk(len);
    let mut decoder = decoder();
    let (reply, held) = held(|| {
        // As a socket is read: into the spare room, at most so much at once.
        let mut rest = &stream[..];
        loop {
            let buffer = decoder.read_buf();
            let room = buffer.capacity() - buffer.len();
            let (read, unread) = rest.split_at(rest.len().min(room).min(16 * 1024));
            buffer.put_slice(read);
            rest = unread;
            if let Some(reply) = decoder.next().unwrap() {
                break reply;
            }
            assert_eq!(decoder.bytes_wanted(), rest.len(), "the bulk's rest is what is wanted");
        }
    });
    assert_eq!(reply.value(), Value::BulkString(&vec![b'x'; len]));
    assert!(held <= stream.len() as u64 + 4 * KIB, "{held} bytes for {}", stream.len());
    // It left with the buffer: no copy, and nothing is left behind.
    let text = reply.to_bytes().unwrap();
    drop(reply);
    assert_eq!(text.len(), len);
    assert!(decoder.is_idle());
}

#[test]
fn a_large_bulk_that_trickles_in_is_not_moved_with_every_read() {
    let stream = [&b"$536870912\r\n"[..], &[b'x'; 50_000]].concat();
    for in_place in [false, true] {
        let info = measure(|| {
            let mut decoder = decoder();
            for byte in stream.chunks(1) {
                if in_place {
                    decoder.read_buf().put_slice(byte);
                } else {
                    decoder.feed(byte);
                }
                assert!(decoder.next().unwrap().is_none());
            }
        });
        assert!(info.count_total <= 16, "{} allocations", info.count_total);
        assert!(info.bytes_max <= 20 * MIB, "{} bytes", info.bytes_max);
    }
}

#[test]
fn copying_stays_linear_in_the_bytes_of_a_reply_read_in_pieces() {
    for (kind, stream, piece) in [
        ("a 16 MiB bulk", bulk(16 * MIB as usize), 16 * 1024),
        ("a hundred thousand bulks", array(100_000, 32), 16 * 1024),
        ("a hundred thousand bulks, packet by packet", array(100_000, 32), 1460),
        ("three 1 MiB bulks", array(3, MIB as usize), 4096),
        (
            "a streamed string",
            [&b"$?\r\n"[..], &b";1\r\na\r\n".repeat(300_000), b";0\r\n"].concat(),
            1000,
        ),
        ("ten thousand replies, byte by byte", bulk(40).repeat(10_000), 1),
    ] {
        let info = measure(|| {
            let mut decoder = decoder();
            for piece in stream.chunks(piece) {
                decoder.feed(piece);
                while decoder.next().unwrap().is_some() {}
            }
            assert!(decoder.is_idle());
        });
        // Every copy but moving within a block goes to a new allocation.
        let times = info.bytes_total as f64 / stream.len() as f64;
        assert!(times < 4.0, "{kind}: {times} bytes allocated per byte");
    }
}

#[test]
fn an_array_of_a_million_arrives_one_byte_a_read() {
    // Quadratic work would take days here.
    let mut stream = b"*1000000\r\n".to_vec();
    (0..1_000_000).for_each(|n| stream.extend(format!(":{n}\r\n").bytes()));
    let mut decoder = decoder();
    let mut reply = None;
    for (at, byte) in stream.iter().enumerate() {
        decoder.feed(&[*byte]);
        reply = decoder.next().unwrap();
        assert_eq!(reply.is_some(), at + 1 == stream.len());
    }
    let sum: i64 = reply.unwrap().to::<Vec<i64>>().unwrap().iter().sum();
    assert_eq!(sum, 499_999_500_000);
}

#[test]
fn a_streamed_string_of_a_million_chunks_is_one_string() {
    let stream = [&b"$?\r\n"[..], &b";1\r\na\r\n".repeat(1_000_000), b";0\r\n"].concat();
    let mut decoder = decoder();
    let (text, held) = held(|| {
        for piece in stream.chunks(5000) {
            decoder.feed(piece);
            if let Some(reply) = decoder.next().unwrap() {
                return reply.detach().to_bytes().unwrap();
            }
        }
        panic!("the string ended")
    });
    assert_eq!(text, vec![b'a'; 1_000_000]);
    assert!(held < 2 * MIB, "{held} bytes held for a detached megabyte");
}

#[test]
fn a_kept_part_holds_little_more_than_its_own_bytes() {
    // A short text of a large reply.
    let stream = [&b"*2\r\n$10\r\n0123456789\r\n"[..], &bulk(8 * MIB as usize)].concat();
    let (text, held_now) = held(|| {
        let mut decoder = decoder();
        decoder.feed(&stream);
        let reply = decoder.next().unwrap().unwrap();
        reply.value().elements().unwrap().get(0).unwrap().to_bytes().unwrap()
    });
    assert_eq!(text, "0123456789");
    assert!(held_now < KIB, "ten bytes hold {held_now}");

    // A longer one of a large reply.
    let stream = [&b"*2\r\n"[..], &bulk(4000), &bulk(8 * MIB as usize)].concat();
    let (text, held_now) = held(|| {
        let mut decoder = decoder();
        decoder.feed(&stream);
        decoder.next().unwrap().unwrap().to::<Vec<Bytes>>().unwrap().swap_remove(0)
    });
    assert_eq!(text.len(), 4000);
    assert!(held_now <= 64 * 4000, "4000 bytes hold {held_now}");

    // A small reply among many: its block, not the buffer they were read into.
    let stream = bulk(100).repeat(600);
    let (kept, held_now) = held(|| {
        let mut decoder = decoder();
        decoder.feed(&stream);
        let kept = decoder.next().unwrap().unwrap();
        while decoder.next().unwrap().is_some() {}
        kept
    });
    assert!(held_now <= 9 * KIB, "100 bytes hold {held_now}");
    let (detached, held_now) = held(|| kept.detach());
    assert_eq!(detached, kept);
    assert!(held_now <= 200, "detached, 100 bytes hold {held_now}");

    // A middle one: its own bytes, or the block that it was read into.
    for (len, most) in [(4 * KIB, 5 * KIB), (20 * KIB, 65 * KIB)] {
        let stream = bulk(usize::try_from(len).unwrap()).repeat(3);
        let (kept, held_now) = held(|| {
            let mut decoder = decoder();
            let mut kept = None;
            for piece in stream.chunks(1000) {
                decoder.feed(piece);
                while let Some(reply) = decoder.next().unwrap() {
                    kept = Some(reply);
                }
            }
            kept.unwrap()
        });
        assert!(held_now <= most, "{len} bytes hold {held_now}");
        drop(kept);
    }
}

#[test]
fn a_reply_from_a_long_feed_does_not_hold_all_of_it() {
    let stream = bulk(20 * 1024).repeat(500);
    let (kept, held_now) = held(|| {
        let mut decoder = decoder();
        decoder.feed(&stream);
        let kept = decoder.next().unwrap().unwrap();
        while decoder.next().unwrap().is_some() {}
        kept
    });
    assert!(held_now <= 80 * KIB, "20 KiB hold {held_now}");
    drop(kept);
}

#[test]
fn a_large_text_is_shared_not_copied() {
    let mut decoder = decoder();
    decoder.feed(&[&bulk(MIB as usize)[..], b"*2\r\n:1\r\n", &bulk(MIB as usize)].concat());
    let whole = decoder.next().unwrap().unwrap();
    let list = decoder.next().unwrap().unwrap();
    let most = peak(|| {
        let text: Bytes = whole.to().unwrap();
        let (_, inner): (i64, Bytes) = list.to().unwrap();
        assert_eq!((text.len(), inner.len()), (MIB as usize, MIB as usize));
        assert_eq!(whole.clone(), whole);
        assert_eq!(list.clone(), list);
    });
    assert!(most < KIB, "{most} bytes allocated");
}

#[test]
fn the_buffer_of_a_giant_is_given_back() {
    for borrowed in [false, true] {
        for giant in [bulk(32 * MIB as usize), array(200_000, 64)] {
            let ((), held_now) = {
                let mut decoder = decoder();
                let (_, held_now) = held(|| {
                    for piece in giant.chunks(64 * 1024) {
                        decoder.feed(piece);
                        if borrowed {
                            decoder.next_ref().unwrap();
                        } else {
                            decoder.next().unwrap();
                        }
                    }
                    assert!(decoder.is_idle());
                    for _ in 0..100 {
                        decoder.feed(b"+PONG\r\n");
                        assert!(decoder.next().unwrap().is_some());
                    }
                });
                ((), held_now)
            };
            assert!(held_now <= 512 * KIB, "{held_now} bytes stay, borrowed: {borrowed}");
        }
    }
}

#[test]
fn a_steady_stream_uses_one_block_again_and_again() {
    let stream = [&b"+OK\r\n"[..], &bulk(20), b":7\r\n"].concat().repeat(300);
    let mut decoder = decoder();
    let mut slot = Reply::default();
    let mut pass = |decoder: &mut Decoder, piece: usize| {
        for piece in stream.chunks(piece) {
            let buffer = decoder.read_buf();
            assert!(buffer.capacity() - buffer.len() >= piece.len(), "room for a read");
            buffer.put_slice(piece);
            while decoder.next_into(&mut slot).unwrap() {}
        }
    };
    pass(&mut decoder, 4096);
    let info = measure(|| (1..40).for_each(|n| pass(&mut decoder, n * 331)));
    assert_eq!(info.count_total, 0, "after the first block nothing is allocated");
}
