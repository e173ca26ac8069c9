//! Contributions of plugins by statements alone: search operators for marks, and exceptions from automatic deletion.

use std::collections::{BTreeMap, BTreeSet};

use chrono::Duration;
use plugins::life::{self, desired};
use serde_json::{Value, json};
use service::status_cleanup::{self, StatusCleanupPolicy};

use super::emoji_reactions::{react, table};
use super::groups::{served, settle, switch_off, switch_on};
use crate::harness::{Browser, Client, Published, TestApp, id, ids};
use crate::platform::contract;

/// Texts of the statuses that `viewer` finds.
async fn finds(viewer: &Client, q: &str) -> Vec<String> {
    let q: String = q.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let found = viewer.get(&format!("/api/v2/search?type=statuses&limit=80&q={q}")).ok().await;
    contract::check("Search", &found);
    found["statuses"].as_array().unwrap().iter().map(text).collect()
}

fn text(status: &Value) -> String {
    status["content"].as_str().unwrap().trim_start_matches("<p>").trim_end_matches("</p>").to_owned()
}

/// Publishes a status that is found only by accounts that interacted with it.
async fn shy(author: &Client, text: &str) -> Published {
    author.publish(json!({ "status": text, "searchability": "direct" })).await
}

async fn file(person: &Client, title: &str, statuses: &[&Value]) {
    let category = person.post("/api/v1/bookmark_categories").form(&[("title", title)]).ok().await;
    let statuses: Vec<&str> = statuses.iter().map(|status| id(status)).collect();
    let path = format!("/api/v1/bookmark_categories/{}/statuses", id(&category));
    person.post(&path).json(&json!({ "status_ids": statuses })).ok().await;
}

#[tokio::test]
async fn reacted_status_is_found_in_search() {
    let app = served("emoji_reactions").await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let worms = shy(&alice, "worms for breakfast").await;
    let seeds = alice.publish(json!({ "status": "seeds for breakfast", "searchability": "limited" })).await;
    shy(&alice, "nuts for breakfast").await;
    for status in [&worms, &seeds] {
        react(&bob, status, "👍").ok().await;
        react(&bob, status, "🎉").ok().await;
    }
    for q in ["breakfast", "worms", "breakfast in:library", "in:library", "breakfast searchability:direct"] {
        assert_eq!(finds(&bob, q).await, ["worms for breakfast"], "{q}: only the author finds private statuses");
    }
    for q in ["breakfast in:public", "breakfast searchability:limited", "breakfast searchability:private in:public"] {
        assert_eq!(finds(&bob, q).await, [""; 0], "{q}");
    }
    assert_eq!(finds(&carol, "breakfast").await, [""; 0]);

    assert_eq!(finds(&bob, "my:emoji_reacted").await, ["worms for breakfast"]);
    assert_eq!(finds(&bob, "my:STAMPED breakfast -seeds").await, ["worms for breakfast"]);
    assert_eq!(finds(&bob, "breakfast -my:stamp").await, [""; 0]);
    assert_eq!(finds(&alice, "breakfast -my:stamp").await.len(), 3, "the author reacted to none");
    assert_eq!(finds(&alice, "my:emoji_reacted").await, [""; 0]);
    react(&alice, &seeds, "👍").ok().await;
    assert_eq!(finds(&alice, "my:emoji_reacted breakfast").await, ["seeds for breakfast"]);
    let unknown = bob.get("/api/v2/search?q=my%3Aseen").fails(422).await;
    assert_eq!(unknown, "my: must be one of favourited, bookmarked, reblogged, emoji_reacted, stamped, stamp");

    switch_off(&app, "emoji_reactions").await;
    assert_eq!(finds(&bob, "breakfast").await, [""; 0]);
    bob.get("/api/v2/search?q=my%3Astamped").fails(422).await;
}

#[tokio::test]
async fn filed_status_is_found_in_either_order() {
    let app = served("bookmark_categories").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let mut statuses = Vec::new();
    for n in 0..6 {
        statuses.push(shy(&alice, &format!("rook {n}")).await);
    }
    for (n, title) in [(1, "A"), (4, "B"), (2, "C"), (4, "D")] {
        file(&bob, title, &[&statuses[n]]).await;
    }
    bob.bookmark(&id(&statuses[5])).ok().await;
    assert_eq!(finds(&bob, "my:categoried").await, ["rook 4", "rook 2", "rook 1"]);
    assert_eq!(finds(&bob, "my:bmc order:asc").await, ["rook 1", "rook 2", "rook 4"]);
    assert_eq!(finds(&bob, "my:bookmarked -my:bmc").await, ["rook 5"]);
    let second = bob.get("/api/v2/search?type=statuses&q=my%3Abmc&limit=1&offset=1").ok().await;
    assert_eq!(text(&second["statuses"][0]), "rook 2");
    let until = format!("/api/v2/search?type=statuses&q=my%3Abmc&max_id={}", id(&statuses[4]));
    assert_eq!(ids(&bob.get(&until).ok().await["statuses"]), [id(&statuses[2]), id(&statuses[1])]);
    assert_eq!(finds(&alice, "my:categoried").await, [""; 0]);
}

