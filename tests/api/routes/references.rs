//! References and quotes between statuses.

use serde_json::{Value, json};

use crate::harness::{Client, TestApp, id, status_path};
use crate::platform::contract;
use crate::routes::notifications::{index, types};

fn number(status: &Value) -> i64 {
    id(status).parse().unwrap()
}

pub fn address(status: &Value) -> &str {
    status["url"].as_str().unwrap()
}

pub async fn show(viewer: &Client, status: &Value) -> Value {
    viewer.status(&status).ok().await
}

async fn referred_by(viewer: &Client, status: &Value) -> Vec<String> {
    let page = viewer.get(&status_path(status, "/referred_by")).ok().await;
    page.as_array().unwrap().iter().map(|status| id(status).to_owned()).collect()
}

#[tokio::test]
async fn marks_make_references_and_quotes() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let [one, two] = [alice.publish("one").await, alice.publish("two").await];
    let note = format!("https://example.test/users/alice/statuses/{}", id(&two));

    let text = format!("RT {} QT: {note} https://elsewhere.test/ RE {}", address(&one), address(&one));
    let status = bob.publish(&text).await;
    contract::check("Status", &status);
    assert_eq!(status["status_reference_ids"], json!([number(&one), number(&two)]));
    assert_eq!((&status["status_references_count"], &status["status_referred_by_count"]), (&json!(2), &json!(0)));
    assert_eq!((&status["quote_id"], &status["quote"]["id"]), (&two["id"], &two["id"]), "the first that asks for it");
    contract::check("QuotedStatus", &status["quote"]);
    assert_eq!(status["quote"]["quote_muted"], false);
    assert_eq!(status["quote"]["status_referred_by_count"], 1);
    assert!(app.anonymous().status(&status).ok().await["quote"].get("quote_muted").is_none());

    let plain = show(&alice, &one).await;
    assert_eq!(plain["status_referred_by_count"], 1);
    assert!(plain.get("quote").is_none() && plain.get("quote_id").is_none());
    assert_eq!(referred_by(&app.anonymous(), &one).await, [id(&status)]);
    let page = bob.get(&status_path(&one, "/referred_by")).ok().await;
    contract::check("Status[]", &page);

    let own = bob.publish(&format!("BT {}", address(&status))).await;
    assert_eq!((own.get("quote"), &own["status_reference_ids"]), (None, &json!([number(&status)])));
    let notices = index(&alice, "").await;
    assert_eq!(types(&notices), ["quote"], "one of a status, and none of others'");
    assert_eq!(notices[0]["status"]["id"], status["id"]);
    assert_eq!(types(&index(&bob, "").await), [""; 0], "own references do not notify");
}

#[tokio::test]
async fn first_five_references_visible_to_author_are_kept() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let hidden = alice.publish_to("private", "psst").await;
    let mut text = format!("RT {} RT https://example.test/@alice/1", address(&hidden));
    let mut targets = Vec::new();
    for n in 0..6 {
        let target = alice.publish(&format!("number {n}")).await;
        text.push_str(&format!(" RT {}", address(&target)));
        targets.push(number(&target));
    }
    let status = bob.publish(&text).await;
    assert_eq!(status["status_reference_ids"], json!(targets[..5]));
    assert_eq!(show(&alice, &hidden).await["status_referred_by_count"], 0);
    let named =
        bob.publish(json!({"status": "see", "status_reference_ids": [targets[0].to_string(), id(&hidden)]})).await;
    assert_eq!(named["status_reference_ids"], json!(targets[..1]));
    let reblog = bob.reblog(&targets[1]).ok().await;
    let of_reblog = bob.publish(json!({"status": "see", "status_reference_ids": [id(&reblog)]})).await;
    assert_eq!(of_reblog["status_reference_ids"], json!([targets[1]]), "the original");
}

#[tokio::test]
async fn quote_needs_permission_and_an_open_target() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.follow(&alice).ok().await;
    for (visibility, quoted) in [("public", true), ("unlisted", true), ("login", false), ("private", false)] {
        let target = alice.publish(json!({"status": "hello", "visibility": visibility})).await;
        let status = bob.publish(&format!("QT {}", address(&target))).await;
        assert_eq!(status.get("quote").is_some(), quoted, "{visibility}");
        assert_eq!(status["status_references_count"], 1, "{visibility}");
    }
    alice.update_profile(json!({"source": {"quote_policy": "nobody"}})).ok().await;
    let open = alice.publish("hello").await;
    assert!(bob.publish(&format!("QT {}", address(&open))).await.get("quote_id").is_none());
    assert!(alice.publish(&format!("QT {}", address(&open))).await.get("quote_id").is_some(), "one's own");
}

