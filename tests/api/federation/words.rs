//! Words that a server does not allow, in statuses of another.

use serde_json::json;

use super::friends::Friends;

#[tokio::test]
async fn remote_status_with_a_word_is_dropped_or_marked() {
    let friends = Friends::new().await;
    let there = &friends.peers[1];
    there.set("ng_words", json!(["buy now"])).await;
    there.set("sensitive_words", json!(["spider"])).await;
    there.set("sensitive_words_warning", "Animals").await;

    friends.alice.publish("please **Buy now**, buy now").await;
    let edited = friends.alice.publish("hello").await;
    friends.alice.publish("a spider").await;
    friends.settle().await;
    let home = friends.home_of_bob().await;
    assert_eq!(home.len(), 2, "{home:?}");
    assert_eq!((&home[0]["sensitive"], &home[0]["spoiler_text"]), (&json!(true), &json!("Animals")));
    assert_eq!((&home[1]["sensitive"], &home[1]["uri"]), (&json!(false), &edited["uri"]));

    let path = format!("/api/v1/statuses/{}", edited["id"].as_str().unwrap());
    friends.peers[0].tick();
    friends.alice.put(&path).json(&json!({ "status": "buy now" })).ok().await;
    friends.settle().await;
    let home = friends.home_of_bob().await;
    assert!(home[1]["content"].as_str().unwrap().contains("hello"), "the edit is dropped: {home:?}");
}
