//! The page of requests to interact with one's statuses.

use serde_json::{Value, json};

use crate::harness::{Answer, Browser, Client, Published, TestApp, form_fields, id};
use crate::routes::media::png;

const PAGE: &str = "/settings/requests";
const REVOKED: &str = "/settings/requests?state=revoked";

/// A status of `author` with which others do nothing without approval.
async fn guarded(author: &Client, text: &str) -> Published {
    let rule = json!({"always": [], "with_approval": ["public"]});
    let policy = json!({"can_quote": rule, "can_reply": rule, "can_favourite": rule, "can_reblog": rule});
    author.publish(json!({"status": text, "interaction_policy": policy})).await
}

/// The requests to `author` in this state.
async fn requests(author: &Client, state: &str) -> Vec<Value> {
    let list = author.get(&format!("/api/v1/interaction_requests?state={state}")).ok().await;
    list.as_array().unwrap().clone()
}

/// Submits a form of `page` for the request `id`, with the button `act`.
async fn act(browser: &Browser, page: &Answer, id: &str, act: &str) -> Answer {
    let token = form_fields(&page.text(), PAGE).into_iter().find(|(name, _)| name == "csrf").expect("a token").1;
    browser.post(PAGE, &[("csrf", &token), ("id", id), ("act", act)]).await
}

/// The entry of a list that begins with `sentence`.
fn entry(page: &Answer, sentence: &str) -> String {
    let text = page.text();
    let found = text.split("<li class=\"card\">").skip(1).find(|entry| entry.contains(sentence));
    found.unwrap_or_else(|| panic!("{sentence}: {text}")).split("</li>").next().unwrap().to_owned()
}

#[tokio::test]
async fn waiting_requests_are_listed_with_person_post_and_text() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let browser = Browser::signed_in(&app, "alice").await;
    let empty = browser.get(PAGE).await;
    assert!(empty.text().contains("Nothing waits for your decision."));
    assert!(empty.text().contains("<a href=\"/settings/requests\" aria-current=\"page\">Requests about posts</a>"));
    assert!(browser.get("/settings").await.text().contains("<a href=\"/settings/requests\">"));

    let pack = tempfile::tempdir().unwrap();
    std::fs::write(pack.path().join("rook.png"), png(20, 10)).unwrap();
    app.run(&["emoji", "import", pack.path().to_str().unwrap(), "--json"]).await.json();
    assert!(app.app.reload().await.unwrap());
    bob.update_profile(json!({"display_name": "Bob <b>"})).ok().await;
    let target = guarded(&alice, "my rooks").await;
    let reply = json!({"status": "<script>rude</script> :rook:", "spoiler_text": "Feathers <i>", "in_reply_to_id": target.id()});
    bob.publish(reply).await;
    bob.publish(json!({"status": "see these", "quoted_status_id": target.id()})).await;
    bob.favourite(&target).ok().await;
    bob.reblog(&target).ok().await;

    let page = browser.get(PAGE).await;
    let text = page.text();
    assert_eq!(text.matches("<li class=\"card\">").count(), 4);
    assert!(!text.contains("<b>") && !text.contains("<i>"));
    let post = format!("<a href=\"{}\">my rooks</a>", target["url"].as_str().unwrap());
    for (sentence, words) in [
        ("Asks to reply to your post:", Some("&lt;script&gt;rude")),
        ("Asks to quote your post:", Some("see these")),
        ("Asks to mark your post as a favourite:", None),
        ("Asks to boost your post:", None),
    ] {
        let entry = entry(&page, sentence);
        assert!(entry.contains(&post) && entry.contains("Bob &lt;b&gt;") && entry.contains("/@bob\""), "{entry}");
        assert!(entry.contains("class=\"avatar") && entry.contains(words.unwrap_or_default()), "{entry}");
        assert_eq!(entry.contains("class=\"status "), words.is_some(), "{entry}");
        assert!(entry.contains("value=\"accept\">") && entry.contains("value=\"reject\">"), "{entry}");
    }
    let reply = entry(&page, "Asks to reply");
    let (_, folded) = reply.split_once("<details class=\"cw\">").expect("a content warning");
    assert!(
        folded.contains("Feathers &lt;i&gt;") && folded.contains("rude") && folded.contains("class=\"custom-emoji\""),
        "{reply}"
    );
    assert!(!browser.get(REVOKED).await.text().contains("my rooks"));
}

#[tokio::test]
async fn request_is_accepted_or_rejected() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let browser = Browser::signed_in(&app, "alice").await;
    let target = guarded(&alice, "my rooks").await;
    let reply = bob.reply(&target, "nice").await;
    bob.favourite(&target).ok().await;
    carol.favourite(&target).ok().await;
    carol.status(&reply).fails(404).await;

    let page = browser.get(PAGE).await;
    let waiting = requests(&alice, "pending").await;
    let of = |kind: &str, name: &str| {
        let fits = |one: &&Value| one["type"] == kind && one["account"]["username"] == name;
        id(waiting.iter().find(fits).expect("a request")).to_owned()
    };
    for (request, act_name, notice) in [
        (of("reply", "bob"), "accept", "You accepted the request."),
        (of("favourite", "bob"), "accept", "You accepted the request."),
        (of("favourite", "carol"), "reject", "You rejected the request."),
    ] {
        let done = act(&browser, &page, &request, act_name).await;
        assert_eq!((done.status.as_u16(), done.header("location")), (302, PAGE));
        assert!(browser.get(PAGE).await.text().contains(notice));
        assert_eq!(act(&browser, &page, &request, act_name).await.status, 404, "it was decided before");
    }
    assert_eq!(carol.status(&reply).ok().await["content"], reply["content"]);
    let after = alice.status(&target).ok().await;
    assert_eq!((&after["replies_count"], &after["favourites_count"]), (&json!(1), &json!(1)));
    assert_eq!(requests(&alice, "rejected").await.len(), 1);
    assert!(browser.get(PAGE).await.text().contains("Nothing waits for your decision."));
}