#[tokio::test]
async fn quote_is_shown_as_its_viewer_sees_it() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let first = alice.publish("the first").await;
    let second = alice.publish(&format!("RE: {}", address(&first))).await;
    let third = bob.publish(&format!("RE: {}", address(&second))).await;
    assert_eq!((&third["quote"]["id"], &third["quote"]["quote"]), (&second["id"], &Value::Null), "one level");
    assert_eq!(third["quote"]["quote_id"], first["id"]);
    let shallow = json!({"state": "accepted", "quoted_status_id": first["id"]});
    assert_eq!(third["quote"]["quoted_status"]["quote"], shallow);
    contract::check("QuotedStatus", &third["quote"]);
    carol.favourite(&second).ok().await;
    let reblog = bob.reblog(&third).ok().await;
    assert_eq!((reblog.get("quote"), &reblog["reblog"]["quote"]["id"]), (None, &second["id"]));
    let seen = carol.status(&reblog).ok().await["reblog"]["quote"].clone();
    assert_eq!((&seen["favourited"], &seen["favourites_count"]), (&json!(true), &json!(1)));

    carol.block(&alice).ok().await;
    let blocked = show(&carol, &third).await["quote"].clone();
    assert_eq!((&blocked["quote_muted"], &blocked["state"]), (&json!(true), &json!("blocked_account")));
    alice.block(&carol).ok().await;
    let hidden = show(&carol, &third).await;
    let unauthorized = json!({"state": "unauthorized", "quoted_status": null});
    assert_eq!((&hidden["quote"], &hidden["quote_id"]), (&unauthorized, &second["id"]));
    contract::check("Status", &hidden);
    assert_eq!(show(&bob, &third).await["quote"]["id"], second["id"]);
}

#[tokio::test]
async fn lists_exclude_statuses_unwanted_by_viewer() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let target = alice.publish("hello").await;
    let mut made = Vec::new();
    for n in 0..3 {
        made.insert(0, bob.publish(&format!("{n} RT {}", address(&target))).await.into_id());
    }
    let psst = bob.publish_to("direct", &format!("RT {}", address(&target))).await;
    assert_eq!(psst["status_references_count"], 1);
    assert_eq!(show(&carol, &target).await["status_referred_by_count"], 3, "a counter does not reveal hidden ones");
    assert_eq!(referred_by(&carol, &target).await, made);
    let answer =
        carol.get(&format!("{}?limit=2&max_id={}", status_path(&target, "/referred_by"), id(&psst))).send().await;
    assert_eq!(answer.json().as_array().unwrap().len(), 2);
    assert!(answer.header("link").contains(&format!("max_id={}", made[1])), "{}", answer.header("link"));
    carol.mute(&bob).ok().await;
    assert_eq!(referred_by(&carol, &target).await, [""; 0]);
    assert_eq!(types(&index(&alice, "").await), ["status_reference"; 3], "not of what she cannot see");
    let hidden = alice.publish_to("direct", "psst").await;
    bob.get(&status_path(&hidden, "/referred_by")).fails(404).await;
}

#[tokio::test]
async fn context_has_referenced_statuses() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let [root, other] = [alice.publish("root").await, alice.publish("other").await];
    let text = format!("RT {} QT {}", address(&root), address(&other));
    let reply = bob.publish(json!({"status": text, "in_reply_to_id": id(&root)})).await;
    let ids = |context: &Value, name: &str| -> Vec<String> {
        context[name].as_array().unwrap().iter().map(|status| id(status).to_owned()).collect()
    };
    let context = bob.get(&status_path(&reply, "/context")).ok().await;
    contract::check("Context", &context);
    assert_eq!(
        (ids(&context, "ancestors"), ids(&context, "references")),
        (vec![id(&root).to_owned(), id(&other).to_owned()], vec![])
    );
    let context = bob.get(&status_path(&reply, "/context?with_reference=true")).ok().await;
    contract::check("Context", &context);
    assert_eq!(ids(&context, "ancestors"), [id(&root)]);
    assert_eq!(ids(&context, "references"), [id(&root), id(&other)]);
}

