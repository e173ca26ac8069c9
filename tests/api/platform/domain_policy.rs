//! The policy about other servers: `rookery domain`, its effects on known accounts, and which servers are talked to.

use std::time::{Duration, Instant};

use federation::policy::{Refused, may_talk};
use futures_util::future::join_all;
use model::Time;
use model::domain_policy::Flags;
use model::instance::Severity;
use serde_json::{Value, json};
use service::domain_decision::{self, BlockParams};

use crate::harness::{Client, TestApp};
use crate::platform::contract;
use crate::platform::serve::Running;
use crate::seed::{Seed, Status};

/// Blocks `domain` and runs the job that follows; returns the time of the block.
async fn block(app: &TestApp, domain: &str, severity: Severity) -> Time {
    app.tick();
    let at = begin(app, domain, severity).await;
    app.run_jobs().await;
    at
}

async fn begin(app: &TestApp, domain: &str, severity: Severity) -> Time {
    let params = BlockParams {
        severity,
        flags: Flags::default(),
        obfuscate: false,
        hidden: false,
        private_comment: None,
        public_comment: None,
    };
    domain_decision::block(&app.app, &model::Staff::operator(), domain, params).await.unwrap().created_at
}

async fn unblock(app: &TestApp, domain: &str) {
    app.tick();
    domain_decision::unblock(&app.app, &model::Staff::operator(), domain).await.unwrap();
    app.run_jobs().await;
}

/// The user names of accounts of other servers that are suspended, and those that are limited.
async fn standings(app: &TestApp) -> [Vec<String>; 2] {
    let mut standings = Vec::new();
    for column in ["suspended_at", "limited_at"] {
        let sql = format!(
            "SELECT a.username FROM accounts a WHERE a.domain IS NOT NULL AND a.{column} IS NOT NULL ORDER BY a.username"
        );
        let rows: Vec<(String,)> = app.db().fetch_raw(&sql).await.unwrap();
        standings.push(rows.into_iter().map(|(name,)| name).collect());
    }
    standings.try_into().unwrap()
}

#[tokio::test]
async fn command_blocks_lists_and_removes_domains() {
    let app = TestApp::new().await;
    let made = app
        .run(&[
            "domain",
            "block",
            " Evil.TEST",
            "--comment",
            " spam ",
            "--private-comment",
            "see the report",
            "--reject-media",
            "--block-trends",
            "--obfuscate",
            "--json",
        ])
        .await
        .json();
    let expected = json!({
        "domain": "evil.test",
        "severity": "suspend",
        "flags": ["reject_media", "block_trends"],
        "obfuscate": true,
        "hidden": false,
        "comment": "spam",
        "private_comment": "see the report",
        "created_at": made[0]["created_at"],
    });
    assert_eq!(made[0], expected);
    // A running server notices it, as its poll does.
    assert!(app.app.reload().await.unwrap());
    assert_eq!(app.app.domain_policy().severity("a.evil.test:3000"), Severity::Suspend);
    assert!(app.app.domain_policy().of("evil.test").flags.block_trends);

    let said = app.run(&["domain", "block", "evil.test", "--severity", "silence", "--reject-hashtag"]).await.ok();
    assert!(said.contains("limited") && said.contains("no effect yet: reject_hashtag"), "{said}");
    let said = app.run(&["domain", "block", "bücher.example", "--severity", "noop"]).await.ok();
    assert!(said.starts_with("xn--bcher-kva.example is blocked now.") && !said.contains("yet"), "{said}");
    assert!(app.run(&["domain", "allow", "good.test"]).await.ok().contains("access.limited_federation"));
    assert_eq!(app.run(&["domain", "allow", "good.test", "--json"]).await.json()[0]["changed"], false);

    let listed = app.run(&["domain", "list", "--json"]).await.list();
    let kinds: Vec<&str> = listed.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["block", "block", "allow"]);
    let again = &listed[0];
    assert_eq!((&again["created_at"], &again["severity"]), (&expected["created_at"], &json!("silence")));
    assert_eq!((&again["comment"], &again["flags"]), (&Value::Null, &json!(["reject_hashtag"])), "all is replaced");
    assert_eq!(listed[2]["domain"], "good.test");
    let text = app.run(&["domain", "list"]).await.ok();
    assert!(text.contains("silence  evil.test") && text.contains("allow    good.test"), "{text}");

    assert_eq!(app.run(&["domain", "remove", "evil.test", "--json"]).await.json()[0]["domain"], "evil.test");
    assert!(app.run(&["domain", "remove", "evil.test"]).await.fails(1).contains("not blocked"));
    app.run(&["domain", "remove", "good.test", "--allow"]).await.ok();
    assert!(app.run(&["domain", "remove", "good.test", "--allow"]).await.fails(1).contains("not allowed"));
    assert!(app.app.reload().await.unwrap());
    assert_eq!(app.app.domain_policy().severity("evil.test"), Severity::Noop);
}

