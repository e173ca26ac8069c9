//! Quotes with consent: between two servers of ours, and with documents of other software (FEP-044f).

use serde_json::{Value, json};

use super::friends::{Friends, notifications};
use super::scene::{ALICE, Scene};
use crate::harness::liar::{Person, with};
use crate::harness::{Client, Liar, Published, id, status_path};
use crate::platform::contract;

const ACCEPT: &str = "application/activity+json";

/// The note of a status as it is served.
async fn document(client: &Client, uri: &str) -> Value {
    let path = uri.split_once("//").unwrap().1;
    let path = &path[path.find('/').unwrap()..];
    client.get(path).header("accept", ACCEPT).ok().await
}

async fn quote(author: &Client, target: &Value, more: &Value) -> Published {
    let body = json!({ "status": "look", "quoted_status_id": id(target) });
    author.publish(with(body, more)).await
}

/// The status with the address of `status` as `viewer` of another server sees it.
async fn there(viewer: &Client, status: &Value) -> Value {
    let query: String = url::form_urlencoded::byte_serialize(status["uri"].as_str().unwrap().as_bytes()).collect();
    let path = format!("/api/v2/search?q={query}&resolve=true&type=statuses");
    let found = viewer.get(&path).ok().await["statuses"][0].clone();
    assert!(found.is_object(), "{} was not found", status["uri"]);
    found
}

#[tokio::test]
async fn quote_is_accepted_by_the_other_server_and_revoked() {
    let friends = Friends::new().await;
    let (alice, bob) = (&friends.alice, &friends.bob);
    let target = alice.publish("hello").await;
    friends.settle().await;
    let seen = there(bob, &target).await;
    assert_eq!(seen["quote_approval"]["current_user"], "automatic");

    let quoting = quote(bob, &seen, &json!({})).await;
    assert_eq!(quoting["quote"], json!({ "state": "pending", "quoted_status": null }));
    contract::check("Status", &quoting);
    friends.settle().await;
    let accepted = bob.status(&quoting).ok().await;
    assert_eq!((&accepted["quote"]["state"], &accepted["quote"]["id"]), (&json!("accepted"), &seen["id"]));
    assert_eq!(accepted["edited_at"], Value::Null);
    let here = there(alice, &quoting).await;
    assert_eq!((&here["quote"]["state"], &here["quote"]["id"]), (&json!("accepted"), &target["id"]));
    assert_eq!(
        notifications(alice).await[0],
        ("quote".to_owned(), here["account"]["acct"].as_str().unwrap().to_owned())
    );
    assert_eq!(alice.status(&target).ok().await["quotes_count"], 1);
    let note = document(bob, quoting["uri"].as_str().unwrap()).await;
    let stamp = note["quoteAuthorization"].as_str().unwrap().to_owned();
    assert_eq!((&note["quote"], &note["quoteUrl"]), (&target["uri"], &target["uri"]));
    let authorization = document(alice, &stamp).await;
    assert_eq!(authorization["type"], "QuoteAuthorization");
    assert_eq!(authorization["interactingObject"], quoting["uri"]);
    assert_eq!(authorization["interactionTarget"], target["uri"]);

    let revoke = format!("/quotes/{}/revoke", id(&here));
    alice.post(&status_path(&target, &revoke)).ok().await;
    friends.settle().await;
    friends.settle().await;
    for (viewer, status) in [(bob, &*quoting), (alice, &here)] {
        let revoked = viewer.status(status).ok().await;
        assert_eq!(revoked["quote"], json!({ "state": "revoked", "quoted_status": null }));
    }
    assert_eq!(alice.status(&target).ok().await["quotes_count"], 0);
    let note = document(bob, quoting["uri"].as_str().unwrap()).await;
    assert_eq!((note.get("quote"), note.get("quoteAuthorization")), (None, None));
    let path = &stamp[stamp.find("/ap/").unwrap()..];
    alice.get(path).header("accept", ACCEPT).fails(404).await;
}

