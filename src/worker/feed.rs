//! Jobs that write home feeds: fan-out of new statuses to followers, merging a newly followed account's statuses into a
//! feed, removing them again (unmerge), and rebuilding a feed.
//!
//! Each job deletes its own row in the transaction of its work; inserts use `ON CONFLICT DO NOTHING`, so a repeated run
//! is harmless.

use super::Run;
use chrono::Duration;
use model::clock::Ids;
use model::status::Visibility;
use model::{JobId, NotificationType, Status, StatusId};
use rookery_core::Cx;
use rookery_core::change::{self, Change};
use rookery_core::error::Result;
use rookery_core::queue::{Done, Failure, FanOut, Merge, Rebuild, Unmerge, finish};
use rookery_core::service::notification::{self, Notice};
use store::Tx;
use store::feed::{Feed, HOME, Reblogs};

/// Most statuses of a newly followed account that are merged into the follower's feed.
const MERGE_LIMIT: i64 = 40;
/// How far back a rebuilt feed reaches.
const REBUILD_WINDOW: Duration = Duration::days(30);

impl Run for FanOut {
    async fn run(self, cx: &Cx, id: JobId) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        if let Some(status) = store::status::find(&mut tx, self.status).await? {
            fan_out(cx, &mut tx, status.id).await?;
            notify_followers(cx, &mut tx, &status).await?;
        }
        finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}

/// Fans a status out, and says whose feeds it entered.
async fn fan_out(cx: &Cx, tx: &mut Tx, status: StatusId) -> Result<()> {
    let owners = store::feed::fan_out(tx, status, cx.clock.now()).await?;
    if owners.is_empty() {
        return Ok(());
    }
    let owners = owners.into_iter().map(i64::from).collect();
    change::record(cx, tx, Change::FeedEntered { kind: HOME, owners, status }).await
}

async fn notify_followers(cx: &Cx, tx: &mut Tx, status: &Status) -> Result<()> {
    let to_someone_else = status.in_reply_to_account_id.is_some_and(|account| account != status.account_id);
    let hidden = matches!(status.visibility, Visibility::Direct | Visibility::Limited);
    if status.reblog_of_id.is_some() || to_someone_else || hidden {
        return Ok(());
    }
    let receivers = store::feed::list_notified_followers(&mut *tx, status.account_id).await?;
    let notice = |receiver| Notice {
        receiver,
        from: status.account_id,
        kind: NotificationType::Status.into(),
        activity: i64::from(status.id),
        status: Some(status.id),
    };
    let notices: Vec<Notice> = receivers.into_iter().map(notice).collect();
    notification::notify(cx, tx, &notices).await.map(drop)
}

impl Run for Merge {
    async fn run(self, cx: &Cx, id: JobId) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        store::feed::backfill(&mut tx, self.account, self.target, cx.clock.now(), MERGE_LIMIT).await?;
        finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}

impl Run for Unmerge {
    async fn run(self, cx: &Cx, id: JobId) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        let now = cx.clock.now();
        let (follows, blocked) = store::feed::find_relation(&mut tx, self.account, self.target, now).await?;
        if blocked || !follows {
            let reblogs = if blocked { Reblogs::OfAuthor } else { Reblogs::Own };
            store::feed::delete_authors(&mut tx, &[Feed::home(self.account)], &[self.target], reblogs).await?;
        }
        finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}

impl Run for Rebuild {
    async fn run(self, cx: &Cx, id: JobId) -> Result<Done, Failure> {
        let now = cx.clock.now();
        let since = StatusId::from(Ids::first_at(now - REBUILD_WINDOW));
        let mut tx = cx.db.begin().await?;
        store::feed::rebuild(&mut tx, self.account, since, now, i64::from(cx.config.timelines.home_limit)).await?;
        change::record(cx, &mut tx, Change::HomeRebuilt { account: self.account }).await?;
        finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