#[tokio::test]
async fn nonsense_and_own_domains_are_refused() {
    let app = TestApp::new().await;
    for text in [
        "",
        "no domain",
        "https://evil.test",
        "user@evil.test",
        "@evil.test",
        "*.evil.test",
        "evil..test",
        "a_b!c.test",
    ] {
        for command in [["domain", "block", text], ["domain", "allow", text], ["domain", "remove", text]] {
            let said = app.run(&command).await.fails(1);
            assert!(said.contains("is not a domain") && said.contains("example.org"), "{text}: {said}");
        }
    }
    for own in ["example.test", "EXAMPLE.test", "example.test:443"] {
        for command in ["block", "allow"] {
            assert!(app.run(&["domain", command, own]).await.fails(1).contains("of this server"), "{own}");
        }
    }
    let long = "a".repeat(10_001);
    assert!(app.run(&["domain", "block", "evil.test", "--comment", &long]).await.fails(1).contains("10000"));
    assert_eq!(app.run(&["domain", "block", "evil.test", "--severity", "loud"]).await.code, 2);
    assert_eq!(app.count("domain_blocks").await + app.count("domain_allows").await, 0);
}

#[tokio::test]
async fn published_list_has_comments_and_hides_domains() {
    let app = TestApp::new().await;
    app.run(&["domain", "block", "bad.example.com", "--obfuscate", "--comment", "spam"]).await.ok();
    app.run(&["domain", "block", "secret.test", "--hidden"]).await.ok();
    app.run(&["domain", "block", "loud.test", "--severity", "silence", "--private-comment", "not shown"]).await.ok();
    app.set("show_domain_blocks", "all").await;
    app.set("show_domain_blocks_rationale", "all").await;
    let blocks = app.anonymous().get("/api/v1/instance/domain_blocks").ok().await;
    contract::check("DomainBlock[]", &blocks);
    let shown: Vec<_> = blocks.as_array().unwrap().iter().map(|block| (&block["domain"], &block["comment"])).collect();
    assert_eq!(shown, [(&json!("loud.test"), &Value::Null), (&json!("bad.*******.com"), &json!("spam"))]);
}

/// Alice follows two accounts, and one of them follows her; each has a status in her home timeline.
struct World {
    app: TestApp,
    alice: Client,
    bob: Client,
    far: i64,
    status: i64,
}

impl World {
    async fn new() -> Self {
        let app = TestApp::new().await;
        let [alice, bob] = app.accounts(["alice", "bob"]).await;
        app.run_jobs().await;
        let (me, friend) = (i64::from(alice.id()), i64::from(bob.id()));
        let mut seed = Seed::new(app.db().engine(), "example.test");
        let far = seed.account("far", Some("evil.test"));
        let sub = seed.account("sub", Some("a.evil.test:3000"));
        let like = seed.account("like", Some("notevil.test"));
        for followed in [far, sub, like, friend] {
            seed.follow(me, followed);
        }
        seed.follow(far, me);
        seed.follow(like, me);
        seed.follow_request(friend, far);
        let mut statuses = [far, sub, like].map(|author| {
            let text = if author == like { "from like" } else { "from far" };
            let status = seed.status(&Status { author, text, local: false, ..Status::default() });
            seed.home(me, status, None);
            status
        });
        statuses.sort_unstable();
        seed.write(app.db()).await;
        app.index_statuses().await;
        app.make_feeds_live().await;
        Self { app, alice, bob, far, status: statuses[0] }
    }

