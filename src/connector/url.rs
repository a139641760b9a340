//! A config from a URL.
//!
//! ```text
//! redis:// valkey://        [user[:password]@]host[:port][/database][?options]
//! rediss:// valkeys://      the same over TLS: the crate's feature `tls`
//! unix://                   [user[:password]@]/path/to/socket[?options]
//! ```
//!
//! Source: RFC 3986 for the syntax; the schemes are IANA's `redis`, `rediss` and what is customary.
//! User, password, host, path and option values are percent-decoded exactly once. Nothing of the
//! URL is shown in an error: a password with a bare `/`, `?` or `#` in it would fall apart there.

use std::{path::PathBuf, str::FromStr, time::Duration};

use super::{
    Config,
    config_error::{ConfigError, Part},
    endpoint::Endpoint,
    percent, tls,
};
use crate::resp::Protocol;

/// The port that a server listens on by default.
const DEFAULT_PORT: u16 = 6379;

impl Config {
    /// A config from a URL.
    ///
    /// `redis://` and `valkey://` take `[user[:password]@]host[:port][/database]`; `unix://` takes
    /// `[user[:password]@]/path/to/socket`. User and password are percent-decoded once and may
    /// be any bytes; a `+` is a plus. `user@` is the user with an empty password. `rediss://` and
    /// `valkeys://` are the same over TLS, with the system's roots unless `Config::tls` gives others;
    /// a build without the feature `tls` refuses them.
    ///
    /// | option | value |
    /// |---|---|
    /// | `db` | the database, if the path does not name it |
    /// | `user`, `password` | if the authority does not name them |
    /// | `client_name` | visible ASCII |
    /// | `protocol` | `2` or `3` |
    /// | `read_from_replica` | `true` or `false` |
    /// | `connect_timeout`, `response_timeout` | a number and `ms` or `s`, as `500ms` |
    ///
    /// The wire is no option: it is a constant of the crate that connects.
    ///
    /// ```
    /// use echo_wire::connector::Config;
    ///
    /// let config = Config::from_url("redis://:p%40ss@127.0.0.1/3?client_name=w1&protocol=2")?;
    /// assert_eq!(config.endpoint().to_string(), "127.0.0.1:6379");
    /// let config = Config::from_url("unix:///run/valkey.sock?db=1&connect_timeout=500ms")?;
    /// assert_eq!(config.endpoint().to_string(), "/run/valkey.sock");
    /// # Ok::<(), echo_wire::connector::ConfigError>(())
    /// ```
    pub fn from_url(url: &str) -> Result<Self, ConfigError> {
        let (scheme, rest) =
            url.split_once("://").ok_or(ConfigError::new(Part::Scheme, "there is no ://"))?;
        if rest.contains('#') {
            return Err(ConfigError::new(
                Part::Fragment,
                "a URL of a server has none; a # in a password is written %23",
            ));
        }
        let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = match place.find('/') {
            Some(slash) => place.split_at_checked(slash).unwrap_or((place, "")),
            None => (place, ""),
        };
        // The last @, because none can stand in a host; one in a password may be bare.
        let (user_info, host) = match authority.rsplit_once('@') {
            Some((user_info, host)) => (Some(user_info), host),
            None => (None, authority),
        };
        let mut config = match Scheme::new(scheme)? {
            scheme @ (Scheme::Tcp | Scheme::Tls) => {
                let mut config = Self::new(tcp(host)?);
                if let Scheme::Tls = scheme {
                    config.tls = Some(tls::Setup::for_url(&config.endpoint)?);
                }
                match path.strip_prefix('/').unwrap_or(path) {
                    "" => config,
                    database => config.database(number(database, Part::Database)?),
                }
            }
            Scheme::Unix => Self::new(unix(host, path)?),
        };
        if let Some(user_info) = user_info {
            config = with_user_info(config, user_info)?;
        }
        let has_database = matches!(config.endpoint, Endpoint::Tcp { .. }) && path.len() > 1;
        with_options(config, options, has_database)
    }
}

/// As [`Config::from_url`].
impl FromStr for Config {
    type Err = ConfigError;

    fn from_str(url: &str) -> Result<Self, ConfigError> {
        Self::from_url(url)
    }
}

enum Scheme {
    Tcp,
    Tls,
    Unix,
}

impl Scheme {
    fn new(scheme: &str) -> Result<Self, ConfigError> {
        match scheme.to_ascii_lowercase().as_str() {
            "redis" | "valkey" => Ok(Self::Tcp),
            "unix" => Ok(Self::Unix),
            "rediss" | "valkeys" => Ok(Self::Tls),
            _ => Err(ConfigError::new(
                Part::Scheme,
                "it is none of redis, valkey, rediss, valkeys, unix",
            )),
        }
    }
}

