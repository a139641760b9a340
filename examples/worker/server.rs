//! A Valkey of our own, to be killed and started again. It writes its log to the disk before it
//! answers, so what was answered survives.

use std::{
    env,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::Outcome;

pub(crate) struct Server {
    binary: PathBuf,
    dir: PathBuf,
    port: u16,
    child: Child,
}

impl Server {
    pub(crate) async fn start() -> Outcome<Self> {
        let binary = env::var_os("ECHO_WIRE_VALKEY").map_or_else(
            || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(".servers/valkey-server"),
            PathBuf::from,
        );
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let dir = env::temp_dir().join(format!("echo_wire-worker-{}", std::process::id()));
        std::fs::create_dir_all(&dir)?;
        let child = spawn(&binary, &dir, port)?;
        let server = Self { binary, dir, port, child };
        server.listening().await;
        Ok(server)
    }

    pub(crate) fn url(&self) -> String {
        format!("valkey://127.0.0.1:{}", self.port)
    }

    /// SIGKILL, a pause, and the same store again.
    pub(crate) async fn kill_and_restart(&mut self, pause: Duration) -> Outcome<()> {
        self.child.kill()?;
        self.child.wait()?;
        tokio::time::sleep(pause).await;
        self.child = spawn(&self.binary, &self.dir, self.port)?;
        self.listening().await;
        Ok(())
    }

    async fn listening(&self) {
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn spawn(binary: &PathBuf, dir: &PathBuf, port: u16) -> Outcome<Child> {
    let mut command = Command::new(binary);
    command.arg("--port").arg(port.to_string()).args(["--bind", "127.0.0.1", "--dir"]).arg(dir);
    command.args(["--save", "", "--appendonly", "yes", "--maxmemory-policy", "noeviction"]);
    // With `everysec` a server may answer before it has written, and a kill then takes back what it said.
    command.args(["--appendfsync", "always"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|error| {
        let binary = binary.display();
        format!("cannot start {binary}: {error}; `./run servers` fetches it").into()
    })
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        drop(std::fs::remove_dir_all(&self.dir));
    }
}
