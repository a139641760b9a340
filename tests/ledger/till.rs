//! The connectors that clerks use: all through the one proxy, each with its own manners.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use echo_wire::connector::{Config, Connector, Policy, WhenAway, WhenFull};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::Proxy;

#[derive(Debug)]
pub struct Till {
    pub connector: Connector,
    dials: Arc<AtomicU64>,
}

impl Till {
    /// How often it has dialled.
    pub fn dialled(&self) -> u64 {
        self.dials.load(Relaxed)
    }
}

fn policy() -> Policy {
    Policy {
        // Heartbeats fall in between everything else.
        heartbeat: Duration::from_millis(15),
        response_timeout: Duration::from_millis(400),
        watchdog: Duration::from_secs(2),
        drain_within: Duration::from_secs(30),
        ready_within: Duration::from_secs(60),
        backoff_base: Duration::from_millis(2),
        backoff_cap: Duration::from_millis(8),
        backoff_reset: Duration::ZERO,
        ..Policy::default()
    }
}

/// One fails fast; one waits for a connection and for the little room that it has; one sends
/// through a socket that takes a few KiB at a time, so that waves leave in parts.
pub async fn open_all(proxy: &Proxy) -> Vec<Arc<Till>> {
    let hour = Duration::from_secs(3600);
    let waits = Policy {
        when_away: WhenAway::WaitAtMost(hour),
        when_full: WhenFull::Wait,
        max_pending: 24,
        ..policy()
    };
    vec![
        open(proxy, policy(), None).await,
        open(proxy, waits, None).await,
        open(proxy, policy(), Some(4096)).await,
    ]
}

async fn open(proxy: &Proxy, policy: Policy, send_buffer: Option<u32>) -> Arc<Till> {
    let dials = Arc::new(AtomicU64::new(0));
    let (address, counted) = (proxy.address().parse().unwrap(), Arc::clone(&dials));
    let dial = move || {
        counted.fetch_add(1, Relaxed);
        async move {
            let socket = TcpSocket::new_v4()?;
            if let Some(bytes) = send_buffer {
                socket.set_send_buffer_size(bytes)?;
            }
            let stream: TcpStream = socket.connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        }
    };
    let config = Config::tcp("proxy", 1).policy(policy);
    let config = config.connect_timeout(Duration::from_millis(700)).unwrap();
    let connector = Connector::over(dial, config).await.unwrap();
    Arc::new(Till { connector, dials })
}