/// Marks do not reveal hidden statuses: every visibility, and every relation to the author.
#[tokio::test]
async fn marked_statuses_are_found_only_when_visible() {
    let app = served("emoji_reactions").await;
    let author = app.account("author").await;
    let viewers = ["stranger", "follower", "mentioned", "blocked", "blocking", "muting"];
    let viewers = app.accounts(viewers).await;
    viewers[1].follow(&author).ok().await;
    app.run_jobs().await;
    let mut statuses = Vec::new();
    for visibility in ["public", "public_unlisted", "login", "unlisted", "private", "mutual", "direct"] {
        for searchability in ["public", "direct", "limited"] {
            let text = format!("@mentioned {visibility}, found by {searchability}: zq");
            let body = json!({ "status": text, "visibility": visibility, "searchability": searchability });
            statuses.push(author.publish(body).await);
        }
    }
    let now = app.app.clock.now().timestamp_millis();
    for status in &statuses {
        for viewer in &viewers {
            let row = format!("({}, {}, '👍', '', {now})", viewer.id(), id(status));
            let sql = "(account_id, status_id, name, domain, created_at) VALUES";
            app.execute(&format!("INSERT INTO {} {sql} {row}", table(&app))).await;
        }
    }
    author.block(&viewers[3]).ok().await;
    viewers[4].block(&author).ok().await;
    viewers[5].mute(&author).ok().await;
    let mut found_by = Vec::new();
    for viewer in &viewers {
        let mut wanted = BTreeSet::new();
        for status in &statuses {
            let shown = viewer.status(&status).send().await;
            if shown.status == 200 && shown.json()["searchability"] != "limited" {
                wanted.insert(text(&shown.json()));
            }
        }
        if ["blocking", "muting"].contains(&viewer.name.as_str()) {
            wanted.clear();
        }
        for q in ["my:emoji_reacted", "zq", "in:library zq"] {
            let found: BTreeSet<String> = finds(viewer, q).await.into_iter().collect();
            assert_eq!(found, wanted, "{}: {q}", viewer.name);
        }
        found_by.push(wanted.len());
    }
    assert_eq!(found_by[3..], [0, 0, 0]);
    assert!(found_by[0] > 0 && found_by[0] < found_by[1] && found_by[1] < found_by[2], "{found_by:?}");
}

#[tokio::test]
async fn search_by_marks_costs_same_for_any_number_of_results() {
    let app = served("emoji_reactions").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let mut costs = Vec::new();
    for count in [2, 15] {
        for n in 0..count {
            let status = shy(&alice, &format!("zq {n}")).await;
            react(&bob, &status, "👍").ok().await;
        }
        app.run_jobs().await;
        app.known(&bob).await;
        for q in ["zq", "my:stamp", "in:library"] {
            assert!(finds(&bob, q).await.len() >= count, "{q}");
        }
        let mut cost = Vec::new();
        for q in ["zq", "my:stamp", "in:library"] {
            cost.push(app.cost(finds(&bob, q)).await.0);
        }
        costs.push(cost);
    }
    assert_eq!(costs[0], costs[1]);
}

/// A policy without exceptions of the core.
async fn bare(person: &Client) -> StatusCleanupPolicy {
    let policy = status_cleanup::find(&person.server.app, person.id()).await.unwrap();
    StatusCleanupPolicy { enabled: true, keep_pinned: false, keep_self_fav: false, keep_self_bookmark: false, ..policy }
}

async fn choose(person: &Client, chosen: &[(&str, i64)]) {
    let chosen: BTreeMap<String, i64> = chosen.iter().map(|(name, least)| ((*name).to_owned(), *least)).collect();
    status_cleanup::set(&person.server.app, &bare(person).await, &chosen).await.unwrap();
}

/// Runs the policies a day after the previous run; returns the remaining texts of `person`.
async fn walk(app: &TestApp, person: &Client) -> Vec<String> {
    app.app.clock.advance(Duration::days(1));
    settle(app).await;
    let statuses = person.get(&format!("/api/v1/accounts/{}/statuses", person.id())).ok().await;
    statuses.as_array().unwrap().iter().map(text).collect()
}

