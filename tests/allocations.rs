//! What building and encoding allocates, counted.
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a test may fail")]

use allocation_counter::measure;
use bytes::{Bytes, BytesMut};
use echo_wire::{
    connector::{Pipeline, Traits},
    keyspace::{BrandedId, Queue, classify},
    resp::Command,
};

#[test]
fn a_key_allocates_once_and_exactly_its_own_length() {
    let queue = Queue::new("mail").unwrap();
    let id: BrandedId = "USR0KHTOWnGLuC".parse().unwrap();
    for (build, len) in [
        (&(|| queue.key("pending").unwrap()) as &dyn Fn() -> _, "emq:{mail}:pending".len()),
        (&|| queue.job(&id), "emq:{mail}:job:USR0KHTOWnGLuC".len()),
    ] {
        let mut key = None;
        let allocations = measure(|| key = Some(build()));
        assert_eq!((allocations.count_total, allocations.bytes_total), (1, len as u64));
        assert_eq!(key.unwrap().len(), len);
    }
}

#[test]
fn a_queue_allocates_once() {
    assert_eq!(measure(|| drop(Queue::new("mail").unwrap())).count_total, 1);
}

#[test]
fn ids_and_classes_allocate_nothing() {
    let allocations = measure(|| {
        let id: BrandedId = "USR0KHTOWnGLuC".parse().unwrap();
        assert!(BrandedId::new(id.kind(), id.snowflake()).unwrap() == id);
        assert!(classify(b"emq:{mail}:job:USR0KHTOWnGLuC").job() == Some(id));
        assert!("USR0KHTOWn".parse::<BrandedId>().is_err());
    });
    assert_eq!(allocations.count_total, 0);
}

#[test]
fn a_script_call_is_built_looked_up_and_encoded_without_allocating() {
    let mut out = BytesMut::with_capacity(1024);
    let keys = ["emq:{mail}:pending", "emq:{mail}:active", "emq:{mail}:events"];
    let value = Bytes::from_static(b"{}");
    let allocations = measure(|| {
        let command = Command::new("EVALSHA")
            .arg("6b1bf486c81ceb7edf3c093f4a48d12d9b0a1c3e")
            .arg(keys.len())
            .args(keys)
            .arg("USR0KHTOWnGLuC")
            .arg(1_735_689_600_000_u64)
            .arg(-1)
            .arg(2.5)
            .arg(-f64::MIN_POSITIVE)
            .arg(b"bytes")
            .arg(&value)
            .arg("last");
        assert_eq!(command.arg_count(), 13);
        assert!(Traits::of(&command).slot(&command).is_some());
        command.encode(&mut out);
    });
    assert_eq!(allocations.count_total, 0);
    assert!(out.starts_with(b"*14\r\n$7\r\nEVALSHA\r\n"));
}

#[test]
fn a_pipeline_that_is_used_again_allocates_nothing() {
    let mut pipeline = Pipeline::new();
    let fill = |pipeline: &mut Pipeline| {
        pipeline.clear();
        for id in 0..100 {
            pipeline.push(Command::new("HGET").arg("jobs").arg(id));
        }
    };
    fill(&mut pipeline);
    assert_eq!(measure(|| fill(&mut pipeline)).count_total, 0);
}

#[test]
fn a_large_shared_argument_is_copied_into_a_plain_buffer_only() {
    let large = Bytes::from(vec![b'x'; 1 << 20]);
    let mut pipeline = Pipeline::with_capacity(1024);
    let command = Command::new("SET").arg("key").arg(&large);
    let allocations = measure(|| pipeline.push(&command));
    assert!(allocations.bytes_total < 1024, "{} bytes", allocations.bytes_total);
    assert!(pipeline.encoded_len() > large.len());

    let mut through_pipeline = BytesMut::new();
    pipeline.encode(&mut through_pipeline);
    let mut directly = BytesMut::new();
    command.encode(&mut directly);
    assert_eq!(through_pipeline, directly);
}
