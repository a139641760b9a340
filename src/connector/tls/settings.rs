//! Whom to trust over TLS, and who we are there.

use std::{fmt, sync::Arc};

use tokio_rustls::rustls::{
    RootCertStore,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    sign::CertifiedKey,
};

use super::super::config_error::{ConfigError, Part};

/// How TLS is spoken to a server, for [`Config::tls`](crate::connector::Config::tls). With the
/// feature `tls`.
///
/// TLS 1.3 and 1.2, by rustls with ring (classical key exchange, not post-quantum). The server's certificate is always verified, against the roots that
/// the system trusts (on Unix also `SSL_CERT_FILE` and `SSL_CERT_DIR`) or those given here, and for
/// the host of the config: a DNS name, or an IP address, which the certificate then has to name as
/// such. No ALPN. A certificate or a key is in no `Debug`, no `Display`, no error.
///
/// | setting | default |
/// |---|---|
/// | roots | the system's |
/// | client certificate | none |
/// | server name | the config's host |
///
/// ```
/// use echo_wire::connector::{Config, Tls};
///
/// // The same as `valkeys://10.0.0.7:6380`, but for the name on the certificate.
/// let tls = Tls::new().server_name("cache.internal")?;
/// let config = Config::tcp("10.0.0.7", 6380).tls(tls)?;
///
/// let not_a_root = Tls::new().roots_pem("-----BEGIN CERTIFICATE-----");
/// assert_eq!(not_a_root.unwrap_err().to_string(), "TLS: there is no certificate in the PEM");
/// # Ok::<(), echo_wire::connector::ConfigError>(())
/// ```
#[derive(Clone, Default)]
#[must_use = "it does nothing until a config has it"]
pub struct Tls {
    /// `None`: the system's.
    pub(super) roots: Option<Arc<RootCertStore>>,
    pub(super) client: Option<Arc<CertifiedKey>>,
    /// `None`: the config's host.
    pub(super) server_name: Option<ServerName<'static>>,
}

impl Tls {
    /// The system's roots, no client certificate, the config's host as the server's name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts these roots, and no longer the system's: one or more certificates as PEM. May be
    /// called again for more.
    ///
    /// Fails where there is none, or one that cannot be read.
    pub fn roots_pem(mut self, pem: impl AsRef<[u8]>) -> Result<Self, ConfigError> {
        for root in certificates(pem.as_ref())? {
            self = self.trust(root)?;
        }
        Ok(self)
    }

    /// As [`roots_pem`](Self::roots_pem): one certificate as DER.
    pub fn root_der(self, der: impl AsRef<[u8]>) -> Result<Self, ConfigError> {
        self.trust(CertificateDer::from(der.as_ref()))
    }

    fn trust(mut self, root: CertificateDer<'_>) -> Result<Self, ConfigError> {
        let roots = self.roots.get_or_insert_with(|| Arc::new(RootCertStore::empty()));
        Arc::make_mut(roots).add(root).map_err(|_invalid| wrong("a root cannot be read"))?;
        Ok(self)
    }

    /// Shows the server a certificate, for one that wants to know its clients: the certificate
    /// first and then those that lead to its root, as PEM, and its key (PKCS #8, PKCS #1 or SEC 1),
    /// as PEM without a passphrase.
    ///
    /// Fails where either cannot be read, or where they do not belong together.
    pub fn client_certificate_pem(
        self,
        chain: impl AsRef<[u8]>,
        key: impl AsRef<[u8]>,
    ) -> Result<Self, ConfigError> {
        let key = PrivateKeyDer::from_pem_slice(key.as_ref())
            .map_err(|_invalid| wrong("there is no private key in the PEM"))?;
        self.client(certificates(chain.as_ref())?, key)
    }

    /// As [`client_certificate_pem`](Self::client_certificate_pem), of DER.
    pub fn client_certificate_der<C>(
        self,
        chain: C,
        key: impl Into<Vec<u8>>,
    ) -> Result<Self, ConfigError>
    where
        C: IntoIterator<Item: Into<Vec<u8>>>,
    {
        let chain = chain.into_iter().map(|der| CertificateDer::from(der.into()));
        let key = PrivateKeyDer::try_from(key.into())
            .map_err(|_invalid| wrong("the private key cannot be read"))?;
        self.client(chain.collect(), key)
    }

    fn client(
        mut self,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, ConfigError> {
        let client = CertifiedKey::from_der(chain, key, &provider())
            .map_err(|_error| wrong("the client certificate and its key do not belong together"))?;
        self.client = Some(Arc::new(client));
        Ok(self)
    }

    /// The name that the server's certificate has to bear, and that the server is told (SNI) if it
    /// is a DNS name: where that is not the host of the config.
    ///
    /// Fails unless it is a DNS name or an IP address.
    pub fn server_name(mut self, name: impl Into<String>) -> Result<Self, ConfigError> {
        self.server_name = Some(named(name.into(), Part::ServerName)?);
        Ok(self)
    }
}

/// ring, which a C compiler builds. It knows no key exchange that a quantum computer could not break,
/// and rustls deprecates it for that alone; the one that does needs more to be built.
#[allow(deprecated, reason = "post-quantum key exchange is given up for a simple build")]
pub(super) fn provider() -> CryptoProvider {
    ring::default_provider()
}

/// A DNS name or an address.
pub(super) fn named(name: String, part: Part) -> Result<ServerName<'static>, ConfigError> {
    ServerName::try_from(name).map_err(|_invalid| {
        ConfigError::new(part, "a certificate can bear no such name: no DNS name, no IP address")
    })
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    certificates
        .ok()
        .filter(|certificates| !certificates.is_empty())
        .ok_or_else(|| wrong("there is no certificate in the PEM"))
}

fn wrong(rule: &'static str) -> ConfigError {
    ConfigError::new(Part::Tls, rule)
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roots = match &self.roots {
            None => "the system's".to_owned(),
            Some(roots) => format!("{} given", roots.len()),
        };
        f.debug_struct("Tls")
            .field("roots", &format_args!("{roots}"))
            .field("client_certificate", &self.client.is_some())
            .field("server_name", &self.server_name.as_ref().map(ServerName::to_str))
            .finish()
    }
}
