//! Automatic deletion of old statuses, by a policy per account.
//!
//! Reached from the settings page, and from a recurring job that walks over the enabled policies once a day and
//! deletes in batches ([`next`], [`delete`]). Statuses are deleted as if their author requested it. Reblogs are
//! undone at the same age. Extensions offer additional exceptions ([`exceptions`]), which people choose beside the
//! exceptions of the core. While such an extension is unavailable, no statuses of the accounts that chose its
//! exceptions are deleted.
//!
//! The choices are Mastodon's: <https://docs.joinmastodon.org/user/posting/#auto-delete>.

pub use store::status_cleanup::StatusCleanupPolicy;

use std::collections::BTreeMap;

use chrono::TimeDelta;

use crate::removal::{self, Remains};
use context::error::{Error, Result, Validation};
use context::extension::CleanupException;
use context::queue::{self, DeleteOldStatuses, Done, Failure};
use context::{Cx, job};
use database::Tx;
use model::clock::Ids;
use model::{AccountId, StatusId};
use store::job::Claim;
use store::status_cleanup::StatusCleanupException;

const DAY: i64 = 24 * 60 * 60;
/// The ages that may be chosen, in seconds: one and two weeks; one, two, three and six months; one and two years.
pub const AGES: &[i64] = &[7 * DAY, 14 * DAY, 30 * DAY, 61 * DAY, 91 * DAY, 183 * DAY, 365 * DAY, 730 * DAY];
/// The default age.
const FIRST_AGE: i64 = 14 * DAY;
/// Statuses read per batch.
const SCAN: i64 = 500;
/// Statuses deleted per batch.
const BATCH: usize = 50;

/// The policy of `account`; if none is set, one that deletes nothing.
#[model::use_case]
pub async fn find(cx: &Cx, account: AccountId) -> Result<StatusCleanupPolicy> {
    Ok(store::status_cleanup::find(&cx.db, account).await?.unwrap_or(StatusCleanupPolicy {
        account_id: account,
        enabled: false,
        min_status_age: FIRST_AGE,
        keep_direct: true,
        keep_pinned: true,
        keep_polls: false,
        keep_media: false,
        keep_self_fav: true,
        keep_self_bookmark: true,
        min_favs: None,
        min_reblogs: None,
    }))
}

/// The exceptions that extensions offer, each with the choice of `account`: the number, 1 for an exception without a
/// number, 0 if it is not chosen.
#[model::use_case]
pub async fn exceptions(cx: &Cx, account: AccountId) -> Result<Vec<(CleanupException, i64)>> {
    let offered = cx.extensions().cleanup_exceptions();
    if offered.is_empty() {
        return Ok(Vec::new());
    }
    let chosen = store::status_cleanup::list_exceptions(&cx.db, account).await?;
    let chosen: BTreeMap<String, i64> = chosen.into_iter().map(|chosen| (chosen.name, chosen.least)).collect();
    let choice = |offered: CleanupException| {
        let least = chosen.get(&offered.name).copied().unwrap_or(offered.default.into());
        (offered, least)
    };
    Ok(offered.into_iter().map(choice).collect())
}

/// Sets the policy of its account, used from the next walk on. `chosen` are numbers for exceptions of extensions, by
/// name, as in [`exceptions`]; exceptions that are missing from it, or not offered, stay unchanged.
///
/// # Errors
/// [`Error::Validation`] for an age that is not in [`AGES`], for a number of favourites or reblogs below 1, and for a
/// negative number of an exception.
#[model::use_case]
pub async fn set(cx: &Cx, policy: &StatusCleanupPolicy, chosen: &BTreeMap<String, i64>) -> Result<()> {
    let mut faults = Validation::default();
    if !AGES.contains(&policy.min_status_age) {
        faults.add("min_status_age", "ERR_INCLUSION", "is none of the choices");
    }
    for (attribute, least) in [("min_favs", policy.min_favs), ("min_reblogs", policy.min_reblogs)] {
        if least.is_some_and(|least| least < 1) {
            faults.add(attribute, "ERR_INVALID", "must be 1 or more");
        }
    }
    if chosen.values().any(|least| *least < 0) {
        faults.add("exceptions", "ERR_INVALID", "must be 1 or more");
    }
    faults.check()?;
    let offered = if chosen.is_empty() { Vec::new() } else { cx.extensions().cleanup_exceptions() };
    let mut tx = cx.db.begin().await?;
    store::status_cleanup::set(&mut tx, policy).await.map_err(Error::of_insert)?;
    for CleanupException { plugin, name, counts, .. } in offered {
        let Some(least) = chosen.get(&name).copied() else { continue };
        let least = if counts { least } else { least.min(1) };
        let chosen = StatusCleanupException { account_id: policy.account_id, plugin_id: plugin, name, least };
        store::status_cleanup::set_exception(&mut tx, &chosen).await.map_err(Error::of_insert)?;
    }
    tx.commit().await?;
    Ok(())
}

