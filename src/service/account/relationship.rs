//! Relationships other than follows: blocks, mutes, endorsements, private notes, and their side effects.
//!
//! Reached from the accounts routes and from [`crate::follow`]. Knows nothing of HTTP.
//!
//! Spec: docs/contract/rules.md#9-accounts and docs/contract/rules.md#20-blocks-and-requests.

use chrono::Duration;

use crate::{account, follow, notification};
use context::change::{self, Change};
use context::error::{Error, Result};
use context::queue::{ExpireMute, Failure, Next};
use context::{Cx, job};
use database::Tx;
use model::relationship::{Listed, Muted};
use model::{Account, AccountId, Actor, Cursor};
use store::relationship::{NewMute, Pair, Relation, RelationshipRow};

/// Longest private note, in characters (docs/contract/rules.md#9-accounts).
pub(super) const NOTE_MAX: usize = 2000;
/// Longest temporary mute: a hundred years, in seconds.
const MUTE_SECONDS_MAX: i64 = 100 * 365 * 24 * 60 * 60;

/// Makes `actor` block `target`; follows and requests end both ways. Blocking oneself does nothing.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden.
#[model::use_case]
pub async fn block(cx: &Cx, actor: &Actor, target: AccountId) -> Result<()> {
    account::find_visible(cx, target).await?;
    if target == actor.id {
        return Ok(());
    }
    let mut tx = cx.db.begin().await?;
    let (me, target) = lock_pair(&mut tx, actor.id, target).await?;
    begin_block(cx, &mut tx, &me, &target).await?;
    tx.commit().await?;
    Ok(())
}

/// Makes `me` block `target`, both locked; nothing when it does already.
pub(super) async fn begin_block(cx: &Cx, tx: &mut Tx, me: &Account, target: &Account) -> Result<()> {
    if !store::relationship::insert(tx, Pair::Block, cx.ids.next(), me.id, target.id, cx.clock.now()).await? {
        return Ok(());
    }
    if me.is_local() {
        follow::sever(cx, tx, me.id, target.id).await?;
        follow::sever(cx, tx, target.id, me.id).await?;
    } else {
        // Its server knows that they ended.
        follow::end(cx, tx, me.id, target.id).await?;
        follow::end(cx, tx, target.id, me.id).await?;
    }
    notification::retract_from(tx, me.id, target.id).await?;
    store::conversation::delete_with(tx, me.id, target.id).await?;
    change::record(cx, tx, Change::Blocked { account: me.id, target: target.id }).await
}

