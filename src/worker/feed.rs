//! Jobs that write home and list feeds: fan-out of new statuses to followers, merging a newly followed account's
//! statuses into feeds, removing them again (unmerge), and rebuilding feeds.
//!
//! Reached from the [`feed_lane`](super::feed_lane), in whose transaction they work. Inserts use `ON CONFLICT DO
//! NOTHING`, so a repeated run is harmless. [`reconcile_feeds`](super::reconcile_feeds) applies changes of lists and
//! followed hashtags to feeds.

use std::collections::{BTreeMap, HashMap};

use chrono::Duration;
use context::Cx;
use context::change::{self, Change};
use context::error::Result;
use context::extension::Notice;
use context::queue::{Failure, FanOut, Job, Merge, Rebuild, Unmerge, UnmergeDomain};
use database::Tx;
use model::clock::Ids;
use model::{AccountId, JobId, NotificationType, RowId, Status, StatusId};
use service::feed::is_announced;
use service::{list, notification};
use store::feed::{Entered, Feed, LIST, Reblogs};
use store::job::Claim;

use super::{lease, put_back};

/// Most statuses of a newly followed account that are merged into the follower's feed.
pub(super) const MERGE_LIMIT: i64 = 40;
/// How far back a rebuilt feed reaches.
pub(super) const REBUILD_WINDOW: Duration = Duration::days(30);
/// Most entries that a transaction of the fan-out writes: some 20 ms, in which other writers wait.
const ENTRIES: usize = 4_000;

/// Fans out statuses to a limited number of followers per transaction. Returns the last transaction uncommitted.
///
/// Every transaction writes all statuses for some followers, so that each feed is touched once. If there are several
/// transactions, the first claims `jobs`, so that no other worker starts them, and each further one renews their
/// leases.
///
/// # Errors
/// When it fails after the first transaction, the jobs were put back.
pub(super) async fn fan_out(cx: &Cx, tx: Tx, jobs: &[JobId], fan_outs: &[FanOut]) -> Result<Tx, Failure> {
    let mut claims = Vec::new();
    let ended = slice_by_slice(cx, tx, jobs, fan_outs, &mut claims).await;
    if let (Err(failure), false) = (&ended, claims.is_empty()) {
        let mut tx = cx.db.begin().await?;
        for claim in claims {
            put_back(cx, &mut tx, claim, FanOut::KIND, failure.clone()).await?;
        }
        tx.commit().await?;
    }
    ended
}

async fn slice_by_slice(
    cx: &Cx,
    mut tx: Tx,
    jobs: &[JobId],
    fan_outs: &[FanOut],
    claims: &mut Vec<Claim>,
) -> Result<Tx, Failure> {
    let ids: Vec<StatusId> = fan_outs.iter().map(|job| job.status).collect();
    let statuses = store::status::list(&mut tx, &ids).await?;
    let followers = store::feed::list_followers(&mut tx, &ids).await?;
    let mut slices = followers.chunks((ENTRIES / ids.len().max(1)).max(1)).peekable();
    while let Some(slice) = slices.next() {
        enter(cx, &mut tx, &statuses, slice).await?;
        if slices.peek().is_some() {
            hold(cx, &mut tx, jobs, claims).await?;
            tx.commit().await?;
            tx = cx.db.begin().await?;
        }
    }
    if !claims.is_empty() {
        hold(cx, &mut tx, jobs, claims).await?;
    }
    notify_followers(cx, &mut tx, &statuses).await?;
    Ok(tx)
}

/// Claims `jobs`, which `tx` locked, or renews the leases of `claims`.
///
/// # Errors
/// [`Failure::NotNow`] when a lease was lost: the transaction must not be committed.
pub(super) async fn hold(cx: &Cx, tx: &mut Tx, jobs: &[JobId], claims: &mut Vec<Claim>) -> Result<(), Failure> {
    let until = cx.clock.now() + lease(cx);
    let held = if claims.is_empty() {
        *claims = store::job::claim_ids(tx, jobs, until).await?;
        claims.len()
    } else {
        store::job::renew(tx, claims, until).await?
    };
    if held == jobs.len() {
        return Ok(());
    }
    Err(Failure::NotNow("a lease expired before the work was done".to_owned()))
}

/// Inserts statuses into the feeds of `followers`, which are ordered by id, and records the feeds that each entered.
async fn enter(cx: &Cx, tx: &mut Tx, statuses: &[Status], followers: &[AccountId]) -> Result<()> {
    let (Some(first), Some(last)) = (followers.first(), followers.last()) else { return Ok(()) };
    let (reblogs, others): (Vec<&Status>, Vec<&Status>) =
        statuses.iter().partition(|status| status.reblog_of_id.is_some());
    let others: Vec<StatusId> = others.iter().map(|status| status.id).collect();
    // Reblogs follow one by one, after the statuses that they may repeat.
    let parts = std::iter::once(others).chain(reblogs.iter().map(|reblog| vec![reblog.id]));
    let mut entered: Vec<Entered> = Vec::new();
    for part in parts.filter(|part| !part.is_empty()) {
        entered.extend(store::feed::fan_out(tx, &part, *first..=*last, cx.clock.now()).await?);
    }
    record_entered(cx, tx, entered).await
}

