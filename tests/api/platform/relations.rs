//! Cached follows, blocks and mutes of viewers: after every change, the cached set equals the tables.

use chrono::Duration;
use database::sql::STATEMENTS;
use model::{AccountId, RowId};
use service::{auth, relations, removal, staff};
use store::relation_set;
use store::relationship::{self, Pair};

use crate::harness::{Client, TestApp};
use crate::jobs::removal::remove;

struct Flock {
    app: TestApp,
    people: Vec<Client>,
}

impl Flock {
    async fn new() -> Self {
        let app = TestApp::new().await;
        let people = app.accounts(["alice", "bob", "carol"]).await.to_vec();
        let flock = Self { app, people };
        flock.check("at first").await;
        flock
    }

    /// `actor` does `action` to `target`; both are indexes of `people`.
    async fn act(&self, actor: usize, action: &str, target: usize) {
        let [actor, target] = [actor, target].map(|index| &self.people[index]);
        actor.post(&format!("/api/v1/accounts/{}/{action}", target.id())).ok().await;
        self.check(action).await;
    }

    /// Requests the relations of all people as a request does, and compares them with the tables.
    async fn check(&self, after: &str) {
        let cx = &self.app.app;
        let ids: Vec<AccountId> = self.people.iter().map(Client::id).collect();
        for viewer in auth::viewers(cx, &ids).await.unwrap() {
            let known = relations::of(cx, &viewer).await.unwrap();
            let read = relation_set::find(&cx.db, viewer.id).await.unwrap();
            assert_eq!(format!("{known:?}"), format!("{read:?}"), "{} after {after}", viewer.username);
        }
    }
}

#[tokio::test]
async fn relations_in_memory_follow_every_change() {
    let flock = Flock::new().await;
    let (alice, bob, carol) = (0, 1, 2);
    for (actor, action, target) in [
        (alice, "follow", bob),
        (bob, "follow", alice),
        (carol, "follow", alice),
        (alice, "unfollow", bob),
        (alice, "follow", bob),
        (alice, "remove_from_followers", carol),
        (bob, "block", alice),
        (carol, "block", alice),
        (bob, "unblock", alice),
        (alice, "mute", bob),
        (alice, "mute", carol),
        (alice, "unmute", carol),
    ] {
        flock.act(actor, action, target).await;
    }
    let read = relation_set::find(flock.app.db(), flock.people[alice].id()).await.unwrap();
    let now = flock.app.app.clock.now();
    let [bob, carol] = [bob, carol].map(|index| flock.people[index].id());
    assert!(read.is_muting(bob, now) && !read.is_muting(carol, now));
    assert!(read.is_blocked_by(carol) && !read.is_blocked_by(bob) && !read.is_following(bob));
}

#[tokio::test]
async fn relations_in_memory_follow_requests_and_expiry() {
    let flock = Flock::new().await;
    let [alice, bob, carol] = [0, 1, 2];
    let people = &flock.people;
    people[alice].patch("/api/v1/accounts/update_credentials").json(&serde_json::json!({"locked": true})).ok().await;
    flock.act(bob, "follow", alice).await;
    flock.act(carol, "follow", alice).await;
    people[alice].authorize(&people[bob]).ok().await;
    flock.check("authorize").await;
    people[alice].patch("/api/v1/accounts/update_credentials").json(&serde_json::json!({"locked": false})).ok().await;
    flock.app.run_jobs().await;
    flock.check("accepting what waited").await;
    for person in [bob, carol] {
        let follows = relation_set::find(flock.app.db(), people[person].id()).await.unwrap();
        assert!(follows.is_following(people[alice].id()));
    }

    let mute = format!("/api/v1/accounts/{}/mute", people[bob].id());
    people[alice].post(&mute).form(&[("duration", "60")]).ok().await;
    flock.check("mute for a while").await;
    flock.app.app.clock.advance(Duration::seconds(61));
    flock.app.make_jobs_due().await;
    flock.app.run_jobs().await;
    flock.check("the end of a mute").await;
}

#[tokio::test]
async fn relations_in_memory_forget_removed_accounts() {
    let flock = Flock::new().await;
    let [alice, bob, carol] = [0, 1, 2];
    for (actor, action, target) in
        [(alice, "mute", bob), (carol, "follow", bob), (bob, "mute", carol), (bob, "block", alice)]
    {
        flock.act(actor, action, target).await;
    }
    remove(&flock.app, "bob").await;
    flock.app.run_jobs().await;
    flock.check("removal").await;
    let [bob, carol] = [bob, carol].map(|index| flock.people[index].id());
    let read = relation_set::find(flock.app.db(), flock.people[alice].id()).await.unwrap();
    assert!(!read.is_blocked_by(bob) && !read.is_muting(bob, flock.app.app.clock.now()));

    // Accounts that never confirmed an address are deleted immediately.
    let mut tx = flock.app.db().begin().await.unwrap();
    let (row, now): (RowId, _) = (flock.app.app.ids.next(), flock.app.app.clock.now());
    relationship::insert(&mut tx, Pair::Block, row, flock.people[alice].id(), carol, now).await.unwrap();
    tx.commit().await.unwrap();
    flock.check("a block").await;
    flock.app.unconfirm(&carol).await;
    let account = staff::find(&flock.app.app, "carol").await.unwrap();
    removal::remove(&flock.app.app, &model::Staff::operator(), &account).await.unwrap();
    flock.check("removal at once").await;
}

#[test]
fn relations_are_written_where_their_version_is_raised() {
    const TABLES: [&str; 4] = ["follows", "blocks", "mutes", "account_domain_blocks"];
    const PLACES: [&str; 3] = ["account/follow.rs", "account/relationship.rs", "account/domain_block.rs"];
    let target = |text: &'static str| match text.split_whitespace().collect::<Vec<_>>()[..] {
        ["UPDATE", table, ..] | ["INSERT", "INTO", table, ..] | ["DELETE", "FROM", table, ..] => Some(table),
        _ => None,
    };
    let writers =
        STATEMENTS.iter().filter(|statement| target(statement.sqlite).is_some_and(|table| TABLES.contains(&table)));
    let strays: Vec<_> = writers
        .filter(|statement| !PLACES.iter().any(|place| statement.place.0.ends_with(place)))
        .map(|statement| format!("{}:{}", statement.place.0, statement.place.1))
        .collect();
    assert!(strays.is_empty(), "these write relations beside the functions that raise the version: {strays:?}");
}