#[tokio::test]
async fn policy_is_known_on_the_other_server() {
    let friends = Friends::new().await;
    let (alice, bob) = (&friends.alice, &friends.bob);
    let stranger = friends.peers[1].account("stranger").await;
    let policy = |word: &str| json!({ "status": "hello", "quote_approval_policy": word });
    for (word, of_bob, of_stranger) in
        [("public", "automatic", "automatic"), ("followers", "automatic", "denied"), ("nobody", "denied", "denied")]
    {
        let target = alice.publish(policy(word)).await;
        friends.settle().await;
        for (viewer, may) in [(bob, of_bob), (&stranger, of_stranger)] {
            let seen = there(viewer, &target).await;
            assert_eq!(seen["quote_approval"]["current_user"], may, "{word}");
            let body = json!({ "status": "look", "quoted_status_id": id(&seen) });
            let response = viewer.post("/api/v1/statuses").json(&body).send().await;
            assert_eq!(response.status, if may == "denied" { 422 } else { 200 }, "{word}: {}", response.text());
        }
    }
    // A policy that changes afterwards is told.
    let target = alice.publish(policy("public")).await;
    friends.settle().await;
    let closed = json!({ "quote_approval_policy": "nobody" });
    alice.put(&status_path(&target, "/interaction_policy")).json(&closed).ok().await;
    friends.settle().await;
    assert_eq!(there(bob, &target).await["quote_approval"]["current_user"], "denied");
}

/// The activities of this type that the server of `liar` received.
fn received(liar: &Liar, kind: &str) -> Vec<Value> {
    liar.received().into_iter().filter(|activity| activity["type"] == kind).collect()
}

/// A request of `person` to quote `target`, in the form of Mastodon 4.5.
fn request(person: &Person, target: &Value, instrument: &str) -> Value {
    let activity = person.activity("QuoteRequest", target.clone());
    with(activity, &json!({ "instrument": instrument }))
}

async fn post(scene: &Scene, person: &Person, activity: &Value) {
    scene.app.tick();
    let response = person.letter(&scene.app, activity).send(&scene.app).await;
    assert_eq!(response.status, 202, "{}", response.text());
    scene.app.run_jobs().await;
}

#[tokio::test]
async fn request_is_accepted_before_and_after_the_quote_came() {
    let scene = Scene::new().await;
    let target = scene.alice.publish("mine").await;
    let note = with(scene.carol.note("1"), &json!({ "quote": target["uri"], "quoteUri": target["uri"] }));
    let ask = request(&scene.carol, &target["uri"], note["id"].as_str().unwrap());
    post(&scene, &scene.carol, &ask).await;
    let accepted = received(&scene.liar, "Accept");
    let [accept] = &accepted[..] else { panic!("{accepted:?}") };
    assert_eq!((&accept["object"]["id"], &accept["object"]["type"]), (&ask["id"], &json!("QuoteRequest")));
    assert_eq!((&accept["actor"], &accept["to"]), (&json!(ALICE), &json!([scene.carol.uri])));
    let stamp = document(&scene.alice, accept["result"].as_str().unwrap()).await;
    assert_eq!(stamp["interactingObject"], note["id"]);
    assert_eq!(scene.notifications().await, [""; 0], "it is not here yet");

    let status = scene.receive(&note).await;
    assert_eq!(status["quote"]["state"], "accepted");
    assert_eq!(scene.notifications().await, ["quote"]);
    // A request that is sent again is answered again, with the same authorization.
    let again = with(request(&scene.carol, &target["uri"], note["id"].as_str().unwrap()), &json!({}));
    post(&scene, &scene.carol, &again).await;
    let accepts = received(&scene.liar, "Accept");
    assert_eq!((accepts.len(), &accepts[1]["result"]), (2, &accept["result"]));

    // Of someone else, or about a status that nobody may quote.
    let dave = scene.liar.person("dave");
    post(&scene, &dave, &request(&dave, &target["uri"], note["id"].as_str().unwrap())).await;
    assert_eq!(received(&scene.liar, "Accept").len(), 2);
    let closed = scene.alice.publish(json!({ "status": "no", "quote_approval_policy": "nobody" })).await;
    let ask = request(&scene.carol, &closed["uri"], &format!("{}/notes/9", scene.carol.uri));
    post(&scene, &scene.carol, &ask).await;
    let rejected = received(&scene.liar, "Reject");
    assert_eq!(rejected.iter().map(|one| &one["object"]["id"]).collect::<Vec<_>>(), [&ask["id"]]);
    assert_eq!(scene.app.count("interaction_requests").await, 1, "what is refused leaves no row");
    let elsewhere = request(&scene.carol, &target["uri"], "https://elsewhere.test/1");
    post(&scene, &scene.carol, &elsewhere).await;
    assert_eq!(scene.app.count("interaction_requests").await, 1);
}

