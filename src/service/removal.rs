//! Suspending people of this server, and removing them with all that is theirs.
//!
//! A suspended account is hidden at once, and comes back as it was. One that is removed is hidden likewise; then a job takes
//! away what its person wrote and did, a part at a time, so that nobody waits for it, and at last what plugins keep of it and the
//! account. Its name stays taken: what others know by it must not become somebody else's.
//!
//! Reached from the command line, later from the admin API. Whether the one who asks may do so is decided there. Telling
//! other servers is the federation's.

use chrono::TimeDelta;
use tokio::time::Instant;

use crate::app::App;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::jobs;
use crate::jobs::forget_account::ForgetAccount;
use crate::jobs::purge_media::PurgeMedia;
use crate::jobs::purge_profile_images::PurgeProfileImages;
use crate::jobs::remove_account::RemoveAccount;
use crate::plugins::hooks::{self, Change, Kind};
use crate::plugins::sql;
use crate::service::oauth::revoke;
use crate::service::{follow, sign_up, status};
use model::{Account, AccountId, StatusId};
use store::Tx;
use store::removal::Files;

/// Statuses or ties that one transaction takes away at most.
const PART: i64 = 50;
/// Marks and traces that one does.
const MARKS: i64 = 1_000;
/// How long one goes on with further statuses: everybody else who writes waits meanwhile.
const TIME: std::time::Duration = std::time::Duration::from_millis(50);
/// How long after an account was closed its data is taken away: what its person had begun by then has ended.
const PAUSE: TimeDelta = TimeDelta::minutes(1);

/// Hides `account`, and what it wrote, from everybody; false when it is hidden already.
///
/// # Errors
/// When the database does.
pub async fn suspend(app: &App, account: &Account) -> Result<bool> {
    let mut tx = app.db.begin().await?;
    let hidden = hide(app, &mut tx, account).await?;
    tx.commit().await?;
    Ok(hidden)
}

/// Shows a suspended account again; false when it is not suspended.
///
/// # Errors
/// [`Error::Conflict`] when it is being removed, or was.
pub async fn unsuspend(app: &App, account: &Account) -> Result<bool> {
    let mut tx = app.db.begin().await?;
    store::account::lock(&mut tx, &[account.id]).await?;
    if store::user::find(&mut tx, account.id).await?.is_none() {
        return Err(Error::Conflict(format!("@{} is removed for good", account.username).into()));
    }
    let shown = store::removal::unsuspend(&mut tx, account.id).await?;
    tx.commit().await?;
    Ok(shown)
}

/// Removes `account` for good: it is hidden and signed out now, and its data goes in the background. One that was never let in
/// leaves not even its name.
///
/// # Errors
/// When the database does.
pub async fn remove(app: &App, account: &Account) -> Result<()> {
    let mut tx = app.db.begin().await?;
    store::account::lock(&mut tx, &[account.id]).await?;
    let user = store::user::find(&mut tx, account.id).await?;
    let posted = !store::removal::list_statuses(&mut tx, account.id, 1).await?.is_empty();
    if !posted && user.is_some_and(|user| !user.approved || user.confirmed_at.is_none()) {
        sql::purge_account(&mut tx, account.id).await?;
        store::removal::delete(&mut tx, account.id).await?;
        tx.commit().await?;
        return Ok(());
    }
    hide(app, &mut tx, account).await?;
    store::removal::close(&mut tx, account.id).await?;
    let revoked = revoke::everything(app, &mut tx, account.id).await?;
    let job = RemoveAccount { account: account.id };
    jobs::enqueue_at(app, &mut tx, &job, app.clock.now() + PAUSE).await?;
    tx.commit().await?;
    revoked.announce(app);
    Ok(())
}

async fn hide(app: &App, tx: &mut Tx, account: &Account) -> Result<bool> {
    let hidden = store::removal::suspend(tx, account.id, app.clock.now()).await?;
    if hidden {
        hooks::record(app, tx, Change::account(Kind::AccountSuspended, account.id, None)).await?;
    }
    Ok(hidden)
}

