//! What is asked of a connection, and by how many tasks.

use std::fmt;

use super::peer::Peer;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// One task, GET after GET.
    One,
    /// Tasks that mix GET and SET of values of so many bytes.
    Mix { tasks: usize, len: usize },
    /// One task, pipelines of so many GETs.
    Pipelines(usize),
    /// Tasks that call a script with 3 keys and 8 arguments.
    Calls { tasks: usize },
}

pub const VALUE: usize = 64;

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => f.write_str("one task, GET after GET"),
            Self::Mix { tasks, len } => write!(f, "{tasks} tasks, GET and SET of {len} B"),
            Self::Pipelines(count) => write!(f, "pipelines of {count} GETs"),
            Self::Calls { tasks } => write!(f, "{tasks} tasks, EVALSHA"),
        }
    }
}

impl Load {
    /// Whether the raw loop can do it.
    pub fn has_floor(self) -> bool {
        matches!(self, Self::One | Self::Pipelines(_))
    }

    /// Runs some `commands` commands; answers how many there were.
    pub async fn run<P: Peer>(self, peer: &P, commands: usize) -> usize {
        match self {
            Self::One => {
                let work = |_| {
                    let peer = peer.clone();
                    async move {
                        for _ in 0..commands {
                            assert_eq!(peer.get("one").await, VALUE);
                        }
                    }
                };
                all(1, work).await;
                commands
            }
            Self::Pipelines(count) => {
                let times = commands.div_ceil(count);
                let work = |_| {
                    let peer = peer.clone();
                    async move {
                        for _ in 0..times {
                            assert_eq!(peer.gets("one", count).await, VALUE * count);
                        }
                    }
                };
                all(1, work).await;
                times * count
            }
            Self::Mix { tasks, len } => {
                let each = commands.div_ceil(tasks * 2) * 2;
                let value = std::sync::Arc::<[u8]>::from(vec![b'v'; len]);
                let work = |task: usize| {
                    let (peer, value) = (peer.clone(), value.clone());
                    async move {
                        let key = format!("key:{task}");
                        for _ in 0..each / 2 {
                            peer.set(&key, &value).await;
                            assert_eq!(peer.get(&key).await, value.len());
                        }
                    }
                };
                all(tasks, work).await;
                each * tasks
            }
            Self::Calls { tasks } => {
                let each = commands.div_ceil(tasks);
                let work = |_| {
                    let peer = peer.clone();
                    async move {
                        for _ in 0..each {
                            assert_eq!(peer.call(&KEYS, &ARGS).await, 308);
                        }
                    }
                };
                all(tasks, work).await;
                each * tasks
            }
        }
    }
}

const KEYS: [&str; 3] = ["emq:{mail}:pending", "emq:{mail}:active", "emq:{mail}:events"];
const ARGS: [&str; 8] = [
    "USR0KHTOWnGLuC",
    "1735689600000",
    "30000",
    "worker-17",
    r#"{"to":"a@example.org","n":[1,2,3]}"#,
    "5",
    "0",
    "some-longer-argument-here",
];

/// As tasks of their own, all of them: waking the future that a runtime was started with costs tokio a
/// look at the sockets, which is not the driver's.
async fn all<F: Future<Output = ()> + Send + 'static>(tasks: usize, work: impl Fn(usize) -> F) {
    let tasks: Vec<_> = (0..tasks).map(|task| tokio::spawn(work(task))).collect();
    for task in tasks {
        task.await.expect("a task that ends well");
    }
}
