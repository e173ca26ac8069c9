//! Additions of plugins to the client in the browser: timelines, folders, reactions, emojis and choices of the form.

use serde_json::json;

use super::groups::{served, settle, switch_off, switch_on};
use crate::harness::{Answer, Browser, Client, TestApp, form_fields, id};

/// Alice, who follows Bob, with her browser, on a server with these groups.
async fn scene(groups: &[&str]) -> (TestApp, Client, Client, Browser) {
    let app = served(groups[0]).await;
    for group in &groups[1..] {
        switch_on(&app, group).await;
    }
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.follow(&bob).ok().await;
    app.run_jobs().await;
    let browser = Browser::signed_in(&app, "alice").await;
    (app, alice, bob, browser)
}

async fn submit(browser: &Browser, page: &Answer, action: &str, fields: &[(&str, &str)]) {
    let done = browser.submit(page, action, fields).await;
    assert_eq!(done.status, 302, "{action} {fields:?}: {}", done.text());
}

#[tokio::test]
async fn reactions_are_chips_and_a_picker() {
    let (app, alice, bob, browser) = scene(&["emoji_reactions", "reaction_deck"]).await;
    let said = bob.publish("react to me").await;
    app.run_jobs().await;
    alice.post("/api/v1/reaction_deck").json(&json!({ "emojis": ["🐦", "🌲"] })).ok().await;
    let action = format!("/web/reactions/emoji_reactions/reactions/{said}");

    let home = browser.get("/home").await;
    assert!(home.text().contains(&format!("href=\"{action}?back=")), "{}", home.text());
    let picker = browser.get(&format!("{action}?back=%2Fhome")).await;
    assert!(picker.text().contains("value=\"🐦\"") && picker.text().contains("value=\"🌲\""), "{}", picker.text());
    submit(&browser, &picker, &action, &[("react", "🐦")]).await;
    let reactions = alice.status(&said).ok().await["emoji_reactions"].clone();
    assert_eq!((&reactions[0]["name"], &reactions[0]["me"]), (&json!("🐦"), &json!(true)));

    let home = browser.get("/home").await;
    assert!(home.text().contains("name=\"unreact\" value=\"🐦\" aria-pressed=\"true\""), "{}", home.text());
    let part = browser.submit(&home, &action, &[("unreact", "🐦"), ("part", "1")]).await;
    assert!(part.status == 200 && !part.text().contains("name=\"unreact\""), "{}", part.text());
    assert_eq!(alice.status(&said).ok().await["emoji_reactions"], json!([]));

    for (fields, status) in [(&[][..], 400), (&[("react", "")], 400), (&[("react", "no emoji at all")], 422)] {
        let refused = browser.submit(&home, &action, fields).await;
        assert_eq!(refused.status, status, "{fields:?}: {}", refused.text());
    }
    for path in ["/web/reactions/emoji_reactions/others/1", "/web/reactions/nobody/reactions/1", &format!("{action}9")]
    {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
    switch_off(&app, "emoji_reactions").await;
    assert_eq!(browser.get(&action).await.status, 404);
    assert!(!browser.get("/home").await.text().contains("/web/reactions/"));
}

#[tokio::test]
async fn statuses_are_put_into_categories_which_are_timelines() {
    let (app, alice, bob, browser) = scene(&["bookmark_categories"]).await;
    let said = bob.publish("keep me").await;
    app.run_jobs().await;
    let made = alice.post("/api/v1/bookmark_categories").form(&[("title", "Birds")]).ok().await;
    let category = id(&made);
    let action = format!("/web/folders/bookmark_categories/categories/{said}");
    let home = browser.get("/home").await;
    assert!(home.text().contains(&action) && home.text().contains("/web/timelines/bookmark_categories/shelves"));
    let page = browser.get(&format!("{action}?back=%2Fhome")).await;
    assert!(page.text().contains("Birds"), "{}", page.text());
    let timeline = format!("/web/timelines/bookmark_categories/shelves/{category}");
    submit(&browser, &page, &action, &[("thing", category), ("act", "add")]).await;
    assert!(browser.get(&timeline).await.text().contains("keep me"));
    assert!(browser.get("/web/timelines/bookmark_categories/shelves").await.text().contains(&timeline));
    submit(&browser, &page, &action, &[("thing", category), ("act", "remove")]).await;
    assert!(!browser.get(&timeline).await.text().contains("keep me"));
    let refused = browser.submit(&page, &action, &[("thing", category), ("act", "burn")]).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    let csrf = form_fields(&page.text(), &action).into_iter().find(|(name, _)| name == "csrf").expect("a token").1;
    for (fields, status) in [(&[("act", "add")][..], 400), (&[("thing", "999999"), ("act", "add")], 404)] {
        let fields: Vec<(&str, &str)> = fields.iter().copied().chain([("csrf", csrf.as_str())]).collect();
        let refused = browser.post(&action, &fields).await;
        assert_eq!(refused.status, status, "{fields:?}: {}", refused.text());
    }
    let others = Browser::signed_in(&app, "bob").await;
    assert_eq!(others.get(&timeline).await.status, 404, "someone else's");
}

#[tokio::test]
async fn antennas_are_timelines_with_pages() {
    let (app, alice, bob, browser) = scene(&["antennas"]).await;
    let antenna = alice.post("/api/v1/antennas").json(&json!({ "title": "Rooks" })).ok().await;
    let who = json!({ "account_ids": [bob.id().to_string()] });
    alice.post(&format!("/api/v1/antennas/{}/accounts", id(&antenna))).json(&who).ok().await;
    for text in ["first caw", "second caw", "third caw"] {
        bob.publish(text).await;
    }
    settle(&app).await;
    let path = format!("/web/timelines/antennas/antennas/{}", id(&antenna));
    let page = browser.get(&format!("{path}?limit=2")).await.text();
    assert!(page.contains("third caw") && !page.contains("first caw"), "{page}");
    assert!(page.contains("<h1>Rooks</h1>"), "{page}");
    let older = page.split("rel=\"next\" href=\"").nth(1).expect("a link to older ones").split('"').next().unwrap();
    let older = older.replace("&amp;", "&").replace("&#x2f;", "/");
    assert!(browser.get(&older).await.text().contains("first caw"), "{older}");
}

#[tokio::test]
async fn circles_are_a_choice_of_the_form() {
    let (app, alice, bob, browser) = scene(&["circles"]).await;
    bob.follow(&alice).ok().await;
    app.run_jobs().await;
    let circle = alice.post("/api/v1/circles").json(&json!({ "title": "Friends" })).ok().await;
    let path = format!("/api/v1/circles/{}/accounts", id(&circle));
    alice.post(&path).json(&json!({ "account_ids": [bob.id().to_string()] })).ok().await;
    let form = browser.get("/publish").await;
    assert!(form.text().contains("name=\"circle_id\"") && form.text().contains("Friends"), "{}", form.text());
    let fields = [("text", "for friends"), ("visibility", "circle"), ("circle_id", id(&circle)), ("act", "publish")];
    submit(&browser, &form, "/publish", &fields).await;
    settle(&app).await;
    let seen = bob.get("/api/v1/timelines/home").ok().await;
    assert!(seen.to_string().contains("for friends"), "{seen}");

    let form = browser.get("/publish").await;
    let refused =
        browser.submit(&form, "/publish", &[("text", "x"), ("visibility", "circle"), ("act", "publish")]).await;
    assert_eq!(refused.status, 422, "{}", refused.text());
    let form = browser.get("/publish").await;
    let plain = [("text", "for all"), ("visibility", "public"), ("circle_id", ""), ("act", "publish")];
    submit(&browser, &form, "/publish", &plain).await;
}
