//! Texts and addresses that are built to harm their readers.

use serde_json::{Value, json};

use super::{Scene, text};
use crate::harness::liar::{PUBLIC, with};
use crate::harness::{Liar, TestApp};
use crate::seed::{Profile, Reply, Seed, Status};

/// HTML that runs scripts, or looks like something else.
const EVIL: &str = r##"<p onclick="x()" style="position:fixed">a<script>x()</script><img src=x onerror=x()><svg/onload=x()>
    <a href="javascript:x()">b</a><a href=" java&#10;script:x()">c</a><iframe src="//x"></iframe><form><input></form>
    <style>*{}</style><a href="https://x.test" onmouseover="x()">d</a><math><mtext></p><script>x()</script></math>"##;

fn assert_harmless(html: &str) {
    let lower = html.to_lowercase();
    for word in [
        "<script",
        "onclick",
        "onerror",
        "onload",
        "onmouseover",
        "javascript:",
        "<iframe",
        "<svg",
        "<form",
        "<style",
        "style=",
        "<img",
        "<math",
    ] {
        assert!(!lower.contains(word), "{word} in {html}");
    }
}

impl Scene {
    /// A status that Mallory sends with these members, as Alice sees it.
    async fn shown(&self, name: &str, members: &Value) -> Value {
        let mallory = self.mallory.clone();
        if self.app.count("follows").await == 0 {
            self.follow(&mallory).await;
        }
        self.receive(&mallory, &with(mallory.note(name), members)).await
    }
}

#[tokio::test]
async fn content_is_sanitised() {
    let scene = Scene::new().await;
    let status = scene.shown("1", &json!({ "content": EVIL, "summary": EVIL, "name": EVIL })).await;
    assert_harmless(text(&status, "content"));
    assert!(text(&status, "content").contains('a') && !text(&status, "spoiler_text").contains("<p"), "{status}");
    let status =
        scene.shown("2", &json!({ "content": null, "contentMap": { "en": EVIL }, "summaryMap": { "en": EVIL } })).await;
    assert_harmless(text(&status, "content"));
    let edit = json!({ "content": EVIL.replace('b', "B"), "updated": "2026-01-15T13:00:00Z" });
    let update = scene.mallory.activity("Update", with(scene.mallory.note("1"), &edit));
    assert_eq!(scene.send(&scene.mallory, &update).await, "Update ok");
    assert_harmless(text(&scene.status(text(&scene.mallory.note("1"), "id")).await.unwrap(), "content"));
    let card = scene.alice.get(&format!("/api/v1/statuses/{}/history", text(&status, "id"))).ok().await;
    card.as_array().unwrap().iter().for_each(|version| assert_harmless(text(version, "content")));
}

#[tokio::test]
async fn profile_is_sanitised() {
    let scene = Scene::new().await;
    let field = json!({ "type": "PropertyValue", "name": EVIL, "value": EVIL });
    scene.mallory.change_actor(&json!({ "name": EVIL, "summary": EVIL, "attachment": [field] }));
    let account = scene.find(&scene.mallory).await;
    assert_harmless(text(&account, "note"));
    assert_harmless(text(&account["fields"][0], "value"));
    assert_eq!(account["fields"][0]["verified_at"], json!(null));
    // A name is text, which apps show as such, and no page of this server shows it as HTML.
    let page =
        scene.app.anonymous().get(&format!("/@{}", scene.mallory.address())).header("accept", "text/html").send().await;
    assert!(!page.text().contains("<script>x()"), "{}", page.text());
}

