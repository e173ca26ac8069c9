//! Changes that concern other servers.

use context::change::{Change, StatusTraits};
use context::queue::{self, Distribute, Distribution};
use context::{Cx, Result};
use database::Tx;
use model::{AccountId, StatusId};

use super::queue::is_local;
use super::{blocks, follows, pins, polls, statuses};

/// Queues in `tx` what other servers are sent about `changes`. Nothing is read while no other server is known.
pub async fn record(cx: &Cx, tx: &mut Tx, changes: &[Change]) -> Result<()> {
    let concerned: Vec<&Change> = changes.iter().filter(|change| may_concern(change)).collect();
    if concerned.is_empty() || !store::delivery::has_remote_accounts(&mut *tx).await? {
        return Ok(());
    }
    // The reblogs of a deleted status disappear with it.
    let original_deleted =
        concerned.iter().any(|change| matches!(change, Change::StatusDeleted { traits, .. } if !traits.reblog));
    for change in concerned {
        match change {
            Change::StatusDeleted { traits, .. } if traits.reblog && original_deleted => {}
            change => one(cx, tx, change).await?,
        }
    }
    Ok(())
}

/// False for changes that are only about this server, as far as the change itself tells.
fn may_concern(change: &Change) -> bool {
    match change {
        Change::StatusPublished { traits, .. }
        | Change::StatusEdited { traits, .. }
        | Change::StatusDeleted { traits, .. } => traits.local,
        Change::AccountUpdated { .. }
        | Change::AccountSuspended { .. }
        | Change::AccountRemoved { .. }
        | Change::Followed { .. }
        | Change::FollowRequested { .. }
        | Change::FollowEnded { .. }
        | Change::Favourited { .. }
        | Change::Unfavourited { .. }
        | Change::Blocked { .. }
        | Change::Unblocked { .. }
        | Change::Voted { .. }
        | Change::PollEnded { .. }
        | Change::Pinned { .. }
        | Change::Unpinned { .. }
        | Change::TagFeatured { .. }
        | Change::TagUnfeatured { .. } => true,
        _ => false,
    }
}

async fn one(cx: &Cx, tx: &mut Tx, change: &Change) -> Result<()> {
    match change {
        Change::StatusPublished { status, .. } => distribute(cx, tx, Distribution::Published(*status)).await,
        Change::StatusEdited { status, .. } => distribute(cx, tx, Distribution::Edited(*status)).await,
        Change::StatusDeleted { status, author, traits, .. } => deleted(cx, tx, *status, *author, *traits).await,
        Change::AccountUpdated { account } | Change::AccountSuspended { account } => {
            if is_local(cx, tx, *account).await? {
                distribute(cx, tx, Distribution::Profile(*account)).await?;
            }
            Ok(())
        }
        Change::AccountRemoved { account } => statuses::account_removed(cx, tx, *account).await,
        Change::Followed { account, target } => follows::followed(cx, tx, *account, *target).await,
        Change::FollowRequested { account, target } => follows::requested(cx, tx, *account, *target).await,
        Change::FollowEnded { account, target, follow, uri } => {
            follows::ended(cx, tx, *account, *target, *follow, uri.as_deref()).await
        }
        Change::Favourited { account, status, favourite } => {
            statuses::liked(cx, tx, *account, *status, *favourite, false).await
        }
        Change::Unfavourited { account, status, favourite } => {
            statuses::liked(cx, tx, *account, *status, *favourite, true).await
        }
        Change::Blocked { account, target } => blocks::blocked(cx, tx, *account, *target).await,
        Change::Unblocked { account, target, block } => blocks::unblocked(cx, tx, *account, *target, *block).await,
        Change::Voted { account, status, choices } => polls::voted(cx, tx, *account, *status, choices).await,
        Change::PollEnded { status } => polls::ended(cx, tx, *status).await,
        Change::Pinned { account, status } => pins::changed(cx, tx, *account, *status, "Add").await,
        Change::Unpinned { account, status } => pins::changed(cx, tx, *account, *status, "Remove").await,
        Change::TagFeatured { account, name } => pins::hashtag_changed(cx, tx, *account, name, "Add").await,
        Change::TagUnfeatured { account, name } => pins::hashtag_changed(cx, tx, *account, name, "Remove").await,
        _ => Ok(()),
    }
}

async fn distribute(cx: &Cx, tx: &mut Tx, what: Distribution) -> Result<()> {
    queue::enqueue(cx, tx, &Distribute { what }).await
}

async fn deleted(cx: &Cx, tx: &mut Tx, status: StatusId, author: AccountId, traits: StatusTraits) -> Result<()> {
    if traits.reblog {
        statuses::unreblogged(cx, tx, status, author).await
    } else {
        statuses::deleted(cx, tx, status, author).await
    }
}