#[tokio::test]
async fn edits_and_deletions_update_references() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let [one, two, three] = [alice.publish("one").await, alice.publish("two").await, alice.publish("three").await];
    let text = format!("QT {} RT {}", address(&one), address(&two));
    let status = bob.publish(json!({"status": text, "status_reference_ids": [id(&three)]})).await;
    let other = bob.publish(&format!("QT {}", address(&status))).await;

    let edited = bob.edit(&status, &format!("QT {}", address(&two))).ok().await;
    assert_eq!(edited["status_reference_ids"], json!([number(&two), number(&three)]), "references of the request stay");
    assert_eq!((&edited["quote_id"], &edited["quote"]["id"]), (&two["id"], &two["id"]));
    let counts = [show(&bob, &one).await, show(&bob, &two).await, show(&bob, &three).await];
    assert_eq!(counts.map(|status| status["status_referred_by_count"].as_i64()), [Some(0), Some(1), Some(1)]);
    assert_eq!(referred_by(&bob, &one).await, [""; 0]);
    let carol = app.account("carol").await;
    let of_carol = carol.publish(&format!("RT {}", address(&two))).await;
    alice.edit(&two, "two, mended").ok().await;
    assert_eq!(types(&index(&carol, "").await), ["update"]);
    assert!(types(&index(&bob, "").await).contains(&"quoted_update"));
    let before = bob.get(&status_path(&status, "/history")).ok().await.as_array().unwrap().len();
    bob.edit(&status, &format!("QT {}", address(&two))).ok().await;
    assert_eq!(bob.get(&status_path(&status, "/history")).ok().await.as_array().unwrap().len(), before, "no change");

    alice.delete_status(&two).ok().await;
    let left = show(&bob, &status).await;
    assert_eq!((left.get("quote_id"), &left["status_reference_ids"]), (None, &json!([number(&three)])));
    assert_eq!(left["quote"], json!({"state": "deleted", "quoted_status": null}));
    assert_eq!(show(&carol, &of_carol).await["status_references_count"], 0);
    bob.delete_status(&status).ok().await;
    assert_eq!(show(&bob, &three).await["status_referred_by_count"], 0);
    assert_eq!(show(&bob, &other).await["status_references_count"], 0);
    let rows = app.db().fetch_raw::<(i64,)>("SELECT COUNT(*) FROM status_references").await.unwrap();
    assert_eq!(rows[0].0, 0);
}

#[tokio::test]
async fn scheduled_status_keeps_markdown_and_references() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let [one, two] = [alice.publish("one").await, alice.publish("two").await];
    let body = json!({
        "status": format!("**QT** {} QT {}", address(&one), address(&one)), "markdown": true,
        "status_reference_ids": [id(&two)], "scheduled_at": "2026-01-15T13:00:00Z",
    });
    let scheduled = bob.publish(&body).await;
    contract::check("ScheduledStatus", &scheduled);
    assert_eq!(scheduled["params"]["markdown"], true);
    app.app.clock.advance(chrono::Duration::hours(2));
    app.run_jobs().await;
    let statuses = bob.get(&format!("/api/v1/accounts/{}/statuses", bob.id())).ok().await;
    assert_eq!(statuses[0]["status_reference_ids"], json!([number(&one), number(&two)]));
    assert_eq!((&statuses[0]["markdown"], &statuses[0]["quote"]["id"]), (&json!(true), &one["id"]));
}

#[tokio::test]
async fn filters_match_quoted_statuses() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let target = alice.publish("a spoiler of the film").await;
    let status = alice.publish(&format!("QT {}", address(&target))).await;
    let matches = async |status: &Value| {
        let seen = show(&bob, status).await;
        (seen["filtered"].as_array().unwrap().len(), seen["quote"]["filtered"].as_array().unwrap().len())
    };
    let filter = json!({"title": "film", "context": ["home"], "keywords_attributes": [{"keyword": "spoiler"}]});
    let filter = bob.post("/api/v2/filters").json(&filter).ok().await;
    assert_eq!(matches(&status).await, (1, 1));
    let filter = format!("/api/v2/filters/{}", filter["id"].as_str().unwrap());
    bob.put(&filter).json(&json!({"with_quote": false})).ok().await;
    assert_eq!(matches(&status).await, (0, 1));
}

#[tokio::test]
async fn policy_filters_references() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let target = alice.publish("hello").await;
    alice.patch("/api/v2/notifications/policy").json(&json!({"for_not_following": "filter"})).ok().await;
    bob.publish(&format!("RT {}", address(&target))).await;
    assert_eq!(types(&index(&alice, "").await), [""; 0]);
    assert_eq!(types(&index(&alice, "?include_filtered=true").await), ["status_reference"]);
}
