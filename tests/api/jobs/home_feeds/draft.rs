//! Setup for tests of feeds: rows, and the feeds of one account, filled by jobs.

use std::ops::RangeInclusive;

use database::Tx;
use model::{AccountId, RowId, StatusId, Time};
use store::feed::{self, Feed, HOME};
use store::list_feed;
use store::plugin_feed::{self, NewEntry};

use crate::harness::TestApp;
use crate::seed::{Reply, Seed, Status};

/// Rows of a test, and its subject: a local account with a maintained home feed.
pub(super) struct Draft {
    pub(super) app: TestApp,
    pub(super) seed: Seed,
    pub(super) me: i64,
    /// Statements for rows that the seed does not support, run after it.
    pub(super) more: Vec<String>,
}

impl Draft {
    pub(super) async fn new() -> Self {
        let app = TestApp::new().await;
        let mut seed = Seed::new(app.db().engine(), "example.test");
        let me = seed.account("me", None);
        Self { app, seed, me, more: Vec::new() }
    }

    pub(super) fn person(&mut self, name: &str) -> i64 {
        self.seed.account(name, None)
    }

    /// An account that the subject follows.
    pub(super) fn followed(&mut self, name: &str) -> i64 {
        let person = self.person(name);
        self.seed.follow(self.me, person);
        person
    }

    pub(super) fn status(&mut self, author: i64) -> i64 {
        self.seed.status(&Status { author, ..Status::default() })
    }

    pub(super) fn of_visibility(&mut self, author: i64, visibility: &str) -> i64 {
        self.seed.status(&Status { author, visibility, ..Status::default() })
    }

    pub(super) fn reblog(&mut self, author: i64, original: i64) -> i64 {
        self.seed.status(&Status { author, reblog_of: Some(original), text: "", ..Status::default() })
    }

    pub(super) fn reply(&mut self, author: i64, status: i64, account: i64) -> i64 {
        self.seed.reply(author, Reply { status, account, conversation: status }, "public")
    }

    pub(super) fn mentioning(&mut self, author: i64, account: i64) -> i64 {
        let status = self.status(author);
        self.seed.mention(status, account);
        status
    }

    pub(super) fn follow_tag(&mut self, tag: i64) {
        let id = self.seed.next_id();
        let row = format!("{id}, {}, {tag}, {}", self.me, self.seed.time(id));
        self.more.push(format!("INSERT INTO tag_follows (id, account_id, tag_id, created_at) VALUES ({row})"));
    }

    /// A list of the subject with one member.
    pub(super) fn list(&mut self, member: i64, policy: &str, exclusive: bool) -> i64 {
        let id = self.seed.next_id();
        let row = format!("{id}, {}, 'a list', '{policy}', {exclusive}, FALSE, {}", self.me, self.seed.time(id));
        self.more.push(format!(
            "INSERT INTO lists (id, account_id, title, replies_policy, exclusive, notify, created_at) VALUES ({row})"
        ));
        self.more.push(format!("INSERT INTO list_accounts (list_id, account_id) VALUES ({id}, {member})"));
        id
    }

    /// An expired mute that no job has deleted yet.
    pub(super) fn muted_once(&mut self, target: i64) {
        self.seed.mute(self.me, target);
        self.more.push(format!("UPDATE mutes SET expires_at = created_at WHERE target_account_id = {target}"));
    }

    pub(super) fn only_in(&mut self, target: i64, languages: &str) {
        self.more.push(format!("UPDATE follows SET languages = '{languages}' WHERE target_account_id = {target}"));
    }

    pub(super) async fn write(self) -> Feeds {
        self.seed.write(self.app.db()).await;
        for statement in &self.more {
            self.app.execute(statement).await;
        }
        Feeds { app: self.app, me: self.me }
    }
}

/// The feeds of the subject, filled as the jobs fill them.
pub(super) struct Feeds {
    pub(super) app: TestApp,
    pub(super) me: i64,
}

impl Feeds {
    pub(super) fn owner(&self) -> AccountId {
        self.me.into()
    }

    pub(super) fn now(&self) -> Time {
        self.app.app.clock.now()
    }

    pub(super) async fn begin(&self) -> Tx {
        self.app.app.db.begin().await.unwrap()
    }

    /// Owners of the home feeds that the statuses enter, one after the other.
    pub(super) async fn fan_out(&self, statuses: &[i64]) -> Vec<AccountId> {
        let mut entered = Vec::new();
        let mut tx = self.begin().await;
        for status in statuses {
            entered.extend(feed::fan_out(&mut tx, &[StatusId::from(*status)], everyone(), self.now()).await.unwrap());
        }
        tx.commit().await.unwrap();
        entered.into_iter().filter(|entered| entered.kind == HOME).map(|entered| entered.owner.into()).collect()
    }

    pub(super) async fn backfill_list(&self, list: i64, member: i64) {
        let mut tx = self.begin().await;
        list_feed::backfill(&mut tx, RowId::from(list), member.into(), self.now(), 40).await.unwrap();
        tx.commit().await.unwrap();
    }

    pub(super) async fn rebuild_list(&self, list: i64, limit: i64) {
        let mut tx = self.begin().await;
        list_feed::rebuild(&mut tx, RowId::from(list), StatusId::from(0), self.now(), limit).await.unwrap();
        tx.commit().await.unwrap();
    }

    pub(super) async fn publish_own(&self, status: i64, original: i64) {
        let original = (original != status).then(|| original.into());
        let mut tx = self.begin().await;
        feed::insert_own(&mut tx, self.owner(), status.into(), original).await.unwrap();
        tx.commit().await.unwrap();
    }

    pub(super) async fn backfill(&self, target: i64) {
        let mut tx = self.begin().await;
        feed::backfill(&mut tx, self.owner(), target.into(), self.now(), 40).await.unwrap();
        tx.commit().await.unwrap();
    }

    pub(super) async fn rebuild(&self, limit: i64) {
        let mut tx = self.begin().await;
        feed::rebuild(&mut tx, self.owner(), StatusId::from(0), self.now(), limit).await.unwrap();
        tx.commit().await.unwrap();
    }

    pub(super) async fn drop_feed(&self) {
        let text = "UPDATE users SET feed_state = 'dropped'; DELETE FROM feed_entries";
        self.app.execute(text).await;
    }

    /// The statuses in a feed, oldest first.
    pub(super) async fn held_in(&self, feed: Feed) -> Vec<i64> {
        let text = format!(
            "SELECT status_id FROM feed_entries WHERE kind = {} AND owner_id = {} ORDER BY status_id",
            feed.kind, feed.owner
        );
        let rows: Vec<(i64,)> = self.app.db().fetch_raw(&text).await.unwrap();
        rows.into_iter().map(|(status,)| status).collect()
    }

    pub(super) async fn held(&self) -> Vec<i64> {
        self.held_in(Feed::home(self.owner())).await
    }

    /// Inserts as a plugin does; returns the number of inserted entries.
    pub(super) async fn insert(&self, feed: Feed, statuses: &[i64]) -> usize {
        let entry = |status: &i64| NewEntry { feed, viewer: Some(self.me), status: *status };
        let entries: Vec<NewEntry> = statuses.iter().map(entry).collect();
        let mut tx = self.begin().await;
        let entered = plugin_feed::insert(&mut tx, &entries, self.now()).await.unwrap();
        tx.commit().await.unwrap();
        entered.len()
    }
}

/// All owners of feeds.
pub(super) fn everyone() -> RangeInclusive<AccountId> {
    AccountId::from(0)..=AccountId::from(i64::MAX)
}
