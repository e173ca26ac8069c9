//! Push messages for notification types of plugins.

use serde_json::json;

use super::emoji_reactions::react;
use super::groups::served_with;
use crate::harness::{PushService, Site};

#[tokio::test]
async fn reaction_is_pushed_with_the_title_of_the_plugin() {
    let app = served_with("emoji_reactions", &Site::KEYS).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let service = PushService::start().await;
    let new = service.subscription("/a", true, &["emoji_reaction"], "all");
    alice.post("/api/v1/push/subscription").json(&new).ok().await;
    let status = alice.publish("react").await;
    react(&bob, &status, "👍").ok().await;
    app.run_jobs().await;
    let message = service.message();
    assert_eq!((&message["notification_type"], &message["body"]), (&json!("emoji_reaction"), &json!("react")));
    assert_eq!(message["title"], "bob reacted to your post");
}
