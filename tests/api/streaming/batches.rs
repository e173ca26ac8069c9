//! Events for many people: each receives their own rendering, and all together cost as much as one.

use std::collections::BTreeSet;

use chrono::Duration;
use serde_json::{Value, json};

use super::personal::follow;
use crate::harness::{Client, Events, TestApp};
use context::change::{Change, CreatedNotification};

/// Number of measurements of a cost, of which the lowest counts: on PostgreSQL the tokens of streams are checked
/// meanwhile.
const TRIES: usize = 3;

/// Accounts, each with a stream of their notifications.
async fn listeners(app: &TestApp, names: &[&str]) -> Vec<(Client, Events)> {
    let mut people = Vec::new();
    for name in names {
        let person = app.account(name).await;
        let events = person.events("user/notification").await;
        people.push((person, events));
    }
    people
}

/// The next notification on the stream of each of `people`.
async fn told(people: &mut [(Client, Events)]) -> Vec<Value> {
    let mut told = Vec::new();
    for (_, events) in people {
        let event = events.next().await.unwrap();
        assert_eq!(event.name, "notification");
        told.push(event.json());
    }
    told
}

#[tokio::test]
async fn mentioned_accounts_receive_their_own_rendering() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let mut people = listeners(&app, &["bob", "carol", "dan"]).await;
    let [bob, carol, dan] = [0, 1, 2].map(|index| people[index].0.clone());
    let filter =
        json!({ "title": "T", "context": ["notifications"], "keywords_attributes": [{ "keyword": "spoiler" }] });
    carol.post("/api/v2/filters").json(&filter).ok().await;
    follow(&dan, &alice).await;
    let body = json!({
        "status": "@bob @carol @dan a spoiler", "poll": { "options": ["a", "b"], "expires_in": 600 }, "visibility": "private",
    });
    alice.publish(body).await;
    app.run_jobs().await;
    let told = told(&mut people).await;
    for (person, told) in [&bob, &carol, &dan].iter().zip(&told) {
        let read = person.get(&format!("/api/v1/notifications/{}", told["id"].as_str().unwrap())).ok().await;
        assert_eq!(told, &read, "{}", person.name);
        assert_eq!(told["type"], "mention");
    }
    assert_eq!(told[0]["status"]["filtered"], json!([]));
    assert_eq!(told[1]["status"]["filtered"][0]["filter"]["title"], "T");
}