/// A policy of Mastodon 4.5 for notes of `person`.
fn policy(person: &Person, automatic: &Value) -> Value {
    json!({ "interactionPolicy": { "canQuote": { "automaticApproval": automatic, "manualApproval": [] } },
            "attributedTo": person.uri })
}

const EVERYONE: &str = "https://www.w3.org/ns/activitystreams#Public";

#[tokio::test]
async fn quote_of_a_remote_status_waits_for_its_author() {
    let scene = Scene::new().await;
    let note = with(scene.carol.note("1"), &policy(&scene.carol, &json!([EVERYONE])));
    let target = scene.receive(&note).await;
    assert_eq!(target["quote_approval"]["automatic"], json!(["public"]));
    let mut made = Vec::new();
    for _ in 0..2 {
        made.push(quote(&scene.alice, &target, &json!({})).await);
    }
    scene.app.run_jobs().await;
    let requests = received(&scene.liar, "QuoteRequest");
    assert_eq!(requests.len(), 2);
    assert_eq!((&requests[0]["object"], &requests[0]["actor"]), (&note["id"], &json!(ALICE)));
    let instrument = &requests[0]["instrument"];
    let instrument = if instrument.is_object() { &instrument["id"] } else { instrument };
    assert_eq!(instrument, &made[0]["uri"]);
    let accept = |request: &Value, result: &str| {
        with(scene.carol.activity("Accept", request["id"].clone()), &json!({ "result": result }))
    };
    // Another person does not decide.
    let dave = scene.liar.person("dave");
    let foreign = with(dave.activity("Accept", requests[0]["id"].clone()), &json!({ "result": dave.uri }));
    post(&scene, &dave, &foreign).await;
    assert_eq!(scene.alice.status(&made[0]).ok().await["quote"]["state"], "pending");

    let stamp = scene.liar.url("/stamps/1");
    post(&scene, &scene.carol, &accept(&requests[0], &stamp)).await;
    let status = scene.alice.status(&made[0]).ok().await;
    assert_eq!((&status["quote"]["state"], &status["quote"]["id"]), (&json!("accepted"), &target["id"]));
    let updates = received(&scene.liar, "Update");
    assert_eq!(updates.last().unwrap()["object"]["quoteAuthorization"], stamp);
    scene.send(&scene.carol, "Reject", requests[1]["id"].clone()).await;
    let status = scene.alice.status(&made[1]).ok().await;
    assert_eq!(status["quote"], json!({ "state": "rejected", "quoted_status": null }));
    assert_eq!(scene.alice.status(&target).ok().await["quotes_count"], 1);

    // Others do not take it back; its author does.
    scene.send(&dave, "Delete", json!(stamp)).await;
    assert_eq!(scene.alice.status(&made[0]).ok().await["quote"]["state"], "accepted");
    scene.send(&scene.carol, "Delete", json!({ "id": stamp, "type": "QuoteAuthorization" })).await;
    assert_eq!(scene.alice.status(&made[0]).ok().await["quote"]["state"], "revoked");
    assert_eq!(scene.alice.status(&target).ok().await["quotes_count"], 0);
    // A text cannot get past a policy, not even by an edit.
    let closed = with(scene.carol.note("2"), &policy(&scene.carol, &json!([scene.carol.uri])));
    let closed = scene.receive(&closed).await;
    let body = json!({ "status": "look", "quoted_status_id": id(&closed) });
    scene.alice.post("/api/v1/statuses").json(&body).fails(422).await;
    let plain = scene.alice.publish("look").await;
    let edited = scene.alice.edit(&plain, &format!("RE: {}", closed["url"].as_str().unwrap())).ok().await;
    assert!(edited.get("quote").is_none(), "{edited}");
}

