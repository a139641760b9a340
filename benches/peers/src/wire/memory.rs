//! What a connection holds that does nothing, and what a command holds while it waits for its reply.

use super::{
    contender::Threads,
    echo::Echo,
    peer::Peer,
    place::{Server, Way},
};
use crate::meter::allocated;

#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Bytes for each connector without work, its task and buffers included.
    pub idle: f64,
    /// Bytes for each GET in flight, without the caller's own task.
    pub pending: f64,
    /// Bytes for such a caller's task, as tokio has it, the command's future in it.
    pub task: f64,
}

const CONNECTIONS: usize = 200;
const PENDING: usize = 4_000;

pub fn measure(server: &Server) -> Memory {
    let runtime = Threads::One.runtime();
    let place = server.place(Way::Unix);
    runtime.block_on(async {
        let first = Echo::connect(&place).await;
        first.set("one", b"value").await;
        let before = allocated();
        let mut idle = Vec::with_capacity(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            idle.push(Echo::connect(&place).await);
        }
        let held = (allocated() - before) as f64 / CONNECTIONS as f64;
        drop(idle);
        let (pending, task) = in_flight(&first).await;
        Memory { idle: held, pending, task }
    })
}

async fn in_flight(peer: &Echo) -> (f64, f64) {
    // A server that answers nobody for a while: what is sent meanwhile is in flight.
    let other = Echo(peer.0.clone());
    let pause = echo_wire::resp::Command::new("CLIENT").arg("PAUSE").arg(1_000);
    other.0.command(pause).await.expect("a server that pauses");
    let before = allocated();
    let mut tasks = Vec::with_capacity(PENDING);
    for _ in 0..PENDING {
        let peer = peer.clone();
        tasks.push(tokio::spawn(async move { peer.get("one").await }));
    }
    let spawned = allocated();
    // Each task runs once, some at each turn, and so hands its command in.
    for _ in 0..PENDING {
        tokio::task::yield_now().await;
    }
    assert_eq!(other.0.stats().pending, PENDING as u64);
    let in_flight = allocated();
    for task in tasks {
        task.await.expect("a task that ends well");
    }
    let each = |bytes: usize| bytes as f64 / PENDING as f64;
    (each(in_flight.saturating_sub(spawned)), each(spawned - before))
}
