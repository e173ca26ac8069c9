//! Requests to an inbox that are built to break their reader.

use serde_json::json;

use super::{Scene, text};
use crate::harness::Letter;
use crate::harness::liar::{KEY, with};

impl Scene {
    /// Sends a body with a valid signature of Mallory; returns the status of the response.
    async fn status_of(&self, body: impl Into<Vec<u8>>) -> u16 {
        let letter = Letter::new(&self.app, "/inbox", body).signed(&self.mallory.key_id, &KEY);
        let status = letter.send(&self.app).await.status.as_u16();
        self.app.run_jobs().await;
        status
    }
}

#[tokio::test]
async fn deep_document_is_refused() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri("")).to_string();
    for depth in [40, 5_000, 200_000] {
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(scene.status_of(follow.replacen('{', &format!(r#"{{"x":{nested},"#), 1)).await, 400, "{depth}");
        let objects = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        let status = scene.status_of(follow.replacen('{', &format!(r#"{{"x":{objects},"#), 1)).await;
        assert!([400, 413].contains(&status), "{depth}: {status}");
    }
    assert_eq!(scene.app.count("follows").await, 0);
}

#[tokio::test]
async fn huge_arrays_are_refused() {
    let scene = Scene::new().await;
    for member in ["to", "cc", "tag", "object", "x", "@context", "type"] {
        let many = vec![json!(1); 20_000];
        let follow = with(scene.mallory.activity("Follow", scene.alice_uri("")), &json!({ member: many }));
        scene.refuses(&scene.mallory, &follow, 400, "malformed").await;
    }
}

#[tokio::test]
async fn many_addressees_are_no_burden() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let to: Vec<String> = (0..4_000).map(|n| scene.liar.url(&format!("/users/{n}"))).collect();
    let note = with(scene.mallory.note("1"), &json!({ "to": to, "cc": ["as:Public"] }));
    assert_eq!(text(&scene.receive(&scene.mallory, &note).await, "visibility"), "unlisted");
}

#[tokio::test]
async fn large_body_is_refused() {
    let scene = Scene::new().await;
    let note = with(scene.mallory.note("1"), &json!({ "content": "x".repeat(1024 * 1024) }));
    let answer = scene.mallory.letter(&scene.app, &scene.mallory.activity("Create", note)).send(&scene.app).await;
    assert_eq!(answer.status, 413);
    assert_eq!(scene.liar.asked("/users/mallory"), 0);
    assert_eq!(scene.app.count("inbound_activities").await, 0);
}

#[tokio::test]
async fn body_that_is_no_activity_is_refused() {
    let scene = Scene::new().await;
    let context = r#""@context":"https://www.w3.org/ns/activitystreams""#;
    for body in [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "7".to_owned(),
        "{".to_owned(),
        "{}".to_owned(),
        format!("{{{context}}}"),
        format!(r#"{{{context},"type":"Follow"}}"#),
        format!(r#"{{{context},"type":"Follow","actor":7,"object":"x"}}"#),
        format!(r#"{{{context},"type":"Follow","actor":{{}},"object":"x"}}"#),
        r#"{"type":"Follow","actor":"x","object":"x"}"#.to_owned(),
        r#"{"@context":"https://evil.test/","type":"Follow","actor":"x","object":"x"}"#.to_owned(),
    ] {
        let letter = Letter::new(&scene.app, "/inbox", body.clone()).signed(&scene.mallory.key_id, &KEY);
        assert_eq!(scene.refuse(&letter).await, (400, "malformed".to_owned()), "{body}");
    }
}

#[tokio::test]
async fn text_that_is_not_utf_8_is_harmless() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri("")).to_string();
    let broken = |old: &str, new: &[u8]| {
        let (before, after) = follow.split_once(old).unwrap();
        [before.as_bytes(), new, after.as_bytes()].concat()
    };
    for body in [
        broken(r#""type""#, b"\"x\":\"\xff\",\"type\""),
        broken(r#""type""#, b"\"\xff\":1,\"type\""),
        broken("Follow\"", b"Follow\xc3\""),
        broken("@context", b"@context\xff"),
        vec![0xff, 0xfe, 0x00],
    ] {
        let status = scene.status_of(body.clone()).await;
        assert!([202, 400].contains(&status), "{status}: {}", String::from_utf8_lossy(&body));
    }
}

#[tokio::test]
async fn nul_in_an_id_is_harmless() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let nul = |text: &str| json!(format!("{text}\0"));
    let update = scene.mallory.activity("Delete", nul(&scene.mallory.uri));
    for activity in [
        with(update, &json!({ "actor": nul(&scene.mallory.uri) })),
        scene.mallory.activity("Follow", nul(&scene.alice_uri(""))),
        scene.mallory.activity("Like", nul(&scene.liar.url("/1"))),
        scene.mallory.activity("Announce", nul(&scene.liar.url("/1"))),
        scene.mallory.activity("Delete", nul(&scene.liar.url("/1"))),
        with(scene.mallory.activity("Announce", scene.liar.url("/1")), &json!({ "id": nul(&scene.liar.url("/2")) })),
        scene.mallory.activity("Create", with(scene.mallory.note("1"), &json!({ "id": nul(&scene.liar.url("/3")) }))),
        scene.mallory.activity("Create", with(scene.mallory.note("4"), &json!({ "conversation": nul("tag:x") }))),
        scene.mallory.activity("Create", with(scene.mallory.note("5"), &json!({ "inReplyTo": nul("http://x.test/") }))),
    ] {
        let status = scene.status_of(activity.to_string()).await;
        assert!(status < 500, "{activity}: {status}");
    }
    assert_eq!(scene.app.count("jobs").await, 0, "nothing failed, to be tried again");
    let body: Vec<(String,)> = scene.app.db().fetch_raw("SELECT uri FROM statuses").await.unwrap();
    assert!(body.iter().all(|(uri,)| !uri.contains('\0')), "{body:?}");
}
