//! How to reach a server and what to be there: everything that a connect sequence needs to know.

use std::{borrow::Cow, future::Future, path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    client_name::ClientName,
    config_error::{ConfigError, Part},
    credentials::Credentials,
    dialect::HelloMemory,
    endpoint::Endpoint,
    fence::Claims,
    identity::Identity,
    policy::Policy,
    resolver::{Resolve, SystemResolver},
    tls,
    wire::Wire,
};
use crate::resp::{Limits, Protocol};

/// Where the server is, who we are there, and what the connect sequence asks for.
///
/// Made from a [URL](Config::from_url) or from an address, then refined; what cannot be right is
/// refused here, before any byte is sent. There is no way to switch the fence off.
///
/// | setting | default |
/// |---|---|
/// | TLS | none; with `rediss://` and `valkeys://`: the system's roots |
/// | credentials | none: the server's default user |
/// | database | 0 |
/// | wire | [`WIRE_VERSION`](super::WIRE_VERSION) |
/// | protocol | RESP3 where the server speaks HELLO, else RESP2 |
/// | connect timeout | 5 s for dial, TLS, boot and fence together |
/// | response timeout | none |
/// | TCP keepalive, `TCP_USER_TIMEOUT` | 30 s |
///
/// ```
/// use std::time::Duration;
/// use echo_wire::connector::Config;
///
/// let config = Config::from_url("valkey://worker:s%40crt@cache.internal:6380/2")?
///     .client_name("mailer-7")?
///     .connect_timeout(Duration::from_secs(2))?;
/// assert_eq!(config.endpoint().to_string(), "cache.internal:6380");
/// assert!(!format!("{config:?}").contains("s@crt"));
/// # Ok::<(), echo_wire::connector::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a config does nothing until something connects with it"]
pub struct Config {
    pub(super) endpoint: Endpoint,
    pub(super) tls: Option<tls::Setup>,
    pub(super) identity: Identity,
    pub(super) database: u32,
    pub(super) client_name: Option<ClientName>,
    pub(super) wire: Wire,
    pub(super) protocol: Option<Protocol>,
    pub(super) read_from_replica: bool,
    pub(super) connect_timeout: Duration,
    pub(super) response_timeout: Option<Duration>,
    pub(super) tcp_timeout: Option<Duration>,
    pub(super) look_for_eviction: bool,
    pub(super) policy: Policy,
    pub(super) limits: Limits,
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) hello: HelloMemory,
}

/// Default of [`Config::connect_timeout`].
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Default of [`Config::tcp_timeout`].
const TCP_TIMEOUT: Duration = Duration::from_secs(30);

impl Config {
    /// A server at a host name or address (an IPv6 one without brackets) and a port.
    pub fn tcp(host: impl Into<String>, port: u16) -> Self {
        Self::new(Endpoint::Tcp { host: host.into(), port })
    }

