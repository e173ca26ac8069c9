//! Changes that concern other servers.

use context::change::{Change, Delivery};
use context::queue::{self, Distribute, Distribution};
use context::{Cx, Result};
use database::Tx;

use super::queue::is_local;
use super::{blocks, consent, flags, follows, moves, pins, polls, statuses};

/// Queues in `tx` what other servers are sent about `changes`. Nothing is read while no other server is known.
pub async fn record(cx: &Cx, tx: &mut Tx, changes: &[Change]) -> Result<()> {
    let mut deliveries: Vec<Delivery> = changes.iter().filter_map(Change::delivery).collect();
    if deliveries.is_empty() || !store::delivery::has_remote_accounts(&mut *tx).await? {
        return Ok(());
    }
    // The reblogs of a deleted status disappear with it.
    if deliveries.iter().any(|one| matches!(one, Delivery::Deleted { reblog: false, .. })) {
        deliveries.retain(|one| !matches!(one, Delivery::Deleted { reblog: true, .. }));
    }
    for delivery in deliveries {
        queue_one(cx, tx, delivery).await?;
    }
    Ok(())
}

async fn queue_one(cx: &Cx, tx: &mut Tx, delivery: Delivery) -> Result<()> {
    match delivery {
        Delivery::Distribute(what) => queue::enqueue(cx, tx, &Distribute { what }).await,
        Delivery::Deleted { status, author, reblog: true } => statuses::unreblogged(cx, tx, status, author).await,
        Delivery::Deleted { status, author, reblog: false } => statuses::deleted(cx, tx, status, author).await,
        Delivery::Profile(account) => match is_local(cx, tx, account).await? {
            true => queue::enqueue(cx, tx, &Distribute { what: Distribution::Profile(account) }).await,
            false => Ok(()),
        },
        Delivery::Moved { account, target, id } => moves::moved(cx, tx, account, target, id).await,
        Delivery::Reported(report) => flags::reported(cx, tx, report).await,
        Delivery::AccountRemoved(account) => statuses::account_removed(cx, tx, account).await,
        Delivery::Followed { account, target } => follows::followed(cx, tx, account, target).await,
        Delivery::FollowRequested { account, target } => follows::requested(cx, tx, account, target).await,
        Delivery::FollowEnded { account, target, follow, uri } => {
            follows::ended(cx, tx, account, target, follow, uri.as_deref()).await
        }
        Delivery::Favourite { account, status, favourite, undone } => {
            statuses::liked(cx, tx, account, status, favourite, undone).await
        }
        Delivery::InteractionRequested(request) => consent::requested(cx, tx, request).await,
        Delivery::InteractionDecided(request) => consent::decided(cx, tx, request).await,
        Delivery::InteractionRefused { kind, target, account, uri, request } => {
            consent::refused(cx, tx, kind, (target, account), &uri, request.as_deref()).await
        }
        Delivery::AuthorizationRevoked(request) => consent::revoked(cx, tx, request).await,
        Delivery::Blocked { account, target } => blocks::blocked(cx, tx, account, target).await,
        Delivery::Unblocked { account, target, block } => blocks::unblocked(cx, tx, account, target, block).await,
        Delivery::Voted { account, status, choices } => polls::voted(cx, tx, account, status, &choices).await,
        Delivery::PollEnded(status) => polls::ended(cx, tx, status).await,
        Delivery::Pin { account, status, added } => pins::changed(cx, tx, account, status, added).await,
        Delivery::FeaturedTag { account, name, added } => pins::hashtag_changed(cx, tx, account, &name, added).await,
    }
}
