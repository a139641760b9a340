//! A TCP proxy between a client and a server, for breaking the connection at a chosen place.
//!
//! It lives on a thread and a runtime of its own: its calls do not wait for the test's tasks, and
//! its tasks are not counted among them.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, mpsc as std_mpsc},
    thread,
};

use tokio::{
    net::TcpListener,
    runtime::Builder,
    select,
    sync::{mpsc, watch},
};

use super::{
    carry::{Carried, carry},
    close::stop_listening,
    port::Port,
    wait::bounded,
};

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
}

/// How a connection is cut, on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// An end of stream.
    Close,
    Reset,
}

/// A listening proxy, until dropped.
#[derive(Debug)]
pub struct Proxy {
    port: Port,
    state: Arc<watch::Sender<State>>,
    /// `None` only while it is dropped.
    orders: Option<mpsc::UnboundedSender<Order>>,
    thread: Option<thread::JoinHandle<()>>,
}

/// What the test has asked for and what has come of it.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) target: String,
    /// Connections accepted under an earlier number are to be cut, in the way given.
    pub(super) cuts: u64,
    pub(super) cut: Option<Cut>,
    pub(super) up: Lane,
    pub(super) down: Lane,
    /// How many were accepted, ever.
    pub(super) connections: u64,
    /// How many are open; open <= connections
    pub(super) open: u64,
}

/// One way through all connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    pub(super) is_stalled: bool,
    /// How many more bytes may pass before the connection they pass on is cut.
    pub(super) fuse: Option<(u64, Cut)>,
    pub(super) bytes: u64,
}

/// Whether to listen from now on, and where to say that it is done.
type Order = (bool, std_mpsc::Sender<()>);

impl Proxy {
    /// Listens, and connects each client to `target`, such as `"127.0.0.1:6379"`.
    pub fn start(target: impl Into<String>) -> Self {
        let port = Port::claim();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.number()));
        let state = State { target: target.into(), ..State::default() };
        let state = Arc::new(watch::Sender::new(state));
        let (orders, inbox) = mpsc::unbounded_channel();
        let shared = Arc::clone(&state);
        let thread = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_io().build().unwrap();
            runtime.block_on(listen(address, shared, inbox));
        });
        let proxy = Self { port, state, orders: Some(orders), thread: Some(thread) };
        proxy.listen();
        proxy
    }

    pub fn port(&self) -> u16 {
        self.port.number()
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// `redis://127.0.0.1:port`
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// Where connections accepted from now on lead.
    pub fn switch_target(&self, target: impl Into<String>) {
        self.state.send_modify(|state| state.target = target.into());
    }

    /// Cuts every connection there is. None passes another byte after this returns.
    pub fn cut(&self, cut: Cut) {
        self.state.send_modify(|state| {
            state.cuts += 1;
            state.cut = Some(cut);
        });
    }

    /// Lets `bytes` more bytes pass this way, over all connections, and cuts the connection on
    /// which the last of them passed; with 0, the one on which the next would. Nothing comes
    /// back in answer to the last byte up. Works once: later connections are left alone.
    pub fn cut_after(&self, way: Way, bytes: u64, cut: Cut) {
        self.state.send_modify(|state| state.lane(way).fuse = Some((bytes, cut)));
    }

    /// Takes `cut_after` back; whether it had not happened yet.
    pub fn keep(&self, way: Way) -> bool {
        let mut was_armed = false;
        self.state.send_modify(|state| was_armed = state.lane(way).fuse.take().is_some());
        was_armed
    }

    /// Passes no byte (and no end of stream) this way until `resume`; connections are accepted.
    pub fn stall(&self, way: Way) {
        self.state.send_modify(|state| state.lane(way).is_stalled = true);
    }

    /// Lets pass what has waited, and all that follows, both ways.
    pub fn resume(&self) {
        self.state.send_modify(|state| {
            state.up.is_stalled = false;
            state.down.is_stalled = false;
        });
    }

    /// From now on connections are refused; those there are stay.
    pub fn refuse(&self) {
        self.order(false);
    }

    /// Accepts connections again, on the same port.
    pub fn listen(&self) {
        self.order(true);
    }

    /// How many bytes have passed this way, ever.
    pub fn bytes(&self, way: Way) -> u64 {
        self.state.borrow().clone().lane(way).bytes
    }

    /// How many connections were accepted, ever.
    pub fn connections(&self) -> u64 {
        self.state.borrow().connections
    }

    /// How many connections are open.
    pub fn open(&self) -> u64 {
        self.state.borrow().open
    }

    /// Waits until so many connections were accepted, ever.
    pub async fn connections_reach(&self, count: u64) {
        self.wait("connections come", |state| state.connections >= count).await;
    }

    /// Waits until so many connections are open.
    pub async fn open_becomes(&self, count: u64) {
        self.wait("connections open or close", |state| state.open == count).await;
    }

    /// Waits until so many bytes have passed this way, ever.
    pub async fn bytes_reach(&self, way: Way, count: u64) {
        self.wait("bytes pass", |state| state.clone().lane(way).bytes >= count).await;
    }

    async fn wait(&self, what: &str, holds: impl Fn(&State) -> bool) {
        let mut state = self.state.subscribe();
        bounded(what, state.wait_for(holds)).await.expect("the proxy lives");
    }

    fn order(&self, listen: bool) {
        let (done, wait) = std_mpsc::channel();
        let orders = self.orders.as_ref().expect("not dropped");
        orders.send((listen, done)).expect("the proxy lives");
        wait.recv().expect("the proxy listens, or has stopped to");
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.orders = None;
        // With its runtime end all its tasks and sockets.
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

impl State {
    pub(super) fn lane(&mut self, way: Way) -> &mut Lane {
        match way {
            Way::Up => &mut self.up,
            Way::Down => &mut self.down,
        }
    }
}

/// Accepts, while it is told to, until the orders end.
async fn listen(
    address: SocketAddr,
    state: Arc<watch::Sender<State>>,
    mut orders: mpsc::UnboundedReceiver<Order>,
) {
    let mut listener = None::<TcpListener>;
    loop {
        let accept = async {
            match &listener {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        select! {
            biased;
            order = orders.recv() => {
                let Some((is_wanted, done)) = order else { return };
                if is_wanted && listener.is_none() {
                    listener = Some(TcpListener::bind(address).await.expect("the port is free"));
                } else if !is_wanted {
                    listener.take().into_iter().for_each(stop_listening);
                }
                let _ = done.send(());
            }
            accepted = accept => {
                let (client, _) = accepted.expect("a connection is accepted");
                tokio::spawn(carry(client, Carried::begin(Arc::clone(&state))));
            }
        }
    }
}
