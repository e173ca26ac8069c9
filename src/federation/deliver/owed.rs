//! What is owed to other servers, for operators: the hosts, and a delivery before its time.

use context::queue::{self, DeliverToHost, Job as _};
use context::{Cx, Error, Result};
use model::Time;
use store::delivery::OwedRow;

/// The number up to which the deliveries of a host are counted.
const COUNTED_MAX: i64 = 100_000;

/// A host that deliveries are owed to.
#[derive(Clone, Debug)]
pub struct OwedHost {
    pub host: String,
    /// Number of deliveries, at most 100,000.
    pub owed: i64,
    /// When the oldest one was queued.
    pub oldest_at: Time,
    /// How often the oldest one was tried.
    pub attempts: i64,
    /// When the next attempt is due; `None` while one runs.
    pub next_at: Option<Time>,
    pub state: HostState,
}

/// What happens to the deliveries of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostState {
    /// They are being sent.
    Sending,
    /// They are due.
    Due,
    /// They wait for the next attempt.
    Waiting,
    /// No job is queued for them: [`retry`] queues one.
    Stuck,
}

impl HostState {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sending => "sending",
            Self::Due => "due",
            Self::Waiting => "waiting",
            Self::Stuck => "stuck",
        }
    }
}

/// The hosts after `after` that deliveries are owed to, by name, up to `limit`.
#[model::use_case]
pub async fn hosts(cx: &Cx, after: &str, limit: i64) -> Result<Vec<OwedHost>> {
    let rows = store::delivery::list_owed(&cx.db, after, DeliverToHost::KIND, COUNTED_MAX, limit).await?;
    let now = cx.clock.now();
    Ok(rows.into_iter().map(|row| owed(row, now)).collect())
}

fn owed(row: OwedRow, now: Time) -> OwedHost {
    let state = match (row.claimed_until, row.run_at) {
        (Some(until), _) if until > now => HostState::Sending,
        (_, Some(at)) if at > now => HostState::Waiting,
        (_, Some(_)) => HostState::Due,
        (_, None) => HostState::Stuck,
    };
    let OwedRow { host, owed, oldest_at, attempts, run_at, .. } = row;
    OwedHost { host, owed, oldest_at, attempts, next_at: run_at, state }
}

/// Makes the deliveries to `host` due now. Attempts made so far keep counting.
///
/// # Errors
/// [`Error::Invalid`] for a text that is no host, [`Error::NotFound`] when nothing is owed to it.
#[model::use_case]
pub async fn retry(cx: &Cx, host: &str) -> Result<String> {
    let host = service::domain::parse(host).ok_or_else(|| Error::invalid(format!("{host:?} is not a host")))?;
    let mut tx = cx.db.begin().await?;
    if !store::delivery::waits(&mut tx, &host).await? {
        return Err(Error::NotFound);
    }
    queue::enqueue(cx, &mut tx, &DeliverToHost { host: host.clone() }).await?;
    store::job::make_due(&mut tx, DeliverToHost::KIND, &host, cx.clock.now()).await?;
    tx.commit().await?;
    Ok(host)
}
