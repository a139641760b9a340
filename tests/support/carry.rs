//! One connection through the proxy: its two ways, until it ends or is cut.

use std::{io, sync::Arc};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
    select,
    sync::watch,
};

use super::{
    close::{close, reset},
    proxy::{Cut, State, Way},
};

/// A connection's share in the proxy's state; counted as open until dropped.
pub(super) struct Carried {
    state: Arc<watch::Sender<State>>,
    /// `State::cuts` when it was accepted.
    born: u64,
}

impl Carried {
    /// Counts a connection that was just accepted.
    pub(super) fn begin(state: Arc<watch::Sender<State>>) -> Self {
        let mut born = 0;
        state.send_modify(|state| {
            state.connections += 1;
            state.open += 1;
            born = state.cuts;
        });
        Self { state, born }
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        self.state.send_modify(|state| state.open -= 1);
    }
}

/// Carries bytes between the client and the target of the moment.
pub(super) async fn carry(mut client: TcpStream, carried: Carried) {
    let target = carried.state.borrow().target.clone();
    let Ok(mut server) = TcpStream::connect(target).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let cut = {
        let (client_reads, client_writes) = client.split();
        let (server_reads, server_writes) = server.split();
        let both_ways = async {
            tokio::try_join!(
                pump(client_reads, server_writes, Way::Up, &carried),
                pump(server_reads, client_writes, Way::Down, &carried),
            )
        };
        select! {
            biased;
            cut = cut_by_test(&carried) => cut,
            ended = both_ways => ended.err().unwrap_or(Cut::Close),
        }
    };
    for stream in [client, server] {
        match cut {
            Cut::Reset => reset(stream),
            Cut::Close => close(stream),
        }
    }
}

/// Carries one way until its end of stream, which it passes on; `Err` when the connection is to be
/// cut.
async fn pump(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    way: Way,
    carried: &Carried,
) -> Result<(), Cut> {
    let mut buf = vec![0; 1 << 16];
    loop {
        // An end of the peer's own making is handed on as it came.
        let read = from.read(&mut buf).await.map_err(|_reset| Cut::Reset)?;
        let mut waiting = &buf[..read];
        loop {
            let (pass, blown) = allowance(waiting.len(), way, carried).await?;
            let (now, later) = waiting.split_at(pass);
            to.write_all(now).await.map_err(|_gone| Cut::Reset)?;
            carried.state.send_modify(|state| state.lane(way).bytes += count(pass));
            if let Some(cut) = blown {
                return Err(cut);
            }
            waiting = later;
            if waiting.is_empty() {
                break;
            }
        }
        if read == 0 {
            let _: io::Result<()> = to.shutdown().await;
            return Ok(());
        }
    }
}

/// Waits out a stall; then how many of `len` bytes may pass, and whether that burns the fuse.
async fn allowance(len: usize, way: Way, carried: &Carried) -> Result<(usize, Option<Cut>), Cut> {
    let mut changes = carried.state.subscribe();
    loop {
        let mut granted = None;
        carried.state.send_if_modified(|state| {
            if let Some(cut) = state.cut.filter(|_| carried.born < state.cuts) {
                granted = Some(Err(cut));
                return false;
            }
            let lane = state.lane(way);
            if lane.is_stalled {
                return false;
            }
            let Some((left, cut)) = lane.fuse.filter(|_| len > 0) else {
                granted = Some(Ok((len, None)));
                return false;
            };
            let pass = len.min(usize::try_from(left).unwrap_or(len));
            let left = left - count(pass);
            lane.fuse = (left > 0).then_some((left, cut));
            granted = Some(Ok((pass, (left == 0).then_some(cut))));
            true
        });
        if let Some(granted) = granted {
            return granted;
        }
        // Seen as changed if the stall ended since `subscribe`.
        changes.changed().await.map_err(|_ended| Cut::Close)?;
    }
}

async fn cut_by_test(carried: &Carried) -> Cut {
    let mut changes = carried.state.subscribe();
    let Ok(state) = changes.wait_for(|state| carried.born < state.cuts).await else {
        return Cut::Close;
    };
    state.cut.unwrap_or(Cut::Close)
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap()
}
