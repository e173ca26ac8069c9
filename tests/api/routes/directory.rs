//! <https://docs.joinmastodon.org/methods/directory/>

use database::db::Engine;
use database::sql::STATEMENTS;
use serde_json::json;

use crate::harness::{Client, TestApp, accts};
use crate::platform::contract;
use crate::seed::{Seed, Status};

const PATH: &str = "/api/v1/directory";

async fn wants_to_be_found(person: &Client) {
    person.update_profile(json!({"discoverable": true})).ok().await;
}

async fn listed(client: &Client, query: &str) -> Vec<String> {
    let accounts = client.get(&format!("{PATH}{query}")).ok().await;
    contract::check("Account[]", &accounts);
    accts(&accounts).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn directory_lists_discoverable_accounts() {
    let app = TestApp::new().await;
    let people = app.accounts(["alice", "bob", "carol", "dave"]).await;
    let [alice, bob, carol, _] = &people;
    for person in [alice, bob, carol] {
        wants_to_be_found(person).await;
    }
    carol.publish("hello").await;
    alice.publish("hello").await;
    let anyone = app.anonymous();
    assert_eq!(listed(&anyone, "").await, ["alice", "carol", "bob"], "accounts without statuses come last");
    assert_eq!(listed(&anyone, "?order=active").await, ["alice", "carol", "bob"]);
    assert_eq!(listed(&anyone, "?order=new").await, ["carol", "bob", "alice"]);
    assert_eq!(listed(&anyone, "?order=nonsense").await.len(), 3);
    assert_eq!(listed(&anyone, "?order=new&limit=1&offset=1").await, ["bob"]);
    assert_eq!(listed(&anyone, "?offset=-3&limit=1").await, ["alice"], "a negative offset counts as none");
    assert_eq!(listed(&anyone, "?limit=0").await.len(), 0);
    assert_eq!(listed(&anyone, "?offset=20000").await.len(), 0);
    anyone.get(&format!("{PATH}?offset=many")).fails(422).await;

    let answer = anyone.get(PATH).send().await;
    assert!(answer.header("cache-control").contains("public") && answer.header("link").is_empty());
    assert!(!alice.get(PATH).send().await.header("cache-control").contains("public"));
}

#[tokio::test]
async fn directory_includes_remote_accounts_unless_local() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    wants_to_be_found(&alice).await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let remote = seed.account("remote", Some("remote.test"));
    seed.status(&Status { author: remote, local: false, ..Status::default() });
    seed.write(app.db()).await;
    app.set_account(&remote, "discoverable = TRUE").await;
    for order in ["active", "new"] {
        let mut all = listed(&app.anonymous(), &format!("?order={order}")).await;
        all.sort_unstable();
        assert_eq!(all, ["alice", "remote@remote.test"]);
        assert_eq!(listed(&app.anonymous(), &format!("?order={order}&local=true")).await, ["alice"]);
    }
}

#[tokio::test]
async fn directory_excludes_limited_removed_blocked_and_muted_accounts() {
    let app = TestApp::new().await;
    let names = ["viewer", "limited", "suspended", "moved", "pending", "blocked", "blocking", "muted", "wanted"];
    let people = app.accounts(names).await;
    for person in &people {
        wants_to_be_found(person).await;
    }
    let [viewer, limited, suspended, moved, pending, blocked, blocking, muted, _] = &people;
    app.limit(limited).await;
    app.suspend(suspended).await;
    app.set_account(moved, &format!("moved_to_account_id = {}", viewer.id())).await;
    app.unapprove(pending).await;
    let everyone = ["wanted", "muted", "blocking", "blocked", "viewer"];
    assert_eq!(listed(&app.anonymous(), "?order=new").await, everyone);
    viewer.block(&blocked).ok().await;
    blocking.block(&viewer).ok().await;
    viewer.mute(&muted).form(&[("duration", "60")]).ok().await;
    assert_eq!(listed(viewer, "?order=new").await, ["wanted", "viewer"]);
    assert_eq!(listed(&app.anonymous(), "?order=new").await, everyone);
    app.app.clock.advance(chrono::Duration::seconds(61));
    assert_eq!(listed(viewer, "?order=new").await, ["wanted", "muted", "viewer"]);
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let remote = seed.account("remote", Some("remote.test"));
    seed.block_domain(viewer.id().into(), "remote.test");
    seed.write(app.db()).await;
    app.set_account(&remote, "discoverable = TRUE").await;
    assert!(!listed(viewer, "").await.contains(&"remote@remote.test".to_owned()));
    assert!(listed(&app.anonymous(), "").await.contains(&"remote@remote.test".to_owned()));
}

#[tokio::test]
async fn directory_is_absent_when_disabled() {
    let app = TestApp::new().await;
    app.set("profile_directory", false).await;
    app.anonymous().get(PATH).fails(404).await;
    app.account("alice").await.get(PATH).fails(404).await;
}

#[tokio::test]
async fn directory_reads_its_indexes_in_order() {
    let app = TestApp::new().await;
    if app.db().engine() != Engine::Sqlite {
        return;
    }
    let mut looked_at = 0;
    for statement in STATEMENTS.iter().filter(|statement| statement.place.0.ends_with("account/directory.rs")) {
        let plan: Vec<(i64, i64, i64, String)> =
            app.db().fetch_raw(&format!("EXPLAIN QUERY PLAN {}", statement.sqlite)).await.unwrap();
        let steps: Vec<&str> = plan.iter().map(|(_, _, _, step)| step.as_str()).collect();
        assert!(steps[0].contains("INDEX accounts_directory_"), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{steps:?}");
        looked_at += 1;
    }
    assert_eq!(looked_at, 4);
}
