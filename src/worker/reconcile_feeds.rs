//! Jobs that bring the feeds of one person to what their lists and followed hashtags are: after members came or left, a list
//! became exclusive or shows other replies, a hashtag was followed or is so no more.
//!
//! Reached from the [`feed_lane`](super::feed_lane), in whose transaction they work. Each goes by what is in the tables when
//! it runs, not by what was changed, so that it may be late and may run twice. What fills feeds otherwise is in
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

/// Fills the newest statuses of those on the list into its feed, and takes those of the others out.
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

/// Takes the authors out of the home feed who are on an exclusive list, and fills in the newest statuses of the others, as far
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

/// Builds the feed of a list again. What extensions put there by other authors stays.
pub(super) async fn rebuild_list(cx: &Cx, tx: &mut Tx, job: &RebuildList) -> Result<(), Failure> {
    let (now, limit) = (cx.clock.now(), i64::from(cx.config.timelines.home_limit));
    let members = store::list::list_members(&mut *tx, job.list).await?;
    take_out(tx, Feed::list(job.list), &members).await?;
    let since = StatusId::from(Ids::first_at(now - REBUILD_WINDOW));
    Ok(store::list_feed::rebuild(tx, job.list, since, now, limit).await?)
}

/// Fills the newest statuses with a hashtag into a home feed.
pub(super) async fn merge_tag(cx: &Cx, tx: &mut Tx, id: JobId, job: &MergeTag) -> Result<(), Failure> {
    let entered = store::tag_feed::backfill(tx, job.account, job.tag, cx.clock.now(), MERGE_LIMIT).await?;
    Ok(record_newer(cx, tx, id, entered).await?)
}

/// Takes the statuses out of a home feed that only a hashtag brought.
pub(super) async fn unmerge_tag(cx: &Cx, tx: &mut Tx, job: &UnmergeTag) -> Result<(), Failure> {
    store::tag_feed::remove(tx, job.account, job.tag, cx.clock.now()).await?;
    Ok(())
}
