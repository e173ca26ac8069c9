//! Ids of activities: every one that leaves has one id, which is the same everywhere and can be fetched, and what takes an
//! act back names the activity as it was sent.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::scene::{ALICE, Scene};
use crate::harness::{Letter, id};

fn text<'a>(activity: &'a Value, member: &str) -> &'a str {
    activity[member].as_str().unwrap_or_else(|| panic!("no {member}: {activity}"))
}

impl Scene {
    /// All that Alice can do which Carol's server is sent.
    async fn do_everything(&self) {
        let (app, alice, carol) = (&self.app, &self.alice, &self.carol);
        carol.follow_alice(app).await;
        let note = self.receive(&carol.note("1")).await;
        let poll = json!({
            "type": "Question", "oneOf": [
                { "type": "Note", "name": "a", "replies": { "type": "Collection", "totalItems": 0 } },
                { "type": "Note", "name": "b", "replies": { "type": "Collection", "totalItems": 0 } },
            ],
        });
        let question = self.receive(&crate::harness::liar::with(carol.note("2"), &poll)).await;
        let options = json!({ "choices": [0] });
        alice.post(&format!("/api/v1/polls/{}/votes", text(&question["poll"], "id"))).json(&options).ok().await;
        for _ in 0..2 {
            alice.reblog(&note).ok().await;
            app.run_jobs().await;
            alice.unreblog(&note).ok().await;
            alice.favourite(&note).ok().await;
            app.run_jobs().await;
            alice.unfavourite(&note).ok().await;
            app.run_jobs().await;
        }
        let account = self.account(carol).await;
        let own =
            alice.publish(json!({ "status": "mine", "poll": { "options": ["x", "y"], "expires_in": 600 } })).await;
        let edited = alice.publish("first").await;
        for words in ["second", "third"] {
            app.tick();
            alice.put(&format!("/api/v1/statuses/{}", id(&edited))).json(&json!({ "status": words })).ok().await;
            app.run_jobs().await;
        }
        alice.pin(&edited).ok().await;
        alice.unpin(&edited).ok().await;
        alice.post("/api/v1/featured_tags").form(&[("name", "rooks")]).ok().await;
        alice.patch("/api/v1/accounts/update_credentials").form(&[("display_name", "Alice")]).ok().await;
        app.run_jobs().await;
        // A follow that is sent again is answered again.
        carol.follow_alice(app).await;
        for _ in 0..2 {
            alice.unfollow(&account).ok().await;
            app.run_jobs().await;
            self.follow(carol).await;
        }
        alice.reblog(&note).ok().await;
        alice.delete_status(&own).ok().await;
        app.run_jobs().await;
        alice.post(&format!("/api/v1/accounts/{}/block", id(&account))).ok().await;
        app.run_jobs().await;
        alice.post(&format!("/api/v1/accounts/{}/unblock", id(&account))).ok().await;
        app.run_jobs().await;
    }
}