#[tokio::test]
async fn quote_between_others_is_shown_when_its_authorization_is_valid() {
    let scene = Scene::new().await;
    let other = Liar::start().await;
    let dave = other.person("dave");
    let target = with(dave.note("1"), &policy(&dave, &json!([dave.followers()])));
    let uri = other.document("/users/dave/notes/1", &target);
    let stamp = |name: &str, more: &Value| {
        let path = format!("/stamps/{name}");
        let stamp = json!({
            "@context": "https://www.w3.org/ns/activitystreams", "type": "QuoteAuthorization", "id": other.url(&path),
            "attributedTo": dave.uri, "interactingObject": scene.carol.note(name)["id"], "interactionTarget": uri,
        });
        other.document(&path, &with(stamp, more))
    };
    let quoting = |name: &str, authorization: &Value| {
        with(scene.carol.note(name), &json!({ "quote": uri, "quoteAuthorization": authorization }))
    };
    let valid = stamp("a", &json!({}));
    let status = scene.receive(&quoting("a", &json!(valid))).await;
    assert_eq!((&status["quote"]["state"], &status["quote"]["uri"]), (&json!("accepted"), &json!(uri)));
    // It is fetched once, and kept.
    let edited =
        with(quoting("a", &json!(valid)), &json!({ "updated": "2026-01-15T12:10:00Z", "content": "<p>b</p>" }));
    scene.send(&scene.carol, "Update", edited).await;
    assert_eq!(scene.status(&scene.carol.note("a")).await.unwrap()["quote"]["state"], "accepted");
    assert_eq!(other.asked("/stamps/a"), 1);

    let foreign = scene.liar.document("/stamps/c", &json!({ "id": scene.liar.url("/stamps/c") }));
    for (name, authorization) in [
        ("b", Value::Null),
        ("c", json!(foreign)),
        ("d", json!(stamp("d", &json!({ "interactingObject": scene.carol.note("a")["id"] })))),
        ("e", json!(stamp("e", &json!({ "interactionTarget": dave.note("2")["id"] })))),
        ("f", json!(stamp("f", &json!({ "attributedTo": scene.carol.uri })))),
        ("g", json!(stamp("g", &json!({ "type": "Note" })))),
        ("h", json!(valid)),
        ("i", json!(other.url("/stamps/missing"))),
    ] {
        let status = scene.receive(&quoting(name, &authorization)).await;
        assert_eq!(status["quote"], json!({ "state": "pending", "quoted_status": null }), "{name}");
    }
    assert_eq!(scene.liar.asked("/stamps/c"), 0, "another host proves nothing");

    // The authorization may come later, without an edit.
    let late = quoting("b", &json!(stamp("b", &json!({}))));
    scene.send(&scene.carol, "Update", late).await;
    let status = scene.status(&scene.carol.note("b")).await.unwrap();
    assert_eq!((&status["quote"]["state"], &status["edited_at"]), (&json!("accepted"), &Value::Null));
    // And it may be taken back.
    scene.send(&dave, "Delete", json!(valid)).await;
    assert_eq!(scene.status(&scene.carol.note("a")).await.unwrap()["quote"]["state"], "revoked");
    // One's own status, and one by which the author is mentioned, need none.
    let own = with(dave.note("9"), &json!({ "quote": uri, "to": [EVERYONE, ALICE] }));
    scene.send(&dave, "Create", own.clone()).await;
    assert_eq!(scene.status(&own).await.unwrap()["quote"]["state"], "accepted");
    let mention = json!({ "type": "Mention", "href": scene.carol.uri, "name": "@carol" });
    let naming = json!({ "tag": [mention], "to": [EVERYONE, scene.carol.uri] });
    let naming = with(with(dave.note("3"), &policy(&dave, &json!([dave.uri]))), &naming);
    let naming = other.document("/users/dave/notes/3", &naming);
    let status = scene.receive(&with(scene.carol.note("z"), &json!({ "quote": naming }))).await;
    assert_eq!(status["quote"]["state"], "accepted");
}

/// A note of `author` with this policy.
async fn restricted(author: &Client, rule: &str, groups: &Value) -> Published {
    author.publish(json!({ "status": "hello", "interaction_policy": { rule: groups } })).await
}

async fn decide(author: &Client, what: &str) -> Value {
    let requests = author.get("/api/v1/interaction_requests").ok().await;
    let id = requests[0]["id"].as_str().unwrap_or_else(|| panic!("{requests}"));
    author.post(&format!("/api/v1/interaction_requests/{id}/{what}")).ok().await
}

