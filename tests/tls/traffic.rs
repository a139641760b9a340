//! Large replies, large commands and many of both at once.

use std::time::Duration;

use echo_wire::{
    connector::{Connection, Connector, Pipeline, Policy},
    resp::Command,
};

use crate::{
    bed::{PROTOCOLS, bed},
    support::{Random, bounded},
};

const LARGE: usize = 8 << 20;

#[tokio::test]
async fn a_large_pipeline_in_both_directions_at_once() {
    let Some(bed) = bed() else { return };
    let value: Vec<u8> = (0..LARGE).map(|at| u8::try_from(at % 251).unwrap()).collect();
    for protocol in PROTOCOLS {
        let mut pipeline = Pipeline::new();
        for _ in 0..4 {
            pipeline.push(Command::new("ECHO").arg(&value));
        }
        for n in 0..10_000 {
            pipeline.push(Command::new("ECHO").arg(n));
        }
        let config = bed.config().protocol(protocol);
        let mut connection = Connection::connect(&config).await.unwrap();
        let alone = bounded("it ends", connection.pipeline(&pipeline)).await.unwrap();
        let patient = Policy { response_timeout: Duration::from_secs(60), ..Policy::default() };
        let connector = Connector::connect(config.policy(patient)).await.unwrap();
        let shared = bounded("it ends", connector.pipeline(&pipeline)).await.unwrap();
        for replies in [alone, shared] {
            for large in 0..4 {
                assert!(replies[large].value().text().unwrap() == value, "it came back changed");
            }
            for n in 0..10_000 {
                assert_eq!(replies[4 + n].to::<usize>().unwrap(), n);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_with_replies_of_every_size_each_get_their_own() {
    let Some(bed) = bed() else { return };
    let connector = Connector::connect(bed.config()).await.unwrap();
    let task = |seed: u64| {
        let connector = connector.clone();
        async move {
            let mut random = Random::new(seed);
            for _ in 0..100 {
                // Around the length of a record and of the buffers, too.
                let magnitude = random.below(18);
                let size = usize::try_from(random.below(1 << magnitude)).unwrap();
                let mut word = vec![u8::try_from(seed % 256).unwrap(); size];
                word.extend(seed.to_string().bytes());
                let reply = connector.command(Command::new("ECHO").arg(&word)).await.unwrap();
                assert!(reply.value().text().unwrap() == word);
            }
        }
    };
    let tasks: Vec<_> = (0..32).map(|seed| tokio::spawn(task(seed))).collect();
    for task in tasks {
        bounded("it ends", task).await.unwrap();
    }
}
