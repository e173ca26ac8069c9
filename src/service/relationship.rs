//! Blocks, mutes, endorsements and private notes, and what a change between two accounts causes elsewhere.
//!
//! Reached from the accounts routes and from [`super::follow`]. Knows nothing of HTTP.
//!
//! Spec: contract rules, sections 9 and 20.

use chrono::Duration;

use crate::app::App;
use crate::error::{Error, Result};
use crate::jobs;
use crate::jobs::expire_mute::ExpireMute;
use crate::jobs::feed::{Merge, Unmerge};
use crate::plugins::hooks::{self, Change, Kind};
use crate::service::{account, follow, notification};
use model::relationship::{Listed, Muted};
use model::{Account, AccountId, Actor, Cursor};
use store::Tx;
use store::relationship::{NewMute, Tie};

/// Longest private note, in characters (contract rules, section 9).
const NOTE_MAX: usize = 2000;
/// Longest mute that ends: a hundred years, in seconds.
const MUTE_SECONDS_MAX: i64 = 100 * 365 * 24 * 60 * 60;

/// Makes `actor` block `target`: follows and requests end both ways. Blocking oneself does nothing.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden.
pub async fn block(app: &App, actor: &Actor, target: AccountId) -> Result<()> {
    account::find_visible(app, target).await?;
    if target == actor.id {
        return Ok(());
    }
    let mut tx = app.db.begin().await?;
    let (me, target) = lock_pair(&mut tx, actor.id, target).await?;
    if store::relationship::insert_block(&mut tx, app.ids.next(), me.id, target.id, app.clock.now()).await? {
        follow::sever(app, &mut tx, me.id, target.id).await?;
        follow::sever(app, &mut tx, target.id, me.id).await?;
        notification::retract_from(&mut tx, me.id, target.id).await?;
        unmerge(app, &mut tx, me.id, target.id).await?;
        changed(&mut tx, &[me.id, target.id]).await?;
        hooks::record(app, &mut tx, Change::pair(Kind::AccountBlocked, me.id, target.id)?).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Ends a block; none there is no error.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden.
pub async fn unblock(app: &App, actor: &Actor, target: AccountId) -> Result<()> {
    account::find_visible(app, target).await?;
    let mut tx = app.db.begin().await?;
    let (me, target) = lock_pair(&mut tx, actor.id, target).await?;
    if store::relationship::delete_block(&mut tx, me.id, target.id).await? {
        changed(&mut tx, &[me.id, target.id]).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Makes `actor` mute `target`, for `seconds` (0: for good); a mute that is there gets these terms. Muting oneself does
/// nothing.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden, [`Error::Invalid`] for a duration below 0 or beyond a century.
pub async fn mute(app: &App, actor: &Actor, target: AccountId, hide_notifications: bool, seconds: i64) -> Result<()> {
    if !(0..=MUTE_SECONDS_MAX).contains(&seconds) {
        return Err(Error::invalid(format!("duration: must be 0 to {MUTE_SECONDS_MAX} seconds")));
    }
    account::find_visible(app, target).await?;
    if target == actor.id {
        return Ok(());
    }
    let now = app.clock.now();
    let expires_at = (seconds > 0).then(|| now + Duration::seconds(seconds));
    let mut tx = app.db.begin().await?;
    let (me, target) = lock_pair(&mut tx, actor.id, target).await?;
    let mute = NewMute {
        id: app.ids.next(),
        account_id: me.id,
        target_account_id: target.id,
        hide_notifications,
        expires_at,
        now,
    };
    store::relationship::set_mute(&mut tx, mute).await?;
    changed(&mut tx, &[me.id]).await?;
    if let Some(at) = expires_at {
        jobs::enqueue_at(app, &mut tx, &ExpireMute { account: me.id, target: target.id }, at).await?;
    }
    unmerge(app, &mut tx, me.id, target.id).await?;
    hooks::record(app, &mut tx, Change::pair(Kind::AccountMuted, me.id, target.id)?).await?;
    tx.commit().await?;
    Ok(())
}

/// Ends a mute; none there is no error.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden.
pub async fn unmute(app: &App, actor: &Actor, target: AccountId) -> Result<()> {
    account::find_visible(app, target).await?;
    let mut tx = app.db.begin().await?;
    if store::relationship::delete_mute(&mut tx, actor.id, target).await? {
        changed(&mut tx, &[actor.id]).await?;
        heard_again(app, &mut tx, actor.id, target).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Removes a mute of `account` that has run out, if it has.
///
/// # Errors
/// When the database does.
pub async fn expire_mute(app: &App, account: AccountId, target: AccountId) -> Result<()> {
    let mut tx = app.db.begin().await?;
    if store::relationship::delete_expired_mute(&mut tx, account, target, app.clock.now()).await? {
        changed(&mut tx, &[account]).await?;
        heard_again(app, &mut tx, account, target).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Shows `target` on `actor`'s profile as someone worth following; twice is once.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden, [`Error::Invalid`] when `actor` does not follow it.
pub async fn endorse(app: &App, actor: &Actor, target: AccountId) -> Result<()> {
    account::find_visible(app, target).await?;
    let mut tx = app.db.begin().await?;
    let (me, target) = lock_pair(&mut tx, actor.id, target).await?;
    if !store::follow::exists(&mut tx, me.id, target.id).await? {
        return Err(Error::invalid("Validation failed: you must be already following the person you want to endorse"));
    }
    store::relationship::insert_endorsement(&mut tx, app.ids.next(), me.id, target.id, app.clock.now()).await?;
    tx.commit().await?;
    Ok(())
}

/// Ends an endorsement; none there is no error.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden.
pub async fn unendorse(app: &App, actor: &Actor, target: AccountId) -> Result<()> {
    account::find_visible(app, target).await?;
    let mut tx = app.db.begin().await?;
    store::relationship::delete_endorsement(&mut tx, actor.id, target).await?;
    tx.commit().await?;
    Ok(())
}

/// Writes what only `actor` reads about `target`; blank text removes it.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden, [`Error::Invalid`] when the note is too long.
pub async fn note(app: &App, actor: &Actor, target: AccountId, comment: &str) -> Result<()> {
    if comment.chars().count() > NOTE_MAX {
        return Err(Error::invalid(format!(
            "Validation failed: comment is too long (maximum is {NOTE_MAX} characters)"
        )));
    }
    account::find_visible(app, target).await?;
    let comment = if comment.trim().is_empty() { "" } else { comment };
    let mut tx = app.db.begin().await?;
    store::relationship::set_note(&mut tx, actor.id, target, comment).await?;
    tx.commit().await?;
    Ok(())
}

/// Whom `actor` blocks, the latest block first.
///
/// # Errors
/// When the database does.
pub async fn blocks(app: &App, actor: &Actor, cursor: &Cursor) -> Result<Vec<Listed>> {
    Ok(store::relationship::list_blocks(&app.db, actor.id, cursor).await?)
}

/// Whom `actor` mutes now, the latest mute first.
///
/// # Errors
/// When the database does.
pub async fn mutes(app: &App, actor: &Actor, cursor: &Cursor) -> Result<Vec<Muted>> {
    Ok(store::relationship::list_mutes(&app.db, actor.id, cursor, app.clock.now()).await?)
}

/// What is kept of what these accounts see depends on their ties: it goes by their versions.
async fn changed(tx: &mut Tx, accounts: &[AccountId]) -> Result<()> {
    Ok(store::account::bump_all(tx, accounts).await?)
}

/// Both accounts, kept from change until the transaction ends.
///
/// # Errors
/// [`Error::NotFound`] when one of them is gone.
pub(super) async fn lock_pair(tx: &mut Tx, me: AccountId, other: AccountId) -> Result<(Account, Account)> {
    let accounts = store::account::lock(tx, &[me, other]).await?;
    let one = |id| accounts.iter().find(|account| account.id == id).cloned().ok_or(Error::NotFound);
    Ok((one(me)?, one(other)?))
}

/// What stands between two accounts that are locked.
///
/// # Errors
/// [`Error::NotFound`] when the other is gone.
pub(super) async fn tie(app: &App, tx: &mut Tx, me: AccountId, other: AccountId) -> Result<Tie> {
    store::relationship::list(tx, me, &[other], app.clock.now()).await?.pop().ok_or(Error::NotFound)
}

/// `account` wants to read `target` again: if it follows, the home timeline is filled up.
async fn heard_again(app: &App, tx: &mut Tx, account: AccountId, target: AccountId) -> Result<()> {
    if store::follow::exists(&mut *tx, account, target).await? {
        merge(app, tx, account, target).await?;
    }
    Ok(())
}

/// Queues filling `account`'s home timeline with recent statuses of `target`.
///
/// # Errors
/// When the database does.
pub(super) async fn merge(app: &App, tx: &mut Tx, account: AccountId, target: AccountId) -> Result<()> {
    jobs::enqueue(app, tx, &Merge { account, target }).await
}

/// Queues taking `target`'s statuses off `account`'s home timeline.
///
/// # Errors
/// When the database does.
pub(super) async fn unmerge(app: &App, tx: &mut Tx, account: AccountId, target: AccountId) -> Result<()> {
    jobs::enqueue(app, tx, &Unmerge { account, target }).await
}
