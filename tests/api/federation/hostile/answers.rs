//! Answers to requests of this server that are built to mislead, delay or exhaust it.

use std::time::Duration;

use serde_json::json;

use super::{Scene, text};
use crate::harness::Liar;
use crate::harness::liar::{ACTIVITY, Reply, with};

impl Scene {
    /// A note of Mallory at `path`, which is served there.
    fn served(&self, path: &str) -> String {
        let note = with(self.mallory.note("1"), &json!({ "id": self.liar.url(path) }));
        self.liar.document(path, &note)
    }

    /// Alice looks up a URL that gives nothing.
    async fn finds_nothing(&self, url: &str) {
        assert_eq!(self.open(url).await, None, "{url}");
        assert_eq!(self.app.count("statuses").await, 0, "{url}");
    }
}

#[tokio::test]
async fn honest_note_is_found() {
    let scene = Scene::new().await;
    let url = scene.served("/1");
    assert_eq!(text(&scene.open(&url).await.unwrap(), "uri"), url);
}

#[tokio::test]
async fn large_answer_is_not_read() {
    let scene = Scene::new().await;
    let note = with(scene.mallory.note("1"), &json!({ "id": scene.liar.url("/1"), "x": "x".repeat(1024 * 1024) }));
    scene.finds_nothing(&scene.liar.document("/1", &note)).await;
    scene.finds_nothing(&scene.liar.put("/2", Reply::EndlessBody)).await;
}

#[tokio::test]
async fn slow_answer_is_given_up() {
    for reply in [Reply::Silence, Reply::SlowBody] {
        let scene = Scene::new().await;
        let url = scene.liar.put("/1", reply);
        let time = async {
            scene.liar.is_asked("/1").await;
            // Lets a head arrive before its body is late.
            tokio::time::sleep(Duration::from_millis(20)).await;
            scene.app.time_passes(Duration::from_secs(11)).await;
        };
        tokio::join!(scene.finds_nothing(&url), time);
    }
}

#[tokio::test]
async fn slow_key_is_given_up() {
    let scene = Scene::new().await;
    scene.liar.put("/users/mallory", Reply::Silence);
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    let time = async {
        scene.liar.is_asked("/users/mallory").await;
        scene.app.time_passes(Duration::from_secs(11)).await;
    };
    tokio::join!(scene.refuses(&scene.mallory, &follow, 503, "no_key"), time);
    // The sender's address waits, whatever key it names.
    let other = Liar::start().await.person("other");
    scene.refuses(&other, &other.activity("Follow", scene.alice_uri("")), 503, "no_key_yet").await;
    assert_eq!(other.liar.asked("/users/other"), 0);
}

#[tokio::test]
async fn compressed_answer_is_not_read() {
    let scene = Scene::new().await;
    for encoding in ["gzip", "br", "deflate", "x"] {
        let note = with(scene.mallory.note("1"), &json!({ "id": scene.liar.url("/1") }));
        scene.finds_nothing(&scene.liar.put("/1", Reply::document(&note).header("content-encoding", encoding))).await;
    }
}

#[tokio::test]
async fn document_of_another_content_type_is_not_read() {
    let scene = Scene::new().await;
    let note = with(scene.mallory.note("1"), &json!({ "id": scene.liar.url("/1") })).to_string();
    for kind in [
        "application/json",
        "text/html",
        "text/plain",
        "application/ld+json",
        r#"application/ld+json; profile="https://evil.test/ns""#,
        "image/png",
        "application/activity+jsonx",
    ] {
        scene.finds_nothing(&scene.liar.put("/1", Reply::of(kind, note.clone()))).await;
    }
    scene.finds_nothing(&scene.liar.put("/1", Reply::status(200, note.clone()))).await;
    for status in [201, 203, 206, 400, 401, 403, 404, 410, 500, 503] {
        scene
            .finds_nothing(&scene.liar.put("/1", Reply::status(status, note.clone()).header("content-type", ACTIVITY)))
            .await;
    }
}

#[tokio::test]
async fn redirects_in_a_circle_are_given_up() {
    let scene = Scene::new().await;
    let url = scene.liar.put("/1", Reply::redirect("/2"));
    scene.liar.put("/2", Reply::redirect("/1"));
    scene.finds_nothing(&url).await;
    assert!(scene.liar.asked("/1") + scene.liar.asked("/2") <= 4);
    scene.finds_nothing(&scene.liar.put("/3", Reply::status(302, ""))).await;
}

#[tokio::test]
async fn redirect_to_a_private_address_is_not_followed() {
    let scene = Scene::new().await;
    let hidden = Liar::at("127.0.0.2").await;
    hidden.document("/1", &scene.mallory.note("1"));
    for place in [
        hidden.url("/1").as_str(),
        "http://10.0.0.1/",
        "https://10.0.0.1/",
        "http://[::1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://0.0.0.0/",
        "http://2130706434/",
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "gopher://127.0.0.1/",
    ] {
        scene.finds_nothing(&scene.liar.put("/1", Reply::redirect(place))).await;
        scene.finds_nothing(place).await;
    }
    assert_eq!(hidden.asked("/1"), 0);
}

