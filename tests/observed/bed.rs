//! What these tests share.

use std::time::Duration;

use echo_wire::connector::{Config, Event, Events, Policy};

use crate::support::bounded;

/// Quick to come back, patient with everything else.
pub fn quick(config: Config) -> Config {
    config.policy(Policy {
        ready_within: Duration::from_secs(30),
        heartbeat: Duration::from_secs(3600),
        backoff_base: Duration::from_millis(4),
        backoff_cap: Duration::from_millis(40),
        ..Policy::default()
    })
}

/// The next event that is so.
pub async fn event(events: &mut Events, wanted: impl Fn(&Event) -> bool) {
    bounded("the event comes", async {
        while !wanted(&events.next().await.expect("the connector lives")) {}
    })
    .await;
}
