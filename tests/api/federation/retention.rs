//! Retention of statuses and accounts of other servers: what stays, what goes, and that it can come back.
//!
//! `retention_of_100_000_statuses` measures, and is ignored by default, since it takes minutes:
//! `cargo test --test api retention_of_100_000 -- --ignored --nocapture`, also with `.ci/with-postgres`.

#![expect(clippy::print_stdout, reason = "a measurement is its output")]

use std::time::Instant;

use chrono::TimeDelta;
use context::queue::{self, PruneRemoteAccounts, PruneRemoteStatuses, PruneUnused};
use model::retention::{AccountKeepReason, StatusKeepReason, UnusedPart};
use model::{AccountId, StatusId};
use serde_json::json;
use service::remote::retention::{self, Mode, Report, Rules};

use super::scene::Scene;
use crate::harness::liar::Person;
use crate::harness::{Client, Liar, TestApp};
use crate::plugins::groups::served;
use crate::seed::{Reply, Seed, Status};

/// The clock of the tests is two weeks after the seeded rows.
const DAYS: i64 = 7;

/// Goes through all old statuses.
async fn statuses(app: &TestApp, rules: &Rules, mode: Mode) -> Report {
    let (mut report, mut after) = (Report::default(), StatusId::from(0));
    while let Some(last) = retention::statuses(&app.app, rules, mode, after, &mut report).await.unwrap() {
        after = last;
    }
    report
}

/// Goes through all unused accounts.
async fn accounts(app: &TestApp, rules: &Rules, mode: Mode) -> Report {
    let (mut report, mut after) = (Report::default(), AccountId::from(0));
    while let Some(last) = retention::accounts(&app.app, rules, mode, after, &mut report).await.unwrap() {
        after = last;
    }
    report
}

/// A status of another server.
fn remote(author: i64) -> Status<'static> {
    Status { author, local: false, ..Status::default() }
}

/// A server with old statuses, one for each reason.
struct World {
    app: TestApp,
    alice: Client,
    /// A status that nothing keeps, and a boost of it.
    plain: i64,
    boost: i64,
    /// Statuses by the word of the reason.
    kept: Vec<(&'static str, Vec<i64>)>,
    stranger: i64,
}

impl World {
    /// With a reaction, which is a row of a plugin.
    async fn new() -> Self {
        let app = served("emoji_reactions").await;
        let alice = app.account("alice").await;
        app.run_jobs().await;
        let me = i64::from(alice.id());
        let mut seed = Seed::new(app.db().engine(), "example.test");
        let [stranger, friend] = ["stranger", "friend"].map(|name| seed.account(name, Some("remote.test")));
        seed.follow(me, friend);
        let plain = seed.status(&Status { has_media: true, ..remote(stranger) });
        seed.image(stranger, plain, "a bird");
        let boost = seed.status(&Status { reblog_of: Some(plain), text: "", ..remote(stranger) });

        let own = seed.status(&Status { author: me, ..Status::default() });
        let root = Reply { status: own, account: me, conversation: own };
        let in_thread = seed.status(&Status { reply_to: Some(root), ..remote(stranger) });
        let answered = seed.status(&remote(stranger));
        seed.reply(me, Reply { status: answered, account: stranger, conversation: answered }, "private");
        let boost_of_own = seed.status(&Status { reblog_of: Some(own), text: "", ..remote(stranger) });
        let quoting_own = seed.status(&remote(stranger));
        seed.reference(quoting_own, own);

        let [favourited, boosted, bookmarked, quoted, mentioned] = [(); 5].map(|()| seed.status(&remote(stranger)));
        seed.favourite(me, favourited);
        seed.status(&Status { author: me, reblog_of: Some(boosted), text: "", ..Status::default() });
        seed.bookmark(me, bookmarked);
        let quoting = seed.status(&Status { author: me, ..Status::default() });
        seed.reference(quoting, quoted);
        seed.mention(mentioned, me);
        let followed = seed.status(&remote(friend));

        let [pinned, reported, voted, reacted] = [(); 4].map(|()| seed.status(&remote(stranger)));
        seed.pin(stranger, pinned);
        seed.poll(voted, &["a", "b"]);
        let direct = seed.status(&Status { visibility: "direct", ..remote(stranger) });
        seed.mention(direct, me);
        seed.write(app.db()).await;

        app.execute(&format!(
            "INSERT INTO poll_votes (poll_id, account_id, choice) SELECT p.id, {me}, 0 FROM polls p
             WHERE p.status_id = {voted}"
        ))
        .await;
        let report = json!({ "account_id": stranger.to_string(), "status_ids": [reported.to_string()] });
        alice.post("/api/v1/reports").json(&report).ok().await;
        alice.put(&format!("/api/v1/statuses/{reacted}/emoji_reactions/%F0%9F%91%8D")).ok().await;
        let kept = vec![
            ("own", vec![boost_of_own, quoting_own]),
            ("pinned", vec![pinned]),
            ("reported", vec![reported]),
            ("direct", vec![direct]),
            ("voted", vec![voted]),
            ("plugin", vec![reacted]),
            ("answered", vec![in_thread, answered]),
            ("favourited", vec![favourited]),
            ("boosted", vec![boosted]),
            ("bookmarked", vec![bookmarked]),
            ("quoted", vec![quoted]),
            ("mentioned", vec![mentioned]),
            ("followed", vec![followed]),
        ];
        Self { app, alice, plain, boost, kept, stranger }
    }

