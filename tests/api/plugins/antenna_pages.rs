//! The pages of `plugins/antennas` in a browser.

use serde_json::{Value, json};

use super::groups::{served, settle};
use crate::harness::{Answer, Browser, form_fields, id};

/// Submits the form `form` of a page.
async fn send(browser: &Browser, path: &str, form: &str, fields: &[(&str, &str)]) -> Answer {
    let csrf = form_fields(&browser.get(path).await.text(), path)[0].1.clone();
    let fields = [&[("csrf", csrf.as_str()), ("_form", form)], fields].concat();
    browser.post(path, &fields).await
}

#[tokio::test]
async fn antenna_is_created_edited_and_deleted_on_its_pages() {
    let app = served("antennas").await;
    let [alice, bob, dora] = app.accounts(["alice", "bob", "dora"]).await;
    for person in [&alice, &dora] {
        person.get("/api/v1/accounts/verify_credentials").ok().await;
    }
    alice.follow(&bob).ok().await;
    let list = alice.post("/api/v1/lists").json(&json!({ "title": "Birders & co" })).ok().await;
    let theirs = dora.post("/api/v1/antennas").json(&json!({ "title": "Dora's" })).ok().await;
    let browser = Browser::signed_in(&app, "alice").await;
    assert!(browser.get("/settings/extensions").await.text().contains("<a href=\"/antennas\">Antennas</a>"));
    assert!(!browser.get("/antennas").await.text().contains("Dora"));

    let made = send(&browser, "/antennas", "create", &[("title", "Rooks")]).await;
    assert_eq!(made.status, 302);
    let own = made.header("location").to_owned();
    let settings = [("title", "Rooks"), ("place", id(&list)), ("with_media_only", ""), ("ignore_reblog", "1")];
    assert_eq!(send(&browser, &own, "settings", &settings).await.header("location"), "/antennas");
    let lists = [("accounts", "@bob\r\n"), ("domains", ""), ("tags", "#Rooks jays"), ("keywords", "a rook\r\nrookery")];
    assert_eq!(send(&browser, &own, "listed", &lists).await.header("location"), own);
    assert_eq!(send(&browser, &own, "excluded", &[("keywords", "takes")]).await.status, 302);

    let shown: Value = alice.get(&format!("/api/v1{own}")).ok().await;
    for (member, expected) in [
        ("title", json!("Rooks")),
        ("insert_feeds", json!(true)),
        ("ignore_reblog", json!(true)),
        ("with_media_only", json!(false)),
        ("list", json!({ "id": id(&list), "title": "Birders & co" })),
        ("accounts_count", json!(1)),
        ("tags_count", json!(2)),
        ("keywords_count", json!(2)),
    ] {
        assert_eq!(shown[member], expected, "{member}");
    }
    let page = browser.get(&own).await.text();
    for part in ["a rook\nrookery</textarea>", "rooks\njays</textarea>", "@bob</textarea>", "takes</textarea>"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(
        page.contains(&format!("<option value=\"{}\" selected>List: Birders &amp; co</option>", id(&list))),
        "{page}"
    );
    let overview = browser.get("/antennas").await.text();
    assert!(overview.contains("List: Birders &amp; co · Accounts: 1 · Hashtags: 2 · Words: 2"), "{overview}");

    let caught = bob.publish("a rook! #rooks").await;
    bob.publish("a rook takes #rooks").await;
    settle(&app).await;
    let timeline = alice.get(&format!("/api/v1/timelines/antenna/{}", id(&shown))).ok().await;
    assert_eq!(timeline.as_array().unwrap().iter().map(id).collect::<Vec<_>>(), [id(&caught)]);

    let theirs = format!("/antennas/{}", id(&theirs));
    assert_eq!(browser.get(&theirs).await.status, 404);
    let csrf = form_fields(&browser.get("/antennas").await.text(), "/antennas")[0].1.clone();
    let delete = async |antenna: &str| {
        browser.post("/antennas", &[("csrf", csrf.as_str()), ("_form", "delete"), ("_item", antenna)]).await.status
    };
    assert_eq!(delete(theirs.trim_start_matches("/antennas/")).await, 404);
    assert_eq!(delete(id(&shown)).await, 302);
    assert_eq!(browser.get(&own).await.status, 404);
}

#[tokio::test]
async fn antenna_errors_are_shown_at_their_fields() {
    let app = served("antennas").await;
    let alice = app.account("alice").await;
    app.account("bob").await;
    let antenna = alice.post("/api/v1/antennas").json(&json!({ "title": "Rooks" })).ok().await;
    let own = format!("/antennas/{}", id(&antenna));
    let browser = Browser::signed_in(&app, "alice").await;
    let fields = [("accounts", "bob\nnobody"), ("domains", "not/one"), ("tags", "rooks"), ("keywords", "x")];
    let refused = send(&browser, &own, "listed", &fields).await;
    assert_eq!(refused.status, 422);
    let text = refused.text();
    for fault in [
        "This server knows no account @nobody.",
        "One of them is not written like this.",
        "Each needs at least 2 characters.",
    ] {
        assert!(text.contains(fault), "{fault}: {text}");
    }
    assert!(text.contains("bob\nnobody</textarea>"), "the input is shown again: {text}");
    for (fields, status) in [
        ([("title", ""), ("place", "home")], 422),
        ([("title", "A"), ("place", "7")], 422),
        ([("title", "A"), ("place", "home")], 302),
    ] {
        assert_eq!(send(&browser, &own, "settings", &fields).await.status, status, "{fields:?}");
    }
    let shown = alice.get(&format!("/api/v1{own}")).ok().await;
    assert_eq!([&shown["accounts_count"], &shown["tags_count"]], [&json!(0), &json!(0)], "all or nothing");
    let japanese = Browser::preferring(&app, "ja");
    assert_eq!(japanese.sign_in("alice", crate::harness::PASSWORD).await.status, 302);
    let page = japanese.get(&own).await.text();
    assert!(page.contains("除外する条件") && page.contains("<title>A · "), "{page}");
}

#[tokio::test]
async fn suspended_accounts_are_marked_and_can_be_removed() {
    let app = served("antennas").await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let browser = Browser::signed_in(&app, "alice").await;
    let own = send(&browser, "/antennas", "create", &[("title", "Rooks")]).await.header("location").to_owned();
    assert_eq!(send(&browser, &own, "listed", &[("accounts", "bob\r\ncarol")]).await.status, 302);
    app.run(&["user", "suspend", "bob"]).await.ok();
    let page = browser.get(&own).await.text();
    assert!(page.contains("@bob (suspended)\n@carol</textarea>"), "{page}");

    let kept = [("accounts", "@bob (suspended)\r\n@carol\r\nalice")];
    assert_eq!(send(&browser, &own, "listed", &kept).await.status, 302);
    let page = browser.get(&own).await.text();
    assert!(page.contains("@alice\n@bob (suspended)\n@carol</textarea>"), "{page}");
    let listed = alice.get(&format!("/api/v1{own}/accounts")).ok().await;
    assert_eq!(listed.as_array().unwrap().len(), 2, "clients are not shown them");

    assert_eq!(send(&browser, &own, "listed", &[("accounts", "@carol")]).await.status, 302);
    app.run(&["user", "unsuspend", "bob"]).await.ok();
    let listed = alice.get(&format!("/api/v1{own}/accounts")).ok().await;
    assert_eq!(listed[0]["id"], carol.id().to_string());
    assert_eq!(listed.as_array().unwrap().len(), 1, "{} is gone for good", bob.name);
}
