//! Recording changes: what follows from each in the transaction that makes it true.

use super::kinds::{Change, Listener, listeners};
use super::push;
use crate::queue::{
    self, AcceptRequests, AttachCard, ExpireMute, FanOut, GenerateKey, Merge, MergeTag, RebuildList, ReconcileHome,
    ReconcileList, SeverDomain, Unmerge, UnmergeDomain, UnmergeTag, VerifyLinks,
};
use crate::{Cx, Result};
use database::Tx;
use model::boxed;

/// Records `change` in the transaction that makes it true.
#[boxed]
pub async fn record(cx: &Cx, tx: &mut Tx, change: Change) -> Result<()> {
    record_all(cx, tx, std::slice::from_ref(&change)).await
}

/// As [`record`], for several that happen together: the outbox of extensions takes them in one statement.
#[boxed]
pub async fn record_all(cx: &Cx, tx: &mut Tx, changes: &[Change]) -> Result<()> {
    let (mut outbox, mut pushed) = (false, false);
    for change in changes {
        for listener in listeners(change.kind()) {
            match listener {
                Listener::Outbox => outbox = true,
                Listener::Push => pushed = true,
                Listener::Live => cx.live.tell_after(tx, change),
                job => follow_up(cx, tx, *job, change).await?,
            }
        }
    }
    if pushed {
        push::queue(cx, tx, changes).await?;
    }
    if outbox { cx.extensions().record(cx, tx, changes).await } else { Ok(()) }
}

/// Queues the job that `listener` names.
#[boxed]
async fn follow_up(cx: &Cx, tx: &mut Tx, listener: Listener, change: &Change) -> Result<()> {
    match (listener, change) {
        (Listener::FanOut, Change::StatusPublished { status, .. }) => {
            queue::enqueue(cx, tx, &FanOut { status: *status }).await
        }
        (Listener::AttachCard, Change::StatusLinked { status }) => {
            queue::enqueue(cx, tx, &AttachCard { status: *status }).await
        }
        (Listener::GenerateKey, Change::AccountRegistered { account }) => {
            queue::enqueue(cx, tx, &GenerateKey { account: *account }).await
        }
        (Listener::VerifyLinks, Change::ProfileLinked { account }) => {
            queue::enqueue(cx, tx, &VerifyLinks { account: *account }).await
        }
        (Listener::AcceptRequests, Change::AccountUnlocked { account }) => {
            queue::enqueue(cx, tx, &AcceptRequests { account: *account }).await
        }
        (Listener::ExpireMute, Change::Muted { account, target, until }) => match until {
            Some(until) => {
                let job = ExpireMute { account: *account, target: *target };
                queue::enqueue_at(cx, tx, &job, *until).await
            }
            None => Ok(()),
        },
        (Listener::Merge, Change::Followed { account, target } | Change::Unmuted { account, target }) => {
            queue::enqueue(cx, tx, &Merge { account: *account, target: *target }).await
        }
        (
            Listener::Unmerge,
            Change::Unfollowed { account, target }
            | Change::Blocked { account, target }
            | Change::Muted { account, target, .. },
        ) => queue::enqueue(cx, tx, &Unmerge { account: *account, target: *target }).await,
        (Listener::UnmergeDomain, Change::DomainBlocked { account, domain }) => {
            queue::enqueue(cx, tx, &UnmergeDomain { account: *account, domain: domain.clone() }).await
        }
        (Listener::SeverDomain, Change::DomainBlocked { account, domain }) => {
            queue::enqueue(cx, tx, &SeverDomain::begin(*account, domain.clone())).await
        }
        (Listener::MergeTag, Change::TagFollowed { account, tag }) => {
            queue::enqueue(cx, tx, &MergeTag { account: *account, tag: *tag }).await
        }
        (Listener::UnmergeTag, Change::TagUnfollowed { account, tag }) => {
            queue::enqueue(cx, tx, &UnmergeTag { account: *account, tag: *tag }).await
        }
        (Listener::RebuildList, Change::ListPolicyChanged { list }) => {
            queue::enqueue(cx, tx, &RebuildList { list: *list }).await
        }
        (Listener::ReconcileList, Change::ListMembersChanged { list, members, .. }) => {
            for members in members.chunks(ReconcileList::MOST) {
                queue::enqueue(cx, tx, &ReconcileList { list: *list, members: members.to_vec() }).await?;
            }
            Ok(())
        }
        (Listener::ReconcileHome, Change::ListMembersChanged { exclusive: false, .. }) => Ok(()),
        (
            Listener::ReconcileHome,
            Change::ListMembersChanged { owner, members, .. } | Change::ListExclusiveChanged { owner, members },
        ) => {
            for members in members.chunks(ReconcileHome::MOST) {
                queue::enqueue(cx, tx, &ReconcileHome { account: *owner, authors: members.to_vec() }).await?;
            }
            Ok(())
        }
        (listener, change) => unreachable!("the table names {listener:?} for {:?}", change.kind()),
    }
}
