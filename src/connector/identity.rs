//! Where a connection's credentials come from, each time that one is made.

use std::{
    error::Error as Failure,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::credentials::Credentials;

/// Why a provider had none.
pub(super) type NoCredentials = Arc<dyn Failure + Send + Sync>;

type Providing = Pin<Box<dyn Future<Output = Result<Credentials, NoCredentials>> + Send>>;

/// Who the connections of a config, or of one connector, are.
#[derive(Clone, Default)]
pub(super) struct Identity {
    source: Source,
    /// What the source said is out of date: this is given instead, unless a provider knows better.
    replaced: Arc<Mutex<Option<Credentials>>>,
}

#[derive(Clone, Default)]
enum Source {
    /// The server's default user, without a password.
    #[default]
    Nobody,
    Given(Credentials),
    Provider(Arc<dyn Fn() -> Providing + Send + Sync>),
}

impl Identity {
    pub(super) fn given(credentials: Credentials) -> Self {
        Self { source: Source::Given(credentials), ..Self::default() }
    }

    pub(super) fn provided<P, F, E>(provider: P) -> Self
    where
        P: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Result<Credentials, E>> + Send + 'static,
        E: Into<Box<dyn Failure + Send + Sync>>,
    {
        let provider = move || -> Providing {
            let providing = provider();
            Box::pin(async move { providing.await.map_err(|error| error.into().into()) })
        };
        Self { source: Source::Provider(Arc::new(provider)), ..Self::default() }
    }

    /// The same source, whose replacement is nobody else's.
    pub(super) fn own(&self) -> Self {
        Self {
            source: self.source.clone(),
            replaced: Arc::new(Mutex::new(self.replaced().clone())),
        }
    }

    /// Who the next connection is.
    pub(super) async fn ask(&self) -> Result<Option<Credentials>, NoCredentials> {
        let given = match &self.source {
            Source::Provider(provider) => return provider().await.map(Some),
            Source::Given(credentials) => Some(credentials),
            Source::Nobody => None,
        };
        Ok(self.replaced().as_ref().or(given).cloned())
    }

    /// Later connections are these; of a provider's, what it says then.
    pub(super) fn replace(&self, credentials: Credentials) {
        *self.replaced() = Some(credentials);
    }

    pub(super) fn is_nobody(&self) -> bool {
        matches!(self.source, Source::Nobody)
    }

    /// Whether the next answer may be another one.
    pub(super) fn is_provided(&self) -> bool {
        matches!(self.source, Source::Provider(_))
    }

    fn replaced(&self) -> MutexGuard<'_, Option<Credentials>> {
        self.replaced.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.source, &*self.replaced()) {
            (Source::Provider(_), _) => f.write_str("Provider"),
            (_, Some(credentials)) | (Source::Given(credentials), None) => credentials.fmt(f),
            (Source::Nobody, None) => f.write_str("None"),
        }
    }
}
