//! The client in the browser, as a person without scripts uses it: reading, writing and acting by forms.

use serde_json::{Value, json};

use crate::harness::{Answer, Browser, Client, TestApp, form_fields};
use crate::routes::media::png;

/// Two people who follow each other, with the browser of the first.
async fn two() -> (TestApp, Client, Client, Browser) {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.follow(&bob).ok().await;
    bob.follow(&alice).ok().await;
    app.run_jobs().await;
    let browser = Browser::signed_in(&app, "alice").await;
    (app, alice, bob, browser)
}

/// Sends an act of the form of a status.
async fn act(browser: &Browser, page: &str, id: &str, act: &str) -> Answer {
    let shown = browser.get(page).await;
    browser.submit(&shown, &format!("/web/statuses/{id}"), &[("act", act)]).await
}

/// Sends an act of the forms of an account, from its profile.
async fn act_on(browser: &Browser, name: &str, id: &str, fields: &[(&str, &str)]) -> Answer {
    let shown = browser.get(&format!("/@{name}")).await;
    browser.submit(&shown, &format!("/web/accounts/{id}"), fields).await
}

/// Fills the form for a new status at `path`, and sends it.
async fn write(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> Answer {
    let form = browser.get(path).await;
    assert_eq!(form.status, 200, "{}", form.text());
    let fields: Vec<(&str, &str)> = fields.iter().copied().chain([("act", "publish")]).collect();
    browser.submit(&form, "/publish", &fields).await
}

/// The id at the end of where a response leads.
fn led_to(answer: &Answer) -> String {
    assert_eq!(answer.status, 302, "{}", answer.text());
    answer.header("location").rsplit('/').next().unwrap().to_owned()
}

/// The article of the status `id`.
fn article(page: &Answer, id: &str) -> String {
    let text = page.text();
    let start = text.find(&format!("id=\"status-{id}\"")).unwrap_or_else(|| panic!("no status {id}: {text}"));
    text[start..].split("</article>").next().unwrap().to_owned()
}

#[tokio::test]
async fn home_is_where_people_arrive() {
    let (app, _, bob, alice) = two().await;
    let empty = alice.get("/home").await;
    assert_eq!(empty.status, 200);
    assert!(empty.text().contains("Your home is empty") && empty.text().contains("href=\"/explore\""));
    assert_eq!(empty.header("cache-control"), "private, no-store");
    assert_eq!(alice.get("/").await.header("location"), "/home");

    let said = bob.publish("hello @alice #rooks").await;
    app.run_jobs().await;
    let home = alice.get("/home").await;
    let shown = article(&home, said.id());
    assert!(shown.contains("href=\"/tags/rooks\"") || shown.contains("/tags/rooks\""), "{shown}");
    assert!(shown.contains("name=\"csrf\"") && shown.contains("value=\"/home\""), "{shown}");
    assert!(home.text().contains("aria-current=\"page\""));
}

#[tokio::test]
async fn strangers_are_sent_to_the_sign_in() {
    let (_, _, bob, _) = two().await;
    let app = TestApp::new().await;
    let status = bob.publish("to be looked at").await;
    for path in [
        "/home",
        "/public",
        "/public/local",
        "/lists",
        "/lists/1",
        "/lists/1/edit",
        "/bookmarks",
        "/favourites",
        "/notifications",
        "/notifications/requests",
        "/conversations",
        "/conversations/1",
        "/publish",
        "/scheduled",
        "/report",
        "/follow_requests",
        "/blocks",
        "/mutes",
        "/@bob/followers",
        "/@bob/following",
        &format!("/@bob/{status}/favourites"),
        &format!("/@bob/{status}/reblogs"),
        &format!("/@bob/{status}/history"),
        &format!("/@bob/{status}/quotes"),
    ] {
        let away = app.anonymous().get(path).header("accept", "text/html").send().await;
        assert_eq!(away.status, 302, "{path}");
        assert!(away.header("location").starts_with("/auth/sign_in?next="), "{path}");
    }
    for path in ["/web/statuses/1", "/web/accounts/1", "/web/tags/rooks", "/web/polls/1", "/web/length"] {
        let away = app.anonymous().post(path).header("accept", "text/html").form(&[("act", "follow")]).send().await;
        assert_eq!(away.status, 302, "{path}");
    }
}

#[tokio::test]
async fn first_post_with_a_picture_and_everything() {
    let (app, alice, bob, browser) = two().await;
    let form = browser.get("/publish").await;
    let picture = png(8, 6);
    let fields = [
        ("text", "look"),
        ("spoiler_text", "birds"),
        ("visibility", "unlisted"),
        ("language", "de"),
        ("descriptions[file_1]", "a rook"),
        ("act", "upload"),
    ];
    let uploaded = browser.upload(&form, "/publish", &fields, &[("file_1", "rook.png", &picture)]).await;
    assert_eq!(uploaded.status, 200, "{}", uploaded.text());
    let text = uploaded.text();
    assert!(text.contains(">a rook</textarea>") && text.contains(">\nlook</textarea>"), "{text}");
    let hidden = form_fields(&text, "/publish");
    assert!(hidden.iter().any(|(name, _)| name == "media[0][id]"), "{hidden:?}");

    let fields = [
        ("text", "look"),
        ("spoiler_text", "birds"),
        ("visibility", "unlisted"),
        ("language", "de"),
        ("media[0][description]", "a young rook"),
        ("sensitive", "1"),
        ("act", "publish"),
    ];
    let sent = browser.submit(&uploaded, "/publish", &fields).await;
    let id = led_to(&sent);
    app.run_jobs().await;
    let status = alice.get(&format!("/api/v1/statuses/{id}")).ok().await;
    assert_eq!(
        (&status["spoiler_text"], &status["visibility"], &status["language"], &status["sensitive"]),
        (&json!("birds"), &json!("unlisted"), &json!("de"), &json!(true))
    );
    assert_eq!(status["media_attachments"][0]["description"], "a young rook");

    // Sent again, it is the same status.
    assert_eq!(led_to(&browser.submit(&uploaded, "/publish", &fields).await), id);
    let shown = article(&Browser::signed_in(&app, "bob").await.get("/home").await, &id);
    assert!(shown.contains("alt=\"a young rook\"") && shown.contains("birds"), "{shown}");
    drop(bob);
}

#[tokio::test]
async fn every_file_keeps_its_own_description() {
    let (_, alice, _, browser) = two().await;
    let (form, picture) = (browser.get("/publish").await, png(8, 6));
    let files: Vec<(&str, &str, &[u8])> =
        ["file_1", "file_2", "file_4"].map(|name| (name, "rook.png", picture.as_slice())).to_vec();
    let fields = [
        ("text", "three"),
        ("descriptions[file_1]", "one"),
        ("descriptions[file_2]", ""),
        ("descriptions[file_4]", "three"),
        ("act", "publish"),
    ];
    let id = led_to(&browser.upload(&form, "/publish", &fields, &files).await);
    let status = alice.get(&format!("/api/v1/statuses/{id}")).ok().await;
    let described: Vec<_> =
        status["media_attachments"].as_array().unwrap().iter().map(|media| media["description"].as_str()).collect();
    assert_eq!(described, [Some("one"), None, Some("three")]);
}

#[tokio::test]
async fn forms_count_as_uploads_when_they_have_files() {
    let app = TestApp::with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let form = browser.get("/publish").await;
    let fields = [("text", "kept"), ("act", "upload")];
    for _ in 0..31 {
        assert_eq!(browser.upload(&form, "/publish", &fields, &[]).await.status, 200);
    }
    for number in 0..31 {
        let sent = browser.upload(&form, "/publish", &fields, &[("file_1", "words.txt", b"no picture")]).await;
        assert_eq!(sent.status, if number < 30 { 422 } else { 429 }, "{number}");
    }
}

#[tokio::test]
async fn refused_text_stays_in_the_form() {
    let (_, _, _, browser) = two().await;
    let long = "a".repeat(6_000);
    let refused = write(&browser, "/publish", &[("text", &long), ("spoiler_text", "kept")]).await;
    assert_eq!(refused.status, 422);
    let text = refused.text();
    assert!(text.contains("role=\"alert\"") && text.contains(&long) && text.contains("value=\"kept\""));
    // As a sentence, without the names of parameters.
    let polls = [("text", "?"), ("poll[options][]", "one"), ("poll[expires_in]", "3600")];
    for (fields, words) in
        [(&[("text", " ")][..], ">Text can&#39;t be blank.</p>"), (&polls, ">A poll has 2 to 8 options.</p>")]
    {
        let refused = write(&browser, "/publish", fields).await;
        assert_eq!(refused.status, 422, "{}", refused.text());
        assert!(refused.text().contains(words), "{}", refused.text());
    }
    for (field, value) in [
        ("visibility", "everyone"),
        ("quote_approval_policy", "maybe"),
        ("policy[reply]", "maybe"),
        ("scheduled_at", "soon"),
        ("language", "klingon"),
    ] {
        let refused = write(&browser, "/publish", &[("text", "words"), (field, value)]).await;
        assert!([302, 422].contains(&refused.status.as_u16()), "{field}: {}", refused.status);
        assert!(refused.status == 422 || field == "language", "{field}");
    }
    let file = browser.get("/publish").await;
    let fields = [("text", "a file"), ("act", "publish")];
    let refused = browser.upload(&file, "/publish", &fields, &[("file_1", "words.txt", b"no picture")]).await;
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert!(refused.text().contains(">\na file</textarea>"));
    let foreign = browser.post("/publish", &[("text", "words"), ("csrf", "wrong"), ("act", "publish")]).await;
    assert_eq!(foreign.status, 403);
    for path in ["/publish?in_reply_to_id=1", "/publish?quoted_status_id=x", "/publish?edit=1", "/publish?redraft=1"] {
        let status = browser.get(path).await.status.as_u16();
        assert!([404, 422].contains(&status), "{path}: {status}");
    }
}

#[tokio::test]
async fn replies_quotes_edits_and_redrafts() {
    let (app, alice, bob, browser) = two().await;
    let said = bob.publish("what do you think, @alice?").await;

    let path = format!("/publish?in_reply_to_id={said}");
    let form = browser.get(&path).await;
    assert!(form.text().contains(">\n@bob </textarea>"), "{}", form.text());
    let reply = led_to(&write(&browser, &path, &[("text", "@bob a lot")]).await);
    assert_eq!(alice.get(&format!("/api/v1/statuses/{reply}")).ok().await["in_reply_to_id"], said.id());
    let thread = browser.get(&format!("/@bob/{said}")).await;
    assert!(article(&thread, &reply).contains("a lot"), "{}", thread.text());

    let quote = led_to(&write(&browser, &format!("/publish?quoted_status_id={said}"), &[("text", "see")]).await);
    let shown = article(&browser.get("/home").await, &quote);
    assert!(shown.contains("<blockquote class=\"quoted\"") && shown.contains("what do you think"), "{shown}");
    assert!(!shown.contains("value=\"revoke\""), "of somebody else: {shown}");
    let mine = alice.publish("mine").await;
    let of_mine = bob.publish(json!({ "status": "look", "quoted_status_id": mine.id() })).await;
    let page = browser.get(&format!("/@bob/{of_mine}")).await;
    assert!(article(&page, of_mine.id()).contains("value=\"revoke\""), "{}", page.text());
    let mut fields = form_fields(&page.text(), &format!("/web/statuses/{of_mine}"));
    fields.push(("act".to_owned(), "revoke".to_owned()));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert!(fields.contains(&("quoting", of_mine.id())), "{fields:?}");
    assert_eq!(browser.post(&format!("/web/statuses/{mine}"), &fields).await.status, 302);
    let page = browser.get(&format!("/@bob/{of_mine}")).await;
    assert!(article(&page, of_mine.id()).contains("withdrew the quoted post"), "{}", page.text());

    let path = format!("/publish?edit={reply}");
    assert!(browser.get(&path).await.text().contains(">\n@bob a lot</textarea>"));
    assert_eq!(led_to(&write(&browser, &path, &[("text", "@bob a little")]).await), reply);
    app.run_jobs().await;
    let history = browser.get(&format!("/@alice/{reply}/history")).await.text();
    assert!(history.contains("a little") && history.contains("a lot"), "{history}");

    let path = format!("/publish?redraft={quote}");
    let anew = led_to(&write(&browser, &path, &[("text", "see this")]).await);
    assert_ne!(anew, quote);
    alice.get(&format!("/api/v1/statuses/{quote}")).fails(404).await;
    let text = alice.get(&format!("/api/v1/statuses/{anew}")).ok().await;
    assert_eq!(text["quote"]["quoted_status"]["id"], said.id(), "{text}");
    assert!(browser.get(&format!("/@bob/{said}/quotes")).await.text().contains("see this"));
}

#[tokio::test]
async fn polls_are_made_and_voted_in() {
    let (app, alice, bob, browser) = two().await;
    let fields = [
        ("text", "which?"),
        ("poll[options][]", "rook"),
        ("poll[options][]", "crow"),
        ("poll[options][]", ""),
        ("poll[expires_in]", "3600"),
        ("poll[multiple]", "1"),
    ];
    let own = led_to(&write(&browser, "/publish", &fields).await);
    let poll = alice.get(&format!("/api/v1/statuses/{own}")).ok().await["poll"].clone();
    assert_eq!((poll["options"].as_array().unwrap().len(), &poll["multiple"]), (2, &json!(true)));

    let other =
        bob.publish(json!({ "status": "and?", "poll": { "options": ["yes", "no"], "expires_in": 3600 } })).await;
    app.run_jobs().await;
    let id = other["poll"]["id"].as_str().unwrap();
    let home = browser.get("/home").await;
    assert!(article(&home, other.id()).contains("type=\"radio\""));
    // Nothing chosen: the page again, which says so.
    let none = browser.submit(&home, &format!("/web/polls/{id}"), &[]).await;
    assert_eq!((none.status.as_u16(), none.header("location")), (302, "/home"));
    let home = browser.get("/home").await;
    assert!(home.text().contains("Choose an answer first."), "{}", home.text());
    let voted = browser.submit(&home, &format!("/web/polls/{id}"), &[("choices[]", "1")]).await;
    assert_eq!(voted.header("location"), format!("/home#status-{other}"));
    let shown = article(&browser.get("/home").await, other.id());
    assert!(!shown.contains("type=\"radio\"") && shown.contains("your vote"), "{shown}");
    let again = browser.submit(&home, &format!("/web/polls/{id}"), &[("choices[]", "0")]).await;
    assert_eq!(again.status, 422, "{}", again.text());
}

#[tokio::test]
async fn acts_of_a_status_are_forms() {
    let (app, alice, bob, browser) = two().await;
    let said = bob.publish("something").await;
    app.run_jobs().await;
    let marks = async || {
        let status = alice.status(&said).ok().await;
        ["favourited", "reblogged", "bookmarked", "muted"].map(|mark| status[mark] == true)
    };
    for act_name in ["favourite", "reblog", "bookmark", "mute"] {
        let done = act(&browser, "/home", said.id(), act_name).await;
        assert_eq!((done.status.as_u16(), done.header("location")), (302, &*format!("/home#status-{said}")));
    }
    assert_eq!(marks().await, [true; 4]);
    for act_name in ["unfavourite", "unreblog", "unbookmark", "unmute"] {
        act(&browser, &format!("/@bob/{said}"), said.id(), act_name).await;
    }
    assert_eq!(marks().await, [false; 4]);

    let home = browser.get("/home").await;
    let path = format!("/web/statuses/{said}");
    // Its forms lead back to the page, not to this path.
    let part = browser.submit(&home, &path, &[("act", "favourite"), ("part", "1")]).await;
    assert!(part.text().contains("name=\"back\" value=\"/home\""), "{}", part.text());
    assert_eq!(part.status, 200);
    let text = part.text();
    assert!(text.trim_start().starts_with("<article") && text.contains("value=\"unfavourite\""), "{text}");
    assert!(!text.contains("<html"));
    for (sent, status) in [("", 400), ("explode", 400), ("delete", 404), ("pin", 422), ("revoke", 400)] {
        let refused = browser.submit(&home, &path, &[("act", sent)]).await;
        assert_eq!(refused.status, status, "{sent}: {}", refused.text());
    }
    let missing = browser.submit(&home, &path, &[("act", "favourite"), ("back", "//elsewhere.test/")]).await;
    assert!(missing.header("location").starts_with('/') && !missing.header("location").starts_with("//"));

    let own = alice.publish("mine").await;
    app.run_jobs().await;
    for act_name in ["pin", "unpin", "close", "reopen"] {
        assert_eq!(act(&browser, "/home", own.id(), act_name).await.status, 302, "{act_name}");
    }
    let page = format!("/@alice/{own}");
    assert_eq!(act(&browser, &page, own.id(), "delete").await.header("location"), "/home");
    alice.status(&own).fails(404).await;
}

#[tokio::test]
async fn acts_of_an_account_are_forms() {
    let (app, alice, bob, browser) = two().await;
    let id = bob.id().to_string();
    let tie = async || {
        let found = alice.get(&format!("/api/v1/accounts/relationships?id[]={id}")).ok().await;
        found[0].clone()
    };
    let on = async |fields: &[(&str, &str)]| {
        let done = act_on(&browser, "bob", &id, fields).await;
        assert_eq!(done.status, 302, "{fields:?}: {}", done.text());
        tie().await
    };
    assert_eq!(on(&[("act", "unfollow")]).await["following"], false);
    assert_eq!(on(&[("act", "follow")]).await["following"], true);
    let chosen = on(&[("act", "options"), ("notify", "1"), ("languages[]", "de")]).await;
    assert_eq!((&chosen["notifying"], &chosen["showing_reblogs"]), (&json!(true), &json!(false)));
    assert_eq!(chosen["languages"], json!(["de"]));
    assert_eq!(on(&[("act", "note"), ("comment", "a friend")]).await["note"], "a friend");
    assert_eq!(on(&[("act", "feature")]).await["endorsed"], true);
    assert_eq!(on(&[("act", "unfeature")]).await["endorsed"], false);
    let muted = on(&[("act", "mute"), ("notifications", "1"), ("duration", "3600")]).await;
    assert!(muted["muting"] == true && muted["muting_expires_at"].is_string(), "{muted}");
    assert!(browser.get("/mutes").await.text().contains("@bob"));
    assert_eq!(on(&[("act", "unmute")]).await["muting"], false);
    let list = alice.make_list("friends").await;
    on(&[("act", "list"), ("list", &list)]).await;
    assert!(browser.get(&format!("/lists/{list}/edit")).await.text().contains("@bob"));
    on(&[("act", "unlist"), ("list", &list)]).await;
    assert_eq!(on(&[("act", "remove_follower")]).await["followed_by"], false);
    assert_eq!(on(&[("act", "block")]).await["blocking"], true);
    assert!(browser.get("/blocks").await.text().contains("value=\"unblock\""));
    assert_eq!(on(&[("act", "unblock")]).await["blocking"], false);

    let refused = act_on(&browser, "bob", &id, &[("act", "list")]).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert_eq!(act_on(&browser, "bob", &id, &[("act", "explode")]).await.status, 400);

    alice.patch("/api/v1/accounts/update_credentials").json(&json!({ "locked": true })).ok().await;
    bob.follow(&alice).ok().await;
    let requests = browser.get("/follow_requests").await;
    assert!(requests.text().contains("@bob"), "{}", requests.text());
    browser.submit(&requests, &format!("/web/accounts/{id}"), &[("act", "authorize")]).await;
    assert_eq!(tie().await["followed_by"], true);
    app.run_jobs().await;
    assert!(browser.get("/@alice/followers").await.text().contains("@bob"));
}

#[tokio::test]
async fn notifications_are_grouped_and_marked_as_read() {
    let (app, alice, bob, browser) = two().await;
    let said = alice.publish("like me").await;
    bob.favourite(&said).ok().await;
    bob.publish("hey @alice").await;
    app.run_jobs().await;
    let first = browser.get("/notifications").await.text();
    assert!(first.contains("class=\"notice unread\"") && first.contains("hey"), "{first}");
    let second = browser.get("/notifications").await.text();
    assert!(!second.contains("class=\"notice unread\""), "{second}");
    let mentions = browser.get("/notifications?kind=mentions").await.text();
    assert!(mentions.contains("hey") && !mentions.contains("like me"), "{mentions}");
    assert_eq!(browser.get("/notifications?kind=x").await.status, 400);
    let page = browser.get("/notifications").await;
    assert_eq!(browser.submit(&page, "/notifications/clear", &[]).await.status, 302);
    assert!(browser.get("/notifications").await.text().contains("No notifications yet."));
}

#[tokio::test]
async fn filters_hide_warn_and_cover() {
    let (app, alice, bob, browser) = two().await;
    let [hidden, warned, plain] =
        [bob.publish("the spider").await, bob.publish("the cellar").await, bob.publish("the sky").await];
    for (word, action) in [("spider", "hide"), ("cellar", "warn")] {
        let new = json!({ "title": format!("no {word}"), "context": ["home"], "filter_action": action,
            "keywords_attributes": [{ "keyword": word }] });
        alice.post("/api/v2/filters").json(&new).ok().await;
    }
    app.run_jobs().await;
    let home = browser.get("/home").await;
    assert!(!home.text().contains(&format!("status-{hidden}\"")));
    let covered = article(&home, warned.id());
    assert!(covered.contains("Filtered: no cellar") && covered.contains("<details class=\"cw filtered\""), "{covered}");
    assert!(!article(&home, plain.id()).contains("Filtered"));
    assert!(!article(&browser.get("/public/local").await, hidden.id()).is_empty(), "it is filtered at home alone");
}

#[tokio::test]
async fn timelines_lists_and_marked_statuses_are_pages() {
    let (app, alice, bob, browser) = two().await;
    let said = bob.publish("a word #rooks").await;
    alice.bookmark(&said).ok().await;
    alice.favourite(&said).ok().await;
    let index = browser.get("/lists").await;
    let made = browser.submit(&index, "/lists", &[("title", "friends")]).await;
    let edit = made.header("location").to_owned();
    let page = browser.get(&edit).await;
    let changed =
        browser.submit(&page, &edit, &[("title", "rooks"), ("replies_policy", "none"), ("exclusive", "1")]).await;
    assert_eq!(changed.status, 302, "{}", changed.text());
    let lists = alice.get("/api/v1/lists").ok().await;
    assert_eq!((&lists[0]["title"], &lists[0]["exclusive"]), (&json!("rooks"), &json!(true)));
    let list = lists[0]["id"].as_str().unwrap();
    alice.add_to_list(list, &[&bob]).ok().await;
    let listed = bob.publish("for the list").await;
    app.run_jobs().await;
    for (path, id) in [
        ("/public/local", &said),
        ("/public", &said),
        ("/bookmarks", &said),
        ("/favourites", &said),
        (&*format!("/lists/{list}"), &listed),
        ("/tags/rooks", &said),
        ("/@bob", &said),
        ("/@bob/with_replies", &said),
    ] {
        assert!(!article(&browser.get(path).await, id.id()).is_empty(), "{path}");
    }
    let paged = browser.get("/public/local?limit=1").await.text();
    assert!(paged.contains("rel=\"next\"") && paged.contains("limit=1"), "{paged}");
    let tag = browser.get("/tags/rooks").await;
    browser.submit(&tag, "/web/tags/rooks", &[("act", "follow")]).await;
    assert_eq!(alice.get("/api/v1/tags/rooks").ok().await["following"], true);
    let page = browser.get(&edit).await;
    assert_eq!(browser.submit(&page, &edit, &[("act", "delete")]).await.header("location"), "/lists");
    assert_eq!(browser.get(&format!("/lists/{list}")).await.status, 404);
    assert_eq!(browser.submit(&index, "/lists", &[("title", "")]).await.status, 422);
}

#[tokio::test]
async fn conversations_and_reports() {
    let (app, alice, bob, browser) = two().await;
    let secret = bob.publish_to("direct", "psst @alice").await;
    app.run_jobs().await;
    let page = browser.get("/conversations").await;
    assert!(page.text().contains("psst") && page.text().contains("unread"), "{}", page.text());
    let id = alice.get("/api/v1/conversations").ok().await[0]["id"].as_str().unwrap().to_owned();
    let opened = browser.get(&format!("/conversations/{id}")).await;
    assert!(opened.header("location").ends_with(secret.id()), "{}", opened.header("location"));
    let path = format!("/conversations/{id}");
    for (sent, unread) in [("read", false), ("unread", true)] {
        browser.submit(&page, &path, &[("act", sent)]).await;
        assert_eq!(alice.get("/api/v1/conversations").ok().await[0]["unread"], unread);
    }
    assert_eq!(browser.submit(&page, &path, &[("act", "burn")]).await.status, 400);
    browser.submit(&page, &path, &[("act", "hide")]).await;
    assert_eq!(alice.get("/api/v1/conversations").ok().await, json!([]));

    let bad = bob.publish("spam spam").await;
    let form = browser.get(&format!("/report?account_id={}&status_id={bad}", bob.id())).await;
    assert!(form.text().contains(&format!("value=\"{bad}\" checked")), "{}", form.text());
    let fields = [("category", "spam"), ("status_ids[]", bad.id()), ("comment", "look")];
    assert_eq!(browser.submit(&form, "/report", &fields).await.header("location"), "/home");
    let report = app.number("SELECT COUNT(*) FROM reports").await;
    assert_eq!(report, 1);
    assert_eq!(browser.get("/report").await.status, 400);
    assert_eq!(browser.get("/report?account_id=1").await.status, 404);
}

#[tokio::test]
async fn posts_wait_for_their_time() {
    let (app, alice, _, browser) = two().await;
    let at = app.app.clock.now() + chrono::Duration::days(400);
    let fields = [("text", "later"), ("scheduled_at", &*at.format("%Y-%m-%dT%H:%M").to_string()), ("offset", "-60")];
    assert_eq!(write(&browser, "/publish", &fields).await.header("location"), "/scheduled");
    let waiting: Value = alice.get("/api/v1/scheduled_statuses").ok().await;
    let expected = (at - chrono::Duration::minutes(60)).format("%Y-%m-%dT%H:%M").to_string();
    assert!(waiting[0]["scheduled_at"].as_str().unwrap().starts_with(&expected), "{waiting}");
    let page = browser.get("/scheduled").await;
    assert!(page.text().contains("later"));
    let path = format!("/scheduled/{}", waiting[0]["id"].as_str().unwrap());
    assert_eq!(browser.submit(&page, &path, &[]).await.status, 302);
    assert_eq!(alice.get("/api/v1/scheduled_statuses").ok().await, json!([]));
}
