//! What holds for every key, queue and id.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

use echo_wire::keyspace::{BrandedId, Class, Kind, Queue, RESERVE, classify, slot};
use proptest::prelude::*;

/// CRC16-XMODEM of the hash tag, bit by bit and byte by byte, as the cluster specification words
/// it: found by walking, computed by shifting.
fn slot_by_the_book(key: &[u8]) -> u16 {
    let mut hashed = key;
    if let Some(open) = key.iter().position(|byte| *byte == b'{') {
        let after = &key[open + 1..];
        match after.iter().position(|byte| *byte == b'}') {
            None | Some(0) => {}
            Some(close) => hashed = &after[..close],
        }
    }
    let mut crc = 0_u32;
    for byte in hashed {
        crc ^= u32::from(*byte) << 8;
        for _ in 0..8 {
            crc <<= 1;
            if crc & 0x1_0000 != 0 {
                crc ^= 0x1_1021;
            }
        }
    }
    u16::try_from(crc % 16_384).unwrap()
}

fn kind() -> impl Strategy<Value = Kind> {
    "[A-Z]{3}".prop_map(|letters| Kind::new(&letters).unwrap())
}

proptest! {
    #[test]
    fn a_slot_is_the_one_computed_by_the_book(key in "[a-c{}\r\n]{0,40}|.{0,40}") {
        prop_assert_eq!(slot(key.as_bytes()), slot_by_the_book(key.as_bytes()));
    }

    #[test]
    fn a_slot_of_bytes_of_any_kind_is_the_one_computed_by_the_book(
        parts in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..40),
                Just(b"{".to_vec()),
                Just(b"}".to_vec()),
            ],
            0..6,
        ),
    ) {
        let key = parts.concat();
        prop_assert_eq!(slot(&key), slot_by_the_book(&key));
        // What stands around a tag is not hashed.
        if let Some(tag) = parts.first().filter(|tag| !tag.is_empty() && !tag.contains(&b'}')) {
            let tagged = [b"{", &tag[..], b"}", &key].concat();
            prop_assert_eq!(slot(&tagged), slot(&[b"x{", &tag[..], b"}"].concat()));
        }
    }

    #[test]
    fn an_id_reads_back_as_what_it_was_made_of(kind in kind(), snowflake in 0..1_u64 << 63) {
        let id = BrandedId::new(kind, snowflake).unwrap();
        prop_assert_eq!(id.kind(), kind);
        prop_assert_eq!(id.snowflake(), snowflake);
        prop_assert_eq!(id.as_str().parse(), Ok(id));
        prop_assert_eq!(id.millis_since_2024(), snowflake >> 22);
    }

    #[test]
    fn byte_order_is_mint_order(kind in kind(), a in 0..1_u64 << 63, b in 0..1_u64 << 63) {
        let (id_a, id_b) = (BrandedId::new(kind, a).unwrap(), BrandedId::new(kind, b).unwrap());
        prop_assert_eq!(id_a.as_bytes().cmp(id_b.as_bytes()), a.cmp(&b));
        prop_assert_eq!(id_a.cmp(&id_b), a.cmp(&b));
    }

    #[test]
    fn what_parses_is_written_as_it_was(text in "[A-Za-z0-9]{12,16}|[A-Z]{3}[0-9A-Za-z]{11}|.{14}") {
        if let Ok(id) = text.parse::<BrandedId>() {
            prop_assert_eq!(id.as_str(), &text);
            prop_assert_eq!(BrandedId::new(id.kind(), id.snowflake()), Ok(id));
        }
    }

    #[test]
    fn every_key_a_queue_builds_lands_in_its_space(
        name in "[^{}\\p{Cc}]{1,20}",
        key_type in "[^{}\\p{Cc}]{1,20}",
        kind in kind(),
        snowflake in 0..1_u64 << 63,
    ) {
        let queue = Queue::new(&name).unwrap();
        prop_assert_eq!(queue.name(), &name);
        if let Ok(key) = queue.key(&key_type) {
            let want = Class::Queue { queue: &name, key_type: &key_type };
            prop_assert_eq!(classify(key.as_bytes()), want);
            prop_assert_eq!(key.slot(), queue.slot());
            prop_assert!(!key.starts_with(RESERVE));
        } else {
            prop_assert!(key_type == "job" || key_type.starts_with("job:"));
        }
        let id = BrandedId::new(kind, snowflake).unwrap();
        let job = queue.job(&id);
        prop_assert_eq!(classify(job.as_bytes()), Class::Job { queue: &name, id: Ok(id) });
        prop_assert_eq!(job.slot(), queue.slot());
    }

    #[test]
    fn a_key_that_lands_in_a_queue_is_one_that_its_queue_builds(
        key in "(\\{?emq:?\\{?)[a-c{}:\n]{0,8}(job:?)?([A-Z]{3}[0-9A-Z]{11})?",
    ) {
        match classify(key.as_bytes()) {
            Class::Queue { queue, key_type } => {
                let built = Queue::new(queue).unwrap().key(key_type).unwrap();
                prop_assert_eq!(built.as_str(), &key);
            }
            Class::Job { queue, id: Ok(id) } => {
                let built = Queue::new(queue).unwrap().job(&id);
                prop_assert_eq!(built.as_str(), &key);
            }
            Class::Job { queue, id: Err(_) } => {
                let place = format!("emq:{{{queue}}}:job");
                prop_assert!(key.starts_with(&place));
            }
            Class::Reserve { .. } => prop_assert!(key.starts_with(RESERVE)),
            Class::Foreign(_) => prop_assert!(!key.starts_with(RESERVE)),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn bytes_of_any_kind_are_classified(key in prop::collection::vec(any::<u8>(), 0..64)) {
        let class = classify(&key);
        prop_assert_eq!(class.space() == "reserve", key.starts_with(RESERVE.as_bytes()));
        prop_assert!(class.to_string().starts_with(class.space()));
    }
}
