//! Statuses that stay on this server: nothing about them reaches another one, in either direction.

use serde_json::{Value, json};

use super::friends::{Friends, notifications};
use super::scene::Scene;
use crate::harness::liar::with;
use crate::harness::settle;

const ACTIVITY: &str = "application/activity+json";

/// A draft that stays here.
fn kept(text: &str) -> Value {
    json!({ "status": text, "local_only": true })
}

#[tokio::test]
async fn local_only_status_reaches_local_followers_alone() {
    let friends = Friends::new().await;
    let [here, there] = &friends.peers;
    let carol = here.account("carol").await;
    carol.follow(&friends.alice).ok().await;
    let carol_there = there.find(&friends.bob, &here.address(&carol)).await;
    friends.bob.follow(&carol_there).ok().await;
    friends.settle().await;
    let before = notifications(&friends.bob).await;

    let mention = format!("@{}", there.address(&friends.bob));
    let status = friends.alice.publish(kept(&format!("{mention} stays"))).await;
    assert!(status["content"].as_str().unwrap().contains("<a "), "the mention stays a link: {status}");
    settle(&friends.peers).await;
    let home = carol.get("/api/v1/timelines/home").ok().await;
    assert_eq!((&home[0]["id"], &home[0]["local_only"]), (&status["id"], &json!(true)));

    let reply = carol.reply(&status, &format!("{mention} me too")).await;
    assert_eq!(reply["local_only"], true);
    carol.reblog(&status).ok().await;
    carol.favourite(&status).ok().await;
    friends.alice.pin(&status).ok().await;
    friends.settle().await;
    here.tick();
    friends.alice.edit(&status, "stays, edited").ok().await;
    friends.settle().await;
    assert!(friends.home_of_bob().await.is_empty());
    assert_eq!(notifications(&friends.bob).await, before);
    let url: String = url::form_urlencoded::byte_serialize(status["uri"].as_str().unwrap().as_bytes()).collect();
    let found = friends.bob.get(&format!("/api/v2/search?q={url}&resolve=true&type=statuses")).ok().await;
    assert_eq!(found["statuses"], json!([]));

    friends.alice.unpin(&status).ok().await;
    carol.unreblog(&status).ok().await;
    friends.alice.delete_status(&status).ok().await;
    friends.settle().await;
    let stored: Vec<(i64,)> = there.db().fetch_raw("SELECT COUNT(*) FROM statuses").await.unwrap();
    assert_eq!(stored, [(0,)]);

    friends.alice.publish("goes").await;
    friends.settle().await;
    assert_eq!(friends.home_of_bob().await.len(), 1);
}

#[tokio::test]
async fn no_activity_about_a_local_only_status_is_sent() {
    let scene = Scene::new().await;
    scene.carol.follow_alice(&scene.app).await;
    let mention = format!("@{}", scene.carol.address());
    let text = |visibility: &str| {
        json!({ "status": format!("{mention} stays"), "local_only": true, "visibility": visibility,
                "poll": { "options": ["a", "b"], "expires_in": 300 } })
    };
    let before = scene.liar.received().len();
    for visibility in ["public", "unlisted", "private", "direct"] {
        let status = scene.alice.publish(text(visibility)).await;
        scene.app.run_jobs().await;
        if visibility != "direct" {
            scene.alice.reblog(&status).ok().await;
            scene.alice.pin(&status).ok().await;
            scene.app.run_jobs().await;
            scene.alice.unpin(&status).ok().await;
            scene.alice.unreblog(&status).ok().await;
        }
        scene.app.tick();
        scene.alice.edit(&status, &format!("{mention} stays, edited")).ok().await;
        scene.app.run_jobs().await;
        scene.app.make_jobs_due().await;
        scene.app.run_jobs().await;
        scene.alice.delete_status(&status).ok().await;
        scene.app.run_jobs().await;
    }
    assert_eq!(scene.liar.received()[before..], [] as [Value; 0]);

    scene.alice.publish("goes").await;
    scene.app.run_jobs().await;
    assert_eq!(scene.liar.received().len(), before + 1);
}