/// Takes away the next part of what `account` wrote and did, in `tx`; says which statuses went, or `None` when nothing was left
/// but the account.
///
/// # Errors
/// When the database does.
pub(crate) async fn take_part(app: &App, tx: &mut Tx, account: AccountId) -> Result<Option<Vec<StatusId>>> {
    let media = store::removal::take_media(tx, account, PART).await?;
    if !media.is_empty() {
        for Files { id, file, preview } in media {
            let files = [file, preview].into_iter().flatten().collect();
            jobs::enqueue(app, tx, &PurgeMedia { media: id, files }).await?;
        }
        return Ok(Some(Vec::new()));
    }
    let mut statuses = store::removal::list_statuses(&mut *tx, account, PART).await?;
    if !statuses.is_empty() {
        // All of them at once and in their order, as whoever else changes several accounts.
        let mut all = store::removal::list_rebloggers(&mut *tx, &statuses).await?;
        all.push(account);
        store::account::lock(tx, &all).await?;
        let (begun, mut gone) = (Instant::now(), 0);
        while gone < statuses.len() && (gone == 0 || begun.elapsed() < TIME) {
            match status::remove(app, tx, account, statuses[gone]).await {
                // Another node was faster.
                Err(Error::NotFound) | Ok(()) => gone += 1,
                Err(error) => return Err(error),
            }
        }
        statuses.truncate(gone);
        return Ok(Some(statuses));
    }
    let others = store::removal::list_tied(&mut *tx, account, PART).await?;
    if !others.is_empty() {
        let all: Vec<AccountId> = others.iter().copied().chain([account]).collect();
        store::account::lock(tx, &all).await?;
        let others = store::removal::list_tied(&mut *tx, account, PART).await?;
        let others = others.into_iter().filter(|other| all.contains(other));
        for other in others {
            follow::sever(app, tx, account, other).await?;
            follow::sever(app, tx, other, account).await?;
        }
        return Ok(Some(Vec::new()));
    }
    store::account::lock(tx, &[account]).await?;
    let marks = store::removal::take_favourites(tx, account, MARKS).await?;
    let traces = store::removal::take_traces(tx, account, MARKS).await?;
    let kept = if marks + traces == 0 { sql::purge_part(tx, account, MARKS).await? } else { 0 };
    Ok((marks + traces + kept > 0).then(Vec::new))
}

/// Removes an account that nothing hangs on any more, with what plugins keep of it; only its name stays.
///
/// # Errors
/// When a plugin's table keeps something of it, or the database fails: nothing is removed then.
pub(crate) async fn finish(app: &App, tx: &mut Tx, id: AccountId) -> Result<()> {
    let Some(account) = store::account::lock(tx, &[id]).await?.pop() else { return Ok(()) };
    if account.suspended_at == Some(account.created_at) {
        // Only the name is left.
        return Ok(());
    }
    sql::purge_account(tx, id).await?;
    let files = [account.avatar, account.avatar_static, account.header, account.header_static];
    let files: Vec<String> = files.into_iter().flatten().collect();
    if !files.is_empty() {
        jobs::enqueue(app, tx, &PurgeProfileImages { account: id, files }).await?;
    }
    store::removal::delete(tx, id).await?;
    let name = sign_up::local(app, id, &account.username);
    store::removal::reserve(tx, name, account.version + 1).await?;
    hooks::record(app, tx, Change::account(Kind::AccountPurged, id, None)).await?;
    let last = store::plugin_event::last(&mut *tx).await?;
    jobs::enqueue(app, tx, &ForgetAccount { account: id, last, looks: 0 }).await
}

/// Takes away a part of what plugins wrote of a removed account since; says whether there was anything, and whether one of the
/// events up to the number `last` is still kept for a plugin.
///
/// # Errors
/// When the database does.
pub(crate) async fn forget_part(tx: &mut Tx, account: AccountId, last: i64) -> Result<(bool, bool)> {
    let kept = store::plugin_event::is_any_kept(&mut *tx, last).await?;
    Ok((sql::purge_part(tx, account, MARKS).await? > 0, kept))
}

/// Tells what is open of statuses that are gone.
pub(crate) fn tell(app: &App, author: AccountId, statuses: Vec<StatusId>) {
    for status in statuses {
        app.events.publish(Event::StatusDeleted { status, author });
    }
}
