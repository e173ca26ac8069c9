//! The health of the hosts that deliveries are sent to.
//!
//! A host that cannot be reached on seven distinct days, without a success between, is set aside: nothing is queued for it
//! but requests to follow, and one delivery a day as a trial. A success, or anything that comes from it, ends that. An
//! operator may pause a host: then deliveries are queued and wait.
//!
//! Spec: docs/contract/federation.md#8-delivery.

use chrono::TimeDelta;
use context::queue::{self, DeliverToHost, Job as _};
use context::{Cx, Error, Result};
use database::Tx;
use model::Time;
use store::host::RemoteHost;

use crate::state::Network;

/// Distinct days with failures after which a host is set aside.
const DAYS: i64 = 7;
/// Pause between two trials of a host that is set aside.
const TRIAL: TimeDelta = TimeDelta::days(1);

/// The hosts among `hosts` that deliveries are queued for. `urgent`: also hosts that are set aside.
pub(super) async fn receiving(cx: &Cx, tx: &mut Tx, hosts: Vec<String>, urgent: bool) -> Result<Vec<String>> {
    if urgent || hosts.is_empty() {
        return Ok(hosts);
    }
    let now = cx.clock.now();
    let mut left_out = Vec::new();
    for state in store::host::list(&mut *tx, &hosts).await?.into_iter().filter(|state| state.unavailable_at.is_some()) {
        if state.tried_at.is_none_or(|tried| now - tried >= TRIAL) {
            store::host::save(tx, &RemoteHost { tried_at: Some(now), ..state }).await?;
        } else {
            left_out.push(state.host);
        }
    }
    Ok(hosts.into_iter().filter(|host| !left_out.contains(host)).collect())
}

/// Notes a failed attempt to reach `host`, whose row was `before`.
pub(super) async fn failed(cx: &Cx, tx: &mut Tx, host: &str, before: Option<RemoteHost>, error: &str) -> Result<()> {
    let now = cx.clock.now();
    let before = before.unwrap_or_else(|| well(host));
    let same_day = before.failed_at.is_some_and(|last| day(last) == day(now));
    let failed_days = before.failed_days + i64::from(!same_day);
    let set_aside = before.unavailable_at.or((failed_days >= DAYS).then_some(now));
    if set_aside.is_some() && before.unavailable_at.is_none() {
        tracing::warn!(host, "a host that failed on seven days is set aside");
    }
    let after = RemoteHost {
        failures: before.failures + 1,
        failed_days,
        failed_at: Some(now),
        error: Some(error.to_owned()),
        unavailable_at: set_aside,
        ..before
    };
    Ok(store::host::save(tx, &after).await?)
}

fn day(time: Time) -> i64 {
    time.timestamp().div_euclid(24 * 60 * 60)
}

fn well(host: &str) -> RemoteHost {
    RemoteHost {
        host: host.to_owned(),
        failures: 0,
        failed_days: 0,
        failed_at: None,
        error: None,
        unavailable_at: None,
        tried_at: None,
        paused_at: None,
    }
}

/// Something came from `host`: if it had failed, it is well again, and its deliveries are due. Looks once a minute.
///
/// # Errors
/// When the database fails.
pub(crate) async fn mark_alive(cx: &Cx, host: &str) -> Result<()> {
    let now = cx.clock.now();
    if !Network::of(cx)?.is_news(host, now) {
        return Ok(());
    }
    let failed = store::host::find(&cx.db, host).await?.is_some_and(|state| state.failures > 0);
    if !failed && store::host::next_inbox(&cx.db, host).await?.is_none() {
        return Ok(());
    }
    let mut tx = cx.db.begin().await?;
    store::host::recover(&mut tx, host).await?;
    store::host::resume_inboxes(&mut tx, host).await?;
    deliver_now(cx, &mut tx, host).await?;
    Ok(tx.commit().await?)
}

/// Makes the deliveries to `host` due now.
pub(super) async fn deliver_now(cx: &Cx, tx: &mut Tx, host: &str) -> Result<()> {
    if !store::delivery::waits(&mut *tx, host).await? {
        return Ok(());
    }
    queue::enqueue(cx, tx, &DeliverToHost { host: host.to_owned() }).await?;
    Ok(store::job::make_due(tx, DeliverToHost::LANE, DeliverToHost::KIND, host, cx.clock.now()).await?)
}

/// Pauses the deliveries to `host`, or lets them continue. False when nothing changed.
///
/// # Errors
/// [`Error::Invalid`] for a text that is no host.
#[model::use_case]
pub async fn set_paused(cx: &Cx, host: &str, paused: bool) -> Result<bool> {
    let host = service::domain::parse(host).ok_or_else(|| Error::invalid(format!("{host:?} is not a host")))?;
    let mut tx = cx.db.begin().await?;
    let state = store::host::find(&mut tx, &host).await?;
    if state.as_ref().is_some_and(|state| state.paused_at.is_some()) == paused {
        return Ok(false);
    }
    store::host::set_paused(&mut tx, &host, paused.then(|| cx.clock.now())).await?;
    if !paused {
        if state.is_none_or(|state| state.failures == 0) {
            store::host::recover(&mut tx, &host).await?;
        }
        deliver_now(cx, &mut tx, &host).await?;
    }
    tx.commit().await?;
    Ok(true)
}
