//! Reports that cross: what the moderators of the other server see, and what they do not.

use serde_json::{Value, json};

use super::friends::Friends;
use crate::harness::{id, settle};

#[tokio::test]
async fn forwarded_report_reaches_moderators_without_its_author() {
    let friends = Friends::new().await;
    let [here, there] = &friends.peers;
    let moderator = there.staff("moderator", "Moderator").await;
    let status = friends.bob.publish("buy this").await;
    friends.settle().await;
    let seen = friends.alice.get("/api/v1/timelines/home").ok().await[0].clone();
    assert_eq!(seen["uri"], status["uri"]);

    let sent = json!({
        "account_id": id(&friends.bob_there), "status_ids": [id(&seen)], "comment": "an advertisement",
        "category": "spam", "forward": true,
    });
    let report = friends.alice.post("/api/v1/reports").json(&sent).ok().await;
    assert_eq!(report["forwarded"], true);
    friends.settle().await;

    let reports = moderator.get("/api/v1/admin/reports").ok().await;
    assert_eq!(reports.as_array().unwrap().len(), 1, "{reports}");
    let report = &reports[0];
    assert_eq!((&report["comment"], &report["category"]), (&json!("an advertisement"), &json!("spam")));
    assert_eq!(report["target_account"]["id"], friends.bob.id().to_string());
    assert_eq!(report["statuses"][0]["id"], status["id"]);
    assert_eq!(report["account"]["username"], "mastodon.internal");
    assert_eq!(report["account"]["domain"], here.domain);
    assert!(!reports.to_string().contains("alice"), "{reports}");
    let notices = moderator.get("/api/v1/notifications").ok().await;
    assert_eq!((&notices[0]["type"], &notices[0]["report"]["id"]), (&json!("admin.report"), &report["id"]));

    // Not forwarded, or not to a server that this one does not talk to.
    let mut quiet = sent.clone();
    quiet["forward"] = json!(false);
    assert_eq!(friends.alice.post("/api/v1/reports").json(&quiet).ok().await["forwarded"], false);
    let mut elsewhere = sent.clone();
    elsewhere["forward_to_domains"] = json!(["example.org"]);
    assert_eq!(friends.alice.post("/api/v1/reports").json(&elsewhere).ok().await["forwarded"], false);
    friends.settle().await;
    assert_eq!(there.count("reports").await, 1);
}

#[tokio::test]
async fn report_reaches_the_server_that_the_statuses_respond_to() {
    let friends = Friends::new().await;
    let [here, there] = &friends.peers;
    let moderator = there.staff("moderator", "Moderator").await;
    // Bob's server knows a response of Carol, of Alice's server, to Bob; another of that server's people reports her.
    let carol = here.account("carol").await;
    let status = friends.bob.publish("hello").await;
    friends.settle().await;
    let seen = friends.alice.get("/api/v1/timelines/home").ok().await[0].clone();
    let mention = format!("@{} spam", there.address(&friends.bob));
    let form = json!({ "status": mention, "in_reply_to_id": id(&seen) });
    carol.post("/api/v1/statuses").json(&form).ok().await;
    friends.settle().await;
    let response =
        friends.bob.get(&format!("/api/v1/statuses/{}/context", id(&status))).ok().await["descendants"][0].clone();
    assert_eq!(response["account"]["username"], "carol", "{response}");

    let dora = there.account("dora").await;
    let form = json!({
        "account_id": id(&response["account"]), "status_ids": [id(&response)], "comment": "again", "forward": true,
        "forward_to_domains": [here.domain, there.domain],
    });
    let report = dora.post("/api/v1/reports").json(&form).ok().await;
    assert_eq!(report["forwarded"], true);
    settle(&friends.peers).await;
    let staff_here = here.staff("staff", "Moderator").await;
    let reports = staff_here.get("/api/v1/admin/reports").ok().await;
    let named: Vec<&Value> =
        reports.as_array().unwrap().iter().map(|report| &report["target_account"]["username"]).collect();
    assert_eq!(named, ["carol"]);
    assert_eq!(moderator.get("/api/v1/admin/reports").ok().await.as_array().unwrap().len(), 1, "the report itself");
}