#[tokio::test]
async fn long_texts_are_cut() {
    let scene = Scene::new().await;
    let long = "ä".repeat(100_000);
    let field = json!({ "type": "PropertyValue", "name": "ä".repeat(3_000), "value": "ä".repeat(3_000) });
    scene.mallory.change_actor(&json!({ "name": long, "summary": long, "attachment": vec![field; 40] }));
    let account = scene.find(&scene.mallory).await;
    assert!(text(&account, "display_name").chars().count() <= 200);
    assert!(text(&account, "note").len() <= 64 * 1024 && account["fields"].as_array().unwrap().len() <= 16);
    let tags: Vec<Value> = (0..500).map(|n| json!({ "type": "Hashtag", "name": format!("#t{n}") })).collect();
    let files = vec![
        json!({ "type": "Document", "mediaType": "image/png", "url": "https://x.test/1.png", "name": "ä".repeat(3_000) });
        40
    ];
    let status = scene.shown("1", &json!({ "summary": long, "content": long, "tag": tags, "attachment": files })).await;
    assert!(
        status["tags"].as_array().unwrap().len() <= 100 && status["media_attachments"].as_array().unwrap().len() <= 16
    );
    assert!(text(&status, "spoiler_text").len() <= 16 * 1024);
}

#[tokio::test]
async fn nul_characters_are_left_out() {
    let scene = Scene::new().await;
    let nul = "a\0b";
    let field = json!({ "type": "PropertyValue", "name": nul, "value": nul });
    let icon = json!({ "type": "Image", "url": "https://x.test/a\0.png", "name": nul });
    let members = json!({ "name": nul, "summary": nul, "attachment": [field], "icon": icon, "alsoKnownAs": [nul],
        "url": scene.liar.url("/\0"), "outbox": scene.liar.url("/\0") });
    scene.mallory.change_actor(&members);
    let account = scene.find(&scene.mallory).await;
    assert!(!account.to_string().contains("\\u0000"), "{account}");
    let file = json!({ "type": "Document", "mediaType": "image/png\0", "url": "https://x.test/1\0.png", "name": nul, "blurhash": nul });
    let tags = json!([{ "type": "Hashtag", "name": "#a\0b" }, { "type": "Mention", "href": "http://x.test/\0" }]);
    let members = json!({ "content": nul, "summary": nul, "attachment": [file], "tag": tags, "conversation": "tag:\0",
        "url": scene.liar.url("/\0"), "contentMap": { "e\0n": nul }, "to": [PUBLIC, "http://x.test/\0"] });
    let status = scene.shown("1", &members).await;
    assert!(!status.to_string().contains("\\u0000"), "{status}");
    assert!(text(&status, "content").contains("ab"), "{status}");
}

#[tokio::test]
async fn addresses_of_a_status_are_of_its_host() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    for (name, url) in [("1", "javascript:alert(1)"), ("2", bob.uri.as_str()), ("3", "data:text/html,x"), ("4", "")] {
        let link = json!([{ "type": "Link", "mediaType": "text/html", "href": url }, url]);
        let status = scene.shown(name, &json!({ "url": link })).await;
        assert_eq!(text(&status, "url"), format!("{}/notes/{name}", scene.mallory.uri));
    }
}

#[tokio::test]
async fn attachments_with_unusable_addresses_are_left_out() {
    let scene = Scene::new().await;
    let file = |url: &str| {
        json!({ "type": "Document", "mediaType": "image/png", "url": url, "width": -1, "height": i64::MAX,
        "focalPoint": [1e300, -7], "blurhash": "x".repeat(10_000), "name": EVIL })
    };
    let long = format!("https://x.test/{}", "x".repeat(5_000));
    let files =
        ["javascript:alert(1)", "data:image/png;base64,AA==", "file:///etc/passwd", "", &long, "https://x.test/1.png"];
    let status = scene.shown("1", &json!({ "attachment": files.map(file) })).await;
    let shown = status["media_attachments"].as_array().unwrap();
    assert_eq!(shown.len(), 1, "{status}");
    assert!(!status.to_string().contains("javascript:alert"), "{status}");
}