#[tokio::test]
async fn local_only_status_has_no_document_whatever_the_setting() {
    let scene = Scene::new().await;
    scene.carol.follow_alice(&scene.app).await;
    let mention = format!("@{} stays", scene.carol.address());
    let status = scene.alice.publish(kept(&mention)).await;
    let open = scene.alice.publish("goes").await;
    scene.alice.pin(&status).ok().await;
    let uri = status["uri"].as_str().unwrap();
    let note = uri.split_once("localhost:3000").unwrap().1;
    let sql = format!("SELECT conversation_id FROM statuses WHERE id = {status}");
    let (conversation,) = scene.app.db().fetch_raw::<(i64,)>(&sql).await.unwrap()[0];
    let parts = ["", "/activity", "/replies", "/likes", "/shares", "/references"];
    let mut paths: Vec<String> = parts.iter().map(|part| format!("{note}{part}")).collect();
    paths.extend([format!("/@alice/{status}"), format!("/contexts/{conversation}")]);
    for public in [false, true] {
        scene.app.set("local_only_public", public).await;
        for path in &paths {
            let anonymous = scene.app.anonymous().get(path).header("accept", ACTIVITY).send().await;
            assert_eq!(anonymous.status, 404, "{path}");
            assert_eq!(scene.carol.reads(&scene.app, path).send(&scene.app).await.status, 404, "{path}");
        }
        for path in ["/users/alice/outbox?page=true", "/users/alice/collections/featured"] {
            let anonymous = scene.app.anonymous().get(path).header("accept", ACTIVITY).send().await.text();
            let signed = scene.carol.reads(&scene.app, path).send(&scene.app).await.text();
            assert!(!anonymous.contains(uri) && !signed.contains(uri), "{path}: {anonymous} {signed}");
            assert_eq!(anonymous.contains(open.id()), path.contains("outbox"), "{path}: {anonymous}");
        }
    }
    let page = scene.app.anonymous().get(&format!("/@alice/{status}")).header("accept", "text/html").send().await;
    assert_eq!((page.status.as_u16(), page.header("link")), (200, ""));
    assert!(!page.text().contains(ACTIVITY) && !page.text().contains("visitor-form"));

    scene.alice.delete_status(&status).ok().await;
    let gone = scene.app.anonymous().get(note).header("accept", ACTIVITY).send().await;
    assert_eq!(gone.status, 404, "no tombstone");
}

#[tokio::test]
async fn limited_status_that_stays_has_no_capability() {
    let scene = Scene::new().await;
    let parent = scene.alice.publish(kept("hello")).await;
    let reply = json!({ "status": "psst", "visibility": "limited", "in_reply_to_id": parent["id"] });
    let reply = scene.alice.publish(reply).await;
    assert_eq!(reply["local_only"], true);
    let token = format!("Bearer {}", scene.app.app.keys.derive("bearcap", reply.id()).expose());
    let note = reply["uri"].as_str().unwrap().split_once("localhost:3000").unwrap().1;
    let answer =
        scene.app.anonymous().get(note).header("accept", ACTIVITY).header("authorization", &token).send().await;
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn acts_of_other_servers_on_a_local_only_status_have_no_effect() {
    let scene = Scene::new().await;
    let poll = json!({ "options": ["a", "b"], "expires_in": 300 });
    let status = scene.alice.publish(json!({ "status": "stays", "local_only": true, "poll": poll })).await;
    let uri = &status["uri"];
    for address in [uri, &status["url"]] {
        scene.send(&scene.carol, "Like", address.clone()).await;
        scene.send(&scene.carol, "Announce", address.clone()).await;
    }
    let reply = with(scene.carol.note("reply"), &json!({ "inReplyTo": uri }));
    let reply = scene.receive(&reply).await;
    assert_eq!((&reply["in_reply_to_id"], &reply["in_reply_to_account_id"]), (&Value::Null, &Value::Null));
    assert_eq!(reply["local_only"], false);
    let vote = with(scene.carol.note("vote"), &json!({ "inReplyTo": uri, "name": "a", "content": null }));
    scene.send(&scene.carol, "Create", vote).await;
    let quote = with(scene.carol.note("quote"), &json!({ "quoteUrl": uri }));
    assert_eq!(scene.receive(&quote).await["quote"], Value::Null);

    let seen = scene.alice.status(&status).ok().await;
    let counts = ["favourites_count", "reblogs_count", "replies_count", "quotes_count"].map(|name| seen[name].clone());
    assert_eq!(counts, [json!(0), json!(0), json!(0), json!(0)]);
    assert_eq!(seen["poll"]["votes_count"], 0);
    assert_eq!(scene.notifications().await, [""; 0]);
}
