//! Followers synchronisation: two servers that disagree who follows whom agree after the next status for followers.

use serde_json::json;

use super::friends::{Friends, relationship};
use super::scene::Scene;
use crate::harness::{Letter, Liar, id};

/// Alice writes to her followers, among them Bob.
async fn write_to_followers(friends: &Friends) {
    let mention = format!("@{}", friends.peers[1].address(&friends.bob));
    friends.alice.publish_to("private", &format!("{mention} hello")).await;
    friends.settle().await;
}

#[tokio::test]
async fn follow_that_the_author_does_not_know_ends() {
    let friends = Friends::new().await;
    let gone = format!("DELETE FROM follows WHERE target_account_id = {}", friends.alice.id());
    friends.peers[0].db().execute_raw(&gone).await.unwrap();
    assert_eq!(relationship(&friends.bob, &friends.alice_there).await["following"], true);
    write_to_followers(&friends).await;
    assert_eq!(relationship(&friends.bob, &friends.alice_there).await["following"], false);
    // The other direction is as it was.
    assert_eq!(relationship(&friends.bob, &friends.alice_there).await["followed_by"], true);
}

#[tokio::test]
async fn follow_that_the_follower_does_not_know_is_undone() {
    let friends = Friends::new().await;
    friends.bob.unfollow(&friends.alice_there).ok().await;
    let sent = "DELETE FROM deliveries";
    friends.peers[1].db().execute_raw(sent).await.unwrap();
    friends.settle().await;
    assert_eq!(relationship(&friends.alice, &friends.bob_there).await["followed_by"], true);
    write_to_followers(&friends).await;
    assert_eq!(relationship(&friends.alice, &friends.bob_there).await["followed_by"], false);
}

#[tokio::test]
async fn request_whose_acceptance_was_lost_becomes_a_follow() {
    let friends = Friends::new().await;
    friends.alice.patch("/api/v1/accounts/update_credentials").form(&[("locked", "true")]).ok().await;
    friends.bob.unfollow(&friends.alice_there).ok().await;
    friends.settle().await;
    friends.bob.follow(&friends.alice_there).ok().await;
    friends.settle().await;
    assert_eq!(relationship(&friends.bob, &friends.alice_there).await["requested"], true);
    friends.alice.post(&format!("/api/v1/follow_requests/{}/authorize", id(&friends.bob_there))).ok().await;
    friends.peers[0].db().execute_raw("DELETE FROM deliveries").await.unwrap();
    write_to_followers(&friends).await;
    let tie = relationship(&friends.bob, &friends.alice_there).await;
    assert_eq!((&tie["following"], &tie["requested"]), (&true.into(), &false.into()));
}

#[tokio::test]
async fn agreement_fetches_nothing_and_changes_nothing() {
    let friends = Friends::new().await;
    write_to_followers(&friends).await;
    let tie = relationship(&friends.bob, &friends.alice_there).await;
    assert_eq!((&tie["following"], &tie["followed_by"]), (&true.into(), &true.into()));
}

#[tokio::test]
async fn disabled_synchronization_neither_states_nor_compares() {
    let friends = Friends::with(&[("ROOKERY_FEDERATION_FOLLOWERS_SYNCHRONIZATION", "false")]).await;
    let gone = format!("DELETE FROM follows WHERE target_account_id = {}", friends.alice.id());
    friends.peers[0].db().execute_raw(&gone).await.unwrap();
    write_to_followers(&friends).await;
    assert_eq!(relationship(&friends.bob, &friends.alice_there).await["following"], true);
}

#[tokio::test]
async fn list_is_for_the_server_of_the_followers() {
    let scene = Scene::new().await;
    scene.carol.follow_alice(&scene.app).await;
    let path = "/users/alice/followers_synchronization";
    let list = scene.carol.reads(&scene.app, path).send(&scene.app).await;
    assert_eq!(list.status, 200, "{}", list.text());
    assert!(!list.headers["cache-control"].to_str().unwrap().contains("public"));
    let list = list.json();
    assert_eq!((&list["type"], &list["orderedItems"]), (&json!("OrderedCollection"), &json!([scene.carol.uri])));

    let other = Liar::at("127.0.0.1").await.person("dave");
    let list = other.reads(&scene.app, path).send(&scene.app).await.json();
    assert_eq!(list["orderedItems"], json!([]));
    let unsigned = Letter::read(&scene.app, path).send(&scene.app).await;
    assert_eq!(unsigned.status, 401);
}
