//! Custom emojis of other servers in statuses and profiles.

use serde_json::{Value, json};

use super::scene::Scene;
use crate::harness::Liar;
use crate::harness::liar::with;

fn emoji(name: &str, url: &str, members: &Value) -> Value {
    let icon = json!({ "type": "Image", "mediaType": "image/png", "url": url });
    with(json!({ "type": "Emoji", "name": format!(":{name}:"), "icon": icon }), members)
}

/// The emojis of an entity: shortcodes, and the addresses of the pictures at their servers.
async fn shown(scene: &Scene, entity: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for emoji in entity["emojis"].as_array().unwrap() {
        let origin = scene.app.origin(&emoji["url"]).await;
        assert_eq!(origin, scene.app.origin(&emoji["static_url"]).await);
        found.push((emoji["shortcode"].as_str().unwrap().to_owned(), origin));
    }
    found
}

fn emojis(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, url)| ((*name).to_owned(), (*url).to_owned())).collect()
}

#[tokio::test]
async fn emojis_of_a_status_are_shown_and_replaced() {
    let scene = Scene::new().await;
    let (one, two) = ("https://files.test/1.png", "https://files.test/2.png");
    let details =
        json!({ "keywords": ["bird"], "isSensitive": true, "licence": "CC0", "updated": "2026-01-10T00:00:00Z" });
    let tags = json!([emoji("rook", one, &details), emoji("plain", "http://files.test/3.png", &json!({}))]);
    let text = json!({ "content": "<p>:rook: :plain: :other:</p>", "summary": ":rook:", "tag": tags });
    let status = scene.receive(&with(scene.carol.note("1"), &text)).await;
    // The server of the note has no encryption either.
    assert_eq!(shown(&scene, &status).await, emojis(&[("rook", one), ("plain", "http://files.test/3.png")]));
    assert_eq!(status["emojis"][0]["is_sensitive"], true);
    let sql = "custom_emojis WHERE license = 'CC0' AND NOT visible_in_picker";
    assert_eq!(scene.app.count(sql).await, 1);

    // An older version does not replace it, a newer one does, and an edit can bring it.
    let text =
        json!({ "content": "<p>:rook:</p>", "tag": emoji("rook", two, &json!({ "updated": "2026-01-09T00:00:00Z" })) });
    let status = scene.receive(&with(scene.carol.note("2"), &text)).await;
    assert_eq!(shown(&scene, &status).await, emojis(&[("rook", one)]));
    let newer = emoji("rook", two, &json!({ "updated": "2026-01-11T00:00:00Z" }));
    let edit = json!({ "content": "<p>!:rook:</p>", "tag": newer, "updated": "2026-01-15T13:00:00Z" });
    let edit = with(scene.carol.note("1"), &edit);
    scene.send(&scene.carol, "Update", edit.clone()).await;
    assert_eq!(shown(&scene, &scene.status(&edit).await.unwrap()).await, emojis(&[("rook", two)]));
}

#[tokio::test]
async fn emojis_of_a_profile_are_shown() {
    let scene = Scene::new().await;
    let tag = emoji("rook", "https://files.test/1.png", &json!({}));
    let field = json!({ "type": "PropertyValue", "name": "likes", "value": ":crow:" });
    let crow = emoji("crow", "https://files.test/2.png", &json!({}));
    let profile = json!({ "name": "Carol :rook:", "tag": [tag, crow], "attachment": [field] });
    let profile = with(scene.carol.actor(), &profile);
    scene.send(&scene.carol, "Update", profile).await;
    let account = scene.account(&scene.carol).await;
    let mut found = shown(&scene, &account).await;
    found.sort_unstable();
    assert_eq!(found, emojis(&[("crow", "https://files.test/2.png"), ("rook", "https://files.test/1.png")]));
}

#[tokio::test]
async fn emojis_belong_to_the_domain_of_their_actor() {
    let scene = Scene::new().await;
    let other = Liar::start().await;
    let dave = other.person("dave");
    scene.follow(&dave).await;
    let carols = emoji("rook", "https://files.test/1.png", &json!({ "id": scene.liar.url("/emojis/1") }));
    let text = json!({ "content": "<p>:rook:</p>", "tag": carols });
    scene.receive(&with(scene.carol.note("1"), &text)).await;
    // Dave says that it is Carol's, with another picture.
    let lie = emoji("rook", "https://evil.test/1.png", &json!({ "id": scene.liar.url("/emojis/1") }));
    let note = with(dave.note("1"), &json!({ "content": "<p>:rook:</p>", "tag": lie }));
    scene.send(&dave, "Create", note.clone()).await;
    let status = scene.status(&note).await.unwrap();
    assert_eq!(shown(&scene, &status).await, emojis(&[("rook", "https://evil.test/1.png")]));
    let status = scene.receive(&with(scene.carol.note("2"), &json!({ "content": "<p>:rook:</p>" }))).await;
    assert_eq!(shown(&scene, &status).await, emojis(&[("rook", "https://files.test/1.png")]));
    assert_eq!(scene.alice.get("/api/v1/custom_emojis").ok().await, json!([]));
}

#[tokio::test]
async fn emojis_of_a_domain_whose_media_are_rejected_are_not_stored() {
    let scene = Scene::new().await;
    let domain = scene.liar.domain.clone();
    let run = scene.app.run(&["domain", "block", &domain, "--severity", "noop", "--reject-media"]).await;
    assert_eq!(run.code, 0);
    scene.app.app.reload().await.unwrap();
    let tag = emoji("rook", "https://files.test/1.png", &json!({}));
    let text = json!({ "content": "<p>:rook:</p>", "tag": tag });
    let status = scene.receive(&with(scene.carol.note("1"), &text)).await;
    assert_eq!((shown(&scene, &status).await.len(), scene.app.count("custom_emojis").await), (0, 0));
}

#[tokio::test]
async fn emojis_of_a_document_cost_one_statement() {
    let scene = Scene::new().await;
    let note = |name: &str, from: usize, count: usize| {
        let tag = |number: usize| emoji(&format!("e{number}"), &format!("https://files.test/{number}.png"), &json!({}));
        let tags: Vec<Value> = (from..from + count).map(tag).collect();
        let file = |number: usize| json!({ "type": "Document", "mediaType": "image/png", "url": format!("https://x.test/{number}") });
        let files: Vec<Value> = (0..count).map(file).collect();
        with(scene.carol.note(name), &json!({ "tag": tags, "attachment": files }))
    };
    scene.receive(&note("0", 40, 1)).await;
    let (one, _) = scene.app.cost(scene.receive(&note("1", 10, 1))).await;
    let (many, _) = scene.app.cost(scene.receive(&note("2", 20, 12))).await;
    assert_eq!(one, many);
    assert_eq!(scene.app.count("custom_emojis").await, 14);
}