#[tokio::test]
async fn reply_waits_for_the_author_on_another_server() {
    let friends = Friends::new().await;
    let (alice, bob) = (&friends.alice, &friends.bob);
    let carol = friends.peers[1].account("carol").await;
    let policy_of = json!({ "with_approval": ["public"] });
    let target = restricted(alice, "can_reply", &policy_of).await;
    friends.settle().await;
    let seen = there(bob, &target).await;
    assert_eq!(seen["interaction_policy"]["can_reply"]["current_user"], "manual");
    let response = |text: &str| json!({ "status": text, "in_reply_to_id": id(&seen) });
    let [one, two] = [bob.publish(response("one")).await, bob.publish(response("two")).await];
    assert_eq!(one["approval"], "pending");
    friends.settle().await;
    carol.status(&one).fails(404).await;
    assert_eq!(alice.status(&target).ok().await["replies_count"], 0);
    let waiting = alice.get("/api/v1/interaction_requests").ok().await;
    assert_eq!(waiting.as_array().unwrap().len(), 2);
    assert_eq!(waiting[1]["reply"]["content"], "<p>one</p>");

    decide(alice, "reject").await;
    decide(alice, "authorize").await;
    friends.settle().await;
    friends.settle().await;
    assert_eq!(bob.status(&one).ok().await.get("approval"), None);
    assert_eq!(carol.status(&one).ok().await["content"], "<p>one</p>");
    assert_eq!(bob.status(&two).ok().await["approval"], "rejected");
    assert_eq!(alice.status(&target).ok().await["replies_count"], 1);
    let note = document(bob, one["uri"].as_str().unwrap()).await;
    let stamp = document(alice, note["replyAuthorization"].as_str().unwrap()).await;
    assert_eq!((&stamp["type"], &stamp["interactingObject"]), (&json!("ReplyAuthorization"), &one["uri"]));

    // Taken out of the thread, and put back.
    let here = there(alice, &one).await;
    alice.post(&status_path(&here, "/remove_from_thread")).ok().await;
    friends.settle().await;
    assert_eq!(bob.status(&one).ok().await["approval"], "removed");
    carol.status(&one).fails(404).await;
    alice.post(&status_path(&here, "/restore_to_thread")).ok().await;
    friends.settle().await;
    assert_eq!(carol.status(&one).ok().await.get("approval"), None);
}

#[tokio::test]
async fn favourite_and_boost_wait_for_the_author_on_another_server() {
    let friends = Friends::new().await;
    let (alice, bob) = (&friends.alice, &friends.bob);
    for (rule, path, counter) in
        [("can_favourite", "/favourite", "favourites_count"), ("can_reblog", "/reblog", "reblogs_count")]
    {
        let target = restricted(alice, rule, &json!({ "with_approval": ["public"] })).await;
        friends.settle().await;
        let seen = there(bob, &target).await;
        bob.post(&status_path(&seen, path)).ok().await;
        friends.settle().await;
        assert_eq!(alice.status(&target).ok().await[counter], 0, "{rule}");
        decide(alice, "authorize").await;
        friends.settle().await;
        friends.settle().await;
        assert_eq!(alice.status(&target).ok().await[counter], 1, "{rule}");
        assert_eq!(bob.status(&seen).ok().await[counter], 1, "{rule}");
        // What the policy forbids is refused here, with a sentence.
        let closed = restricted(alice, rule, &json!({ "always": ["mentioned"] })).await;
        friends.settle().await;
        let error = bob.post(&status_path(&there(bob, &closed).await, path)).fails(403).await;
        assert!(error.contains("does not let you"), "{error}");
        // By followers without asking.
        let open = restricted(alice, rule, &json!({ "always": ["followers"] })).await;
        friends.settle().await;
        bob.post(&status_path(&there(bob, &open).await, path)).ok().await;
        friends.settle().await;
        assert_eq!(alice.status(&open).ok().await[counter], 1, "{rule}");
    }
}