/// Records the feeds that received statuses.
async fn record_entered(cx: &Cx, tx: &mut Tx, entered: Vec<Entered>) -> Result<()> {
    let mut owners: BTreeMap<(i64, StatusId), Vec<i64>> = BTreeMap::new();
    let mut lists: Vec<(RowId, StatusId)> = Vec::new();
    for Entered { kind, owner, status } in entered {
        owners.entry((kind, status)).or_default().push(owner);
        if kind == LIST {
            lists.push((owner.into(), status));
        }
    }
    let owners = owners.into_iter();
    let changes: Vec<Change> =
        owners.map(|((kind, status), owners)| Change::FeedEntered { kind, owners, status }).collect();
    change::record_all(cx, tx, &changes).await?;
    list::notify_entered(cx, tx, &lists).await
}

/// Records the entries of a backfill whose statuses are newer than its `job`: their fan-out finds them already
/// inserted and records nothing.
pub(super) async fn record_newer(cx: &Cx, tx: &mut Tx, job: JobId, mut entered: Vec<Entered>) -> Result<()> {
    // Ids of jobs and statuses come from one generator, in the order of time.
    entered.retain(|entry| i64::from(entry.status) > i64::from(job));
    if entered.is_empty() { Ok(()) } else { record_entered(cx, tx, entered).await }
}

/// Notifies the followers who asked to be notified of an author's statuses, for each announced status in `statuses`.
async fn notify_followers(cx: &Cx, tx: &mut Tx, statuses: &[Status]) -> Result<()> {
    let announced: Vec<&Status> = statuses.iter().filter(|status| is_announced(status)).collect();
    if announced.is_empty() {
        return Ok(());
    }
    let authors: Vec<AccountId> = announced.iter().map(|status| status.account_id).collect();
    let mut followers: HashMap<AccountId, Vec<AccountId>> = HashMap::new();
    for (author, follower) in store::feed::list_notified_followers(&mut *tx, &authors).await? {
        followers.entry(author).or_default().push(follower);
    }
    let notices: Vec<Notice> = announced
        .into_iter()
        .flat_map(|status| followers.get(&status.account_id).into_iter().flatten().map(|to| notice(status, *to)))
        .collect();
    notification::notify(cx, tx, &notices).await.map(drop)
}

fn notice(status: &Status, receiver: AccountId) -> Notice {
    Notice {
        receiver,
        from: status.account_id,
        kind: NotificationType::Status.into(),
        activity: i64::from(status.id),
        status: Some(status.id),
    }
}

/// Merges the newest statuses of a newly followed account into the home feed, and into the lists that the account was
/// added to while the follow was requested.
pub(super) async fn merge(cx: &Cx, tx: &mut Tx, id: JobId, job: &Merge) -> Result<(), Failure> {
    let now = cx.clock.now();
    let mut entered = store::feed::backfill(tx, job.account, job.target, now, MERGE_LIMIT).await?;
    for list in store::list::list_with_member(&mut *tx, job.account, job.target).await? {
        entered.extend(store::list_feed::backfill(tx, list.id, job.target, now, MERGE_LIMIT).await?);
    }
    Ok(record_newer(cx, tx, id, entered).await?)
}

/// Removes the statuses of an account from feeds, unless it is followed again.
pub(super) async fn unmerge(cx: &Cx, tx: &mut Tx, job: &Unmerge) -> Result<(), Failure> {
    let (follows, blocked) = store::feed::find_relation(&mut *tx, job.account, job.target, cx.clock.now()).await?;
    if blocked || !follows {
        let reblogs = if blocked { Reblogs::OfAuthor } else { Reblogs::Own };
        let feeds = feeds(tx, job.account).await?;
        store::feed::delete_authors(tx, &feeds, &[job.target], reblogs).await?;
    }
    Ok(())
}

/// Removes the statuses of a domain from feeds, unless it is no longer blocked.
pub(super) async fn unmerge_domain(tx: &mut Tx, job: &UnmergeDomain) -> Result<(), Failure> {
    if store::domain_block::exists(&mut *tx, job.account, &job.domain).await? {
        let feeds = feeds(tx, job.account).await?;
        store::feed::delete_domain(tx, &feeds, &job.domain).await?;
    }
    Ok(())
}

/// The home feed and the list feeds of an account.
async fn feeds(tx: &mut Tx, account: AccountId) -> Result<Vec<Feed>> {
    let lists = store::list::list_ids(&mut *tx, &[account]).await?;
    Ok(lists.into_iter().map(Feed::list).chain([Feed::home(account)]).collect())
}

/// Rebuilds the feeds of an account. Home first: list feeds are filled only for owners whose
/// home feed is maintained.
pub(super) async fn rebuild(cx: &Cx, tx: &mut Tx, job: &Rebuild) -> Result<(), Failure> {
    let now = cx.clock.now();
    let since = StatusId::from(Ids::first_at(now - REBUILD_WINDOW));
    let limit = i64::from(cx.config.timelines.home_limit);
    store::feed::rebuild(tx, job.account, since, now, limit).await?;
    for list in store::list::list_ids(&mut *tx, &[job.account]).await? {
        store::list_feed::rebuild(tx, list, since, now, limit).await?;
    }
    Ok(())
}