    async fn shown(&self, person: &Client, timeline: &str) -> Vec<String> {
        let page = person.get(&format!("/api/v1/timelines/{timeline}")).ok().await;
        let text = |status: &Value| status["content"].as_str().unwrap().replace("<p>", "").replace("</p>", "");
        page.as_array().unwrap().iter().map(text).collect()
    }
}

#[tokio::test]
async fn suspended_domain_is_hidden_and_loses_its_follows() {
    let world = World::new().await;
    let World { app, alice, bob, far, status } = &world;
    assert_eq!(world.shown(alice, "home").await.len(), 3);
    bob.get(&format!("/api/v1/statuses/{status}")).ok().await;
    let at = block(app, "evil.test", Severity::Suspend).await;

    assert_eq!(standings(app).await, [vec!["far", "sub"], vec![]]);
    let by_block = format!(
        "accounts WHERE suspended_at = {}",
        match app.db().engine() {
            database::Engine::Sqlite => at.timestamp_micros().to_string(),
            database::Engine::Postgres => format!("to_timestamp({} / 1000000.0)", at.timestamp_micros()),
        }
    );
    assert_eq!(app.count(&by_block).await, 2);
    assert_eq!(world.shown(alice, "home").await, ["from like"]);
    assert_eq!(world.shown(bob, "public?remote=true").await, ["from like"]);
    bob.get(&format!("/api/v1/statuses/{status}")).fails(404).await;
    let found = alice.get("/api/v2/search?q=far&type=accounts").ok().await;
    assert_eq!(found["accounts"], json!([]));
    let profile = bob.get(&format!("/api/v1/accounts/{far}")).ok().await;
    assert_eq!(profile["suspended"], true, "{profile}");

    let me = alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!((&me["following_count"], &me["followers_count"]), (&json!(2), &json!(1)));
    assert_eq!(app.count("follow_requests").await, 0);
    let page = alice.get("/api/v1/notifications?types[]=severed_relationships").ok().await;
    contract::check("Notification[]", &page);
    let [notification] = page.as_array().unwrap().as_slice() else { panic!("{page}") };
    let event = &notification["event"];
    assert_eq!((&event["type"], &event["target_name"]), (&json!("domain_block"), &json!("evil.test")));
    assert_eq!((&event["following_count"], &event["followers_count"]), (&json!(2), &json!(1)));
    let none = bob.get("/api/v1/notifications?types[]=severed_relationships").ok().await;
    assert_eq!(none, json!([]), "a follow request is no follow");
    alice.follow(far).fails(404).await;
}

#[tokio::test]
async fn silenced_domain_is_shown_to_followers_alone() {
    let world = World::new().await;
    let World { app, alice, bob, far, .. } = &world;
    block(app, "evil.test", Severity::Silence).await;
    assert_eq!(standings(app).await, [vec![], vec!["far", "sub"]]);
    assert_eq!(world.shown(alice, "home").await.len(), 3);
    assert_eq!(world.shown(bob, "public?remote=true").await, ["from like"]);
    assert_eq!(bob.get(&format!("/api/v1/accounts/{far}")).ok().await["limited"], true);
    assert_eq!(app.count("account_severances").await, 0);

    unblock(app, "evil.test").await;
    assert_eq!(standings(app).await, [Vec::<String>::new(), vec![]]);
    assert_eq!(world.shown(bob, "public?remote=true").await.len(), 3);
    assert_eq!(bob.get(&format!("/api/v1/accounts/{far}")).ok().await["limited"], Value::Null);
}

