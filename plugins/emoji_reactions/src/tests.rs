//! The routes and hooks, natively, against the SDK's fake server.

use rookery_plugin::prelude::*;
use rookery_plugin::test::{Fake, TestResponse};
use serde_json::{Value, json};

use crate::EmojiReactions;

fn react(fake: &Fake, account: Id, status: Id, emoji: &str) -> TestResponse {
    fake.put(&format!("/api/v1/statuses/{status}/emoji_reactions/{emoji}")).as_account(account).send()
}

fn unreact(fake: &Fake, account: Id, status: Id, emoji: &str) -> TestResponse {
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
fn reactions_are_counted_streamed_and_removed() {
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

/// Lets `count` people who are new react to a status, without the routes.
fn crowd(fake: &Fake, status: Id, emoji: &str, count: usize) {
    for number in 0..count {
        let account = fake.account(&format!("crowd{number}"));
        fake.execute(&format!(
            "INSERT INTO reactions (account_id, status_id, name, domain, created_at)
             VALUES ({account}, {status}, '{emoji}', '', 0)"
        ));
    }
}

/// The last streamed message, and the number of messages.
fn streamed(fake: &Fake) -> (Value, usize) {
    let messages = fake.state(|state| state.published.clone());
    let last = messages.last().map(|message| serde_json::from_str(&message.payload).unwrap());
    (last.unwrap_or_default(), messages.len())
}

#[test]
fn a_status_that_very_many_reacted_to_takes_nothing_from_the_others() {
    let fake = Fake::new::<EmojiReactions>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    let (loud, quiet) = (fake.status(alice, "loud"), fake.status(alice, "quiet"));
    crowd(&fake, loud, "👍", 300);
    react(&fake, bob, loud, "🎉").ok();
    react(&fake, bob, loud, "👍").ok();
    react(&fake, bob, quiet, "🚀").ok();
    let page = fake.decorate(Some(bob), "status", &[loud, quiet]).unwrap();
    let groups = &page[0]["emoji_reactions"];
    assert_eq!((&groups[0]["count"], &groups[0]["me"]), (&json!(301), &json!(true)), "one's own is not among the ids");
    assert_eq!((&groups[1]["name"], &groups[1]["count"]), (&json!("🎉"), &json!(1)));
    let ids = |group: &Value| group["account_ids"].as_array().unwrap().len();
    assert_eq!((ids(&groups[0]), ids(&groups[1])), (127, 1));
    assert_eq!(page[0]["emoji_reactions_count"], 302);
    assert_eq!(page[1]["emoji_reactions_count"], 1);
    unreact(&fake, bob, loud, "👍").ok();
    let told = streamed(&fake).0;
    assert_eq!((&told["count"], ids(&told)), (&json!(300), 128));
}

#[test]
fn a_server_says_that_it_has_reactions_while_they_are_on() {
    let fake = Fake::new::<EmojiReactions>();
    let node = fake.describe("nodeinfo").unwrap();
    assert_eq!(node["metadata.features"], json!(["emoji_reaction", "enable_wide_emoji_reaction"]));
    let instance = fake.describe("instance-v2").unwrap();
    assert_eq!(instance["fedibird_capabilities"], node["metadata.features"]);
    assert_eq!(instance["configuration.emoji_reactions"]["max_reactions_per_account"], 3);
    assert_eq!(instance["configuration.reactions"], json!({"max_reactions": 3}));
    fake.configure("enable_emoji_reaction", false);
    assert!(["nodeinfo", "instance-v1"].iter().all(|document| fake.describe(document).unwrap().is_empty()));
}

#[test]
fn reaction_to_a_hidden_status_is_removed_and_streamed() {
    let fake = Fake::new::<EmojiReactions>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    let status = fake.status(alice, "hello");
    let reblog = fake.status_with(alice, "", |one| one.reblog_of = Some(status.0));
    react(&fake, bob, reblog, "👍").ok();
    fake.block(alice, bob);
    let before = streamed(&fake).1;
    assert_eq!(unreact(&fake, bob, reblog, "👍").ok()["id"], reblog.0.to_string(), "everyone else may read it");
    let (told, after) = streamed(&fake);
    assert_eq!((after - before, &told["count"], &told["status_id"]), (2, &json!(0), &json!(status)));
    unreact(&fake, bob, reblog, "👍").error(404);
    unreact(&fake, bob, Id(1), "👍").error(404);
}

#[test]
fn the_last_custom_reaction_goes_with_its_picture() {
    let fake = Fake::new::<EmojiReactions>();
    let alice = fake.account("alice");
    fake.emoji("rook");
    let status = fake.status(alice, "hello");
    react(&fake, alice, status, "rook").ok();
    unreact(&fake, alice, status, "rook").ok();
    let told = streamed(&fake).0;
    assert_eq!((&told["name"], &told["count"], &told["account_ids"]), (&json!("rook"), &json!(0), &json!([])));
    assert_eq!(told.get("domain"), Some(&json!(null)), "of this server");
    assert!(told["url"].is_string());
}

#[test]
fn this_servers_own_domain_means_its_emojis() {
    let fake = Fake::new::<EmojiReactions>();
    let alice = fake.account("alice");
    fake.emoji("rook");
    let status = fake.status(alice, "hello");
    react(&fake, alice, status, "rook@Rookery.example").ok();
    assert_eq!(seen(&fake, None, status), [("rook".into(), 1)]);
    react(&fake, alice, status, "wren@rookery.example").error(422);
    fake.state(|state| state.emojis.clear());
    unreact(&fake, alice, status, ":rook@rookery.example:").ok();
    assert_eq!(fake.execute("DELETE FROM reactions"), 0, "also of a disabled emoji");
}

#[test]
fn an_emoji_that_is_disabled_is_neither_joined_nor_listed() {
    let fake = Fake::new::<EmojiReactions>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    fake.emoji("rook");
    let status = fake.status(alice, "hello");
    react(&fake, bob, status, "rook").ok();
    fake.execute("UPDATE reactions SET domain = 'far.test'");
    fake.state(|state| state.emojis[0].domain = Some("far.test".into()));
    react(&fake, bob, status, "👍").ok();
    let listed = || {
        let items = fake.get(&format!("/api/v1/statuses/{status}/emoji_reactioned_by")).as_account(alice).send().ok();
        items.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(), ["👍", "rook"]);
    let gone = fake.state(|state| std::mem::take(&mut state.emojis));
    assert_eq!(listed(), ["👍"]);
    react(&fake, alice, status, "rook@far.test").error(422);
    react(&fake, alice, status, "wren@far.test").ok();
    assert_eq!(seen(&fake, None, status), [("👍".into(), 1)], "the wren is not in use there");
    fake.state(|state| state.emojis = gone);
    react(&fake, alice, status, "rook@FAR.test").ok();
    assert_eq!(seen(&fake, None, status), [("rook".into(), 2), ("👍".into(), 1)]);
}

#[test]
fn a_viewers_own_policy_costs_nothing_on_others_pages() {
    let fake = Fake::new::<EmojiReactions>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    fake.set(bob, "emoji_reaction_policy", "followers_only");
    let status = fake.status(alice, "hello");
    react(&fake, alice, status, "👍").ok();
    fake.state(|state| state.calls.clear());
    assert_eq!(seen(&fake, Some(bob), status).len(), 1);
    assert_eq!(fake.state(|state| state.calls.get("core.relationships").copied()), None);
}

#[test]
fn reactions_to_statuses_of_an_account_that_went_are_found_a_part_at_a_time() {
    let fake = Fake::new::<EmojiReactions>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    let kept = fake.status(alice, "kept");
    react(&fake, alice, kept, "👍").ok();
    fake.execute(&format!(
        "INSERT INTO reactions (account_id, status_id, name, domain, created_at)
         SELECT {alice}, 1000000 + value, '👍', '', 0 FROM json_each('[0{}]')",
        (1..2_100).map(|number| format!(",{number}")).collect::<String>()
    ));
    fake.state(|state| state.calls.clear());
    fake.events(&[fake.event("account.purged", None, Subject::Id(bob.0))]).unwrap();
    assert_eq!(fake.state(|state| state.calls.get("sql.query").copied()), None, "the batch reads no table");
    assert_eq!(fake.run_jobs(), 3);
    assert_eq!(fake.execute("DELETE FROM reactions"), 1);
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

#[test]
fn everybody_who_reacts_adds_to_a_trend() {
    let fake = Fake::new::<EmojiReactions>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    let [liked, plain] = ["liked", "plain"].map(|text| fake.status(alice, text));
    for (person, emoji) in [(alice, "👍"), (bob, "👍"), (bob, "🎉")] {
        react(&fake, person, liked, emoji).ok();
    }
    let weights = fake.decorate(None, "trend", &[liked, plain]).unwrap();
    assert_eq!(weights[0]["weight"], json!(1.6));
    assert!(weights[1].is_empty());
}

#[test]
fn host_receives_marked_statuses_and_popular_ones() {
    let fake = Fake::new::<EmojiReactions>();
    let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
    let [first, second, third] = ["a", "b", "c"].map(|text| fake.status(alice, text));
    for (account, status, emoji) in [(bob, first, "👍"), (bob, first, "🎉"), (alice, first, "👍"), (bob, third, "👍")]
    {
        react(&fake, account, status, emoji).ok();
    }
    let page = vec![first.0, second.0, third.0];
    let among = |account: Id| crate::sql::reacted_among(page.clone(), account).all::<Id>().unwrap();
    assert_eq!((among(bob), among(alice)), (vec![first, third], vec![first]));
    let newest = Page { max_id: None, since_id: None, min_id: None, limit: 40 };
    let mut all: Vec<Id> = crate::sql::reacted_newest(bob, &newest).all().unwrap();
    // The server's order is not the fake one's.
    all.sort();
    assert_eq!(all, [first, third]);
    for (least, kept) in [(1, vec![first, third]), (2, vec![first]), (4, Vec::new())] {
        assert_eq!(crate::sql::reacted_often(page.clone(), least).all::<Id>(), Ok(kept), "{least}");
    }
}
