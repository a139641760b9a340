//! One fenced connection for one owner.

use std::{
    borrow::Borrow,
    fmt,
    future::{Future, poll_fn},
    task::{Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

use super::{
    Config, Pipeline, Replies,
    boot::{Fenced, Findings},
    command_table::Traits,
    dialer::Dialer,
    error::Error,
    establish::{establish, establish_over},
    inbox::{End, Inbox},
    observe::{Call, What},
    passage::Passage,
    pushes::Pushes,
    scripting::{Form, ScriptCall, is_missing},
    step::Step,
    sync::{Lost, poll_read, sync, sync_all},
    transport::Transport,
};
use crate::resp::{Command, Protocol, Reply, ServerError};

/// A connection that came through the fence, for one owner at a time.
///
/// There is no other way to one than [`connect`](Self::connect) and [`over`](Self::over), and both
/// run boot and the fence first:
///
/// ```compile_fail,E0423
/// # async fn unfenced() {
/// let socket = tokio::net::TcpStream::connect("127.0.0.1:6379").await.unwrap();
/// let mut connection = echo_wire::connector::Connection(socket); // no such constructor
/// # }
/// ```
/// ```compile_fail,E0451
/// # fn unfenced(socket: tokio::net::TcpStream) {
/// use echo_wire::connector::Connection;
/// let connection = Connection { live: Some(socket), ..todo!() }; // no field is public
/// # }
/// ```
/// ```compile_fail,E0603
/// use echo_wire::connector::sync::sync; // commands on a bare socket: private to the connector
/// ```
///
/// # Cancel safety
///
/// [`command`](Self::command) and [`pipeline`](Self::pipeline) own the socket while they run. A
/// future that is dropped after it was polled closes the socket, so that its reply can never be
/// read as the answer to another command; every later call fails with
/// [`Error::Disconnected`], not executed. [`next_push`](Self::next_push) is cancel safe: nothing
/// is lost.
///
/// # What it cannot take
///
/// Commands that would lead past the fence or break the pairing of commands and replies are
/// refused with [`Error::Refused`] before a byte is sent: SELECT, AUTH, HELLO and RESET (another
/// database or user is another config), QUIT, the SUBSCRIBE family, CLIENT REPLY, MONITOR and what
/// else turns the connection into something different. MULTI, WATCH and blocking commands are
/// welcome: the connection is nobody else's.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use echo_wire::{connector::{Config, Connection, Passage}, resp::Command};
/// # use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// # let (stream, mut server) = tokio::io::duplex(4096);
/// # tokio::spawn(async move {
/// #     let mut read = [0; 4096];
/// #     for answer in ["%1\r\n+proto\r\n:3\r\n+OK\r\n+OK\r\n_\r\n$12\r\nechomq:2.0.0\r\n", ":1\r\n"] {
/// #         server.read(&mut read).await.unwrap();
/// #         server.write_all(answer.as_bytes()).await.unwrap();
/// #     }
/// # });
/// // `stream` leads to a server; `Connection::connect(&config)` would dial one.
/// let mut connection = Connection::over(stream, &Config::tcp("localhost", 6379)).await?;
/// assert_eq!(connection.passage(), Passage::Verified);
/// let reply = connection.command(Command::new("INCR").arg("jobs")).await?;
/// assert_eq!(reply.to::<i64>()?, 1);
/// # Ok(()) }
/// ```
pub struct Connection {
    /// `None`: closed, or taken along by a call that was dropped.
    live: Option<Live>,
    /// Pushes that a lost socket left behind.
    orphans: Pushes,
    passage: Passage,
    findings: Findings,
    response_timeout: Option<Duration>,
}

struct Live {
    sock: Transport,
    inbox: Box<Inbox>,
}

impl Connection {
    /// Dials the server, boots, and passes the fence.
    ///
    /// # Errors
    ///
    /// [`Error::VersionFence`], [`Error::AuthRefused`], [`Error::BootRefused`] if the server or
    /// the store will not have us; [`Error::NotReady`] for what time can heal, the deadline
    /// included; [`Error::Protocol`] if the peer does not speak RESP. Nothing of a caller's was
    /// sent in any of these. Cancel safe: a dropped future closes the socket.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with I/O and time, as all of tokio does.
    pub async fn connect(config: &Config) -> Result<Self, Error> {
        Ok(Self::new(establish(config, &Dialer::Endpoint).await?, config))
    }

    /// Boots and passes the fence on a stream of the caller's own, which leads to a server. The
    /// config's endpoint is not dialled; all else in it counts.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    pub async fn over<S>(stream: S, config: &Config) -> Result<Self, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let sock = Transport::Own(Box::new(stream));
        Ok(Self::new(establish_over(sock, config).await?, config))
    }

    fn new(fenced: Fenced<Transport>, config: &Config) -> Self {
        let passage = fenced.passage();
        let (sock, inbox, findings) = fenced.into_parts();
        Self {
            live: Some(Live { sock, inbox }),
            orphans: Pushes::default(),
            passage,
            findings,
            response_timeout: config.response_timeout,
        }
    }

    /// Sends one command, lent or given, and answers its reply.
    ///
    /// Waits for as long as the server takes, unless the config has a
    /// [response timeout](Config::response_timeout).
    ///
    /// # Errors
    ///
    /// [`Error::Server`] with the server's error reply: the connection is fine. [`Error::Refused`]
    /// for a command that it cannot take: nothing was sent. [`Error::Disconnected`],
    /// [`Error::Timeout`] and [`Error::Protocol`] close it, and tell whether the command may have
    /// run. For a dropped future see [Cancel safety](Self#cancel-safety).
    pub async fn command<'a>(&mut self, command: impl Borrow<Command<'a>>) -> Result<Reply, Error> {
        let command = command.borrow();
        if let Some(refusal) = Traits::of(command).refusal_alone() {
            return Err(refusal.into());
        }
        let Live { sock, inbox } = self.take()?;
        let mut sent = false;
        let call = Call::begin(|| What::command(command.name()));
        let done = within(self.response_timeout, sync(sock, command, inbox, &mut sent)).await;
        call.end(match done {
            Ok((sock, reply, inbox)) => {
                self.live = Some(Live { sock, inbox });
                reply.into_result().map_err(Error::from)
            }
            Err(lost) => Err(self.lost(lost, sent)),
        })
    }

    /// Runs a call of a script, lent or given: by its hash, and with its source where the server does
    /// not have it. The error is the same either way. (Behind a MULTI of yours it is queued by its
    /// hash; a [`Pipeline`] brings the source along.)
    ///
    /// # Errors
    ///
    /// As [`command`](Self::command).
    pub async fn eval<'a>(&mut self, call: impl Borrow<ScriptCall<'a>>) -> Result<Reply, Error> {
        let call = call.borrow();
        match self.command(&call.command(Form::Hash)).await {
            Err(Error::Server(error)) if is_missing(&error) => {
                self.command(&call.command(Form::Source)).await
            }
            ended => ended,
        }
    }

    /// Sends all commands of a pipeline in one go and answers one reply for each, in order. The
    /// server's error replies are values in their slots.
    ///
    /// Replies are read while the commands are still being written, so no size of either can lock
    /// the two sides.
    ///
    /// # Errors
    ///
    /// As [`command`](Self::command) but for [`Error::Server`]; what is told about one command
    /// there holds for any of them here.
    pub async fn pipeline(&mut self, pipeline: &Pipeline) -> Result<Replies, Error> {
        if let Some(refusal) = pipeline.refusal_alone() {
            return Err(refusal.into());
        }
        if pipeline.is_empty() {
            return Ok(Replies::default());
        }
        let Live { sock, inbox } = self.take()?;
        let mut sent = false;
        let call = Call::begin(|| What::pipeline(pipeline.len()));
        let done = within(self.response_timeout, sync_all(sock, pipeline, inbox, &mut sent)).await;
        let (sock, replies, inbox) = call.end(done.map_err(|lost| self.lost(lost, sent)))?;
        self.live = Some(Live { sock, inbox });
        Ok(replies.into())
    }

    /// The next push, once it is there: a message that answers no command, such as an
    /// invalidation. The oldest of those that came during a call is the first.
    ///
    /// At most 1 024 are kept; then the oldest go, and [`lost_pushes`](Self::lost_pushes) counts
    /// them. Cancel safe.
    ///
    /// # Errors
    ///
    /// [`Error::Disconnected`] once the connection is lost and all that came before was fetched;
    /// [`Error::Protocol`] if something else than a push comes, which closes it.
    pub async fn next_push(&mut self) -> Result<Reply, Error> {
        poll_fn(|cx| {
            loop {
                if let Some(push) = self.pushes().pop() {
                    return Poll::Ready(Ok(push));
                }
                let Some(Live { sock, inbox }) = &mut self.live else {
                    return Poll::Ready(Err(Error::Disconnected { maybe_executed: false }));
                };
                let end = match inbox.settle() {
                    Ok(()) if inbox.has_ended() => inbox.take_end(),
                    Ok(()) if !inbox.pushes().is_empty() => continue,
                    Ok(()) => {
                        ready!(poll_read(sock, inbox, cx));
                        continue;
                    }
                    Err(end) => end,
                };
                if let Some(live) = self.live.take() {
                    self.orphans = live.inbox.into_parts().1;
                }
                if let End::Violation(violation) = end {
                    return Poll::Ready(Err(Error::Protocol { violation, maybe_executed: false }));
                }
            }
        })
        .await
    }

    /// How many pushes nobody fetched in time.
    pub fn lost_pushes(&self) -> u64 {
        match &self.live {
            Some(live) => live.inbox.lost_pushes(),
            None => self.orphans.lost(),
        }
    }

    /// How it came through the fence.
    pub fn passage(&self) -> Passage {
        self.passage
    }

    /// The protocol generation it speaks.
    pub fn protocol(&self) -> Protocol {
        self.findings.protocol
    }

    /// The server's `maxmemory-policy`, if it could be seen and lets the server drop keys when
    /// memory runs out (`allkeys-lru`, …). The fence's key may be among them.
    pub fn eviction_policy(&self) -> Option<&str> {
        self.findings.eviction.as_deref()
    }

    /// What the server declined of that which boot asked for out of courtesy, and its words.
    pub fn declined(&self) -> &[(Step, ServerError)] {
        &self.findings.declined
    }

    /// Whether the connection is lost, or was closed by a call that was dropped.
    pub fn is_closed(&self) -> bool {
        self.live.is_none()
    }

    /// Closes the socket. Nothing is in flight between calls, so nothing is lost by it.
    pub async fn close(self) {
        if let Some(mut live) = self.live {
            // What a peer that is gone says to this changes nothing.
            drop(live.sock.shutdown().await);
        }
    }

    /// The socket leaves its place while a call is under way: see [Cancel
    /// safety](Self#cancel-safety).
    fn take(&mut self) -> Result<Live, Error> {
        self.live.take().ok_or(Error::Disconnected { maybe_executed: false })
    }

    fn pushes(&mut self) -> &mut Pushes {
        match &mut self.live {
            Some(live) => live.inbox.pushes(),
            None => &mut self.orphans,
        }
    }

    /// What to tell of a call whose socket was lost, or taken from it when its time was up.
    fn lost(&mut self, lost: Option<Lost>, maybe_executed: bool) -> Error {
        let Some(Lost { why, pushes }) = lost else { return Error::Timeout { maybe_executed } };
        self.orphans = pushes;
        match why {
            End::Closed(_) | End::Failed(_) => Error::Disconnected { maybe_executed },
            End::Violation(violation) => Error::Protocol { violation, maybe_executed },
        }
    }
}

/// `None`: the time was up, and the work was dropped with all that it owned.
async fn within<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, Lost>>,
) -> Result<T, Option<Lost>> {
    match limit {
        None => work.await.map_err(Some),
        Some(limit) => match timeout(limit, work).await {
            Ok(done) => done.map_err(Some),
            Err(_elapsed) => Err(None),
        },
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("is_closed", &self.is_closed())
            .field("passage", &self.passage)
            .field("protocol", &self.findings.protocol)
            .finish_non_exhaustive()
    }
}
