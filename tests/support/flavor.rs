//! The two servers the tests run on, and where their binaries are found.

use std::{env, fmt, path::Path, path::PathBuf};

use super::server::{Server, ServerBuilder};

/// A server the crate must work with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    Valkey,
    Redis,
}

impl Flavor {
    /// A server of this flavour, not yet started.
    pub fn server(self) -> ServerBuilder {
        Server::builder(self)
    }

    /// The binary: the environment's, else the one `./run servers` fetched, else (Redis) PATH's.
    pub(super) fn binary(self) -> PathBuf {
        let (variable, file) = match self {
            Self::Valkey => ("ECHO_WIRE_VALKEY", "valkey-server"),
            Self::Redis => ("ECHO_WIRE_REDIS", "redis-server"),
        };
        if let Some(named) = env::var_os(variable).map(PathBuf::from) {
            assert!(named.is_file(), "{variable} names {}, which is no file", named.display());
            return named;
        }
        // The tool, a package within the repository, has its tests stand on this as well.
        let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let fetched = above.find_map(|dir| {
            let fetched = dir.join(".servers").join(file);
            fetched.is_file().then_some(fetched)
        });
        if let Some(fetched) = fetched {
            return fetched;
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let installed = env::split_paths(&path).map(|dir| dir.join(file)).find(|at| at.is_file());
        installed.filter(|_| self == Self::Redis).unwrap_or_else(|| {
            panic!(
                "no {self} server to test on: fetch it with `./run servers`, name it in \
                 {variable}, or leave it out with ECHO_WIRE_SKIP={self}"
            )
        })
    }
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Valkey => "valkey",
            Self::Redis => "redis",
        })
    }
}

/// The servers to run a test on: both, minus those the comma list in `ECHO_WIRE_SKIP` names.
pub fn flavors() -> Vec<Flavor> {
    let skip = env::var("ECHO_WIRE_SKIP").unwrap_or_default();
    let skip: Vec<_> = skip.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let all = [Flavor::Valkey, Flavor::Redis];
    for name in &skip {
        let known = all.iter().any(|flavor| flavor.to_string() == *name);
        assert!(known, "ECHO_WIRE_SKIP names {name:?}; it knows valkey and redis");
    }
    all.into_iter().filter(|flavor| !skip.contains(&flavor.to_string().as_str())).collect()
}
