//! Deliveries for operators: the hosts that wait for them, those that were given up, and an attempt before its time.

use std::collections::BTreeMap;

use context::queue::{DeliverToHost, Job as _};
use context::{Cx, Error, Result};
use model::{RowId, Time};
use store::delivery::OwedRow;
use store::host::{DeadDelivery, RemoteHost};

use super::health;

/// The number up to which the deliveries of a host are counted.
const COUNTED_MAX: i64 = 100_000;

/// A host that deliveries are owed to, or that failed or was paused.
#[derive(Clone, Debug)]
pub struct OwedHost {
    pub host: String,
    /// Number of deliveries, at most 100,000.
    pub owed: i64,
    /// When the oldest one was queued.
    pub oldest_at: Option<Time>,
    /// How often the oldest one was tried.
    pub attempts: i64,
    /// When the next attempt is due; `None` while one runs, and when nothing is owed.
    pub next_at: Option<Time>,
    /// Consecutive attempts to reach the host that failed.
    pub failures: i64,
    /// Why the last of them failed.
    pub error: Option<String>,
    pub state: HostState,
}

/// What happens to the deliveries of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostState {
    /// An operator paused them.
    Paused,
    /// The host failed for days: nothing new is queued, apart from trials.
    SetAside,
    /// They are being sent.
    Sending,
    /// They are due.
    Due,
    /// They wait for the next attempt.
    Waiting,
    /// No job is queued for them: [`retry`] queues one.
    Stuck,
    /// Nothing is owed.
    Idle,
}

impl HostState {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::SetAside => "set_aside",
            Self::Sending => "sending",
            Self::Due => "due",
            Self::Waiting => "waiting",
            Self::Stuck => "stuck",
            Self::Idle => "idle",
        }
    }
}

/// The hosts after `after` that deliveries are owed to, or that failed or were paused, by name, up to `limit`.
#[model::use_case]
pub async fn hosts(cx: &Cx, after: &str, limit: i64) -> Result<Vec<OwedHost>> {
    let now = cx.clock.now();
    let mut found: BTreeMap<String, (Option<OwedRow>, Option<RemoteHost>)> = BTreeMap::new();
    for row in store::delivery::list_owed(&cx.db, after, DeliverToHost::KIND, COUNTED_MAX, limit).await? {
        found.insert(row.host.clone(), (Some(row), None));
    }
    let names: Vec<String> = found.keys().cloned().collect();
    let mut states = store::host::list_from(&cx.db, after, limit).await?;
    states.extend(store::host::list(&cx.db, &names).await?);
    for state in states {
        let host = state.host.clone();
        found.entry(host).or_default().1 = Some(state);
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(found.into_iter().take(limit).map(|(host, (owed, state))| shown(host, owed.as_ref(), state, now)).collect())
}

fn shown(host: String, owed: Option<&OwedRow>, health: Option<RemoteHost>, now: Time) -> OwedHost {
    let sending = match owed {
        None => HostState::Idle,
        Some(row) => match (row.claimed_until, row.run_at) {
            (Some(until), _) if until > now => HostState::Sending,
            (_, Some(at)) if at > now => HostState::Waiting,
            (_, Some(_)) => HostState::Due,
            (_, None) => HostState::Stuck,
        },
    };
    let state = match &health {
        Some(health) if health.paused_at.is_some() => HostState::Paused,
        Some(health) if health.unavailable_at.is_some() => HostState::SetAside,
        _ => sending,
    };
    OwedHost {
        host,
        owed: owed.map_or(0, |row| row.owed),
        oldest_at: owed.map(|row| row.oldest_at),
        attempts: owed.map_or(0, |row| row.attempts),
        next_at: owed.and_then(|row| row.run_at),
        failures: health.as_ref().map_or(0, |health| health.failures),
        error: health.and_then(|health| health.error),
        state,
    }
}

/// Makes the deliveries to `host` due now, including the ones that were given up, and forgets that it failed. Earlier
/// attempts keep counting.
///
/// # Errors
/// [`Error::Invalid`] for a text that is no host, [`Error::NotFound`] when nothing is owed to it.
#[model::use_case]
pub async fn retry(cx: &Cx, host: &str) -> Result<String> {
    let host = service::domain::parse(host).ok_or_else(|| Error::invalid(format!("{host:?} is not a host")))?;
    let mut tx = cx.db.begin().await?;
    store::host::revive(&mut tx, &host).await?;
    if !store::delivery::waits(&mut tx, &host).await? {
        return Err(Error::NotFound);
    }
    store::host::recover(&mut tx, &host).await?;
    store::host::resume_inboxes(&mut tx, &host).await?;
    health::deliver_now(cx, &mut tx, &host).await?;
    tx.commit().await?;
    Ok(host)
}

/// Up to `limit` deliveries that were given up, before the delivery `before`, newest first; `host`: only to this one.
#[model::use_case]
pub async fn dead(cx: &Cx, host: Option<&str>, before: Option<RowId>, limit: i64) -> Result<Vec<DeadDelivery>> {
    let before = before.unwrap_or_else(|| RowId::from(i64::MAX));
    Ok(store::host::list_dead(&cx.db, host, before, limit).await?)
}
