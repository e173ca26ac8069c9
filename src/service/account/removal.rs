//! Suspending local accounts, and deleting them with all their data.
//!
//! Suspension hides an account immediately and can be undone. Removal also hides it immediately; then a job deletes
//! the account's statuses and interactions in batches, and finally its plugin data and the account itself. The user
//! name stays reserved, so that it cannot be used to impersonate the account to servers that know it.
//!
//! Reached from the command line, and from the settings page where people delete their own account; later from the
//! admin API, which check permission. Other servers are informed by `federation`.

use chrono::TimeDelta;
use tokio::time::Instant;

use crate::audit::{self, Entry, Target};
use crate::oauth::revoke;
use crate::session::Person;
use crate::{archive, email_block, follow, held_status, ownership, rate_limits, sign_up, status};
use context::change::{self, Change};
use context::error::{Error, Result, Validation};
use context::limits::Key;
use context::queue::{
    self, DeleteSuspended, Failure, ForgetAccount, Next, PlaceFiles, PurgeMedia, PurgeProfileImages, RemoveAccount,
};
use context::{Cx, job};
use crypto::Secret;
use database::Tx;
use model::{Account, AccountId, MediaId, Staff, StatusId};
use store::relationship::Relation;
use store::removal::DeletedMedia;

/// Most statuses or relationships deleted in one transaction.
const STATUS_BATCH: i64 = 50;
/// Most favourites and other traces deleted in one transaction.
const ROW_BATCH: i64 = 1_000;
/// Time after which a transaction takes no further status, since it blocks all other writers.
const TIME_BUDGET: std::time::Duration = std::time::Duration::from_millis(50);
/// How long the data of a suspended account is kept.
pub(crate) const SUSPENSION_PERIOD: TimeDelta = TimeDelta::days(30);
/// Delay between closing an account and deleting its data: requests that started earlier have ended.
const REMOVAL_DELAY: TimeDelta = TimeDelta::minutes(1);

/// Hides `account` and its statuses from everyone, and deletes its data after [`SUSPENSION_PERIOD`] unless the
/// suspension is lifted until then; false when it is suspended already.
pub(crate) async fn hide_for_a_time(cx: &Cx, tx: &mut Tx, account: &Account) -> Result<bool> {
    let hidden = hide(cx, tx, account).await?;
    if hidden {
        let now = cx.clock.now();
        let job = DeleteSuspended { account: account.id, suspended_at: now.timestamp_micros() };
        queue::enqueue_at(cx, tx, &job, now + SUSPENSION_PERIOD).await?;
    }
    Ok(hidden)
}

/// Removes `account` for good: it is hidden and signed out now, and its data is deleted in the background. An account
/// that was never confirmed or approved is deleted immediately, and its name is free again.
///
/// # Errors
/// [`Error::Forbidden`] for the last owner.
#[model::use_case]
pub async fn remove(cx: &Cx, staff: &Staff, account: &Account) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    close(cx, &mut tx, account).await?;
    audit::record(cx, &mut tx, staff, Entry::new("account.delete", Target::account(account))).await?;
    Ok(tx.commit().await?)
}

/// Erases `account`, or begins its deletion if it was ever usable.
async fn close(cx: &Cx, tx: &mut Tx, account: &Account) -> Result<()> {
    ownership::keep(tx, account).await?;
    store::account::lock(tx, &[account.id]).await?;
    let user = store::user::find(&mut *tx, account.id).await?;
    let posted = !store::removal::list_statuses(&mut *tx, account.id, 1).await?.is_empty();
    if !posted && user.is_some_and(|user| !user.approved || user.confirmed_at.is_none()) {
        return erase(tx, account.id).await;
    }
    begin(cx, tx, account).await
}

/// Deletes a local account that never was usable, and its user: its name is free again.
pub(crate) async fn erase(tx: &mut Tx, account: AccountId) -> Result<()> {
    store::plugin_data::purge_account(tx, account).await?;
    Ok(store::removal::delete(tx, account).await?)
}

/// Begins the deletion of a locked account: a local one is signed out now, a remote one is not fetched again. The e-mail
/// address of a suspended one is blocked.
pub(crate) async fn begin(cx: &Cx, tx: &mut Tx, account: &Account) -> Result<()> {
    if account.is_suspended()
        && let Some(user) = store::user::find(&mut *tx, account.id).await?
    {
        email_block::keep_out(cx, tx, &user.email).await?;
    }
    if !account.is_local() {
        store::tombstone::replace(tx, &account.uri, account.id, cx.clock.now()).await?;
        return begin_removal(cx, tx, account).await;
    }
    hide(cx, tx, account).await?;
    change::record(cx, tx, Change::AccountRemoved { account: account.id }).await?;
    store::removal::delete_user(tx, account.id).await?;
    revoke::everything(cx, tx, account.id).await?;
    let job = RemoveAccount { account: account.id };
    queue::enqueue_at(cx, tx, &job, cx.clock.now() + REMOVAL_DELAY).await
}