#[tokio::test]
async fn every_activity_that_leaves_has_one_id_that_can_be_fetched() {
    let scene = Scene::new().await;
    scene.do_everything().await;
    let sent = scene.liar.received();
    let kinds: BTreeSet<&str> = sent.iter().map(|activity| text(activity, "type")).collect();
    let all = [
        "Accept", "Add", "Announce", "Block", "Create", "Delete", "Follow", "Like", "Reject", "Remove", "Undo",
        "Update",
    ];
    assert_eq!(kinds, BTreeSet::from(all));

    let taken = sent.iter().filter(|activity| matches!(text(activity, "type"), "Undo" | "Delete"));
    let taken_back: BTreeSet<&str> = taken.filter_map(|activity| activity["object"]["id"].as_str()).collect();
    let mut by_id: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut undone = BTreeSet::new();
    for activity in &sent {
        let id = text(activity, "id");
        assert!(by_id.insert(id, activity).is_none(), "the id of another: {activity}");
        assert!(id.starts_with(ALICE), "{id}");
        let address = id.split('#').next().unwrap();
        let answer = Letter::read(&scene.app, address.strip_prefix("http://localhost:3000").unwrap());
        let answer = answer.send(&scene.app).await;
        let is_gone =
            taken_back.contains(address) || address.strip_suffix("/activity").is_some_and(|id| taken_back.contains(id));
        assert!(answer.status == 200 || is_gone, "{}: {activity}", answer.status);
        if answer.status == 200 && !id.contains('#') {
            assert_eq!(answer.json()["id"], id, "served under another id");
        }
        if text(activity, "type") == "Undo" {
            let object = &activity["object"];
            let done =
                by_id.get(text(object, "id")).unwrap_or_else(|| panic!("what was not sent is undone: {activity}"));
            for member in ["type", "actor", "object"] {
                assert_eq!(object[member], done[member], "{member} of {activity}");
            }
            undone.insert(text(object, "type"));
        }
    }
    assert_eq!(undone, BTreeSet::from(["Announce", "Block", "Follow", "Like"]));

    // The reblog that stays: in its delivery, the outbox, the API and at its own address.
    let last = sent.iter().rfind(|activity| text(activity, "type") == "Announce").unwrap();
    let outbox = Letter::read(&scene.app, "/users/alice/outbox?page=true").send(&scene.app).await.json();
    let listed = outbox["orderedItems"].as_array().unwrap().iter().find(|item| item["type"] == "Announce").unwrap();
    let shown = scene.alice.get(&format!("/api/v1/accounts/{}/statuses", scene.alice.id())).ok().await;
    let shown = shown.as_array().unwrap().iter().find(|status| status["reblog"].is_object()).unwrap();
    let fetched = text(last, "id").strip_prefix("http://localhost:3000").unwrap();
    let fetched = Letter::read(&scene.app, fetched).send(&scene.app).await.json();
    assert_eq!([&listed["id"], &shown["uri"], &fetched["id"]], [&last["id"]; 3]);
}

#[tokio::test]
async fn undo_with_the_id_alone_ends_follow_request_and_block() {
    let scene = Scene::new().await;
    let (app, alice, carol) = (&scene.app, &scene.alice, &scene.carol);
    let forms = |activity: &Value| {
        let id = activity["id"].clone();
        [id.clone(), json!({ "id": id }), json!({ "type": activity["type"], "id": id })]
    };
    let sends = async |activity: &Value| {
        let answer = carol.letter(app, activity).send(app).await;
        assert_eq!(answer.status, 202);
        app.run_jobs().await;
    };
    let tie = async || {
        let account = scene.account(carol).await;
        alice.get(&format!("/api/v1/accounts/relationships?id[]={}", id(&account))).ok().await[0].clone()
    };
    for number in 0..3 {
        let follow = carol.activity("Follow", ALICE);
        sends(&follow).await;
        assert_eq!(tie().await["followed_by"], true, "{number}");
        sends(&carol.activity("Undo", forms(&follow)[number].clone())).await;
        assert_eq!(tie().await["followed_by"], false, "{number}");
        let block = carol.activity("Block", ALICE);
        sends(&block).await;
        assert_eq!(tie().await["blocked_by"], true, "{number}");
        sends(&carol.activity("Undo", forms(&block)[number].clone())).await;
        assert_eq!(tie().await["blocked_by"], false, "{number}");
    }
    alice.patch("/api/v1/accounts/update_credentials").form(&[("locked", "true")]).ok().await;
    for number in 0..3 {
        let follow = carol.activity("Follow", ALICE);
        sends(&follow).await;
        assert_eq!(tie().await["requested_by"], true, "{number}");
        // Another's id ends nothing.
        let dave = scene.liar.person("dave");
        let undo = dave.activity("Undo", follow["id"].clone());
        assert_eq!(dave.letter(app, &undo).send(app).await.status, 202);
        app.run_jobs().await;
        assert_eq!(tie().await["requested_by"], true, "{number}");
        sends(&carol.activity("Undo", forms(&follow)[number].clone())).await;
        assert_eq!(tie().await["requested_by"], false, "{number}");
    }
}