#[tokio::test]
async fn tags_do_not_name_others() {
    let scene = Scene::new().await;
    let bob = scene.app.account("bob").await;
    // The name says Bob, and the address Alice.
    let tags = json!([
        { "type": "Mention", "href": scene.alice_uri(""), "name": "@bob@localhost:3000" },
        { "type": "Mention", "href": "javascript:alert(1)", "name": "@bob" },
        { "type": "Hashtag", "name": "#<script>", "href": "javascript:alert(1)" },
        { "type": "Hashtag", "name": "#good", "href": "javascript:alert(1)" },
        { "type": "Emoji", "name": ":<b>:", "icon": { "type": "Image", "url": "javascript:alert(1)" } },
        7, null, "x", [], {},
    ]);
    let status = scene.shown("1", &json!({ "tag": tags })).await;
    assert_eq!(status["mentions"].as_array().unwrap().len(), 1);
    assert_eq!(text(&status["mentions"][0], "acct"), "alice");
    assert!(!status.to_string().contains("javascript:"), "{status}");
    assert!(bob.get("/api/v1/notifications").ok().await.as_array().unwrap().is_empty());
}

#[tokio::test]
async fn members_of_wrong_types_are_absent() {
    let scene = Scene::new().await;
    let wrong = [json!(7), json!([]), json!({}), json!([[["x"]]]), json!(true), json!(1e308), json!("\u{fffe}")];
    let members = [
        "content",
        "summary",
        "published",
        "updated",
        "url",
        "sensitive",
        "attachment",
        "tag",
        "inReplyTo",
        "conversation",
        "contentMap",
        "searchableBy",
        "limitedScope",
        "context",
        "name",
        "summaryMap",
    ];
    for (number, value) in wrong.iter().enumerate() {
        let all: serde_json::Map<String, Value> =
            members.iter().map(|name| ((*name).to_owned(), value.clone())).collect();
        scene.shown(&number.to_string(), &Value::Object(all)).await;
        let profile = [
            "name",
            "summary",
            "icon",
            "image",
            "attachment",
            "tag",
            "alsoKnownAs",
            "endpoints",
            "outbox",
            "featured",
            "published",
            "discoverable",
            "otherSetting",
            "attributionDomains",
            "searchableBy",
            "url",
        ];
        let all: serde_json::Map<String, Value> =
            profile.iter().map(|name| ((*name).to_owned(), value.clone())).collect();
        let actor = with(scene.mallory.actor(), &Value::Object(all));
        assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Update", actor)).await, "Update ok", "{value}");
    }
    assert_eq!(scene.home().await, wrong.len());
}

#[tokio::test]
async fn thread_of_large_texts_has_a_bounded_response_with_all_honest_replies() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let root = seed.status(&Status { author: alice.id().into(), text: "hello", ..Status::default() });
    let parent = Reply { status: root, account: alice.id().into(), conversation: root };
    let large = format!("<p>{}</p>", "x".repeat(60 << 10));
    let profile = Profile { domain: Some("evil.test"), note_html: &large, ..Profile::default() };
    let evil: Vec<i64> = ["mallory", "eve"].map(|username| seed.profile(&Profile { username, ..profile })).to_vec();
    let bob = seed.account("bob", Some("honest.test"));
    let reply = Status { reply_to: Some(parent), local: false, ..Status::default() };
    for number in 0..600 {
        // Some have large texts and all have an author with a large profile.
        let content = (number % 3 == 0).then_some(large.as_str());
        seed.status(&Status { author: evil[number % 2], content, ..reply });
    }
    for _ in 0..50 {
        seed.status(&Status { author: bob, text: "an answer", ..reply });
    }
    seed.write(app.db()).await;
    let thread = alice.get(&format!("/api/v1/statuses/{root}/context")).send().await;
    assert!(thread.body.len() < 17 << 20, "{}", thread.body.len());
    let thread: Value = serde_json::from_slice(&thread.body).unwrap();
    let of = |name: &str| {
        thread["descendants"].as_array().unwrap().iter().filter(|reply| reply["account"]["username"] == name).count()
    };
    assert_eq!(of("bob"), 50);
    assert!(of("mallory") + of("eve") > 0, "large ones are shown while there is room");
}
