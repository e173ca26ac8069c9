//! Cached decorations of statuses and their invalidation, observed with the group `emoji_reactions`.

use serde_json::json;

use super::emoji_reactions::{react, seen, shown};
use super::groups::{served, settings};
use crate::harness::{Client, TestApp, account_path};

const GROUP: &str = "emoji_reactions";

/// Number of calls of the plugin about statuses.
fn asked(app: &TestApp) -> u64 {
    app.plugins().registry().hooks.decorators("status").map(|hook| hook.calls().0).sum()
}

#[tokio::test]
async fn decorations_are_cached_until_change() {
    let app = served(GROUP).await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let (one, two) = (alice.publish("one").await, alice.publish("two").await);
    react(&bob, &one, "👍").ok().await;
    let page = format!("/api/v1/accounts/{}/statuses", alice.id());
    let page = |viewer: &Client| viewer.get(&page);
    page(&carol).ok().await;
    let before = asked(&app);
    for _ in 0..3 {
        let again = page(&carol).ok().await;
        assert_eq!((shown(&again[0]), shown(&again[1])), (String::new(), "👍 1".to_owned()));
    }
    assert_eq!(seen(&carol, &one).await, "👍 1");
    assert_eq!(asked(&app), before, "nothing changed");
    assert_eq!(seen(&bob, &one).await, "👍 1*");
    assert_eq!(seen(&app.anonymous(), &one).await, "👍 1");
    assert_eq!(asked(&app), before + 1, "others get another response, bob his previous one");

    react(&carol, &two, "🎉").ok().await;
    let again = page(&carol).ok().await;
    assert_eq!((shown(&again[0]), shown(&again[1])), ("🎉 1*".to_owned(), "👍 1".to_owned()));
    for (what, expected) in
        [("block", ""), ("unblock", "👍 1"), ("mute", ""), ("unmute", "👍 1"), ("follow", "👍 1"), ("unfollow", "👍 1")]
    {
        carol.post(&account_path(&bob, &format!("/{what}"))).ok().await;
        assert_eq!(seen(&carol, &one).await, expected, "after {what}");
    }
    for (policy, expected) in [("block", ""), ("followers_only", ""), ("allow", "👍 1")] {
        settings(&alice, GROUP, &json!({"emoji_reaction_policy": policy})).await;
        assert_eq!(seen(&carol, &one).await, expected, "while the author says {policy}");
    }
    bob.block(&carol).ok().await;
    assert_eq!(seen(&carol, &one).await, "");
    carol.mute(&alice).json(&json!({"duration": 60})).ok().await;
    bob.unblock(&carol).ok().await;
    assert_eq!(seen(&carol, &one).await, "👍 1");
}

#[tokio::test]
async fn unchanged_statuses_are_decorated_once_per_viewer() {
    let app = served(GROUP).await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    settings(&carol, GROUP, &json!({"emoji_reaction_streaming_notify_impl2": true})).await;
    let mut written = Vec::new();
    for number in 0..5 {
        written.push(alice.publish(&format!("number {number}")).await);
    }
    let page = format!("/api/v1/accounts/{}/statuses", alice.id());
    let compact = |page: &serde_json::Value| page[4]["reactions"].clone();
    let before = asked(&app);
    for _ in 0..2 {
        assert_eq!(compact(&bob.get(&page).ok().await), json!(null));
        assert_eq!(compact(&carol.get(&page).ok().await), json!([]), "settings apply to these too");
    }
    assert_eq!(asked(&app), before + 2, "each of them once, about one of the five");
    alice.publish("and another one").await;
    let before = before + 1;
    assert_eq!(asked(&app), before + 2, "its author, who changed by writing");
    assert_eq!(bob.get(&page).ok().await.as_array().unwrap().len(), 6);
    assert_eq!(asked(&app), before + 2, "a new one is like them");

    react(&bob, &written[0], "🎉").ok().await;
    let seen = carol.get(&page).ok().await;
    assert_eq!((shown(&seen[5]), shown(&seen[4])), ("🎉 1".to_owned(), String::new()));
    settings(&carol, GROUP, &json!({"emoji_reaction_streaming_notify_impl2": false})).await;
    assert_eq!(compact(&carol.get(&page).ok().await), json!(null), "a changed setting applies immediately");
}
