//! <https://docs.joinmastodon.org/methods/suggestions/>

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::{Client, TestApp};
use crate::platform::contract;
use crate::seed::{Seed, Status};

const PATH: &str = "/api/v2/suggestions";

async fn suggested(viewer: &Client) -> Vec<(String, Vec<String>)> {
    let suggestions = viewer.get(PATH).ok().await;
    contract::check("Suggestion[]", &suggestions);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let one = |suggestion: &Value| {
        let sources = suggestion["sources"].as_array().unwrap().iter().map(text).collect();
        (text(&suggestion["account"]["acct"]), sources)
    };
    suggestions.as_array().unwrap().iter().map(one).collect()
}

async fn names(viewer: &Client) -> Vec<String> {
    suggested(viewer).await.into_iter().map(|(name, _)| name).collect()
}

/// All seeded accounts are discoverable.
async fn write(app: &TestApp, seed: Seed) {
    seed.write(app.db()).await;
    app.make_everybody_discoverable().await;
}

#[tokio::test]
async fn sources_are_friends_of_friends_staff_and_popular_accounts() {
    let app = TestApp::new().await;
    let [viewer, picked] = app.accounts(["viewer", "picked"]).await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let me = i64::from(viewer.id());
    let [friend, other_friend, secretive] =
        ["friend", "other_friend", "secretive"].map(|name| seed.account(name, None));
    let [near, nearer, secret] = ["near", "nearer", "secret"].map(|name| seed.account(name, None));
    let star = seed.account("star", None);
    for friend in [friend, other_friend, secretive] {
        seed.follow(me, friend);
    }
    seed.follow(friend, near);
    seed.follow(friend, nearer);
    seed.follow(other_friend, nearer);
    seed.follow(secretive, secret);
    for number in 0..5 {
        let fan = seed.account(&format!("fan{number}"), None);
        seed.follow(fan, star);
    }
    write(&app, seed).await;
    app.set_account(&secretive, "hide_collections = TRUE").await;
    app.set("bootstrap_timeline_accounts", json!(["picked", "nobody"])).await;

    let all = suggested(&viewer).await;
    let expected = [
        ("picked", "featured"),
        ("nearer", "friends_of_friends"),
        ("star", "most_followed"),
        ("near", "friends_of_friends"),
    ];
    let expected = expected.map(|(name, source)| (name.to_owned(), vec![source.to_owned()]));
    assert_eq!(all, expected, "sources take turns; hidden follows are not used");
    let raw = viewer.get(PATH).ok().await;
    let sources: Vec<&str> = raw.as_array().unwrap().iter().map(|one| one["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["staff", "past_interactions", "global", "past_interactions"]);
    let old = viewer.get("/api/v1/suggestions?limit=2&offset=1").ok().await;
    contract::check("Account[]", &old);
    assert_eq!([&old[0]["acct"], &old[1]["acct"]], ["nearer", "star"]);
    assert!(viewer.get("/api/v1/suggestions?limit=1").send().await.header("link").is_empty());
    assert_eq!(names(&picked).await, ["star"]);
}

#[tokio::test]
async fn statuses_that_people_like_make_their_author_popular() {
    let app = TestApp::new().await;
    let viewer = app.account("viewer").await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let [star, locked, quiet] = ["star", "locked", "quiet"].map(|name| seed.account(name, None));
    let statuses = [(star, "public"), (locked, "public"), (quiet, "private")]
        .map(|(author, visibility)| seed.status(&Status { author, visibility, ..Status::default() }));
    for number in 0..5 {
        let fan = seed.account(&format!("fan{number}"), None);
        statuses.iter().for_each(|status| seed.favourite(fan, *status));
    }
    write(&app, seed).await;
    app.set_account(&locked, "locked = TRUE").await;
    assert_eq!(suggested(&viewer).await, [("star".to_owned(), vec!["most_interactions".to_owned()])]);
}

#[tokio::test]
async fn suggestions_leave_out_known_unwanted_and_unreachable() {
    let app = TestApp::new().await;
    let people = app
        .accounts([
            "viewer",
            "followed",
            "asked",
            "blocked",
            "blocking",
            "muted",
            "limited",
            "suspended",
            "moved",
            "shy",
        ])
        .await;
    let [viewer, followed, asked, blocked, blocking, muted, limited, suspended, moved, shy] = &people;
    app.make_everybody_discoverable().await;
    let all: Vec<&str> = people.iter().map(|person| person.name.as_str()).collect();
    app.set("bootstrap_timeline_accounts", json!(all)).await;
    assert_eq!(names(viewer).await.len(), 9, "all but oneself");
    asked.update_profile(json!({"locked": true})).ok().await;
    for person in [followed, asked] {
        viewer.follow(&person).ok().await;
    }
    viewer.block(&blocked).ok().await;
    blocking.block(&viewer).ok().await;
    viewer.mute(&muted).ok().await;
    assert_eq!(names(viewer).await.len(), 4, "immediately, although suggestions are cached");
    app.limit(limited).await;
    app.suspend(suspended).await;
    app.set_account(moved, &format!("moved_to_account_id = {}", viewer.id())).await;
    app.set_account(shy, "discoverable = FALSE").await;
    assert_eq!(names(viewer).await, [""; 0]);
}

#[tokio::test]
async fn suggestions_are_kept_until_something_changes() {
    let app = TestApp::new().await;
    let viewer = app.account("viewer").await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let (me, [friend, near, other]) =
        (i64::from(viewer.id()), ["friend", "near", "other"].map(|name| seed.account(name, None)));
    seed.follow(me, friend);
    seed.follow(friend, near);
    write(&app, seed).await;
    assert_eq!(names(&viewer).await, ["near"]);
    let mut more = Seed::after(app.db().engine(), "example.test", 1_000);
    let new = more.account("new", None);
    more.follow(friend, new);
    more.follow(new, other);
    more.write(app.db()).await;
    let undo = "UPDATE accounts SET discoverable = TRUE, relations_version = relations_version - 1";
    app.execute(undo).await;
    assert_eq!(names(&viewer).await, ["near"], "kept");
    app.app.clock.advance(Duration::minutes(15));
    assert_eq!(names(&viewer).await, ["near", "new"]);
    viewer.follow(&new).ok().await;
    assert_eq!(names(&viewer).await, ["near", "other"], "a follow recomputes them");
}

#[tokio::test]
async fn dismissed_account_is_never_suggested_again() {
    let app = TestApp::new().await;
    let [viewer, other, picked] = app.accounts(["viewer", "other", "picked"]).await;
    app.make_everybody_discoverable().await;
    app.set("bootstrap_timeline_accounts", json!(["picked"])).await;
    assert_eq!(names(&viewer).await, ["picked"]);
    let path = format!("/api/v1/suggestions/{}", picked.id());
    for _ in 0..2 {
        assert_eq!(viewer.delete(&path).ok().await, json!({}));
    }
    for nobody in ["1", "nonsense", "99999999999999999999"] {
        assert_eq!(viewer.delete(&format!("/api/v1/suggestions/{nobody}")).ok().await, json!({}));
    }
    assert_eq!(names(&viewer).await, [""; 0]);
    app.app.clock.advance(Duration::days(400));
    assert_eq!(names(&viewer).await, [""; 0]);
    assert_eq!(names(&other).await, ["picked"]);
    let count: Vec<(i64,)> = app.db().fetch_raw("SELECT COUNT(*) FROM suggestion_dismissals").await.unwrap();
    assert_eq!(count[0].0, 1);
}
