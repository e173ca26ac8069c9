//! Jobs that reconcile the feeds of one person with their lists and followed hashtags: after members were added or
//! removed, a list became exclusive or changed the replies it shows, or a hashtag was followed or unfollowed.
//!
//! Reached from the [`feed_lane`](super::feed_lane), in whose transaction they work. Each job reads the current rows
//! instead of the recorded change, so that it may run late or twice. Jobs that fill feeds in all other cases are in
//! [`feed`](super::feed).
//!
//! Spec: docs/contract/rules.md#12-timelines and docs/contract/rules.md#14-lists.

use context::Cx;
use context::error::Result;
use context::queue::{Failure, MergeTag, RebuildList, ReconcileHome, ReconcileList, UnmergeTag};
use database::Tx;
use model::clock::Ids;
use model::{AccountId, JobId, StatusId};
use store::feed::{Feed, Reblogs};

use super::feed::{MERGE_LIMIT, REBUILD_WINDOW, record_newer};

/// Adds the newest statuses of the members on the list to its feed, and removes the statuses of the others.
pub(super) async fn list(cx: &Cx, tx: &mut Tx, id: JobId, job: &ReconcileList) -> Result<(), Failure> {
    let on_it = store::list::list_members_among(&mut *tx, job.list, &job.members).await?;
    let gone: Vec<AccountId> = job.members.iter().copied().filter(|member| !on_it.contains(member)).collect();
    take_out(tx, Feed::list(job.list), &gone).await?;
    let mut entered = Vec::new();
    for member in on_it {
        entered.extend(store::list_feed::backfill(tx, job.list, member, cx.clock.now(), MERGE_LIMIT).await?);
    }
    Ok(record_newer(cx, tx, id, entered).await?)
}

/// Removes authors on an exclusive list from the home feed, and adds the newest statuses of the other authors, as far
/// as they are followed.
pub(super) async fn home(cx: &Cx, tx: &mut Tx, id: JobId, job: &ReconcileHome) -> Result<(), Failure> {
    let excluded = store::list::list_excluded_among(&mut *tx, job.account, &job.authors).await?;
    take_out(tx, Feed::home(job.account), &excluded).await?;
    let mut entered = Vec::new();
    for author in job.authors.iter().filter(|author| !excluded.contains(author)) {
        entered.extend(store::feed::backfill(tx, job.account, *author, cx.clock.now(), MERGE_LIMIT).await?);
    }
    Ok(record_newer(cx, tx, id, entered).await?)
}

async fn take_out(tx: &mut Tx, feed: Feed, authors: &[AccountId]) -> Result<(), Failure> {
    if !authors.is_empty() {
        store::feed::delete_authors(tx, &[feed], authors, Reblogs::Own).await?;
    }
    Ok(())
}

/// Rebuilds the feed of a list. Entries that extensions added for other authors stay.
pub(super) async fn rebuild_list(cx: &Cx, tx: &mut Tx, job: &RebuildList) -> Result<(), Failure> {
    let (now, limit) = (cx.clock.now(), i64::from(cx.config.timelines.home_limit));
    let members = store::list::list_members(&mut *tx, job.list).await?;
    take_out(tx, Feed::list(job.list), &members).await?;
    let since = StatusId::from(Ids::first_at(now - REBUILD_WINDOW));
    Ok(store::list_feed::rebuild(tx, job.list, since, now, limit).await?)
}

/// Adds the newest statuses with a hashtag to a home feed.
pub(super) async fn merge_tag(cx: &Cx, tx: &mut Tx, id: JobId, job: &MergeTag) -> Result<(), Failure> {
    let entered = store::tag_feed::backfill(tx, job.account, job.tag, cx.clock.now(), MERGE_LIMIT).await?;
    Ok(record_newer(cx, tx, id, entered).await?)
}

/// Removes the statuses from a home feed that are there only because of a hashtag.
pub(super) async fn unmerge_tag(cx: &Cx, tx: &mut Tx, job: &UnmergeTag) -> Result<(), Failure> {
    store::tag_feed::remove(tx, job.account, job.tag, cx.clock.now()).await?;
    Ok(())
}
