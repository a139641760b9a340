//! TLS as one server is spoken to.

use std::{fmt, sync::Arc};

use tokio::{sync::OnceCell, task::spawn_blocking};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, pki_types::ServerName, sign::SingleCertAndKey},
};

use super::{
    super::{
        Error,
        config_error::{ConfigError, Part},
        endpoint::Endpoint,
        transport::Transport,
    },
    settings::{Tls, named, provider},
    stream::Secured,
    verdict,
};

/// The settings, the server's name, and what rustls keeps between connections: sessions, with
/// which the next handshake is shorter. Shared by the clones of a config.
#[derive(Clone)]
pub(in crate::connector) struct Setup {
    settings: Tls,
    server_name: ServerName<'static>,
    /// Made at the first connect, because reading the system's roots takes a while.
    client: Arc<OnceCell<Arc<ClientConfig>>>,
}

impl Setup {
    pub(in crate::connector) fn new(
        settings: Tls,
        endpoint: &Endpoint,
    ) -> Result<Self, ConfigError> {
        let Endpoint::Tcp { host, .. } = endpoint else {
            return Err(ConfigError::new(Part::Tls, "no server speaks it on a Unix socket"));
        };
        let server_name = match &settings.server_name {
            Some(name) => name.clone(),
            // A zone (fe80::1%eth0) is ours alone.
            None => {
                let (host, _zone) = host.split_once('%').unwrap_or((host, ""));
                named(host.to_owned(), Part::Host)?
            }
        };
        Ok(Self { settings, server_name, client: Arc::default() })
    }

    pub(in crate::connector) fn for_url(endpoint: &Endpoint) -> Result<Self, ConfigError> {
        Self::new(Tls::new(), endpoint)
    }

    /// The handshake. A dropped future closes the socket.
    pub(in crate::connector) async fn secure(&self, sock: Transport) -> Result<Transport, Error> {
        let client = self.client.get_or_try_init(|| self.client()).await?;
        let handshake = TlsConnector::from(Arc::clone(client));
        match handshake.connect(self.server_name.clone(), sock).await {
            Ok(stream) => Ok(Transport::Own(Box::new(Secured::new(stream)))),
            Err(error) => Err(verdict::of_handshake(error)),
        }
    }

    async fn client(&self) -> Result<Arc<ClientConfig>, Error> {
        let roots = match &self.settings.roots {
            Some(given) => Arc::clone(given),
            // A task of ours is not aborted and does not panic: the runtime goes.
            None => spawn_blocking(systems_roots).await.map_err(|_gone| Error::Closed)??,
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(provider()))
            .with_safe_default_protocol_versions()
            .map_err(|_none| ConfigError::new(Part::Tls, "rustls knows no version of it"))?
            .with_root_certificates(roots);
        let client = match &self.settings.client {
            None => builder.with_no_client_auth(),
            Some(client) => builder
                .with_client_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(client)))),
        };
        Ok(Arc::new(client))
    }
}

/// Those that can be read: a system's store often holds some that cannot.
fn systems_roots() -> Result<Arc<RootCertStore>, ConfigError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(ConfigError::new(
            Part::Tls,
            "the system has no root certificates; install them, or give some (Tls::roots_pem)",
        ));
    }
    Ok(Arc::new(roots))
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}
