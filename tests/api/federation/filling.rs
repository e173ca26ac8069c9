//! Threads and people of another server that fill: ancestors, replies, recent and pinned statuses, and counts.

use serde_json::Value;

use super::friends::Friends;
use crate::harness::{Client, Peer, id, settle};
use crate::platform::contract;

/// The statuses above and below `status` as `viewer` sees them, by their URIs.
async fn thread(viewer: &Client, status: &Value) -> (Vec<Value>, Vec<Value>) {
    let context = viewer.get(&format!("/api/v1/statuses/{}/context", id(status))).ok().await;
    let uris = |name: &str| context[name].as_array().unwrap().iter().map(|one| one["uri"].clone()).collect();
    (uris("ancestors"), uris("descendants"))
}

#[tokio::test]
async fn followed_account_has_its_recent_and_pinned_statuses() {
    let peers = Peer::pair().await;
    let [alice, bob] = [peers[0].account("alice").await, peers[1].account("bob").await];
    let fan = peers[0].account("fan").await;
    fan.follow(&alice).ok().await;
    let old = alice.publish("first").await;
    alice.pin(&old).ok().await;
    peers[0].tick();
    let reply = alice.reply(&old, "more").await;
    alice.publish_to("private", "not for everyone").await;
    let alice_there = peers[1].find(&bob, &peers[0].address(&alice)).await;
    let statuses = format!("/api/v1/accounts/{}/statuses", id(&alice_there));
    assert_eq!(bob.get(&statuses).ok().await, serde_json::json!([]));
    bob.follow(&alice_there).ok().await;
    settle(&peers).await;

    let shown = bob.get(&statuses).ok().await;
    let uris: Vec<&Value> = shown.as_array().unwrap().iter().map(|status| &status["uri"]).collect();
    assert_eq!(uris, [&reply["uri"], &old["uri"]], "{shown}");
    assert_eq!(shown[0]["in_reply_to_id"], shown[1]["id"]);
    assert_eq!(shown[1]["replies_count"], 1);
    let pinned = bob.get(&format!("{statuses}?pinned=true")).ok().await;
    assert_eq!((pinned.as_array().unwrap().len(), &pinned[0]["uri"]), (1, &old["uri"]));
    let account = bob.get(&format!("/api/v1/accounts/{}", id(&alice_there))).ok().await;
    assert_eq!((&account["followers_count"], &account["statuses_count"]), (&2.into(), &3.into()), "{account}");
    let home = bob.get("/api/v1/timelines/home").ok().await;
    assert_eq!(home.as_array().unwrap().len(), 2, "{home}");
}

#[tokio::test]
async fn ancestors_of_a_reply_are_fetched() {
    let friends = Friends::new().await;
    let carol = friends.peers[0].account("carol").await;
    let first = carol.publish("first").await;
    let second = carol.reply(&first, "second").await;
    let third = friends.alice.reply(&second, "third").await;
    friends.settle().await;
    // Bob does not follow the author of the parent.
    assert!(friends.home_of_bob().await.is_empty());
    let there = friends.bob.search_status(&third["url"]).await;
    let (above, below) = thread(&friends.bob, &there).await;
    assert_eq!((above, below), (vec![first["uri"].clone(), second["uri"].clone()], vec![]));
    let parent = friends.bob.search_status(&second["url"]).await;
    assert_eq!((&parent["replies_count"], &there["in_reply_to_id"]), (&1.into(), &parent["id"]));
}

#[tokio::test]
async fn own_thread_of_a_followed_account_is_on_the_home_timeline() {
    let friends = Friends::new().await;
    friends.bob.unfollow(&friends.alice_there).ok().await;
    friends.settle().await;
    let first = friends.alice.publish("first").await;
    friends.settle().await;
    for peer in &friends.peers {
        peer.app.clock.advance(chrono::TimeDelta::minutes(11));
    }
    friends.bob.follow(&friends.alice_there).ok().await;
    let second = friends.alice.reply(&first, "second").await;
    friends.settle().await;
    let home = friends.home_of_bob().await;
    let uris: Vec<&Value> = home.iter().map(|status| &status["uri"]).collect();
    assert_eq!(uris, [&second["uri"], &first["uri"]], "{home:?}");
}