/// Removes the account of another server that no longer exists there: it is hidden now, and deleted in the background.
#[model::use_case]
pub async fn remove_remote(cx: &Cx, account: AccountId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let found = store::account::lock(&mut tx, &[account]).await?.pop();
    if let Some(account) = found.filter(|account| !account.is_local()) {
        begin(cx, &mut tx, &account).await?;
    }
    Ok(tx.commit().await?)
}

/// Hides a locked account of another server, and queues the deletion of its data; it may be fetched again.
pub(crate) async fn begin_removal(cx: &Cx, tx: &mut Tx, account: &Account) -> Result<()> {
    hide(cx, tx, account).await?;
    queue::enqueue(cx, tx, &RemoveAccount { account: account.id }).await
}

/// Removes the account of `person` at their request, after checking their password.
///
/// # Errors
/// [`Error::Validation`] naming `current_password` when it is wrong; [`Error::RateLimited`] after too many attempts;
/// [`Error::Forbidden`] for the last owner.
#[model::use_case]
pub async fn leave(cx: &Cx, person: &Person, password: Secret) -> Result<()> {
    rate_limits::require(cx, &rate_limits::PASSWORD_CHANGE, &Key::Person(person.account.id))?;
    let mut faults = Validation::default();
    if !crypto::verify_password(password, person.user.password_hash.clone()).await? {
        faults.add("current_password", "ERR_INVALID", "is not your current password");
    }
    faults.check()?;
    let mut tx = cx.db.begin().await?;
    close(cx, &mut tx, &person.account).await?;
    Ok(tx.commit().await?)
}

async fn hide(cx: &Cx, tx: &mut Tx, account: &Account) -> Result<bool> {
    let hidden = store::removal::suspend(tx, account.id, cx.clock.now()).await?;
    if hidden {
        change::record(cx, tx, Change::AccountSuspended { account: account.id }).await?;
        place_files(cx, tx, account).await?;
    }
    Ok(hidden)
}

/// Ends the suspension of a locked account; false when it is not suspended.
pub(crate) async fn reveal(cx: &Cx, tx: &mut Tx, account: &Account) -> Result<bool> {
    let shown = store::removal::unsuspend(tx, account.id).await?;
    if shown {
        change::record(cx, tx, Change::AccountUpdated { account: account.id }).await?;
        place_files(cx, tx, account).await?;
    }
    Ok(shown)
}

/// Files follow the standing of their owner. Those of other servers' accounts are not here.
async fn place_files(cx: &Cx, tx: &mut Tx, account: &Account) -> Result<()> {
    if account.is_local() {
        queue::enqueue(cx, tx, &PlaceFiles { account: account.id, after: MediaId::from(0) }).await?;
    }
    Ok(())
}

/// Deletes the next batch of the data of `account` in `tx`; false when only the account is
/// left.
async fn delete_batch(cx: &Cx, tx: &mut Tx, account: AccountId) -> Result<bool> {
    let media = store::removal::delete_media(tx, account, STATUS_BATCH).await?;
    if !media.is_empty() {
        for DeletedMedia { id, file, preview } in media {
            let files = [file, preview].into_iter().flatten().collect();
            queue::enqueue(cx, tx, &PurgeMedia { media: id, files }).await?;
        }
        return Ok(true);
    }
    if held_status::release(cx, tx, account).await? {
        return Ok(true);
    }
    let statuses = store::removal::list_statuses(&mut *tx, account, STATUS_BATCH).await?;
    if !statuses.is_empty() {
        delete_statuses(cx, tx, account, &statuses, Remains::Nothing).await?;
        return Ok(true);
    }
    let others = store::removal::list_related(&mut *tx, account, STATUS_BATCH).await?;
    if !others.is_empty() {
        let all: Vec<AccountId> = others.iter().copied().chain([account]).collect();
        store::account::lock(tx, &all).await?;
        let others = store::removal::list_related(&mut *tx, account, STATUS_BATCH).await?;
        let others = others.into_iter().filter(|other| all.contains(other));
        for other in others {
            for (one, two) in [(account, other), (other, account)] {
                follow::sever(cx, tx, one, two).await?;
                store::relationship::delete(tx, Relation::Block, one, two).await?;
                store::relationship::delete(tx, Relation::Mute, one, two).await?;
            }
        }
        return Ok(true);
    }
    store::account::lock(tx, &[account]).await?;
    let marks = store::removal::delete_favourites(tx, account, ROW_BATCH).await?;
    let votes = store::removal::delete_votes(tx, account, ROW_BATCH).await?;
    let traces = store::removal::delete_traces(tx, account, ROW_BATCH).await?;
    let gone = marks + votes + traces;
    let kept = if gone == 0 { store::plugin_data::purge_part(tx, account, ROW_BATCH).await? } else { 0 };
    Ok(gone + kept > 0)
}

