//! The job after a move: people here keep their relationship with the person, under the new account.
//!
//! Private notes, mutes and blocks of the account that moved are copied to its target; followers here follow the target,
//! with the options of their follow, and its lists contain the target. A target that is locked, or of another server,
//! receives requests. Where the two are related already, nothing changes. The old account is unfollowed. Each batch is a
//! transaction, so a restart continues where the work ended, and a batch that runs twice changes nothing more.
//!
//! Reached from [`Change::AccountMoved`], for accounts of this server and of others.
//!
//! Spec: docs/contract/rules.md#9-accounts

use crate::{follow, notification, relationship};
use context::change::{self, Change};
use context::error::Result;
use context::extension::Notice;
use context::queue::{CarriedPart, CarryOver};
use context::{Cx, job};
use database::Tx;
use model::{AccountId, NotificationType};
use store::moving::Move;
use store::relationship::NewMute;

/// Most relationships that are carried over in one transaction.
const BATCH: i64 = 50;

/// Carries the next relationships over. Returns the remaining work.
#[model::use_case]
#[job]
async fn carry_over(cx: &Cx, tx: &mut Tx, job: CarryOver) -> Result<Option<CarryOver>> {
    let Some(moved) = store::moving::find(&mut *tx, job.moved).await? else { return Ok(None) };
    let last = match job.part {
        CarriedPart::Notes => notes(tx, &moved, job.after).await?,
        CarriedPart::Mutes => mutes(cx, tx, &moved, job.after).await?,
        CarriedPart::Blocks => blocks(cx, tx, &moved, job.after).await?,
        CarriedPart::Follows => follows(cx, tx, &moved, job.after).await?,
    };
    let first = AccountId::from(0);
    Ok(match last {
        Some(after) => Some(CarryOver { after, ..job }),
        None => job.part.next().map(|part| CarryOver { part, after: first, ..job }),
    })
}

async fn notes(tx: &mut Tx, moved: &Move, after: AccountId) -> Result<Option<AccountId>> {
    let (from, to) = (moved.account_id, moved.target_account_id);
    let most = i64::try_from(relationship::NOTE_MAX).unwrap_or(i64::MAX);
    Ok(store::moving::copy_notes(tx, from, to, after, BATCH, most).await?.pop())
}

async fn mutes(cx: &Cx, tx: &mut Tx, moved: &Move, after: AccountId) -> Result<Option<AccountId>> {
    let (target, now) = (moved.target_account_id, cx.clock.now());
    let mutes = store::moving::list_mutes(&mut *tx, moved.account_id, after, BATCH, now).await?;
    for mute in &mutes {
        let (me, until) = (mute.account_id, mute.expires_at);
        if me == target || relationship::tie(cx, tx, me, target).await?.muting {
            continue;
        }
        let new = NewMute {
            id: cx.ids.next(),
            account_id: me,
            target_account_id: target,
            hide_notifications: mute.hide_notifications,
            expires_at: until,
            now,
        };
        store::relationship::set_mute(tx, new).await?;
        change::record(cx, tx, Change::Muted { account: me, target, until }).await?;
    }
    Ok(mutes.last().map(|mute| mute.account_id))
}

async fn blocks(cx: &Cx, tx: &mut Tx, moved: &Move, after: AccountId) -> Result<Option<AccountId>> {
    let target = moved.target_account_id;
    let blocking = store::moving::list_blocking(&mut *tx, moved.account_id, after, BATCH).await?;
    for me in blocking.iter().copied().filter(|me| *me != target) {
        let (me, other) = relationship::lock_pair(tx, me, target).await?;
        // Whoever follows the target decided about it.
        if !relationship::tie(cx, tx, me.id, other.id).await?.following {
            relationship::begin_block(cx, tx, &me, &other).await?;
        }
    }
    Ok(blocking.last().copied())
}

async fn follows(cx: &Cx, tx: &mut Tx, moved: &Move, after: AccountId) -> Result<Option<AccountId>> {
    let followers = store::moving::list_followers(&mut *tx, moved.account_id, after, BATCH).await?;
    let last = followers.last().map(|follower| follower.account_id);
    for follower in followers {
        let me = follower.account_id;
        let lists = store::moving::lists_with(&mut *tx, me, moved.account_id).await?;
        if follow::carry(cx, tx, me, moved.target_account_id, follower.terms).await? {
            for (list, exclusive) in lists {
                store::list::insert_members(tx, list, &[moved.target_account_id]).await?;
                let members = vec![moved.target_account_id];
                change::record(cx, tx, Change::ListMembersChanged { list, owner: me, members, exclusive }).await?;
            }
        }
        follow::sever(cx, tx, me, moved.account_id).await?;
        let notice = Notice {
            receiver: me,
            from: moved.account_id,
            kind: NotificationType::Move.into(),
            activity: moved.id.into(),
            status: None,
        };
        notification::notify(cx, tx, &[notice]).await?;
    }
    Ok(last)
}
