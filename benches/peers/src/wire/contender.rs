//! A driver with its connection, on the runtime that drives it.

use tokio::runtime::{Builder, Runtime};

use super::{
    load::{Load, VALUE},
    peer::Peer,
    place::{Place, pin},
};
use crate::meter::{Cost, measure};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// A current-thread runtime on a core of its own, beside the server's.
    One,
    /// Two worker threads, on all cores, the server's too.
    Two,
}

impl Threads {
    pub fn runtime(self) -> Runtime {
        let (this, cores) = (nix::unistd::Pid::from_raw(0), [0, 1]);
        match self {
            Self::One => {
                pin(this, &cores[1..]);
                Builder::new_current_thread().enable_all().build()
            }
            Self::Two => {
                pin(this, &cores);
                Builder::new_multi_thread().worker_threads(2).enable_all().build()
            }
        }
        .expect("a runtime")
    }
}

pub trait Contender {
    fn name(&self) -> &'static str;
    fn run(&self, runtime: &Runtime, load: Load, commands: usize) -> Cost;
}

struct Connected<P>(P);

impl<P: Peer> Contender for Connected<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn run(&self, runtime: &Runtime, load: Load, commands: usize) -> Cost {
        let (cost, ran) = measure(1, || runtime.block_on(load.run(&self.0, commands)));
        let each = |total: f64| total / ran as f64;
        Cost { wall: each(cost.wall), cpu: each(cost.cpu), allocations: each(cost.allocations) }
    }
}

/// Connects, and sees that a value of its own comes back as it was set.
pub fn connected<P: Peer>(runtime: &Runtime, place: &Place) -> Box<dyn Contender> {
    let peer = runtime.block_on(async {
        let peer = P::connect(place).await;
        if P::NAME != super::raw::Raw::NAME {
            peer.set("one", &[b'v'; VALUE]).await;
        }
        assert_eq!(peer.get("one").await, VALUE);
        peer
    });
    Box::new(Connected(peer))
}