#[tokio::test]
async fn replies_to_a_status_are_fetched_when_someone_looks() {
    let peers = Peer::pair().await;
    let [alice, carol] = peers[0].accounts(["alice", "carol"]).await;
    let bob = peers[1].account("bob").await;
    let first = alice.publish("first").await;
    let second = alice.reply(&first, "second").await;
    let third = carol.reply(&second, "third").await;
    let hidden = carol.reply(&alice.publish("else").await, "elsewhere").await;
    let there = bob.search_status(&first["url"]).await;
    settle(&peers).await;
    for peer in &peers {
        peer.app.clock.advance(chrono::TimeDelta::minutes(16));
    }
    assert_eq!(thread(&bob, &there).await, (vec![], vec![second["uri"].clone()]));
    settle(&peers).await;
    let (_, below) = thread(&bob, &there).await;
    assert_eq!(below, [second["uri"].clone(), third["uri"].clone()]);
    assert_eq!(peers[1].count(&format!("statuses WHERE uri = '{}'", hidden["uri"].as_str().unwrap())).await, 0);
}

#[tokio::test]
async fn visit_to_a_thread_is_followed_by_its_id() {
    let peers = Peer::pair().await;
    let alice = peers[0].account("alice").await;
    let bob = peers[1].account("bob").await;
    let first = alice.publish("first").await;
    let there = bob.search_status(&first["url"]).await;
    settle(&peers).await;
    for peer in &peers {
        peer.app.clock.advance(chrono::TimeDelta::minutes(16));
    }
    let context = format!("/api/v1/statuses/{}/context", id(&there));
    let named = async || {
        let response = bob.get(&context).send().await;
        response.headers.get("mastodon-async-refresh").map(|value| value.to_str().unwrap().to_owned())
    };
    alice.reply(&first, "second").await;
    assert!(peers[1].anonymous().get(&context).send().await.headers.get("mastodon-async-refresh").is_none());
    let header = named().await.expect("a visit is queued");
    let name = header.strip_prefix("id=\"").unwrap().strip_suffix("\", retry=5, result_count=0").unwrap();
    assert!(named().await.is_some(), "it still is");
    let path = format!("/api/v1_alpha/async_refreshes/{name}");
    let state = async || {
        let shown = bob.get(&path).ok().await;
        contract::check("AsyncRefresh", &shown);
        assert_eq!(shown["async_refresh"]["id"], name);
        (shown["async_refresh"]["status"].as_str().unwrap().to_owned(), shown["async_refresh"]["result_count"].clone())
    };
    assert_eq!(state().await, ("running".to_owned(), 0.into()));
    settle(&peers).await;
    assert_eq!(state().await, ("finished".to_owned(), 1.into()));
    assert_eq!(named().await, None, "nothing is queued now");
    let direct = serde_json::json!({ "status": "psst", "visibility": "direct", "in_reply_to_id": id(&there) });
    peers[1].account("eve").await.publish(direct).await;
    assert_eq!(state().await.1, 1, "a direct reply is not counted");

    peers[1].anonymous().get(&path).fails(401).await;
    bob.with_scopes("read:accounts write").await.get(&path).fails(403).await;
    bob.get(&format!("{path}x")).fails(404).await;
    bob.get("/api/v1_alpha/async_refreshes/1.1.1.1").fails(404).await;
    peers[1].app.clock.advance(chrono::TimeDelta::minutes(61));
    bob.get(&path).fails(404).await;
}

#[tokio::test]
async fn two_new_followers_of_one_account_both_have_its_statuses() {
    let peers = Peer::pair().await;
    let alice = peers[0].account("alice").await;
    let [bob, carol] = peers[1].accounts(["bob", "carol"]).await;
    let status = alice.publish("before they followed").await;
    let alice_there = peers[1].find(&bob, &peers[0].address(&alice)).await;
    for follower in [&bob, &carol] {
        follower.follow(&alice_there).ok().await;
    }
    settle(&peers).await;
    for follower in [&bob, &carol] {
        let home = follower.get("/api/v1/timelines/home").ok().await;
        assert_eq!((home.as_array().unwrap().len(), &home[0]["uri"]), (1, &status["uri"]), "{home}");
    }
}
