//! The routes and hooks, natively, against the SDK's fake server.

use rookery_plugin::prelude::*;
use rookery_plugin::test::{Answer, Fake};
use serde_json::{Value, json};

use crate::EmojiReactions;

fn react(fake: &Fake, account: Id, status: Id, emoji: &str) -> Answer {
    fake.put(&format!("/api/v1/statuses/{status}/emoji_reactions/{emoji}")).as_account(account).send()
}

fn unreact(fake: &Fake, account: Id, status: Id, emoji: &str) -> Answer {
    fake.delete(&format!("/api/v1/statuses/{status}/emoji_reactions/{emoji}")).as_account(account).send()
}

/// Names and counts that a viewer sees on a status.
fn seen(fake: &Fake, viewer: Option<Id>, status: Id) -> Vec<(String, u64)> {
    let members = fake.decorate(viewer, "status", &[status]).unwrap().remove(0);
    let Some(groups) = members.get("emoji_reactions").and_then(Value::as_array) else { return Vec::new() };
    let pair = |group: &Value| (group["name"].as_str().unwrap().to_owned(), group["count"].as_u64().unwrap());
    groups.iter().map(pair).collect()
}

#[test]
fn reactions_are_counted_told_and_taken_back() {
    let fake = Fake::new::<EmojiReactions>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    fake.emoji("rook");
    let status = fake.status(alice, "hello");
    react(&fake, bob, status, "👍").ok();
    react(&fake, bob, status, ":rook:").ok();
    react(&fake, alice, status, "👍").ok();
    assert_eq!(seen(&fake, Some(bob), status), [("👍".into(), 2), ("rook".into(), 1)]);
    assert!(react(&fake, bob, status, "👍").error(422).contains("have reacted"));
    react(&fake, bob, status, "no_such").error(422);

    let told = fake.state(|state| state.notifications.clone());
    assert_eq!(told.len(), 2, "not of the author's own");
    assert!(told.iter().all(|one| one.to == alice.0 && one.from == bob.0 && one.kind == "emoji_reaction"));
    assert!(fake.state(|state| state.touched.contains(&("status".into(), status.0))));
    let message = fake.state(|state| state.published.last().cloned()).unwrap();
    assert_eq!((message.event.as_str(), message.topic), ("emoji_reaction", format!("user:{alice}")));
    let payload: Value = serde_json::from_str(&message.payload).unwrap();
    assert_eq!((&payload["name"], &payload["count"], &payload["status_id"]), (&json!("👍"), &json!(2), &json!(status)));

    unreact(&fake, bob, status, "👍").ok();
    unreact(&fake, bob, status, "👍").ok();
    assert_eq!(fake.state(|state| state.notifications.len()), 1, "taken back");
    assert_eq!(seen(&fake, None, status), [("rook".into(), 1), ("👍".into(), 1)]);
}

#[test]
fn three_reactions_are_enough() {
    let fake = Fake::new::<EmojiReactions>();
    let alice = fake.account("alice");
    let status = fake.status(alice, "hello");
    for emoji in ["👍", "🎉", "🚀"] {
        react(&fake, alice, status, emoji).ok();
    }
    react(&fake, alice, status, "🐧").error(422);
}

#[test]
fn the_author_decides() {
    let fake = Fake::new::<EmojiReactions>();
    let (alice, friend, stranger) = (fake.account("alice"), fake.account("friend"), fake.account("stranger"));
    fake.follow(friend, alice);
    fake.set(alice, "emoji_reaction_policy", "followers_only");
    let status = fake.status(alice, "hello");
    react(&fake, friend, status, "👍").ok();
    react(&fake, stranger, status, "👍").error(422);
    assert_eq!(seen(&fake, Some(friend), status).len(), 1);
    assert_eq!((seen(&fake, Some(stranger), status).len(), seen(&fake, None, status).len()), (0, 0));
    fake.block(stranger, alice);
    react(&fake, stranger, status, "👍").error(403);
    fake.configure("enable_emoji_reaction", false);
    react(&fake, friend, status, "🎉").error(422);
    assert_eq!(seen(&fake, Some(friend), status).len(), 0);
}

#[test]
fn a_page_costs_one_statement() {
    let fake = Fake::new::<EmojiReactions>();
    let alice = fake.account("alice");
    fake.emoji("rook");
    let page: Vec<Id> = (0..40).map(|number| fake.status(alice, &number.to_string())).collect();
    for status in &page {
        react(&fake, alice, *status, "rook").ok();
    }
    fake.state(|state| state.calls.clear());
    fake.decorate(Some(alice), "status", &page).unwrap();
    let calls = fake.state(|state| state.calls.clone());
    let host = |name: &str| calls.get(name).copied().unwrap_or(0);
    assert_eq!([host("sql.query"), host("settings.get"), host("core.emojis")], [1, 1, 1], "{calls:?}");
}

#[test]
fn reactions_go_with_their_status_and_their_emoji() {
    let fake = Fake::new::<EmojiReactions>();
    let alice = fake.account("alice");
    let emoji = fake.emoji("rook");
    let (kept, deleted) = (fake.status(alice, "kept"), fake.status(alice, "deleted"));
    react(&fake, alice, kept, "rook").ok();
    react(&fake, alice, deleted, "👍").ok();
    fake.events(&[fake.event("status.deleted", None, Subject::Id(deleted.0))]).unwrap();
    assert_eq!(seen(&fake, None, deleted), []);

    let gone = || Subject::Json(json!({"id": emoji, "shortcode": "rook"}).to_string());
    fake.events(&[fake.event("emoji.deleted", None, gone())]).unwrap();
    assert_eq!(seen(&fake, None, kept).len(), 1, "only disabled: it is there still");
    fake.state(|state| state.emojis.clear());
    fake.events(&[fake.event("emoji.deleted", None, gone())]).unwrap();
    fake.emoji("rook");
    assert_eq!(seen(&fake, None, kept), [], "forgotten, not hidden");
}
