//! Remote people and statuses as apps show them.

use serde_json::{Value, json};

use crate::harness::{Client, Peer, accts, id, settle};

async fn texts(viewer: &Client, path: &str) -> Vec<String> {
    let page = viewer.get(path).ok().await;
    let text = |status: &Value| status["content"].as_str().unwrap().replace("<p>", "").replace("</p>", "");
    page.as_array().unwrap().iter().map(text).collect()
}

/// Two servers; Alice and Dora on the first, Bob on the second, whom Alice follows.
async fn scene() -> ([Peer; 2], Client, Client, Client, Value) {
    let peers = Peer::pair().await;
    let [alice, dora] = peers[0].accounts(["alice", "dora"]).await;
    let bob = peers[1].named_account("bob").await;
    let bob_there = peers[0].find(&alice, &peers[1].address(&bob)).await;
    alice.follow(&bob_there).ok().await;
    settle(&peers).await;
    (peers, alice, dora, bob, bob_there)
}

#[tokio::test]
async fn public_timelines_tell_local_from_remote() {
    let (peers, alice, dora, bob, _) = scene().await;
    dora.publish("local").await;
    bob.publish("remote").await;
    bob.publish_to("unlisted", "quiet").await;
    settle(&peers).await;
    let path = "/api/v1/timelines/public";
    assert_eq!(texts(&alice, path).await, ["remote", "local"]);
    assert_eq!(texts(&alice, &format!("{path}?local=true")).await, ["local"]);
    assert_eq!(texts(&alice, &format!("{path}?remote=true")).await, ["remote"]);
    assert_eq!(texts(&alice, "/api/v1/timelines/home").await, ["quiet", "remote"]);
}

#[tokio::test]
async fn lists_and_hashtags_contain_remote_statuses() {
    let (peers, alice, _, bob, bob_there) = scene().await;
    let list = alice.post("/api/v1/lists").json(&json!({ "title": "elsewhere" })).ok().await;
    let members = json!({ "account_ids": [id(&bob_there)] });
    alice.post(&format!("/api/v1/lists/{}/accounts", id(&list))).json(&members).ok().await;
    bob.publish("look #Rooks").await;
    settle(&peers).await;
    let entries = alice.get(&format!("/api/v1/timelines/list/{}", id(&list))).ok().await;
    assert_eq!(entries.as_array().unwrap().len(), 1);
    let tagged = alice.get("/api/v1/timelines/tag/rooks").ok().await;
    assert_eq!(tagged[0]["id"], entries[0]["id"]);
}

#[tokio::test]
async fn account_and_status_have_the_addresses_of_their_server() {
    let (peers, alice, _, bob, bob_there) = scene().await;
    let status = bob.publish("hello").await;
    settle(&peers).await;
    assert_eq!(bob_there["acct"], peers[1].address(&bob));
    assert_eq!(bob_there["url"], format!("http://{}/@bob", peers[1].domain));
    assert_eq!(bob_there["uri"], format!("http://{}/users/bob", peers[1].domain));
    let seen = alice.get(&format!("/api/v1/accounts/{}/statuses", id(&bob_there))).ok().await;
    assert_eq!((&seen[0]["uri"], &seen[0]["url"]), (&status["uri"], &status["url"]));
    let followers = alice.get(&format!("/api/v1/accounts/{}/followers", id(&bob_there))).ok().await;
    assert_eq!(accts(&followers), ["alice"]);
    let peers_list = alice.get("/api/v1/instance/peers").ok().await;
    assert_eq!(peers_list, json!([peers[1].domain]));
}

