//! Writing to home feeds: new statuses to followers, a followed account's statuses to a feed and back out.
//!
//! Every kind removes itself in the transaction of its work, which `ON CONFLICT DO NOTHING` makes harmless to repeat.

use chrono::Duration;
use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job, finish};
use crate::app::App;
use crate::error::Result;
use crate::event::Event;
use crate::service::notification::{self, Notice, Notified};
use model::clock::Ids;
use model::job::Lane;
use model::status::Visibility;
use model::{AccountId, JobId, NotificationType, Status, StatusId};
use store::Tx;
use store::feed::Spread;

/// How many of someone's statuses a new follower finds in their feed.
const MERGED: i64 = 40;
/// How far back a feed is rebuilt.
const REBUILT: Duration = Duration::days(30);

/// Brings a new status to the feeds of its author's followers, and notifies those who asked for that.
#[derive(Debug, Serialize, Deserialize)]
pub struct FanOut {
    /// The status, or the reblog.
    pub status: StatusId,
}

impl Job for FanOut {
    const KIND: &'static str = "fan_out";
    const LANE: Lane = Lane::Feed;

    async fn run(self, app: &App, id: JobId) -> Result<Done, Failure> {
        let mut tx = app.db.begin().await?;
        let mut notified = Notified::default();
        if let Some(status) = store::status::find(&mut tx, self.status).await? {
            spread(app, &mut tx, &status).await?;
            notified = notify_followers(app, &mut tx, &status).await?;
        }
        finish(&mut tx, id).await?;
        tx.commit().await?;
        notified.publish(app);
        Ok(Done::Removed)
    }
}

async fn spread(app: &App, tx: &mut Tx, status: &Status) -> Result<()> {
    let original = match status.reblog_of_id {
        None => None,
        Some(id) => store::status::find(&mut *tx, id).await?,
    };
    let proper = original.as_ref().unwrap_or(status);
    let spread = Spread {
        status: status.id,
        author: status.account_id,
        original: proper.id,
        original_author: proper.account_id,
        in_reply_to: status.in_reply_to_account_id.filter(|account| *account != status.account_id),
        language: proper.language.clone(),
        restricted: matches!(status.visibility, Visibility::Direct | Visibility::Limited),
        now: app.clock.now(),
    };
    store::feed::spread_to_followers(tx, &spread).await?;
    if status.reblog_of_id.is_none() && status.visibility.is_listed() {
        store::feed::spread_to_tag_followers(tx, &spread).await?;
    }
    Ok(())
}

async fn notify_followers(app: &App, tx: &mut Tx, status: &Status) -> Result<Notified> {
    let to_someone_else = status.in_reply_to_account_id.is_some_and(|account| account != status.account_id);
    let hidden = matches!(status.visibility, Visibility::Direct | Visibility::Limited);
    if status.reblog_of_id.is_some() || to_someone_else || hidden {
        return Ok(Notified::default());
    }
    let receivers = store::feed::list_notified(&mut *tx, status.account_id).await?;
    let notice = |receiver| Notice {
        receiver,
        from: status.account_id,
        kind: NotificationType::Status.into(),
        activity: i64::from(status.id),
        status: Some(status.id),
    };
    let notices: Vec<Notice> = receivers.into_iter().map(notice).collect();
    notification::notify(app, tx, &notices).await
}

/// Fills the newest statuses of someone newly followed into a feed.
#[derive(Debug, Serialize, Deserialize)]
pub struct Merge {
    /// Whose feed.
    pub account: AccountId,
    /// Whose statuses.
    pub target: AccountId,
}

impl Job for Merge {
    const KIND: &'static str = "merge_feed";
    const LANE: Lane = Lane::Feed;

    async fn run(self, app: &App, id: JobId) -> Result<Done, Failure> {
        let mut tx = app.db.begin().await?;
        store::feed::merge(&mut tx, self.account, self.target, MERGED).await?;
        finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}

/// Takes someone's statuses out of a feed: unfollowed, blocked or muted. Follows of now decide, so that a follow
/// that came after it is not undone.
#[derive(Debug, Serialize, Deserialize)]
pub struct Unmerge {
    /// Whose feed.
    pub account: AccountId,
    /// Whose statuses.
    pub target: AccountId,
}

impl Job for Unmerge {
    const KIND: &'static str = "unmerge_feed";
    const LANE: Lane = Lane::Feed;

    async fn run(self, app: &App, id: JobId) -> Result<Done, Failure> {
        let mut tx = app.db.begin().await?;
        let (follows, unwanted) = store::feed::tie(&mut tx, self.account, self.target).await?;
        if unwanted || !follows {
            store::feed::unmerge(&mut tx, self.account, self.target, unwanted).await?;
        }
        finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}

/// Builds the feed of someone who was away so long that it was dropped.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rebuild {
    /// Whose feed.
    pub account: AccountId,
}

impl Job for Rebuild {
    const KIND: &'static str = "rebuild_feed";
    const LANE: Lane = Lane::Feed;

    fn key(&self) -> Option<String> {
        Some(self.account.to_string())
    }

    async fn run(self, app: &App, id: JobId) -> Result<Done, Failure> {
        let since = StatusId::from(Ids::first_at(app.clock.now() - REBUILT));
        let mut tx = app.db.begin().await?;
        store::feed::rebuild(&mut tx, self.account, since, i64::from(app.config.timelines.home_limit)).await?;
        finish(&mut tx, id).await?;
        tx.commit().await?;
        app.events.publish(Event::HomeRebuilt { account: self.account });
        Ok(Done::Removed)
    }
}
