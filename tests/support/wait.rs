//! Waiting with a bound in real time, which a paused tokio clock neither moves nor meets.

use std::{
    pin::pin,
    sync::{Mutex, OnceLock, mpsc},
    thread,
    time::{Duration, Instant},
};

use tokio::{select, sync::oneshot, task::yield_now};

use super::BOUND;

/// Awaits the future; a panic that names `what` once it has taken longer than `BOUND`.
pub async fn bounded<F: Future>(what: &str, future: F) -> F::Output {
    let mut future = pin!(future);
    select! {
        biased;
        output = &mut future => output,
        _ = alarm() => panic!("{what}: not within {BOUND:?}"),
    }
}

/// Looks again and again until the condition holds, for what gives no event to wait on; a panic
/// that names `what` after `BOUND`. Other tasks run between two looks.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + BOUND;
    let mut looks = 0_u32;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: not within {BOUND:?}");
        looks += 1;
        if looks > BUSY_LOOKS {
            thread::sleep(Duration::from_millis(1));
        }
        yield_now().await;
    }
}

/// Rings after `BOUND`. A timer of tokio's would do worse than nothing here: a paused clock
/// jumps to it whenever the peer is another thread or process.
fn alarm() -> oneshot::Receiver<()> {
    type Alarm = (Instant, oneshot::Sender<()>);
    static CLOCK: OnceLock<Mutex<mpsc::Sender<Alarm>>> = OnceLock::new();
    let clock = CLOCK.get_or_init(|| {
        let (alarms, inbox) = mpsc::channel::<Alarm>();
        thread::spawn(move || {
            // All are set for the same time ahead, so they are due in the order they come.
            for (due, alarm) in inbox {
                if !alarm.is_closed() {
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    let _ = alarm.send(());
                }
            }
        });
        Mutex::new(alarms)
    });
    let (alarm, rings) = oneshot::channel();
    clock.lock().unwrap().send((Instant::now() + BOUND, alarm)).expect("the clock lasts");
    rings
}

const BUSY_LOOKS: u32 = 50;