#[tokio::test]
async fn automatic_deletion_respects_exceptions_of_plugins() {
    let app = served("emoji_reactions").await;
    switch_on(&app, "bookmark_categories").await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    alice.publish("plain").await;
    let filed = alice.publish("filed").await;
    let of_others = alice.publish("filed by bob").await;
    let own = alice.publish("own reaction").await;
    let many = alice.publish("two reactions").await;
    let one = alice.publish("one reaction").await;
    file(&alice, "Mine", &[&filed]).await;
    file(&bob, "Bob's", &[&of_others]).await;
    for (person, status) in [(&alice, &own), (&bob, &many), (&carol, &many), (&bob, &one)] {
        react(person, status, "👍").ok().await;
    }
    choose(&alice, &[("emoji_reactions.reactions", 2)]).await;
    worker::cron::schedule(&app.app).await.unwrap();
    app.app.clock.advance(Duration::days(20));
    assert_eq!(walk(&app, &alice).await, ["two reactions", "own reaction", "filed"], "unless chosen, as by default");

    choose(&alice, &[("bookmark_categories.filed", 0), ("emoji_reactions.reactions", 3)]).await;
    assert_eq!(walk(&app, &alice).await, ["own reaction"]);

    choose(&alice, &[("emoji_reactions.own", 0), ("unknown.name", 1)]).await;
    assert_eq!(walk(&app, &alice).await, [""; 0]);
    let rows = "SELECT COUNT(*) FROM status_cleanup_exceptions";
    assert_eq!(app.number(rows).await, 3);
    crate::jobs::removal::remove(&app, "alice").await;
    assert_eq!(app.number(rows).await, 0);
}

#[tokio::test]
async fn automatic_deletion_waits_for_unavailable_plugin() {
    let app = served("emoji_reactions").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.publish("of alice").await;
    bob.publish("of bob").await;
    choose(&alice, &[]).await;
    choose(&bob, &[("emoji_reactions.own", 0)]).await;
    worker::cron::schedule(&app.app).await.unwrap();
    app.app.clock.advance(Duration::days(20));
    let now = app.app.clock.now();
    let quarantine = |plugin: &mut store::plugin::Plugin| {
        plugin.quarantined_at = Some(now);
        Ok(())
    };
    desired::change(&app.plugins(), "emoji_reactions", quarantine).await.unwrap();
    life::follow(&app.plugins()).await;
    assert_eq!(walk(&app, &alice).await, ["of alice"], "her reaction is unknown");
    assert_eq!(walk(&app, &bob).await, [""; 0]);
    switch_off(&app, "emoji_reactions").await;
    assert_eq!(walk(&app, &alice).await, [""; 0], "an exception ends with its plugin");
}

#[tokio::test]
async fn automatic_deletion_page_shows_exceptions_of_plugins() {
    let app = served("emoji_reactions").await;
    let alice = app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let page = browser.get("/settings/cleanup").await;
    let text = page.text();
    for (part, is_there) in [
        ("name=\"exceptions[emoji_reactions.own]\" type=\"checkbox\" value=\"1\" checked", true),
        ("What I reacted to myself", true),
        ("With at least as many emoji reactions", true),
        ("bookmark category", false),
    ] {
        assert_eq!(text.contains(part), is_there, "{part}: {text}");
    }
    let wrong = [("min_status_age", "604800"), ("exceptions[emoji_reactions.reactions]", "few")];
    let refused = browser.submit(&page, "/settings/cleanup", &wrong).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("value=\"few\"") && refused.text().contains("must be 1 or more"));
    let sent = [("min_status_age", "604800"), ("exceptions[emoji_reactions.reactions]", "5")];
    assert_eq!(browser.submit(&page, "/settings/cleanup", &sent).await.status, 302);
    let chosen = status_cleanup::exceptions(&app.app, alice.id()).await.unwrap();
    let chosen: Vec<(&str, i64)> = chosen.iter().map(|(offered, least)| (offered.name.as_str(), *least)).collect();
    assert_eq!(chosen, [("emoji_reactions.own", 0), ("emoji_reactions.reactions", 5)]);
    let now = browser.get("/settings/cleanup").await.text();
    assert!(now.contains("value=\"5\"") && !now.contains("value=\"1\" checked"), "{now}");
    browser.post("/settings/preferences", &[("locale", "de")]).await;
    switch_off(&app, "emoji_reactions").await;
    assert!(!browser.get("/settings/cleanup").await.text().contains("exceptions["));
}