/// Old statuses of an account to which no exception applies.
#[derive(Debug)]
pub struct OldStatuses {
    account: AccountId,
    ids: Vec<StatusId>,
    /// Where the walk continues after their deletion.
    then: DeleteOldStatuses,
}

/// The next batch of the walk: `None` at its end. Called outside of a transaction, since it calls extensions.
async fn next(cx: &Cx, job: DeleteOldStatuses) -> Result<Option<OldStatuses>> {
    let Some(policy) = store::status_cleanup::find_next(&cx.db, job.account).await? else { return Ok(None) };
    let account = policy.account_id;
    let leave = || {
        let then = DeleteOldStatuses { account: AccountId::from(i64::from(account) + 1), after: StatusId::from(0) };
        Ok(Some(OldStatuses { account, ids: Vec::new(), then }))
    };
    let after = if account == job.account { job.after } else { StatusId::from(0) };
    let before = StatusId::from(Ids::first_at(cx.clock.now() - TimeDelta::seconds(policy.min_status_age)));
    let found = store::status_cleanup::list_statuses(&cx.db, &policy, after, before, SCAN).await?;
    let Some((last, _)) = found.last() else { return leave() };
    let mut ids: Vec<StatusId> = found.iter().filter(|(_, kept)| !kept).map(|(id, _)| *id).collect();
    if !ids.is_empty() {
        let chosen = exceptions(cx, account).await?.into_iter().filter(|(_, least)| *least > 0);
        let chosen: BTreeMap<String, i64> = chosen.map(|(offered, least)| (offered.name, least)).collect();
        match cx.extensions().kept_from_cleanup(cx, account, &chosen, &ids).await {
            Ok(kept) => ids.retain(|id| !kept.contains(id)),
            Err(error) => {
                tracing::warn!(account.id = %account, %error, "extension unavailable: no deletion until next walk");
                return leave();
            }
        }
    }
    Ok(Some(OldStatuses { account, ids, then: DeleteOldStatuses { account, after: *last } }))
}

/// Deletes a batch of `old`. Returns where the walk continues.
async fn delete(cx: &Cx, tx: &mut Tx, old: OldStatuses) -> Result<DeleteOldStatuses> {
    let OldStatuses { account, ids, then } = old;
    let batch = &ids[..ids.len().min(BATCH)];
    let gone = match batch {
        [] => 0,
        batch => removal::delete_statuses(cx, tx, account, batch, Remains::Tombstones).await?,
    };
    Ok(if gone < ids.len() { DeleteOldStatuses { account, after: batch[gone - 1] } } else { then })
}

/// How often a walk begins.
const INTERVAL: TimeDelta = TimeDelta::days(1);

/// Calls extensions before the transaction begins.
#[model::use_case]
#[job]
async fn delete_old_statuses(cx: &Cx, job: DeleteOldStatuses, claim: Claim) -> Result<Done, Failure> {
    let found = next(cx, job).await?;
    let mut tx = cx.db.begin().await?;
    match found {
        Some(old) => {
            let next = delete(cx, &mut tx, old).await?;
            queue::enqueue(cx, &mut tx, &next).await?;
        }
        None => queue::enqueue_at(cx, &mut tx, &DeleteOldStatuses::begin(), cx.clock.now() + INTERVAL).await?,
    }
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}