#[tokio::test]
async fn interactions_without_a_request_are_held_to_the_policy() {
    let scene = Scene::new().await;
    scene.carol.follow_alice(&scene.app).await;
    let dave = scene.liar.person("dave");
    let rules = |groups: &Value| {
        json!({ "status": "hello", "interaction_policy": {
            "can_reply": groups, "can_favourite": groups, "can_reblog": groups,
        } })
    };
    let target = scene.alice.publish(rules(&json!({ "always": ["followers"] }))).await;
    let note = |person: &Person, name: &str, target: &Value| {
        with(person.note(name), &json!({ "inReplyTo": target["uri"], "to": [EVERYONE, ALICE] }))
    };
    for person in [&scene.carol, &dave] {
        scene.send(person, "Like", target["uri"].clone()).await;
        scene.send(person, "Announce", target["uri"].clone()).await;
        scene.send(person, "Create", note(person, "1", &target)).await;
    }
    let seen = scene.alice.status(&target).ok().await;
    for counter in ["favourites_count", "reblogs_count", "replies_count"] {
        assert_eq!(seen[counter], 1, "{counter}: the follower's");
    }
    let rejects = received(&scene.liar, "Reject");
    assert_eq!(rejects.len(), 3, "{rejects:?}");
    assert!(rejects.iter().any(|reject| reject["object"] == dave.note("1")["id"]));
    assert_eq!(received(&scene.liar, "Accept").last().unwrap()["object"], scene.carol.note("1")["id"]);
    assert!(scene.status(&dave.note("1")).await.is_none());
    assert_eq!(scene.app.count("statuses WHERE approval IS NOT NULL").await, 0, "nothing is stored");

    let policy_of = scene.alice.publish(rules(&json!({ "with_approval": ["public"] }))).await;
    scene.send(&dave, "Like", policy_of["uri"].clone()).await;
    scene.send(&dave, "Announce", policy_of["uri"].clone()).await;
    scene.send(&dave, "Create", note(&dave, "2", &policy_of)).await;
    let seen = scene.alice.status(&policy_of).ok().await;
    for counter in ["favourites_count", "reblogs_count", "replies_count"] {
        assert_eq!(seen[counter], 0, "{counter}");
    }
    for _ in 0..3 {
        decide(&scene.alice, "authorize").await;
    }
    scene.app.run_jobs().await;
    let seen = scene.alice.status(&policy_of).ok().await;
    for counter in ["favourites_count", "reblogs_count", "replies_count"] {
        assert_eq!(seen[counter], 1, "{counter}");
    }
    let accepts = received(&scene.liar, "Accept");
    for accept in &accepts[accepts.len() - 3..] {
        assert!(accept["object"].is_string() && accept["result"].is_string(), "{accept}");
    }
    // A closed thread.
    scene.alice.post(&status_path(&target, "/close_thread")).ok().await;
    scene.send(&scene.carol, "Create", note(&scene.carol, "9", &target)).await;
    assert!(scene.status(&scene.carol.note("9")).await.is_none());
    assert_eq!(received(&scene.liar, "Reject").last().unwrap()["object"], scene.carol.note("9")["id"]);
}

/// A policy of `GoToSocial` 0.20 for a note of `person`, with the former names beside the new ones.
fn of_gotosocial(person: &Person) -> Value {
    let sub = |automatic: Value, manual: Value| {
        json!({
            "always": automatic, "approvalRequired": manual,
            "automaticApproval": automatic, "manualApproval": manual,
        })
    };
    json!({ "interactionPolicy": {
        "canLike": sub(json!([EVERYONE]), json!([])),
        "canReply": sub(json!([person.uri, ALICE]), json!([EVERYONE])),
        "canAnnounce": sub(json!([person.uri]), json!([])),
    } })
}