#[tokio::test]
async fn notifications_of_several_kinds_and_statuses_are_sent_together() {
    let app = TestApp::new().await;
    let [alice, eve, zoe] = app.accounts(["alice", "eve", "zoe"]).await;
    let mut people = listeners(&app, &["bob", "carol", "dan"]).await;
    let [bob, carol, dan] = [0, 1, 2].map(|index| people[index].0.clone());
    for person in [&bob, &carol, &dan] {
        follow(&zoe, person).await;
    }
    let followed: Vec<Value> = told(&mut people).await;
    let list = bob.post("/api/v1/lists").json(&json!({ "title": "Birds", "notify": true })).ok().await;
    follow(&bob, &alice).await;
    let members = format!("/api/v1/lists/{}/accounts", list["id"].as_str().unwrap());
    bob.post(&members).json(&json!({ "account_ids": [alice.id().to_string()] })).ok().await;
    // Statuses that this adds to the list do not notify.
    app.run_jobs().await;
    let status = carol.publish("words").await.into_id();
    alice.publish("a rook").await;
    alice.favourite(&status).ok().await;
    follow(&alice, &dan).await;
    let hidden = eve.publish("@dan gone soon").await.into_id();
    eve.delete_status(&hidden).ok().await;
    app.run_jobs().await;
    let number = |id: &Value| id.as_str().unwrap().parse::<i64>().unwrap().into();
    let newest = |page: Value| number(&page[0]["id"]);
    // Repeats the first event, which arrives after everything sent meanwhile.
    let again = people.iter().zip(&followed).map(|((person, _), followed)| CreatedNotification {
        receiver: person.id(),
        notification: number(&followed["id"]),
        kind: String::new(),
    });
    app.app.live.tell(Change::Notified { made: again.collect() });
    for ((_, events), followed) in people.iter_mut().zip(&followed) {
        while events.next().await.unwrap().json()["id"] != followed["id"] {}
    }
    let mut made = Vec::new();
    for person in [&bob, &carol, &dan] {
        let notification = newest(person.get("/api/v1/notifications").ok().await);
        made.push(CreatedNotification { receiver: person.id(), notification, kind: String::new() });
    }
    // Notifications of another account are not sent.
    made.push(CreatedNotification { receiver: bob.id(), notification: made[1].notification, kind: String::new() });
    app.app.live.tell(Change::Notified { made });
    let told = told(&mut people).await;
    let kinds: Vec<&str> = told.iter().map(|told| told["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["list_status", "favourite", "follow"]);
    for (person, told) in [&bob, &carol, &dan].iter().zip(&told) {
        let read = person.get(&format!("/api/v1/notifications/{}", told["id"].as_str().unwrap())).ok().await;
        assert_eq!(told, &read, "{}", person.name);
    }
    assert_eq!(told[0]["list"]["title"], "Birds");
    let ids: BTreeSet<&str> = told.iter().map(|told| told["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 3);
}

#[tokio::test]
async fn status_costs_same_for_many_and_few_mentions() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let (mut people, mut costs) = (Vec::new(), Vec::new());
    for names in [&["r1", "r2"][..], &["r3", "r4", "r5", "r6", "r7", "r8", "r9"]] {
        people.extend(listeners(&app, names).await);
        let mut text = people.iter().map(|(person, _)| format!("@{} ", person.name)).collect::<String>();
        text.push_str("hello");
        // The first round fills the caches of each receiver.
        for round in 0..2 {
            alice.publish(json!({ "status": text })).await;
            app.run_jobs().await;
            let first = told(&mut people).await;
            if round == 0 {
                continue;
            }
            let made = people.iter().zip(&first).map(|((person, _), told)| CreatedNotification {
                receiver: person.id(),
                notification: told["id"].as_str().unwrap().parse::<i64>().unwrap().into(),
                kind: "mention".to_owned(),
            });
            let change = Change::Notified { made: made.collect() };
            let mut least = u64::MAX;
            for _ in 0..TRIES {
                let telling = async {
                    app.app.live.tell(change.clone());
                    assert_eq!(told(&mut people).await, first);
                };
                least = least.min(app.cost(telling).await.0);
            }
            costs.push(least);
        }
    }
    assert_eq!(costs[0], costs[1], "{costs:?}");
}

#[tokio::test]
async fn poll_end_costs_same_for_many_and_few_voters() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let (mut people, mut costs) = (Vec::new(), Vec::new());
    for names in [&["r1", "r2"][..], &["r3", "r4", "r5", "r6", "r7", "r8", "r9"]] {
        people.extend(listeners(&app, names).await);
        let mut least = u64::MAX;
        for round in 0..=TRIES {
            let poll = json!({ "options": ["a", "b"], "expires_in": 600 });
            let id = alice.publish(json!({ "status": "which?", "poll": poll })).await.into_id();
            let status = alice.status(&id).ok().await;
            let votes = format!("/api/v1/polls/{}/votes", status["poll"]["id"].as_str().unwrap());
            for (person, _) in &people {
                person.post(&votes).json(&json!({ "choices": [0] })).ok().await;
            }
            app.run_jobs().await;
            app.app.clock.advance(Duration::seconds(601));
            let ending = async {
                app.run_jobs().await;
                told(&mut people).await
            };
            let (cost, told) = app.cost(ending).await;
            assert!(
                told.iter().all(|told| told["type"] == "poll" && told["status"]["poll"]["own_votes"] == json!([0]))
            );
            // The first round fills the caches of each receiver.
            if round > 0 {
                least = least.min(cost);
            }
        }
        costs.push(least);
    }
    assert_eq!(costs[0], costs[1], "{costs:?}");
}

#[tokio::test]
async fn direct_status_costs_same_for_many_and_few_conversations() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let (mut people, mut costs): (Vec<(Client, Events)>, _) = (Vec::new(), Vec::new());
    for names in [&["r1", "r2"][..], &["r3", "r4", "r5", "r6", "r7", "r8", "r9"]] {
        for name in names {
            let person = app.account(name).await;
            // Otherwise the policy filters direct statuses of strangers.
            follow(&person, &alice).await;
            let events = person.events("direct").await;
            people.push((person, events));
        }
        let text = people.iter().map(|(person, _)| format!("@{} ", person.name)).collect::<String>();
        let (count, mut least) = (people.len(), u64::MAX);
        for round in 0..=TRIES {
            alice.publish(json!({ "status": text, "visibility": "direct" })).await;
            app.run_jobs().await;
            let mut conversations = Vec::new();
            for (person, events) in &mut people {
                let event = events.next().await.unwrap();
                let read = person.get("/api/v1/conversations?limit=1").ok().await;
                assert_eq!((event.name.as_str(), event.json()), ("conversation", read[0].clone()), "{}", person.name);
                let others = read[0]["accounts"].as_array().unwrap();
                assert!(others.len() == count && others.iter().all(|other| other["username"] != person.name));
                conversations.push((person.id(), read[0]["id"].as_str().unwrap().parse::<i64>().unwrap().into()));
            }
            let again = async {
                app.app.live.tell(Change::ConversationsUpdated { conversations });
                for (_, events) in &mut people {
                    assert_eq!(events.next().await.unwrap().name, "conversation");
                }
            };
            let (cost, ()) = app.cost(again).await;
            // The first round fills the caches of each receiver.
            if round > 0 {
                least = least.min(cost);
            }
        }
        costs.push(least);
    }
    assert_eq!(costs[0], costs[1], "{costs:?}");
}