/// What remains of deleted statuses that anyone could read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remains {
    Tombstones,
    /// The author is removed as well, which answers for all.
    Nothing,
}

/// Deletes statuses of `author` in `tx`, in order, until the time budget is used up. Returns the number of deleted
/// statuses, at least one.
pub(crate) async fn delete_statuses(
    cx: &Cx,
    tx: &mut Tx,
    author: AccountId,
    statuses: &[StatusId],
    remains: Remains,
) -> Result<usize> {
    // Locked in one statement and in order, as wherever several accounts change, to avoid deadlocks.
    let mut all = store::removal::list_rebloggers(&mut *tx, statuses).await?;
    all.push(author);
    store::account::lock(tx, &all).await?;
    let (begun, mut gone) = (Instant::now(), 0);
    while gone < statuses.len() && (gone == 0 || begun.elapsed() < TIME_BUDGET) {
        let removed = match remains {
            Remains::Tombstones => status::remove(cx, tx, author, statuses[gone]).await,
            Remains::Nothing => status::erase(cx, tx, author, statuses[gone]).await.map(drop),
        };
        match removed {
            // Another node deleted it first.
            Err(Error::NotFound) | Ok(()) => gone += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(gone)
}

/// Deletes an account without remaining data, and its plugin data; only its name stays reserved.
///
/// # Errors
/// When a plugin's table still refers to it; nothing is deleted then.
pub(crate) async fn finish(cx: &Cx, tx: &mut Tx, id: AccountId) -> Result<()> {
    let Some(account) = store::account::lock(tx, &[id]).await?.pop() else { return Ok(()) };
    if account.suspended_at == Some(account.created_at) {
        // Only the reserved name is left.
        return Ok(());
    }
    let local = account.is_local();
    store::plugin_data::purge_account(tx, id).await?;
    let files = [account.avatar, account.avatar_static, account.header, account.header_static];
    let files: Vec<String> = files.into_iter().flatten().collect();
    if !files.is_empty() {
        queue::enqueue(cx, tx, &PurgeProfileImages { account: id, files }).await?;
    }
    archive::expire_all(cx, tx, id).await?;
    store::removal::delete(tx, id).await?;
    if local {
        reserve_name(cx, tx, id, &account.username, account.version + 1).await?;
    }
    change::record(cx, tx, Change::AccountPurged { account: id }).await?;
    let last = store::plugin_event::max_seq(&mut *tx).await?;
    queue::enqueue(cx, tx, &ForgetAccount { account: id, last, looks: 0 }).await
}

/// Inserts an empty, suspended account in place of a deleted one, so that its name stays taken. `version` must be one
/// that the deleted account never had: it is the key of cached renderings.
async fn reserve_name(cx: &Cx, tx: &mut Tx, id: AccountId, username: &str, version: i64) -> Result<()> {
    let (account, actor) = sign_up::local(cx, id, username);
    let account = Account { suspended_at: Some(account.created_at), version, ..account };
    Ok(store::account::insert(tx, &account, actor).await?)
}

/// Deletes the data of an account that was suspended long ago. Does nothing when the suspension was lifted since, or
/// the deletion has begun.
#[model::use_case]
#[job]
async fn delete_suspended(cx: &Cx, tx: &mut Tx, job: DeleteSuspended) -> Result<()> {
    let Some(account) = store::account::find(&mut *tx, job.account).await? else { return Ok(()) };
    match ownership::keep(tx, &account).await {
        // Suspended by a version that did not keep the last owner.
        Err(Error::Forbidden(why)) => {
            tracing::warn!("{why}: it is not deleted");
            return Ok(());
        }
        kept => kept?,
    }
    let Some(account) = store::account::lock(tx, &[job.account]).await?.pop() else { return Ok(()) };
    let suspended_at = account.suspended_at.map(|at| at.timestamp_micros());
    let has_data = !account.is_local() || store::user::find(&mut *tx, account.id).await?.is_some();
    if suspended_at == Some(job.suspended_at) && has_data {
        begin(cx, tx, &account).await?;
    }
    Ok(())
}

#[model::use_case]
#[job]
async fn remove_account(cx: &Cx, tx: &mut Tx, job: RemoveAccount) -> Result<Next<RemoveAccount>, Failure> {
    if delete_batch(cx, tx, job.account).await? {
        return Ok(Next::Now(job));
    }
    finish(cx, tx, job.account).await?;
    Ok(Next::Nothing)
}
