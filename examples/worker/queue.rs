//! A small, honest queue: five keys, four scripts, and a rule for each unknown outcome.
//!
//! Every step is a script that may be asked twice: an enqueue by its id, a completion by its lease.
//! So a call that failed without saying whether it ran is simply sent again, and still nothing is
//! done twice. A claim that was answered to nobody comes round again when its lease runs out.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use echo_wire::{
    connector::{Connector, Dedicated, Error, Script, ScriptCall},
    keyspace::{BrandedId, Key, Kind, Queue},
    resp::{Command, FromReply},
};

use crate::Outcome;

/// How long a claimed job is its worker's alone.
pub(crate) const LEASE: Duration = Duration::from_secs(2);
/// How long a worker sleeps on an empty queue before it looks for leases that ran out.
const NAP: Duration = Duration::from_millis(500);

pub(crate) struct Jobs {
    connector: Connector,
    queue: Queue,
    pending: Key,
    active: Key,
    wake: Key,
    events: Key,
    job_prefix: String,
    minted: AtomicU64,
}

static ENQUEUE: Script = Script::new(include_str!("lua/enqueue.lua"));
static CLAIM: Script = Script::new(include_str!("lua/claim.lua"));
static COMPLETE: Script = Script::new(include_str!("lua/complete.lua"));
static RETRY: Script = Script::new(include_str!("lua/retry.lua"));

/// A claimed job and the token of its lease.
pub(crate) struct Claim {
    pub(crate) id: BrandedId,
    pub(crate) payload: String,
    pub(crate) attempt: i64,
    token: String,
}

impl Jobs {
    pub(crate) fn new(connector: Connector, name: &str) -> Outcome<Self> {
        let queue = Queue::new(name)?;
        Ok(Self {
            connector,
            pending: queue.key("pending")?,
            active: queue.key("active")?,
            wake: queue.key("wake")?,
            events: queue.key("events")?,
            job_prefix: format!("emq:{{{name}}}:job:"),
            queue,
            minted: AtomicU64::new(0),
        })
    }

    pub(crate) fn events(&self) -> &Key {
        &self.events
    }

    pub(crate) fn job_key(&self, id: &BrandedId) -> Key {
        self.queue.job(id)
    }

    /// A new id: milliseconds since 2024 above, a count below, so that byte order is mint order.
    pub(crate) fn mint(&self) -> Outcome<BrandedId> {
        const EPOCH: Duration = Duration::from_secs(1_704_067_200);
        let since = SystemTime::UNIX_EPOCH.elapsed()?.saturating_sub(EPOCH);
        let count = self.minted.fetch_add(1, Ordering::Relaxed) % (1 << 22);
        let snowflake = (u64::try_from(since.as_millis())? << 22) | count;
        Ok(BrandedId::new(Kind::new("JOB")?, snowflake)?)
    }

    /// Puts a job in. False: it was there already.
    pub(crate) async fn enqueue(&self, id: &BrandedId, payload: &str) -> Outcome<bool> {
        let job = self.queue.job(id);
        self.ask(|| {
            let keys = [&job, &self.pending, &self.wake];
            ENQUEUE.call().keys(keys).arg(id).arg(payload).arg(&self.events)
        })
        .await
    }

    /// The next job, if there is one.
    pub(crate) async fn claim(&self, worker: usize) -> Outcome<Option<Claim>> {
        let token = format!("{worker}.{}", self.minted.fetch_add(1, Ordering::Relaxed));
        let lease = u64::try_from(LEASE.as_millis())?;
        let claimed: Option<(String, String, i64)> = self
            .ask(|| {
                let call = CLAIM.call().keys([&self.pending, &self.active, &self.wake]);
                call.arg(&self.job_prefix).arg(&token).arg(lease).arg(&self.events)
            })
            .await?;
        let Some((id, payload, attempt)) = claimed else { return Ok(None) };
        Ok(Some(Claim { id: id.parse()?, payload, attempt, token }))
    }

    /// `completed`, `already` (an answer that got lost), or `lost` (the lease had run out).
    pub(crate) async fn complete(&self, claim: &Claim) -> Outcome<String> {
        let job = self.queue.job(&claim.id);
        self.ask(|| {
            let call = COMPLETE.call().keys([&job, &self.active]);
            call.arg(&claim.id).arg(&claim.token).arg(&self.events)
        })
        .await
    }

    /// Gives a failed job back: `retried`, or `lost`.
    pub(crate) async fn retry(&self, claim: &Claim) -> Outcome<String> {
        let job = self.queue.job(&claim.id);
        self.ask(|| {
            let keys = [&job, &self.pending, &self.active, &self.wake];
            RETRY.call().keys(keys).arg(&claim.id).arg(&claim.token).arg(&self.events)
        })
        .await
    }

    /// Waits on the server until something is enqueued, or for a nap. What it pops is only a hint,
    /// so a lost one costs a nap and nothing else.
    pub(crate) async fn doze(&self, bed: &mut Dedicated) -> Outcome<()> {
        let pop = Command::new("BLPOP").arg(&self.wake).arg(NAP.as_secs_f64());
        match bed.command(&pop).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_fatal() => Err(error.into()),
            // The server is away; the next claim waits for it.
            Err(_) => Ok(()),
        }
    }

    /// Asks until it is answered: each script may be asked twice.
    async fn ask<'a, T: FromReply>(&self, call: impl Fn() -> ScriptCall<'a>) -> Outcome<T> {
        loop {
            match self.connector.eval(call()).await {
                Ok(reply) => return Ok(reply.to()?),
                Err(error @ Error::Server(_)) => return Err(error.into()),
                Err(error) if error.is_fatal() => return Err(error.into()),
                Err(_lost) => self.connector.ready().await?,
            }
        }
    }
}
