//! A reader of messages: it gets each one once and in order, and is told where some are missing.

use std::time::Duration;

use echo_wire::connector::{Connector, Delivery, Error};
use tokio::time::sleep;

use crate::world::World;

#[derive(Debug, Default, Clone, Copy)]
pub struct Heard {
    pub messages: u64,
    pub gaps: u64,
    pub lagged: u64,
}

/// Until the connector's end.
pub async fn listen(connector: Connector, world: World, pause: Duration) -> Heard {
    let mut news = loop {
        match connector.subscribe(["news"]).await {
            Ok(news) => break news,
            Err(error) if error.is_fatal() || matches!(error, Error::Closed) => {
                return Heard::default();
            }
            Err(_lost) => sleep(Duration::from_millis(50)).await,
        }
    };
    // Only the subscription holds it now.
    drop(connector);
    let mut heard = Heard::default();
    // The connection and the number of the last message, and what was told since.
    let (mut last, mut gap, mut lost) = (None::<(u64, u64)>, false, 0);
    while let Some(delivery) = news.next().await {
        match delivery {
            Delivery::Message(message) => {
                let text = std::str::from_utf8(message.payload()).unwrap();
                let (connection, number) = text.split_once(':').unwrap();
                let now: (u64, u64) = (connection.parse().unwrap(), number.parse().unwrap());
                world.note(&format!("the reader has {text}"));
                heard.messages += 1;
                match last {
                    Some(before) if before.0 == now.0 => {
                        assert!(!gap, "a gap, and the same connection");
                        assert_eq!(
                            now.1,
                            before.1 + lost + 1,
                            "{now:?} after {before:?}, {lost} lost"
                        );
                    }
                    Some(before) => assert!(gap, "{now:?} after {before:?}, and no gap"),
                    None => {}
                }
                (last, gap, lost) = (Some(now), false, 0);
            }
            Delivery::Gap => {
                gap = true;
                heard.gaps += 1;
            }
            Delivery::Lagged(messages) => {
                lost += messages;
                heard.lagged += 1;
            }
            other => panic!("{other:?}"),
        }
        sleep(pause).await;
    }
    // Neither a server that cannot just now ends a subscription, nor the end of an earlier one. One that
    // hangs up on each HELLO is spoken to in RESP2 in the end.
    let why = news.end();
    let is_expected =
        matches!(why, Some(Error::Closed | Error::VersionFence { .. } | Error::RequiresResp3));
    assert!(is_expected, "{why:?}");
    heard
}
