//! Child processes that end with the test process, even when that is killed.

use std::{
    ffi::OsStr,
    io,
    process::{Child, Command, Stdio},
    sync::{Mutex, OnceLock, mpsc},
    thread,
};

/// The command that runs `program`; where `setpriv` can, as a child the kernel kills with us.
pub(super) fn command(program: impl AsRef<OsStr>) -> Command {
    static BOUND_TO_US: OnceLock<bool> = OnceLock::new();
    let bound = *BOUND_TO_US.get_or_init(|| {
        let mut probe = Command::new("setpriv");
        probe.args(["--pdeathsig", "KILL", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
        spawn(probe).and_then(|mut child| child.wait()).is_ok_and(|status| status.success())
    });
    if !bound {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).arg(program);
    command
}

/// Spawns on a thread that lasts as long as the process: the kernel's "parent died" means the
/// thread that spawned, and a test's own thread ends before servers it has given away.
pub(super) fn spawn(command: Command) -> io::Result<Child> {
    type Order = (Command, mpsc::Sender<io::Result<Child>>);
    static SPAWNER: OnceLock<Mutex<mpsc::Sender<Order>>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (orders, inbox) = mpsc::channel::<Order>();
        thread::spawn(move || {
            for (mut command, answer) in inbox {
                let _ = answer.send(command.spawn());
            }
        });
        Mutex::new(orders)
    });
    let (answer, spawned) = mpsc::channel();
    spawner.lock().unwrap().send((command, answer)).expect("the spawner lasts");
    spawned.recv().expect("the spawner answers")
}
