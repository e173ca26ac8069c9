//! Automatic deletion of old statuses, by a policy that each account sets for itself.
//!
//! Reached from the settings page, and from a recurring job that walks over the enabled policies once a day and deletes in
//! batches ([`delete_batch`]). What is deleted is gone as by a request of its author. Reblogs are undone as old statuses
//! are. Extensions have no say in what is kept: the contract of plugins has no place for that.
//!
//! The choices are Mastodon's: <https://docs.joinmastodon.org/user/posting/#auto-delete>.

pub use store::status_cleanup::StatusCleanupPolicy;

use chrono::TimeDelta;

use crate::Cx;
use crate::error::{Error, Result, Validation};
use crate::queue::DeleteOldStatuses;
use crate::service::removal;
use model::clock::Ids;
use model::{AccountId, StatusId};
use store::Tx;

const DAY: i64 = 24 * 60 * 60;
/// The ages that may be chosen, in seconds: one and two weeks; one, two, three and six months; one and two years.
pub const AGES: &[i64] = &[7 * DAY, 14 * DAY, 30 * DAY, 61 * DAY, 91 * DAY, 183 * DAY, 365 * DAY, 730 * DAY];
/// The age that is chosen at first.
const FIRST_AGE: i64 = 14 * DAY;
/// Statuses that one batch looks at.
const SCAN: i64 = 500;
/// Statuses that one batch deletes.
const BATCH: usize = 50;

/// The policy of `account`; one that deletes nothing when it has set none.
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

/// Sets the policy of its account; the next walk goes by it.
///
/// # Errors
/// [`Error::Validation`] for an age that is none of [`AGES`], and for a number of favourites or reblogs below 1.
pub async fn set(cx: &Cx, policy: &StatusCleanupPolicy) -> Result<()> {
    let mut faults = Validation::default();
    if !AGES.contains(&policy.min_status_age) {
        faults.add("min_status_age", "ERR_INCLUSION", "is none of the choices");
    }
    for (attribute, least) in [("min_favs", policy.min_favs), ("min_reblogs", policy.min_reblogs)] {
        if least.is_some_and(|least| least < 1) {
            faults.add(attribute, "ERR_INVALID", "must be 1 or more");
        }
    }
    faults.check()?;
    let mut tx = cx.db.begin().await?;
    store::status_cleanup::set(&mut tx, policy).await.map_err(Error::of_insert)?;
    tx.commit().await?;
    Ok(())
}

/// Deletes the next statuses that a policy does not keep; returns where to go on, `None` at the end of the walk.
pub async fn delete_batch(cx: &Cx, tx: &mut Tx, job: DeleteOldStatuses) -> Result<Option<DeleteOldStatuses>> {
    let Some(policy) = store::status_cleanup::find_next(&mut *tx, job.account).await? else { return Ok(None) };
    let account = policy.account_id;
    let after = if account == job.account { job.after } else { StatusId::from(0) };
    let before = StatusId::from(Ids::first_at(cx.clock.now() - TimeDelta::seconds(policy.min_status_age)));
    let found = store::status_cleanup::list_statuses(&mut *tx, &policy, after, before, SCAN).await?;
    let Some((last, _)) = found.last() else {
        let next = AccountId::from(i64::from(account) + 1);
        return Ok(Some(DeleteOldStatuses { account: next, after: StatusId::from(0) }));
    };
    let old: Vec<StatusId> = found.iter().filter(|(_, kept)| !kept).map(|(id, _)| *id).collect();
    let batch = &old[..old.len().min(BATCH)];
    let gone = if batch.is_empty() { 0 } else { removal::delete_statuses(cx, tx, account, batch).await? };
    let after = if gone < old.len() { batch[gone - 1] } else { *last };
    Ok(Some(DeleteOldStatuses { account, after }))
}