#[tokio::test]
async fn only_its_author_decides_about_a_request() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let target = guarded(&alice, "my rooks").await;
    bob.reply(&target, "nice").await;
    let (browser, other) = (Browser::signed_in(&app, "alice").await, Browser::signed_in(&app, "carol").await);
    bob.reply(&guarded(&carol, "my crows").await, "too").await;
    let request = id(&requests(&alice, "pending").await[0]).to_owned();

    let theirs = other.get(PAGE).await;
    assert!(theirs.text().contains("my crows") && !theirs.text().contains("my rooks"));
    for name in ["accept", "reject", "restore"] {
        assert_eq!(act(&other, &theirs, &request, name).await.status, 404, "{name}");
        for token in ["", "guessed"] {
            let forged = browser.post(PAGE, &[("csrf", token), ("id", &request), ("act", name)]).await;
            assert_eq!(forged.status, 403, "{name}");
        }
    }
    let page = browser.get(PAGE).await;
    assert_eq!(act(&browser, &page, &request, "restore").await.status, 404, "it was not taken out");
    assert_eq!(act(&browser, &page, &request, "dance").await.status, 400);
    assert_eq!(browser.submit(&page, PAGE, &[]).await.status, 400);
    assert_eq!(browser.get("/settings/requests?state=rejected").await.status, 400);
    assert_eq!(requests(&alice, "pending").await.len(), 1);
}

#[tokio::test]
async fn reply_that_was_taken_out_is_put_back() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let browser = Browser::signed_in(&app, "alice").await;
    assert!(browser.get(REVOKED).await.text().contains("You have taken nothing back."));
    let target = alice.publish("my rooks").await;
    let replies = [bob.reply(&target, "rude").await, bob.reply(&target, "ruder").await];
    for reply in &replies {
        alice.post(&reply.path("/remove_from_thread")).ok().await;
        carol.status(reply).fails(404).await;
    }
    let quote = bob.publish(json!({"status": "look", "quoted_status_id": target.id()})).await;
    alice.post(&target.path(&format!("/quotes/{}/revoke", quote.id()))).ok().await;

    let page = browser.get(REVOKED).await;
    assert_eq!(page.text().matches("<li class=\"card\">").count(), 3);
    assert_eq!(page.text().matches("value=\"restore\">").count(), 2, "a quote does not come back");
    assert!(!page.text().contains("value=\"accept\">"));
    assert!(!browser.get(PAGE).await.text().contains("my rooks"));
    let first = browser.get("/settings/requests?state=revoked&limit=1").await.text();
    let next = first.split_once("rel=\"next\" href=\"").unwrap().1.split('"').next().unwrap().replace("&amp;", "&");
    let older = browser.get(&format!("{PAGE}{next}&limit=1")).await;
    assert!(older.text().contains("You took this reply out"), "{}", older.text());

    let removed = requests(&alice, "revoked").await;
    let request = removed.iter().find(|one| one["reply"]["id"] == replies[0]["id"]).expect("the request");
    let done = act(&browser, &page, id(request), "restore").await;
    assert_eq!((done.status.as_u16(), done.header("location")), (302, REVOKED));
    let after = browser.get(REVOKED).await.text();
    assert!(after.contains("The reply is back in its thread.") && !after.contains(">rude<"));
    carol.status(&replies[0]).ok().await;
    carol.status(&replies[1]).fails(404).await;
    assert_eq!(alice.status(&target).ok().await["replies_count"], 1);
}

#[tokio::test]
async fn many_requests_have_pages_of_constant_cost() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let browser = Browser::signed_in(&app, "alice").await;
    let cost = async || {
        browser.get(PAGE).await;
        let caches = &app.app.caches;
        caches.statuses.clear();
        caches.accounts.clear();
        caches.heads.clear();
        let (cost, page) = app.cost(browser.get(PAGE)).await;
        (cost, page.text())
    };
    let ask = async |number: usize| {
        let target = guarded(&alice, &format!("rook {number}.")).await;
        bob.reply(&target, "nice").await;
    };
    ask(0).await;
    let (short, page) = cost().await;
    assert!(page.contains("rook 0.") && !page.contains("rel=\"next\""));
    for number in 1..22 {
        ask(number).await;
    }
    let (long, page) = cost().await;
    assert_eq!(long, short);
    assert_eq!(page.matches("<li class=\"card\">").count(), 20);
    let next = page.split_once("rel=\"next\" href=\"").unwrap().1.split('"').next().unwrap().to_owned();
    let older = browser.get(&format!("{PAGE}{next}")).await.text();
    assert!(older.contains("rook 0.") && older.contains("rook 1.") && !older.contains("rook 2."));
}