#[tokio::test]
async fn removed_block_lifts_only_its_own_suspensions() {
    let world = World::new().await;
    let World { app, alice, far, .. } = &world;
    app.suspend(far).await;
    let at = block(app, "evil.test", Severity::Suspend).await;
    assert_eq!(standings(app).await, [vec!["far", "sub"], vec![]]);
    assert_eq!(app.count("follows").await, 3, "Bob and the two with notevil.test");

    assert_eq!(block(app, "evil.test", Severity::Silence).await, at, "the time of the block stays");
    assert_eq!(standings(app).await, [vec!["far"], vec!["far", "sub"]]);
    assert_eq!(block(app, "evil.test", Severity::Noop).await, at);
    assert_eq!(standings(app).await, [vec!["far"], vec![]]);
    block(app, "evil.test", Severity::Suspend).await;
    unblock(app, "evil.test").await;
    assert_eq!(standings(app).await, [vec!["far"], vec![]], "the moderators suspended this account");
    assert_eq!(world.shown(alice, "public?remote=true").await, ["from like", "from far"]);
}

#[tokio::test]
async fn limits_by_moderators_are_kept() {
    let world = World::new().await;
    let World { app, far, .. } = &world;
    app.limit(far).await;
    block(app, "evil.test", Severity::Silence).await;
    block(app, "evil.test", Severity::Suspend).await;
    assert_eq!(standings(app).await, [vec!["far", "sub"], vec!["far"]]);
    unblock(app, "evil.test").await;
    assert_eq!(standings(app).await, [vec![], vec!["far"]]);
}

#[tokio::test]
async fn block_removed_before_its_job_runs_changes_nothing() {
    let world = World::new().await;
    let World { app, alice, .. } = &world;
    begin(app, "evil.test", Severity::Suspend).await;
    domain_decision::unblock(&app.app, &model::Staff::operator(), "evil.test").await.unwrap();
    app.run_jobs().await;
    assert_eq!(standings(app).await, [Vec::<String>::new(), vec![]]);
    assert_eq!(world.shown(alice, "home").await.len(), 3);
    assert_eq!((app.count("follows").await, app.count("account_severances").await), (6, 0));

    // Removed and made again while the accounts still have the time of the first block.
    let first = block(app, "evil.test", Severity::Suspend).await;
    app.tick();
    domain_decision::unblock(&app.app, &model::Staff::operator(), "evil.test").await.unwrap();
    let second = begin(app, "evil.test", Severity::Suspend).await;
    assert_ne!(first, second);
    app.run_jobs().await;
    unblock(app, "evil.test").await;
    assert_eq!(standings(app).await, [Vec::<String>::new(), vec![]]);
}

#[tokio::test]
async fn block_of_subdomain_overrides_block_of_domain() {
    let world = World::new().await;
    let app = &world.app;
    block(app, "evil.test", Severity::Suspend).await;
    block(app, "a.evil.test", Severity::Silence).await;
    assert_eq!(standings(app).await, [vec!["far"], vec!["sub"]]);
    unblock(app, "evil.test").await;
    assert_eq!(standings(app).await, [vec![], vec!["sub"]]);
    block(app, "evil.test", Severity::Suspend).await;
    unblock(app, "a.evil.test").await;
    assert_eq!(standings(app).await, [vec!["far", "sub"], vec![]]);
}

