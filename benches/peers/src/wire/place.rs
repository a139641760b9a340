//! Where the server is, and the server itself: one process, pinned to a core of its own.

use std::{
    env,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use nix::{
    sched::{CpuSet, sched_setaffinity},
    unistd::Pid,
};

/// The way to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Tcp,
    Unix,
}

pub const PORT: u16 = 16999;

#[derive(Debug)]
pub struct Server {
    process: Child,
    dir: PathBuf,
}

impl Server {
    /// Starts a Valkey that keeps nothing on disk, and waits until it listens.
    pub fn start() -> Self {
        let dir = env::temp_dir().join(format!("peers-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory for the server");
        let process = Command::new(program())
            .args(["--port", &PORT.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "no", "--unixsocket"])
            .arg(dir.join("socket"))
            .stdout(Stdio::null())
            .spawn()
            .expect("a valkey-server: ./run servers fetches it");
        pin(Pid::from_raw(process.id() as i32), &[0]);
        let mut server = Self { process, dir };
        while !server.socket().exists() {
            let ended = server.process.try_wait().expect("a child");
            assert!(ended.is_none(), "the server ended: is port {PORT} taken?");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        server
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.join("socket")
    }

    /// As URLs have it.
    pub fn place(&self, way: Way) -> Place {
        Place { way, socket: self.socket() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
        drop(std::fs::remove_dir_all(&self.dir));
    }
}

pub fn program() -> PathBuf {
    let ours = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.servers/valkey-server");
    env::var_os("ECHO_WIRE_VALKEY").map_or_else(|| ours.into(), PathBuf::from)
}

#[derive(Debug, Clone)]
pub struct Place {
    pub way: Way,
    pub socket: PathBuf,
}

impl Place {
    /// `scheme` is what a Unix socket's path follows.
    pub fn url(&self, scheme: &str) -> String {
        match self.way {
            Way::Tcp => format!("redis://127.0.0.1:{PORT}"),
            Way::Unix => format!("{scheme}{}", self.socket.display()),
        }
    }
}

/// Keeps a process on these cores; where that cannot be, the figures are noisier and no more.
pub fn pin(process: Pid, cores: &[usize]) {
    let mut set = CpuSet::new();
    let all = cores.iter().try_for_each(|core| set.set(*core));
    if all.and_then(|()| sched_setaffinity(process, &set)).is_err() {
        eprintln!("cannot keep {process} on {cores:?}");
    }
}