    /// A server at a Unix socket.
    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Self::new(Endpoint::Unix(path.into()))
    }

    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            tls: None,
            identity: Identity::default(),
            database: 0,
            client_name: None,
            wire: Wire::OURS,
            protocol: None,
            read_from_replica: false,
            connect_timeout: CONNECT_TIMEOUT,
            response_timeout: None,
            tcp_timeout: Some(TCP_TIMEOUT),
            look_for_eviction: true,
            policy: Policy::default(),
            limits: Limits::default(),
            resolver: Arc::new(SystemResolver),
            hello: HelloMemory::default(),
        }
    }

    /// Speaks TLS to the server, as these settings say; also over a stream of one's own. With the
    /// feature `tls`.
    ///
    /// Fails for a Unix socket, and for a host that no certificate can name, unless the settings
    /// name [another](super::Tls::server_name).
    ///
    /// ```
    /// use echo_wire::connector::{Config, Tls};
    ///
    /// let config = Config::tcp("cache.internal", 6380).tls(Tls::new())?;
    /// // The URL's scheme says so, too; settings go on top.
    /// let config = Config::from_url("rediss://10.0.0.7:6380")?
    ///     .tls(Tls::new().server_name("cache.internal")?)?;
    /// # Ok::<(), echo_wire::connector::ConfigError>(())
    /// ```
    #[cfg(feature = "tls")]
    pub fn tls(mut self, settings: super::Tls) -> Result<Self, ConfigError> {
        self.tls = Some(tls::Setup::new(settings, &self.endpoint)?);
        Ok(self)
    }

    /// The password of the server's default user. It may be empty, and need not be UTF-8.
    pub fn password(self, password: impl Into<Bytes>) -> Self {
        self.credentials(Credentials::password(password))
    }

    /// A user and its password, which may be empty; neither need be UTF-8.
    pub fn user_and_password(self, user: impl Into<Bytes>, password: impl Into<Bytes>) -> Self {
        self.credentials(Credentials::user_and_password(user, password))
    }

    /// As [`password`](Self::password) and [`user_and_password`](Self::user_and_password).
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.identity = Identity::given(credentials);
        self
    }

    /// Credentials that change: `provider` is asked each time that a connection is made, after the
    /// dial and within the connect timeout. For tokens that rotate.
    ///
    /// Where it fails, the attempt is [not ready](super::Error::NotReady), with
    /// [`Step::Credentials`](super::Step::Credentials) and its own error, whose text should hold no
    /// secret; and so it is where the server refuses what it gave, because the next may be right. A
    /// connector then tries again as it does when the server is away.
    /// [`Connector::renew_credentials`](super::Connector::renew_credentials) asks it for a
    /// connection that is there.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// use echo_wire::connector::{Config, Connection, Credentials, Error, Step};
    ///
    /// # use tokio::io::duplex;
    /// # let (stream, _server) = duplex(64);
    /// let config = Config::tcp("cache.internal", 6379).credentials_from(|| async {
    ///     let token = std::fs::read("/no/such/token")?;
    ///     Ok::<_, std::io::Error>(Credentials::user_and_password("worker", token))
    /// });
    /// // `Connection::connect(&config)` would dial.
    /// let error = Connection::over(stream, &config).await.unwrap_err();
    /// assert!(matches!(error, Error::NotReady { step: Step::Credentials, .. }));
    /// # }
    /// ```
    pub fn credentials_from<P, F, E>(mut self, provider: P) -> Self
    where
        P: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Result<Credentials, E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.identity = Identity::provided(provider);
        self
    }

    /// The database, chosen with SELECT before the fence looks at it. 0 is the server's default
    /// and is not asked for.
    pub fn database(mut self, database: u32) -> Self {
        self.database = database;
        self
    }

    /// The name that the server shows for the connection. A server that refuses it is none the
    /// worse: the name is a courtesy.
    ///
    /// Fails unless it is visible ASCII without spaces, which is what CLIENT SETNAME takes.
    pub fn client_name(mut self, name: impl Into<String>) -> Result<Self, ConfigError> {
        self.client_name = Some(ClientName::new(name.into())?);
        Ok(self)
    }

    /// The identity of the wire that the store has to speak, for a crate whose wire is not
    /// [`WIRE_VERSION`](super::WIRE_VERSION): its own code constant.
    ///
    /// Fails unless it is 1 to 128 visible ASCII characters.
    ///
    /// ```
    /// use echo_wire::connector::Config;
    ///
    /// const WIRE: &str = "acme-jobs:1.4.0";
    /// let config = Config::tcp("localhost", 6379).wire(WIRE)?;
    /// assert!(Config::tcp("localhost", 6379).wire("").is_err());
    /// # Ok::<(), echo_wire::connector::ConfigError>(())
    /// ```
    pub fn wire(mut self, identity: impl Into<Cow<'static, str>>) -> Result<Self, ConfigError> {
        self.wire = Wire::new(identity.into())?;
        Ok(self)
    }

    /// Insists on one generation of the protocol.
    ///
    /// RESP2: HELLO is not sent. RESP3: a server that refuses HELLO is refused. Without this call
    /// HELLO is tried, and RESP2 spoken where the server refuses it. A peer that hangs up on HELLO
    /// is dialled once more in RESP2; if that comes through, this config and its clones begin in
    /// RESP2 for the next minute.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = Some(protocol);
        self
    }

    /// Takes a replica as well as a primary. Such a connection verifies the fence and never claims
    /// it, whoever answers: a store without a version key is not ready.
    pub fn read_from_replica(mut self, allowed: bool) -> Self {
        self.read_from_replica = allowed;
        self
    }

    /// How long dial, TLS, boot and fence may take together. Default 5 s.
    ///
    /// Fails for zero.
    pub fn connect_timeout(mut self, within: Duration) -> Result<Self, ConfigError> {
        self.connect_timeout = not_zero(within)?;
        Ok(self)
    }

    /// How long a [`Connection`](super::Connection) waits for the replies to one call; then the
    /// socket is closed. Default: without limit, for a blocking command waits as long as it likes.
    ///
    /// Fails for zero.
    pub fn response_timeout(mut self, within: Duration) -> Result<Self, ConfigError> {
        self.response_timeout = Some(not_zero(within)?);
        Ok(self)
    }

    /// How long a TCP peer may leave data unacknowledged (`TCP_USER_TIMEOUT`, where the platform
    /// has it), and how long an idle one may be silent until keepalive gives it up. `None` leaves
    /// both to the system. Default 30 s.
    ///
    /// Fails for less than a second.
    pub fn tcp_timeout(mut self, within: Option<Duration>) -> Result<Self, ConfigError> {
        if within.is_some_and(|within| within < Duration::from_secs(1)) {
            return Err(ConfigError::new(Part::Timeout, "for TCP it is a second at least"));
        }
        self.tcp_timeout = within;
        Ok(self)
    }

    /// Whether boot looks at the server's `maxmemory-policy`, so that one which drops keys (the
    /// fence's among them) can be warned of. A server that denies the look is none the worse.
    /// Default: yes.
    pub fn look_for_eviction(mut self, wanted: bool) -> Self {
        self.look_for_eviction = wanted;
        self
    }

    /// What a [`Connector`](super::Connector) does when things are slow, full or away. Default:
    /// [`Policy::default`].
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Bounds on one reply. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Who resolves the host's name. Default: the system.
    pub fn resolver(mut self, resolver: impl Resolve + 'static) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// Whether the fence may claim an empty store.
    pub(super) fn claims(&self) -> Claims {
        if self.read_from_replica { Claims::Never } else { Claims::Allowed }
    }

    /// Where the server is.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

fn not_zero(within: Duration) -> Result<Duration, ConfigError> {
    if within.is_zero() { Err(ConfigError::new(Part::Timeout, "it is zero")) } else { Ok(within) }
}