#[tokio::test]
async fn policies_of_gotosocial_are_understood() {
    let scene = Scene::new().await;
    let plain = scene.receive(&with(scene.carol.note("1"), &of_gotosocial(&scene.carol))).await;
    let policy = &plain["interaction_policy"];
    assert_eq!(policy["can_favourite"]["always"], json!(["public"]));
    assert_eq!(
        (&policy["can_reply"]["with_approval"], &policy["can_reply"]["current_user"]),
        (&json!(["public"]), &json!("manual"))
    );
    assert_eq!(policy["can_reblog"]["current_user"], "denied");
    scene.alice.post(&status_path(&plain, "/reblog")).fails(403).await;
    scene.alice.post(&status_path(&plain, "/favourite")).ok().await;
    scene.app.run_jobs().await;
    assert_eq!(received(&scene.liar, "Like").len(), 1);
    // Someone who is mentioned needs no approval.
    let mention = json!({ "tag": [{ "type": "Mention", "href": ALICE, "name": "@alice" }], "to": [EVERYONE, ALICE] });
    let naming = with(with(scene.carol.note("2"), &of_gotosocial(&scene.carol)), &mention);
    let naming = scene.receive(&naming).await;
    assert_eq!(naming["interaction_policy"]["can_reply"]["current_user"], "automatic");

    let response = json!({ "status": "an answer", "in_reply_to_id": id(&plain) });
    let response = scene.alice.publish(&response).await;
    scene.app.run_jobs().await;
    assert!(received(&scene.liar, "Create").is_empty(), "followers receive it once it is approved");
    let requests = received(&scene.liar, "ReplyRequest");
    assert_eq!((&requests[0]["object"], &requests[0]["instrument"]["id"]), (&plain["uri"], &response["uri"]));
    let stamp = scene.liar.url("/authorizations/1");
    let accept = with(scene.carol.activity("Accept", requests[0]["id"].clone()), &json!({ "result": stamp }));
    post(&scene, &scene.carol, &accept).await;
    assert_eq!(scene.alice.status(&response).ok().await.get("approval"), None);
    let created = received(&scene.liar, "Create");
    assert_eq!(created[0]["object"]["replyAuthorization"], stamp);
}

#[tokio::test]
async fn reply_between_others_is_shown_when_its_authorization_is_valid() {
    let scene = Scene::new().await;
    let dave = scene.liar.person("dave");
    let root = scene.receive(&with(scene.carol.note("1"), &of_gotosocial(&scene.carol))).await;
    let note = |name: &str| with(dave.note(name), &json!({ "inReplyTo": root["uri"], "to": [EVERYONE, ALICE] }));
    scene.send(&dave, "Create", note("1")).await;
    assert!(scene.status(&note("1")).await.is_none(), "hidden");
    let stamp = |name: &str, kind: &str| {
        let path = format!("/stamps/{name}");
        scene.liar.document(&path, &json!({
            "@context": "https://www.w3.org/ns/activitystreams", "type": kind, "id": scene.liar.url(&path),
            "attributedTo": scene.carol.uri, "interactingObject": note(name)["id"], "interactionTarget": root["uri"],
        }))
    };
    let shown = with(note("2"), &json!({ "replyAuthorization": stamp("2", "ReplyAuthorization") }));
    scene.send(&dave, "Create", shown.clone()).await;
    assert!(scene.status(&shown).await.is_some());
    let former = with(note("3"), &json!({ "approvedBy": stamp("3", "ReplyApproval") }));
    scene.send(&dave, "Create", former.clone()).await;
    assert!(scene.status(&former).await.is_some());
    let wrong = with(note("4"), &json!({ "replyAuthorization": stamp("4", "QuoteAuthorization") }));
    scene.send(&dave, "Create", wrong.clone()).await;
    assert!(scene.status(&wrong).await.is_none());
    // It comes later.
    let late = with(note("1"), &json!({ "replyAuthorization": stamp("1", "ReplyAuthorization") }));
    scene.send(&dave, "Update", late.clone()).await;
    assert!(scene.status(&late).await.is_some());
    scene.send(&scene.carol, "Delete", json!(scene.liar.url("/stamps/2"))).await;
    assert!(scene.status(&shown).await.is_none(), "taken back");
}

#[tokio::test]
async fn flood_of_requests_is_bounded_beside_honest_ones() {
    let scene = Scene::with(&[("ROOKERY_FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.0/8")]).await;
    let target = scene.alice.publish("mine").await;
    let other = Liar::at("127.0.0.2").await;
    let dave = other.person("dave");
    let ask =
        |person: &Person, number: usize| request(person, &target["uri"], &format!("{}/notes/{number}", person.uri));
    let mut letters = Vec::new();
    for number in 0..320 {
        letters.push(scene.carol.letter(&scene.app, &ask(&scene.carol, number)));
    }
    for letter in letters {
        letter.send(&scene.app).await;
    }
    scene.app.run_jobs().await;
    let stored = scene.app.count("interaction_requests").await;
    assert!((1..=300).contains(&stored), "{stored}");
    post(&scene, &dave, &ask(&dave, 1)).await;
    assert_eq!(scene.app.count("interaction_requests").await, stored + 1, "another server has its own");
}