fn tcp(authority: &str) -> Result<Endpoint, ConfigError> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest
                .split_once(']')
                .ok_or(ConfigError::new(Part::Host, "an IPv6 address ends with ]"))?;
            let host = text(host, Part::Host)?;
            // A zone (fe80::1%eth0) is not part of the address.
            let (address, _zone) = host.split_once('%').unwrap_or((&host, ""));
            if address.parse::<std::net::Ipv6Addr>().is_err() {
                return Err(ConfigError::new(Part::Host, "no IPv6 address stands in [ ]"));
            }
            (host, port)
        }
        None => {
            let (host, port) = match authority.find(':') {
                Some(colon) => authority.split_at_checked(colon).unwrap_or((authority, "")),
                None => (authority, ""),
            };
            let host = text(host, Part::Host)?;
            if host.contains(['[', ']', ':']) {
                return Err(ConfigError::new(Part::Host, NO_HOST_HAS));
            }
            (host, port)
        }
    };
    // An IPv6 address may have a zone, which is as free as a name.
    if host.contains(|c: char| c.is_control() || " /@".contains(c)) {
        return Err(ConfigError::new(Part::Host, NO_HOST_HAS));
    }
    if host.is_empty() {
        return Err(ConfigError::new(
            Part::Host,
            "it is missing; in a password / is written %2F and ? is written %3F",
        ));
    }
    let port = match port.strip_prefix(':') {
        Some(port) => number(port, Part::Port)?,
        None if port.is_empty() => DEFAULT_PORT,
        None => return Err(ConfigError::new(Part::Port, "a colon stands before it")),
    };
    if port == 0 {
        return Err(ConfigError::new(Part::Port, "it is 0"));
    }
    Ok(Endpoint::Tcp { host, port })
}

const NO_HOST_HAS: &str = "it has a character no host has";

fn unix(host: &str, path: &str) -> Result<Endpoint, ConfigError> {
    if !host.is_empty() {
        return Err(ConfigError::new(Part::Host, "a Unix socket has none: unix:///path"));
    }
    let path = text(path, Part::SocketPath)?;
    if path.len() < 2 || path.contains('\0') {
        return Err(ConfigError::new(Part::SocketPath, "it is missing, or has a NUL"));
    }
    Ok(Endpoint::Unix(PathBuf::from(path)))
}

/// A bare `@` with nothing before it names nobody.
fn with_user_info(config: Config, user_info: &str) -> Result<Config, ConfigError> {
    let (user, password) = match user_info.split_once(':') {
        Some((user, password)) => (user, password),
        None if user_info.is_empty() => {
            return Err(ConfigError::new(Part::User, "nothing stands before the @"));
        }
        None => (user_info, ""),
    };
    let (user, password) = (bytes(user, Part::User)?, bytes(password, Part::Password)?);
    Ok(with_credentials(config, Some(user), password))
}

fn with_credentials(config: Config, user: Option<Vec<u8>>, password: Vec<u8>) -> Config {
    match user {
        Some(user) if !user.is_empty() => config.user_and_password(user, password),
        _ => config.password(password),
    }
}

fn with_options(
    mut config: Config,
    options: &str,
    mut has_database: bool,
) -> Result<Config, ConfigError> {
    let has_credentials = !config.identity.is_nobody();
    let (mut user, mut password) = (None, None);
    let mut seen = Vec::new();
    for option in options.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option
            .split_once('=')
            .ok_or(ConfigError::new(Part::Option, "an option is written name=value"))?;
        if seen.contains(&name) {
            return Err(ConfigError::new(Part::Option, "one is there twice"));
        }
        seen.push(name);
        config = match name {
            "db" if std::mem::replace(&mut has_database, true) => {
                return Err(ConfigError::new(Part::Database, "it is there twice"));
            }
            "db" => config.database(number(value, Part::Database)?),
            "user" | "password" if has_credentials => {
                return Err(ConfigError::new(Part::User, "credentials are there twice"));
            }
            "user" => {
                user = Some(bytes(value, Part::User)?);
                config
            }
            "password" => {
                password = Some(bytes(value, Part::Password)?);
                config
            }
            "client_name" => config.client_name(text(value, Part::ClientName)?)?,
            "protocol" => config.protocol(protocol(value)?),
            "read_from_replica" => config.read_from_replica(boolean(value, Part::ReadFromReplica)?),
            "connect_timeout" => config.connect_timeout(duration(value)?)?,
            "response_timeout" => config.response_timeout(duration(value)?)?,
            _ => {
                return Err(ConfigError::new(
                    Part::Option,
                    "it is none of db, user, password, client_name, protocol, \
                     read_from_replica, connect_timeout, response_timeout",
                ));
            }
        };
    }
    Ok(match (user, password) {
        (None, None) => config,
        (user, password) => with_credentials(config, user, password.unwrap_or_default()),
    })
}

fn bytes(encoded: &str, part: Part) -> Result<Vec<u8>, ConfigError> {
    percent::decode(encoded)
        .ok_or_else(|| ConfigError::new(part, "% is not followed by two hex digits"))
}

fn text(encoded: &str, part: Part) -> Result<String, ConfigError> {
    String::from_utf8(bytes(encoded, part)?)
        .map_err(|_invalid| ConfigError::new(part, "it is not UTF-8"))
}

fn number<T: FromStr>(digits: &str, part: Part) -> Result<T, ConfigError> {
    // `parse` alone would take a plus sign.
    Some(digits)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| ConfigError::new(part, "it is no number, or too large a one"))
}

fn protocol(version: &str) -> Result<Protocol, ConfigError> {
    match version {
        "2" => Ok(Protocol::Resp2),
        "3" => Ok(Protocol::Resp3),
        _ => Err(ConfigError::new(Part::Protocol, "it is neither 2 nor 3")),
    }
}

fn boolean(word: &str, part: Part) -> Result<bool, ConfigError> {
    match word {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(ConfigError::new(part, "it is neither true nor false")),
    }
}

fn duration(span: &str) -> Result<Duration, ConfigError> {
    if let Some(millis) = span.strip_suffix("ms") {
        return number(millis, Part::Timeout).map(Duration::from_millis);
    }
    match span.strip_suffix('s') {
        Some(seconds) => number(seconds, Part::Timeout).map(Duration::from_secs),
        None => Err(ConfigError::new(Part::Timeout, "it has no unit: ms or s")),
    }
}
