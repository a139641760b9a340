//! From a host's name to addresses, anew at every dial.

use std::{fmt, future::Future, io, net::SocketAddr, pin::Pin};

/// Turns a host name into the addresses to try, in this order.
///
/// It is asked at every dial, because an address may have moved since the last one; its answer is
/// never kept. The time that it takes is part of the connect deadline: a future that is not ready
/// by then is dropped.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use std::net::SocketAddr;
/// use echo_wire::connector::{Addresses, Config, Connection, Resolve};
///
/// /// Takes what a service registry answers (here, an address where nobody listens).
/// #[derive(Debug)]
/// struct Registry;
///
/// impl Resolve for Registry {
///     fn resolve<'a>(&'a self, _host: &'a str, port: u16) -> Addresses<'a> {
///         Box::pin(async move { Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]) })
///     }
/// }
///
/// let config = Config::tcp("jobs.internal", 1).resolver(Registry);
/// assert!(Connection::connect(&config).await.is_err());
/// # }
/// ```
pub trait Resolve: fmt::Debug + Send + Sync {
    /// The addresses of `host`, with `port`. None at all is an error like any other.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Addresses<'a>;
}

/// The addresses of a host, some time later.
pub type Addresses<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// The system's resolver, on a thread of its own where it has to block.
#[derive(Debug)]
pub(super) struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Addresses<'a> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}
