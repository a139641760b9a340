//! A real server process in a directory of its own, ended whenever its handle is dropped.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{self, Child, Command, ExitStatus, Stdio},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    BOUND,
    flavor::Flavor,
    port::Port,
    raw::{Answer, Raw},
    spawn,
};

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct ServerBuilder {
    flavor: Flavor,
    args: Vec<String>,
    ready: Ready,
}

/// A Valkey or Redis process: running, paused or killed. Calls block, for some milliseconds.
///
/// It listens on 127.0.0.1 and on a unix socket, keeps nothing on disk unless told to, and
/// allows DEBUG. Dropping it ends the process and removes its directory, in a panic too.
#[derive(Debug)]
pub struct Server {
    flavor: Flavor,
    port: Port,
    args: Mutex<Vec<String>>,
    /// `None`: not running.
    child: Mutex<Option<Child>>,
    /// Last, so that it goes after the process.
    dir: PathBuf,
}

/// When a started server counts as ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ready {
    /// It answers PING, with whatever but `-LOADING`.
    Loaded,
    /// It answers PING.
    Answering,
}

impl ServerBuilder {
    /// One more word of the command line, as in `.arg("--requirepass").arg("secret")`. Later
    /// words win over earlier ones and over the defaults.
    pub fn arg(mut self, word: impl Into<String>) -> Self {
        self.args.push(word.into());
        self
    }

    /// More words of the command line.
    pub fn args<I: IntoIterator<Item: Into<String>>>(mut self, words: I) -> Self {
        self.args.extend(words.into_iter().map(Into::into));
        self
    }

    /// Lets `start` return as soon as the server answers at all, `-LOADING` included.
    pub fn while_loading(mut self) -> Self {
        self.ready = Ready::Answering;
        self
    }

    /// Starts it and waits until it answers. Panics with the server's own output if it will not.
    pub fn start(self) -> Server {
        // A program outside these tests can take a port between its choice and the listen.
        for _ in 0..TRIES {
            let server = Server {
                flavor: self.flavor,
                port: Port::claim(),
                args: Mutex::new(self.args.clone()),
                child: Mutex::new(None),
                dir: new_dir(),
            };
            if server.launch(self.ready) {
                return server;
            }
        }
        panic!("{TRIES} ports in a row were taken");
    }
}

impl Server {
    pub fn builder(flavor: Flavor) -> ServerBuilder {
        ServerBuilder { flavor, args: Vec::new(), ready: Ready::Loaded }
    }

    pub fn valkey() -> ServerBuilder {
        Self::builder(Flavor::Valkey)
    }

    pub fn redis() -> ServerBuilder {
        Self::builder(Flavor::Redis)
    }

    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// `127.0.0.1:port`
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// `redis://127.0.0.1:port`, without credentials even where there is a password.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// `unix:///…/socket`, without credentials.
    pub fn unix_url(&self) -> String {
        format!("unix://{}", self.unix_path().display())
    }

    pub fn unix_path(&self) -> PathBuf {
        self.dir.join("socket")
    }