#[tokio::test]
async fn redirect_to_this_server_is_not_followed() {
    let scene = Scene::new().await;
    let secret = scene.alice.publish_to("private", "mine").await;
    let carol = scene.app.account("carol").await;
    let url = scene.liar.put("/1", Reply::redirect(text(&secret, "uri")));
    let found = carol.get(&format!("/api/v2/search?q={url}&resolve=true")).ok().await;
    assert_eq!(found["statuses"], json!([]));
    scene.liar.put("/1", Reply::redirect("http://localhost:3000/actor"));
    assert_eq!(scene.open(&url).await, None);
}

#[tokio::test]
async fn redirect_of_an_honest_host_does_not_make_it_the_author() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    scene.find(&bob).await;
    // Bob's server redirects wherever a link says.
    let open = bob.liar.put("/open", Reply::redirect(&scene.liar.url("/1")));
    scene.liar.document("/1", &with(bob.note("1"), &json!({ "id": open })));
    scene.finds_nothing(&open).await;
    scene.finds_nothing(&scene.liar.url("/1")).await;
    scene.follow(&scene.mallory).await;
    let announce = scene.mallory.activity("Announce", open.clone());
    assert_eq!(scene.send(&scene.mallory, &announce).await, "Announce disbelieved");
    assert_eq!(scene.app.count("statuses").await, 0);
}

#[tokio::test]
async fn id_that_changes_on_redirect_is_not_believed() {
    let scene = Scene::new().await;
    let at = |id: &str| Reply::document(&with(scene.mallory.note("1"), &json!({ "id": scene.liar.url(id) })));
    let url = scene.liar.put("/1", Reply::redirect("/2"));
    scene.liar.put("/2", at("/3"));
    scene.liar.put("/3", at("/4"));
    scene.liar.put("/4", at("/1"));
    scene.finds_nothing(&url).await;
}

#[tokio::test]
async fn note_with_two_answers_is_believed_only_at_its_id() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    let real = bob.liar.document("/users/bob/notes/1", &bob.note("1"));
    let lie = with(bob.note("1"), &json!({ "content": "a lie" }));
    let found = scene.open(&scene.liar.document("/1", &lie)).await.unwrap();
    assert_eq!((text(&found, "uri"), text(&found, "content")), (real.as_str(), "<p>1</p>"));
}

#[tokio::test]
async fn page_that_links_to_another_host_is_not_followed() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    let note = bob.liar.document("/users/bob/notes/1", &bob.note("1"));
    let link = format!(r#"<link rel="alternate" type="{ACTIVITY}" href="{note}">"#);
    scene.finds_nothing(&scene.liar.put("/1", Reply::of("text/html", format!("<head>{link}</head>")))).await;
    let header = format!(r#"<{note}>; rel="alternate"; type="{ACTIVITY}""#);
    scene.finds_nothing(&scene.liar.put("/2", Reply::of("text/html", "").header("link", &header))).await;
    assert_eq!(bob.liar.asked("/users/bob/notes/1"), 0);
    // A page that links to a page, and so on.
    let link = format!(r#"<link rel="alternate" type="{ACTIVITY}" href="/3">"#);
    scene.finds_nothing(&scene.liar.put("/3", Reply::of("text/html", format!("<head>{link}</head>")))).await;
    assert!(scene.liar.asked("/3") <= 3);
}

#[tokio::test]
async fn complex_answer_is_not_read() {
    let scene = Scene::new().await;
    let note = with(scene.mallory.note("1"), &json!({ "id": scene.liar.url("/1") })).to_string();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let wide = format!("[{}1]", "1,".repeat(100_000));
    for value in [deep, wide, "\u{0}".to_owned(), "nan".to_owned()] {
        let body = note.replacen('{', &format!(r#"{{"x":{value},"#), 1);
        scene.finds_nothing(&scene.liar.put("/1", Reply::of(ACTIVITY, body))).await;
    }
    let deep = format!(r#"{{"subject":"acct:{}","links":{}}}"#, scene.mallory.address(), "[".repeat(100_000));
    scene.liar.put("/.well-known/webfinger", Reply::of("application/jrd+json", deep));
    assert_eq!(scene.search(&format!("nobody@{}", scene.liar.domain)).await, None);
}

#[tokio::test]
async fn webfinger_of_another_content_type_is_not_read() {
    let scene = Scene::new().await;
    for reply in [
        Reply::of("text/html", scene.mallory.webfinger().to_string()),
        Reply::of("application/jrd+json", "[]"),
        Reply::of("application/jrd+json", json!({ "subject": 7, "links": 7 }).to_string()),
        Reply::redirect("http://10.0.0.1/"),
        Reply::EndlessBody,
    ] {
        let path =
            format!("/.well-known/webfinger?resource=acct%3Amallory%40{}", scene.liar.domain.replace(':', "%3A"));
        scene.liar.put(&path, reply);
        assert_eq!(scene.search(&scene.mallory.address()).await, None);
    }
    assert_eq!(scene.liar.asked("/users/mallory"), 0);
}