    fn rules(&self) -> Rules {
        Rules::of_days(&self.app.app, DAYS, 0)
    }

    async fn exists(&self, id: i64) -> bool {
        self.app.count(&format!("statuses WHERE id = {id}")).await == 1
    }

    /// Expects that the statuses of these reasons are gone, and all others here.
    async fn expect_gone(&self, reasons: &[&str]) {
        for (reason, ids) in &self.kept {
            for id in ids {
                assert_eq!(self.exists(*id).await, !reasons.contains(reason), "{reason}, gone: {reasons:?}");
            }
        }
    }
}

#[tokio::test]
async fn each_reason_keeps_an_old_status_until_its_setting_is_off() {
    let world = World::new().await;
    let local = world.app.count("statuses WHERE local AND reblog_of_id IS NULL").await;
    let counted = statuses(&world.app, &world.rules(), Mode::Count).await;
    assert_eq!((counted.statuses, counted.reblogs, counted.media), (1, 1, 1));
    for (reason, ids) in &world.kept {
        let reason: StatusKeepReason = reason.parse().unwrap();
        assert_eq!(counted.kept_statuses.get(&reason).copied(), Some(ids.len() as u64), "{reason}");
    }
    assert!(world.exists(world.plain).await && world.exists(world.boost).await, "only counted");

    let removed = statuses(&world.app, &world.rules(), Mode::Remove).await;
    assert_eq!((removed.statuses, removed.reblogs), (1, 1));
    assert!(!world.exists(world.plain).await && !world.exists(world.boost).await);
    world.expect_gone(&[]).await;
    let mut off = Vec::new();
    for reason in ["answered", "favourited", "boosted", "bookmarked", "quoted", "mentioned", "followed"] {
        world.app.set(&format!("remote_keep_{reason}"), false).await;
        off.push(reason);
        statuses(&world.app, &world.rules(), Mode::Remove).await;
        world.expect_gone(&off).await;
    }
    assert_eq!(world.app.count("statuses WHERE local AND reblog_of_id IS NULL").await, local);
    assert_eq!(world.app.count("tombstones").await, 0);
    let again = statuses(&world.app, &world.rules(), Mode::Remove).await;
    assert_eq!((again.statuses, again.reblogs), (0, 0));
    // The counters are as if their authors had deleted them.
    let stated = world.app.number(&format!("SELECT statuses_count FROM accounts WHERE id = {}", world.stranger)).await;
    let counted = format!("statuses WHERE account_id = {} AND visibility <> 'direct'", world.stranger);
    assert_eq!(stated, world.app.count(&counted).await);
    world.alice.get("/api/v1/timelines/home").ok().await;
}

#[tokio::test]
async fn statuses_stay_without_an_age_and_below_it() {
    let app = full(3).await;
    for rules in [Rules::configured(&app.app), Rules::of_days(&app.app, 30, 30)] {
        assert_eq!(statuses(&app, &rules, Mode::Remove).await, Report::default());
        assert_eq!(accounts(&app, &rules, Mode::Remove).await, Report::default());
    }
    assert_eq!((app.count("statuses").await, app.count("accounts WHERE domain IS NOT NULL").await), (3, 1));
}

#[tokio::test]
async fn command_counts_without_changes() {
    let world = World::new().await;
    let before = world.app.count("statuses").await;
    assert!(world.app.run(&["status", "prune"]).await.fails(2).contains("--days"));
    let counted = world.app.run(&["status", "prune", "--days", "7", "--dry-run", "--json"]).await.json().remove(0);
    assert_eq!((&counted["removed"], &counted["statuses"], &counted["reblogs"]), (&json!(false), &json!(1), &json!(1)));
    assert_eq!((&counted["media"], &counted["accounts"]), (&json!(1), &json!(0)));
    assert_eq!((&counted["kept_statuses"]["answered"], &counted["kept_statuses"]["plugin"]), (&json!(2), &json!(1)));
    assert_eq!(world.app.count("statuses").await, before);

    let words = world.app.run(&["status", "prune", "--days", "7"]).await.ok();
    assert!(words.starts_with("Removed 1 posts"), "{words}");
    assert!(!world.exists(world.plain).await);
    world.expect_gone(&[]).await;
}

/// A server with `count` statuses of a stranger.
async fn full(count: usize) -> TestApp {
    let app = TestApp::new().await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let stranger = seed.account("stranger", Some("remote.test"));
    for _ in 0..count {
        seed.status(&remote(stranger));
    }
    seed.write(app.db()).await;
    app
}

async fn enqueue<J: queue::Job>(app: &TestApp, job: &J) {
    let mut tx = app.app.db.begin().await.unwrap();
    queue::enqueue(&app.app, &mut tx, job).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn stopped_job_continues_where_it_was() {
    let app = full(1_100).await;
    app.set("remote_status_days", DAYS).await;
    let rules = Rules::configured(&app.app);
    let mut report = Report::default();
    let last = retention::statuses(&app.app, &rules, Mode::Remove, StatusId::from(0), &mut report).await.unwrap();
    let last = last.expect("a part");
    assert_eq!((report.statuses, app.count("statuses").await), (500, 600));

    let begun_at = app.app.clock.now().timestamp_micros();
    enqueue(&app, &PruneRemoteStatuses { after: last, begun_at }).await;
    app.run_jobs().await;
    assert_eq!(app.count("statuses").await, 0);
    let waiting = "jobs WHERE kind = 'prune_remote_statuses' AND state = 'ready'";
    assert_eq!(app.count(waiting).await, 1, "it runs again");

    // All is looked at again after a week.
    for _ in 0..30 {
        app.app.clock.advance(TimeDelta::hours(6) + TimeDelta::minutes(1));
        app.run_jobs().await;
    }
    assert_eq!(app.count(waiting).await, 1);
}

#[tokio::test]
async fn job_without_an_age_removes_nothing() {
    let app = full(3).await;
    enqueue(&app, &PruneRemoteStatuses::begin()).await;
    enqueue(&app, &PruneRemoteAccounts::begin()).await;
    app.run_jobs().await;
    assert_eq!((app.count("statuses").await, app.count("accounts WHERE domain IS NOT NULL").await), (3, 1));
    app.set("remote_status_days", DAYS).await;
    app.app.clock.advance(TimeDelta::hours(2));
    app.run_jobs().await;
    assert_eq!(app.count("statuses").await, 0, "the setting is noticed within an hour");
}

#[tokio::test]
async fn status_with_many_boosts_goes_in_parts() {
    let app = TestApp::new().await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let author = seed.account("author", Some("remote.test"));
    let original = seed.status(&remote(author));
    for n in 0..70 {
        let booster = seed.account(&format!("booster{n}"), Some("remote.test"));
        seed.status(&Status { reblog_of: Some(original), text: "", ..remote(booster) });
    }
    seed.write(app.db()).await;
    let removed = statuses(&app, &Rules::of_days(&app.app, DAYS, 0), Mode::Remove).await;
    assert_eq!((removed.statuses, removed.reblogs), (1, 70));
    assert_eq!(app.count("statuses").await, 0);
    assert_eq!(app.count("accounts WHERE statuses_count <> 0").await, 0);
}

/// A person without followers here, with an old note.
async fn stranger() -> (Person, serde_json::Value) {
    let dave = Liar::start().await.person("dave");
    let mut note = dave.note("1");
    note["published"] = "2025-06-01T00:00:00Z".into();
    dave.liar.document("/users/dave/notes/1", &note);
    (dave, note)
}

#[tokio::test]
async fn removed_status_and_account_can_be_fetched_again() {
    let scene = Scene::new().await;
    let (dave, note) = stranger().await;
    let url = note["id"].as_str().unwrap();
    scene.open(url).await;
    scene.app.run_jobs().await;
    let mut kept = scene.carol.note("kept");
    kept["published"] = "2025-06-01T00:00:00Z".into();
    scene.receive(&kept).await;
    let deliveries = scene.app.count("deliveries").await;

    let removed = statuses(&scene.app, &Rules::of_days(&scene.app.app, 30, 0), Mode::Remove).await;
    scene.app.run_jobs().await;
    assert_eq!(removed.statuses, 1);
    assert!(scene.status(&note).await.is_none() && scene.status(&kept).await.is_some());
    assert_eq!((scene.app.count("tombstones").await, scene.app.count("deliveries").await), (0, deliveries));
    scene.open(url).await;

    // The account goes when nothing of it is here, and comes back with its status.
    statuses(&scene.app, &Rules::of_days(&scene.app.app, 30, 0), Mode::Remove).await;
    let of_dave = format!("accounts WHERE uri = '{}'", dave.uri);
    let rules = Rules::of_days(&scene.app.app, 0, 30);
    let recent = accounts(&scene.app, &rules, Mode::Count).await;
    assert_eq!(recent.accounts, 0);
    scene.app.app.clock.advance(TimeDelta::days(31));
    let rules = Rules::of_days(&scene.app.app, 0, 30);
    let counted = accounts(&scene.app, &rules, Mode::Count).await;
    assert_eq!((counted.accounts, scene.app.count(&of_dave).await), (1, 1));
    let removed = accounts(&scene.app, &rules, Mode::Remove).await;
    scene.app.run_jobs().await;
    assert_eq!((removed.accounts, scene.app.count(&of_dave).await), (1, 0));
    scene.account(&scene.carol).await;
    scene.open(url).await;
    assert_eq!(scene.app.count(&of_dave).await, 1);
}

#[tokio::test]
async fn relations_keep_accounts_without_statuses() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    app.run_jobs().await;
    let me = i64::from(alice.id());
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let mut person = |name: &str| seed.account(name, Some("remote.test"));
    let [followed, follower, muted, noted, limited, listed, liking, notifying, reported, unused] =
        ["followed", "follower", "muted", "noted", "limited", "listed", "liking", "notifying", "reported", "unused"]
            .map(&mut person);
    let own = seed.status(&Status { author: me, ..Status::default() });
    seed.follow(me, followed);
    seed.follow(follower, me);
    seed.mute(me, muted);
    seed.favourite(liking, own);
    seed.notification(me, notifying, "follow", None);
    let list = seed.list(me, "list");
    seed.list_member(list, listed);
    seed.write(app.db()).await;
    app.execute(&format!(
        "INSERT INTO account_notes (account_id, target_account_id, comment) VALUES ({me}, {noted}, 'x')"
    ))
    .await;
    app.execute(&format!("UPDATE accounts SET limited_at = created_at WHERE id = {limited}")).await;
    alice.post("/api/v1/reports").json(&json!({ "account_id": reported.to_string() })).ok().await;

    let rules = Rules::of_days(&app.app, 0, DAYS);
    let counted = accounts(&app, &rules, Mode::Count).await;
    assert_eq!(counted.accounts, 1);
    for (reason, count) in [
        (AccountKeepReason::Related, 5),
        (AccountKeepReason::Marks, 1),
        (AccountKeepReason::Notified, 1),
        (AccountKeepReason::Moderated, 2),
    ] {
        assert_eq!(counted.kept_accounts.get(&reason).copied(), Some(count), "{reason}");
    }
    accounts(&app, &rules, Mode::Remove).await;
    app.run_jobs().await;
    assert_eq!(app.count(&format!("accounts WHERE id = {unused}")).await, 0);
    assert_eq!(app.count("accounts WHERE domain = 'remote.test'").await, 9);
}

#[tokio::test]
async fn rows_without_use_go_after_a_month() {
    let app = full(3).await;
    let mut seed = Seed::after(app.db().engine(), "example.test", 10_000);
    let [unused, used] = ["unused", "used"].map(|name| seed.tag(name));
    let author = seed.account("author", None);
    let status = seed.status(&Status { author, ..Status::default() });
    seed.tagged(status, used);
    seed.write(app.db()).await;
    let threads = app.count("conversations").await;
    enqueue(&app, &PruneUnused::of(UnusedPart::Conversations)).await;
    app.run_jobs().await;
    assert_eq!(app.count("conversations").await, threads, "used, and young");

    let rules = Rules::of_days(&app.app, DAYS, 0);
    assert_eq!(statuses(&app, &rules, Mode::Remove).await.statuses, 3);
    app.app.clock.advance(TimeDelta::days(40));
    app.run_jobs().await;
    assert_eq!(app.count("conversations").await, threads - 3);
    assert_eq!(app.count(&format!("tags WHERE id = {unused}")).await, 0);
    assert_eq!(app.count(&format!("tags WHERE id = {used}")).await, 1);
}

#[tokio::test]
#[ignore = "takes minutes"]
async fn retention_of_100_000_statuses() {
    let app = TestApp::new().await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let tag = seed.tag("birds");
    let authors: Vec<i64> = (0..1_000).map(|n| seed.account(&format!("author{n}"), Some("remote.test"))).collect();
    let mut last = None;
    for n in 0..100_000_usize {
        let author = authors[n * 7 % authors.len()];
        let reblog_of = last.filter(|_| n % 10 == 9);
        let status = seed.status(&Status { reblog_of, ..remote(author) });
        if n % 5 == 0 {
            seed.tagged(status, tag);
        }
        if reblog_of.is_none() {
            last = Some(status);
        }
    }
    seed.write(app.db()).await;
    app.index_statuses().await;
    app.execute("ANALYZE").await;
    let rules = Rules::of_days(&app.app, 1, 0);
    let begun = Instant::now();
    let removed = statuses(&app, &rules, Mode::Remove).await;
    println!(
        "{} statuses and {} boosts in {:.1?}; longest transaction {:.1?}",
        removed.statuses,
        removed.reblogs,
        begun.elapsed(),
        removed.longest
    );
    assert!(removed.statuses + removed.reblogs > 95_000, "{removed:?}");
    assert!(cfg!(debug_assertions) || removed.longest.as_millis() < 20, "{removed:?}");
}