    /// Where it runs: its dump, its socket and its log.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What it has written to its log since the first start.
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }

    pub fn pid(&self) -> u32 {
        self.child().as_ref().expect("the server runs").id()
    }

    pub fn is_running(&self) -> bool {
        self.child().as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// A connection to look into it, over the unix socket, with the password given if one is set.
    /// It counts as a client until `quit` or its drop reaches the server.
    pub fn raw(&self) -> Raw {
        let mut raw = Raw::unix(&self.unix_path()).expect("the server listens");
        if let Some(password) = self.password() {
            raw.text(&["AUTH", &password]);
        }
        raw
    }

    /// One command on a connection of its own, which is gone when this returns; its reply as
    /// text. An error reply panics: ask for it with `raw().call(…)`.
    pub fn cli(&self, command: &[&str]) -> String {
        let mut raw = self.raw();
        let text = raw.text(command);
        raw.quit();
        text
    }

    /// CLIENT LIST without the client that asks: a line for each connection.
    pub fn clients(&self) -> Vec<String> {
        let mut raw = self.raw();
        let me = format!("id={} ", raw.text(&["CLIENT", "ID"]));
        let list = raw.text(&["CLIENT", "LIST"]);
        raw.quit();
        list.lines().filter(|line| !line.starts_with(&me)).map(ToOwned::to_owned).collect()
    }

    /// SIGKILL: its connections are reset or closed, and nothing is saved.
    pub fn kill(&self) {
        if let Some(mut child) = self.child().take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// SIGTERM, its orderly end; waits for it.
    pub fn shutdown(&self) -> ExitStatus {
        self.resume();
        self.signal("TERM");
        let mut child = self.child().take().expect("the server runs");
        let deadline = Instant::now() + BOUND;
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            if Instant::now() > deadline {
                let _ = child.kill();
                panic!("the server does not shut down:\n{}", self.log());
            }
            thread::sleep(STEP);
        }
    }

    /// Starts it again on the same port and in the same directory, killing it first if it runs.
    pub fn restart(&self) {
        self.again(Ready::Loaded);
    }

    /// As `restart`, but returns as soon as it answers at all, `-LOADING` included.
    pub fn restart_loading(&self) {
        self.again(Ready::Answering);
    }

    /// Words of the command line from the next restart on.
    pub fn add_args(&self, words: &[&str]) {
        self.args().extend(words.iter().map(ToString::to_string));
    }

    /// SIGSTOP: the kernel still takes connections and bytes, nothing answers.
    pub fn pause(&self) {
        self.signal("STOP");
        let stat = PathBuf::from(format!("/proc/{}/stat", self.pid()));
        // The signal takes effect when the process next leaves the kernel.
        while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") T ")) {
            thread::yield_now();
        }
    }

    /// SIGCONT
    pub fn resume(&self) {
        self.signal("CONT");
    }

    fn again(&self, ready: Ready) {
        self.kill();
        let deadline = Instant::now() + BOUND;
        while !self.launch(ready) {
            assert!(Instant::now() < deadline, "port {} stays taken", self.port());
        }
    }

    /// Starts the process and waits until it is ready; `false` if its port is taken.
    fn launch(&self, ready: Ready) -> bool {
        let log = fs::File::options().create(true).append(true).open(self.dir.join("log")).unwrap();
        let before = self.log().len();
        let mut command = spawn::command(self.flavor.binary());
        command
            .args(["--port", &self.port().to_string(), "--bind", "127.0.0.1"])
            .arg("--unixsocket")
            .arg(self.unix_path())
            .arg("--dir")
            .arg(&self.dir)
            .args(["--save", "", "--appendonly", "no", "--enable-debug-command", "local"])
            .args(self.args().iter())
            .stdin(Stdio::null())
            .stderr(log.try_clone().unwrap())
            .stdout(log);
        *self.child() = Some(spawn::spawn(command).expect("the server's binary runs"));

        let deadline = Instant::now() + BOUND;
        loop {
            if !self.is_running() {
                self.kill();
                let said = self.log().split_off(before);
                assert!(said.contains("Address already in use"), "no server:\n{said}");
                return false;
            }
            // Over the socket in its own directory: at the port another server might answer.
            match self.ping() {
                Ok(Answer::Error(line))
                    if line.starts_with("LOADING") && ready == Ready::Loaded => {}
                Ok(_) => return true,
                Err(_) => {}
            }
            assert!(Instant::now() < deadline, "the server does not answer:\n{}", self.log());
            thread::sleep(STEP);
        }
    }

    fn ping(&self) -> io::Result<Answer> {
        let mut raw = Raw::unix(&self.unix_path())?;
        raw.send(&["PING"])?;
        let answer = raw.read()?;
        raw.quit();
        Ok(answer)
    }

    fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        let mut kill = Command::new("sh");
        kill.args(["-c", "kill -s \"$0\" \"$1\"", name, &pid]);
        let status = spawn::spawn(kill).and_then(|mut child| child.wait());
        assert!(status.is_ok_and(|status| status.success()), "SIG{name} is not sent");
    }

    fn password(&self) -> Option<String> {
        let args = self.args();
        let at = args.iter().rposition(|word| word == "--requirepass")?;
        args.get(at + 1).cloned()
    }

    // A panic elsewhere in the test must not keep the server from being ended.
    fn child(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn args(&self) -> MutexGuard<'_, Vec<String>> {
        self.args.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// A new empty directory, with a path short enough for a unix socket in it.
fn new_dir() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = env::temp_dir().join(format!("echo_wire-{}-{count}", process::id()));
        match fs::create_dir(&dir) {
            Ok(()) => return dir,
            // Left by an earlier process of the same id, which was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => panic!("{}: {error}", dir.display()),
        }
    }
}

const TRIES: u32 = 16;
/// Between two looks at a process that gives no event to wait on.
const STEP: Duration = Duration::from_millis(5);
