//! The task behind a connector: it does what the [`Supervisor`] decides.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use tokio::time::{Instant, sleep};

use super::{
    Config, Error, Event, Passage,
    backoff::random,
    boot::Fenced,
    dialer::Dialer,
    establish::establish,
    event::Announcer,
    family::Family,
    link::{Driver, End, Shared},
    observe,
    supervisor::{Input, State, Supervisor},
    transport::Transport,
};

/// What a connector's task works on.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) shared: Arc<Shared>,
    pub(super) config: Arc<Config>,
    pub(super) dialer: Arc<Dialer>,
    pub(super) events: Announcer,
    pub(super) family: Family,
}

/// However the task ends (an abort, a runtime that shuts down), nobody waits for it in vain.
impl Drop for Life {
    fn drop(&mut self) {
        self.shared.serving(false);
        self.shared.stop(Error::Closed);
        self.shared.leave();
    }
}

/// Dials, serves and waits until the supervisor says stop.
pub(super) async fn live(life: Life) {
    let Life { shared, config, dialer, events, family } = &life;
    let mut supervisor = Supervisor::new(&config.policy);
    let mut fenced = None;
    let mut seen = false;
    loop {
        let input = match supervisor.state().clone() {
            State::Dialing => match unless_stopped(shared, establish(config, dialer)).await {
                Ok(Ok(socket)) => {
                    life.welcome(&socket, std::mem::replace(&mut seen, true));
                    fenced = Some(socket);
                    Input::Fenced
                }
                Ok(Err(error)) => {
                    shared.count(|stats| Some(&mut stats.failed_connects));
                    Input::Failed(error)
                }
                Err(closed) => Input::Closed(closed),
            },
            State::Serving => match fenced.take() {
                Some(socket) => life.serve(socket).await,
                None => Input::Closed(Error::Closed),
            },
            State::Waiting { after, failures, cause } => {
                events.tell(Event::Reconnecting { after, failures, cause });
                match unless_stopped(shared, sleep(after)).await {
                    Ok(()) => Input::Elapsed,
                    Err(closed) => Input::Closed(closed),
                }
            }
            State::Stopped { why } => {
                shared.stop(why.clone());
                if matches!(why, Error::VersionFence { .. }) {
                    family.condemn(&why);
                }
                if why.is_fatal() {
                    events.tell(Event::Fatal(why));
                }
                return;
            }
        };
        supervisor.on(input, random());
    }
}

impl Life {
    /// Opens the link for callers and tells what happened.
    fn welcome(&self, socket: &Fenced<Transport>, again: bool) {
        let passage = socket.passage();
        let vanished = again && passage == Passage::Claimed;
        self.shared.count(|stats| Some(&mut stats.connects));
        self.shared.count(|stats| again.then_some(&mut stats.reconnects));
        if again {
            observe::reconnected();
        }
        self.shared.count(|stats| vanished.then_some(&mut stats.fences_vanished));
        self.shared.open(socket.protocol());
        self.shared.serving(true);
        // Told last: whoever hears it finds it counted, and commands flowing.
        self.events.tell(Event::Connected);
        self.events.tell(Event::Fenced(passage));
        if vanished {
            self.events.tell(Event::FenceVanished);
        }
        self.shared.announced();
    }

    /// Serves one socket to its end, then answers everybody who waited for it.
    async fn serve(&self, socket: Fenced<Transport>) -> Input {
        let Self { shared, config, events, .. } = self;
        let since = Instant::now();
        let mut driver = Driver::new(Arc::clone(shared), events.clone(), config, socket);
        let end = (&mut driver).await;
        shared.serving(false);
        shared.count(|stats| match end {
            End::Violation(_) | End::Fence(Error::Protocol { .. }) => {
                Some(&mut stats.protocol_errors)
            }
            End::Silent => Some(&mut stats.silences),
            _ => None,
        });
        // A stop from outside goes before what the socket met.
        let stop = shared.stops();
        let why = stop.clone().unwrap_or_else(|| end.into());
        let unsent = match why.is_fatal() || stop.is_some() {
            // From here on nobody comes in any more, and all are told the same.
            true => {
                shared.stop(why.clone());
                why.clone()
            }
            false => Error::Disconnected { maybe_executed: false },
        };
        driver.bury(unsent);
        events.tell(Event::Disconnected(why.clone()));
        match stop {
            Some(why) => Input::Closed(why),
            None => Input::Lost { why, served: since.elapsed() },
        }
    }
}

/// `work`, unless the link is stopped first.
pub(super) async fn unless_stopped<T>(
    shared: &Shared,
    work: impl Future<Output = T>,
) -> Result<T, Error> {
    let (mut work, mut stopped) = (pin!(work), pin!(shared.stopped()));
    poll_fn(|cx| match stopped.as_mut().poll(cx) {
        Poll::Ready(why) => Poll::Ready(Err(why)),
        Poll::Pending => work.as_mut().poll(cx).map(Ok),
    })
    .await
}