#[tokio::test]
async fn blocks_mutes_and_domain_blocks_hide_remote_accounts() {
    let (peers, alice, dora, bob, bob_there) = scene().await;
    bob.publish("hello").await;
    settle(&peers).await;
    let path = "/api/v1/timelines/public";
    assert_eq!(texts(&dora, path).await, ["hello"]);
    dora.mute(&bob_there).ok().await;
    assert_eq!(texts(&dora, path).await, [""; 0]);
    dora.unmute(&bob_there).ok().await;
    dora.block(&bob_there).ok().await;
    assert_eq!(texts(&dora, path).await, [""; 0]);
    dora.unblock(&bob_there).ok().await;
    assert_eq!(texts(&dora, path).await, ["hello"]);

    // Of the domain that she blocks, Alice follows nobody any more, and the other server knows.
    alice.post("/api/v1/domain_blocks").form(&[("domain", &peers[1].domain)]).ok().await;
    settle(&peers).await;
    assert_eq!(texts(&alice, path).await, [""; 0]);
    let followers = bob.get(&format!("/api/v1/accounts/{}/followers", bob.id())).ok().await;
    assert_eq!(accts(&followers), [""; 0]);
    bob.publish(&*format!("psst @{}", peers[0].address(&alice))).await;
    settle(&peers).await;
    assert_eq!(alice.get("/api/v1/notifications?types[]=mention").ok().await, json!([]));
}

#[tokio::test]
async fn blocked_account_cannot_follow() {
    let (peers, alice, dora, bob, bob_there) = scene().await;
    dora.block(&bob_there).ok().await;
    let dora_there = peers[1].find(&bob, &peers[0].address(&dora)).await;
    bob.follow(&dora_there).ok().await;
    settle(&peers).await;
    let tie = bob.get(&format!("/api/v1/accounts/relationships?id[]={}", id(&dora_there))).ok().await;
    assert_eq!((&tie[0]["following"], &tie[0]["requested"]), (&false.into(), &false.into()));

    // A block ends follows in both directions on both servers.
    let alice_there = peers[1].find(&bob, &peers[0].address(&alice)).await;
    bob.follow(&alice_there).ok().await;
    settle(&peers).await;
    alice.block(&bob_there).ok().await;
    settle(&peers).await;
    let tie = bob.get(&format!("/api/v1/accounts/relationships?id[]={}", id(&alice_there))).ok().await;
    assert_eq!((&tie[0]["following"], &tie[0]["followed_by"]), (&false.into(), &false.into()));
}

#[tokio::test]
async fn thread_across_servers_is_one_thread() {
    let (peers, alice, dora, bob, _) = scene().await;
    let first = bob.publish("first").await;
    settle(&peers).await;
    let there = alice.get("/api/v1/timelines/home").ok().await[0].clone();
    let second = alice.reply(&there, &format!("@{} second", peers[1].address(&bob))).await;
    settle(&peers).await;
    let context = bob.get(&first.path("/context")).ok().await;
    let second_there = context["descendants"][0].clone();
    assert_eq!(second_there["uri"], second["uri"]);
    let third = bob.reply(&second_there, &format!("@{} third", peers[0].address(&alice))).await;
    settle(&peers).await;
    let context = dora.get(&format!("/api/v1/statuses/{}/context", id(&there))).ok().await;
    let uris: Vec<&Value> = context["descendants"].as_array().unwrap().iter().map(|status| &status["uri"]).collect();
    assert_eq!(uris, [&second["uri"], &third["uri"]]);
}

#[tokio::test]
async fn attachments_of_other_servers_are_shown_from_there() {
    let (peers, alice, _, bob, _) = scene().await;
    let media = bob.upload_with(&crate::routes::media::png(64, 48), &[("description", "a rook")]).ok().await;
    bob.publish(json!({ "status": "look", "media_ids": [media["id"]] })).await;
    settle(&peers).await;
    let shown = alice.get("/api/v1/timelines/home").ok().await[0]["media_attachments"][0].clone();
    assert_eq!((&shown["type"], &shown["description"]), (&"image".into(), &"a rook".into()));
    assert_eq!(shown["remote_url"], media["url"]);
    assert_eq!(json!(peers[0].origin(&shown["url"]).await), media["url"]);
    assert_eq!(shown["meta"]["original"]["width"], 64);
    assert_eq!(shown["blurhash"], media["blurhash"]);
}

#[tokio::test]
async fn actor_of_a_server_cannot_be_followed() {
    let (peers, alice, ..) = scene().await;
    let server = peers[0].find(&alice, &format!("mastodon.internal@{}", peers[1].domain)).await;
    alice.follow(&server).ok().await;
    settle(&peers).await;
    let tie = alice.get(&format!("/api/v1/accounts/relationships?id[]={}", id(&server))).ok().await;
    assert_eq!((&tie[0]["following"], &tie[0]["requested"]), (&false.into(), &false.into()));
}
