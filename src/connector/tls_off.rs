//! In place of `tls` in a build without that feature: there is no TLS, so nothing is ever set up.

use super::{
    Error,
    config_error::{ConfigError, Part},
    endpoint::Endpoint,
    transport::Transport,
};

/// Nobody has one.
#[derive(Debug, Clone)]
pub(super) enum Setup {}

impl Setup {
    pub(super) fn for_url(_endpoint: &Endpoint) -> Result<Self, ConfigError> {
        Err(ConfigError::new(
            Part::Scheme,
            "TLS needs the feature `tls` of the crate echo_wire, which this build is without",
        ))
    }

    pub(super) async fn secure(&self, _sock: Transport) -> Result<Transport, Error> {
        match *self {}
    }
}