#[tokio::test]
async fn many_accounts_change_in_batches_with_one_notification() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    app.run_jobs().await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    for n in 0..230 {
        let far = seed.account(&format!("far{n}"), Some(if n % 2 == 0 { "evil.test" } else { "b.evil.test" }));
        seed.follow(alice.id().into(), far);
        if n % 5 == 0 {
            seed.follow(far, alice.id().into());
            seed.follow(bob.id().into(), far);
        }
    }
    seed.write(app.db()).await;
    block(&app, "evil.test", Severity::Suspend).await;
    assert_eq!(app.count("accounts WHERE suspended_at IS NOT NULL").await, 230);
    assert_eq!((app.count("follows").await, app.count("jobs").await), (0, 0));
    for (person, following, followers) in [(&alice, 230, 46), (&bob, 46, 0)] {
        let page = person.get("/api/v1/notifications").ok().await;
        let [notification] = page.as_array().unwrap().as_slice() else { panic!("{page}") };
        let event = &notification["event"];
        assert_eq!((&event["following_count"], &event["followers_count"]), (&json!(following), &json!(followers)));
    }
    let versions = app.count("accounts WHERE suspended_at IS NOT NULL AND version > 1").await;
    assert_eq!(versions, 230, "their renderings are invalid");
    unblock(&app, "evil.test").await;
    assert_eq!(app.count("accounts WHERE suspended_at IS NOT NULL").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn domain_blocked_by_several_at_once_has_one_block_and_job() {
    let world = World::new().await;
    let app = &world.app;
    let times = join_all((0..8).map(|_| begin(app, "evil.test", Severity::Suspend))).await;
    assert!(times.iter().all(|time| *time == times[0]), "{times:?}");
    assert_eq!(app.count("domain_blocks").await, 1);
    assert_eq!(app.count("jobs WHERE kind = 'apply_domain_policy'").await, 1);
    app.run_jobs().await;
    assert_eq!(standings(app).await, [vec!["far", "sub"], vec![]]);
    assert_eq!(app.count("account_severances").await, 1);
}

#[tokio::test]
async fn command_takes_effect_by_the_job_it_queues() {
    let world = World::new().await;
    let app = &world.app;
    let said = app.run(&["domain", "block", "evil.test", "--severity", "silence"]).await.ok();
    assert!(said.contains("in the background"), "{said}");
    app.make_jobs_due().await;
    app.run_jobs().await;
    assert_eq!(standings(app).await, [vec![], vec!["far", "sub"]], "the job reads the policy itself");
}

#[tokio::test(flavor = "multi_thread")]
async fn running_server_applies_block_of_command() {
    let world = World::new().await;
    let app = &world.app;
    let running = Running::start(app);
    let path = format!("/api/v1/accounts/{}", world.far);
    assert!(!running.get(&path).contains("\"suspended\":true"));
    let said = app.run(&["domain", "block", "evil.test"]).await;
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    let begun = Instant::now();
    while !running.get(&path).contains("\"suspended\":true") {
        assert!(begun.elapsed() < Duration::from_secs(60), "the account is still shown");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn suspended_and_own_domains_are_not_talked_to() {
    let app = TestApp::new().await;
    block(&app, "evil.test", Severity::Suspend).await;
    block(&app, "loud.test", Severity::Silence).await;
    domain_decision::allow(&app.app, &model::Staff::operator(), "good.test").await.unwrap();
    for host in ["evil.test", "A.EVIL.test:3000", "evil.test."] {
        assert_eq!(may_talk(&app.app, host), Err(Refused::Suspended), "{host}");
    }
    for host in ["example.test", "EXAMPLE.test:443"] {
        assert_eq!(may_talk(&app.app, host), Err(Refused::Own), "{host}");
    }
    for host in ["loud.test", "notevil.test", "good.test"] {
        assert_eq!(may_talk(&app.app, host), Ok(()), "{host}");
    }
    assert_eq!(Refused::Suspended.label(), "suspended");
}

#[tokio::test]
async fn limited_federation_talks_to_allowed_domains_alone() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_LIMITED_FEDERATION", "true")]).await;
    for domain in ["good.test", "evil.test"] {
        domain_decision::allow(&app.app, &model::Staff::operator(), domain).await.unwrap();
    }
    block(&app, "evil.test", Severity::Suspend).await;
    assert_eq!(may_talk(&app.app, "Good.test:443"), Ok(()));
    assert_eq!(may_talk(&app.app, "evil.test"), Err(Refused::Suspended));
    for host in ["a.good.test", "other.test", "notgood.test"] {
        assert_eq!(may_talk(&app.app, host), Err(Refused::NotAllowed), "{host}");
    }
    domain_decision::disallow(&app.app, &model::Staff::operator(), "good.test").await.unwrap();
    assert_eq!(may_talk(&app.app, "good.test"), Err(Refused::NotAllowed));
}