/// Ends a block; not an error when there is none.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden.
#[model::use_case]
pub async fn unblock(cx: &Cx, actor: &Actor, target: AccountId) -> Result<()> {
    account::find_visible(cx, target).await?;
    let mut tx = cx.db.begin().await?;
    let (me, target) = lock_pair(&mut tx, actor.id, target).await?;
    if let Some(block) = store::relationship::find_block(&mut tx, me.id, target.id).await? {
        store::relationship::delete(&mut tx, Relation::Block, me.id, target.id).await?;
        change::record(cx, &mut tx, Change::Unblocked { account: me.id, target: target.id, block }).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Makes `actor` mute `target` for `seconds` (0: indefinitely); an existing mute gets the new options. Muting oneself
/// does nothing.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden, [`Error::Invalid`] for a negative duration or one beyond
/// a hundred years.
#[model::use_case]
pub async fn mute(cx: &Cx, actor: &Actor, target: AccountId, hide_notifications: bool, seconds: i64) -> Result<()> {
    if !(0..=MUTE_SECONDS_MAX).contains(&seconds) {
        return Err(Error::invalid(format!("duration: must be 0 to {MUTE_SECONDS_MAX} seconds")));
    }
    account::find_visible(cx, target).await?;
    if target == actor.id {
        return Ok(());
    }
    let now = cx.clock.now();
    let expires_at = (seconds > 0).then(|| now + Duration::seconds(seconds));
    let mut tx = cx.db.begin().await?;
    let (me, target) = lock_pair(&mut tx, actor.id, target).await?;
    let mute = NewMute {
        id: cx.ids.next(),
        account_id: me.id,
        target_account_id: target.id,
        hide_notifications,
        expires_at,
        now,
    };
    store::relationship::set_mute(&mut tx, mute).await?;
    change::record(cx, &mut tx, Change::Muted { account: me.id, target: target.id, until: expires_at }).await?;
    tx.commit().await?;
    Ok(())
}

/// Ends a mute; not an error when there is none.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden.
#[model::use_case]
pub async fn unmute(cx: &Cx, actor: &Actor, target: AccountId) -> Result<()> {
    account::find_visible(cx, target).await?;
    let mut tx = cx.db.begin().await?;
    if store::relationship::delete(&mut tx, Relation::Mute, actor.id, target).await? {
        change::record(cx, &mut tx, Change::Unmuted { account: actor.id, target }).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Features `target` on `actor`'s profile (endorsement); idempotent.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden, [`Error::Invalid`] when `actor` does not follow it.
#[model::use_case]
pub async fn endorse(cx: &Cx, actor: &Actor, target: AccountId) -> Result<()> {
    account::find_visible(cx, target).await?;
    let mut tx = cx.db.begin().await?;
    let (me, target) = lock_pair(&mut tx, actor.id, target).await?;
    if !store::follow::exists(&mut tx, me.id, target.id).await? {
        return Err(Error::invalid("Validation failed: you must be already following the person you want to endorse"));
    }
    store::relationship::insert(&mut tx, Pair::Endorsement, cx.ids.next(), me.id, target.id, cx.clock.now()).await?;
    tx.commit().await?;
    Ok(())
}

/// Ends an endorsement; not an error when there is none.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden.
#[model::use_case]
pub async fn unendorse(cx: &Cx, actor: &Actor, target: AccountId) -> Result<()> {
    account::find_visible(cx, target).await?;
    let mut tx = cx.db.begin().await?;
    store::relationship::delete(&mut tx, Relation::Endorsement, actor.id, target).await?;
    tx.commit().await?;
    Ok(())
}

/// Sets `actor`'s private note about `target`; blank text removes it.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing or hidden, [`Error::Invalid`] when the note is too long.
#[model::use_case]
pub async fn note(cx: &Cx, actor: &Actor, target: AccountId, comment: &str) -> Result<()> {
    if comment.chars().count() > NOTE_MAX {
        return Err(Error::invalid(format!(
            "Validation failed: comment is too long (maximum is {NOTE_MAX} characters)"
        )));
    }
    account::find_visible(cx, target).await?;
    let comment = if comment.trim().is_empty() { "" } else { comment };
    let mut tx = cx.db.begin().await?;
    store::relationship::set_note(&mut tx, actor.id, target, comment).await?;
    tx.commit().await?;
    Ok(())
}

/// The accounts that `viewer` blocks, most recent block first.
#[model::use_case]
pub async fn blocks(cx: &Cx, viewer: &Actor, cursor: &Cursor) -> Result<Vec<Listed>> {
    Ok(store::relationship::list_blocks(&cx.db, viewer.id, cursor).await?)
}

/// The accounts that `viewer` endorses, by their ids.
#[model::use_case]
pub async fn endorsements(cx: &Cx, viewer: &Actor, cursor: &Cursor) -> Result<Vec<Listed>> {
    Ok(store::relationship::list_endorsements(&cx.db, viewer.id, None, cursor).await?)
}

/// The accounts that `viewer` currently mutes, most recent mute first.
#[model::use_case]
pub async fn mutes(cx: &Cx, viewer: &Actor, cursor: &Cursor) -> Result<Vec<Muted>> {
    Ok(store::relationship::list_mutes(&cx.db, viewer.id, cursor, cx.clock.now()).await?)
}

/// Both accounts, locked until the transaction ends.
///
/// # Errors
/// [`Error::NotFound`] when one of them is missing.
pub(crate) async fn lock_pair(tx: &mut Tx, me: AccountId, other: AccountId) -> Result<(Account, Account)> {
    let accounts = store::account::lock(tx, &[me, other]).await?;
    let one = |id| accounts.iter().find(|account| account.id == id).cloned().ok_or(Error::NotFound);
    Ok((one(me)?, one(other)?))
}

/// The relationship between two locked accounts.
///
/// # Errors
/// [`Error::NotFound`] when the other is missing.
pub(crate) async fn tie(cx: &Cx, tx: &mut Tx, me: AccountId, other: AccountId) -> Result<RelationshipRow> {
    store::relationship::list(tx, me, &[other], cx.clock.now()).await?.pop().ok_or(Error::NotFound)
}

/// Queries ignore expired mutes already, so nothing depends on when this runs.
#[model::use_case]
#[job]
async fn expire_mute(cx: &Cx, tx: &mut Tx, job: ExpireMute) -> Result<Next<ExpireMute>, Failure> {
    if store::relationship::delete_expired_mute(tx, job.account, job.target, cx.clock.now()).await? {
        change::record(cx, tx, Change::Unmuted { account: job.account, target: job.target }).await?;
    }
    Ok(Next::Nothing)
}
