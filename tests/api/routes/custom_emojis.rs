//! <https://docs.joinmastodon.org/methods/custom_emojis/>, and `rookery emoji`.

use std::fs;

use serde_json::json;

use crate::harness::TestApp;
use crate::platform::contract;
use crate::routes::media::png;

/// A folder of images: two images, another one in a subfolder, and a file that is not an image.
fn pack() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("birds")).unwrap();
    for name in ["rook.png", "nest.png", "birds/wren.png"] {
        fs::write(folder.path().join(name), png(20, 10)).unwrap();
    }
    fs::write(folder.path().join("read me.txt"), "not an image").unwrap();
    folder
}

#[tokio::test]
async fn emoji_import_shows_in_running_server() {
    let app = TestApp::new().await;
    assert_eq!(app.anonymous().get("/api/v1/custom_emojis").ok().await, json!([]));
    let pack = pack();
    let path = pack.path().to_str().unwrap();

    let said = app.run(&["emoji", "import", path, "--json"]).await.json();
    assert_eq!(said[0], json!({"added": 3, "replaced": 0, "kept": 0, "failed": []}));

    assert!(app.app.reload().await.unwrap());
    let emojis = app.anonymous().get("/api/v1/custom_emojis").ok().await;
    contract::check("CustomEmoji[]", &emojis);
    let names: Vec<&str> =
        emojis.as_array().unwrap().iter().map(|emoji| emoji["shortcode"].as_str().unwrap()).collect();
    assert_eq!(names, ["nest", "rook", "wren"]);
    assert_eq!(emojis[2]["category"], "birds");
    assert_eq!((&emojis[0]["width"], &emojis[0]["height"]), (&json!(20), &json!(10)));
    assert_eq!(emojis[0].get("category"), None);
    let file = emojis[0]["url"].as_str().unwrap().strip_prefix("https://example.test").unwrap();
    assert_eq!(app.anonymous().get(file).send().await.header("content-type"), "image/png");
}

#[tokio::test]
async fn emoji_import_keeps_existing_unless_replacing() {
    let app = TestApp::new().await;
    let pack = pack();
    let path = pack.path().to_str().unwrap();
    app.run(&["emoji", "import", path]).await.ok();
    app.app.reload().await.unwrap();
    let before = app.anonymous().get("/api/v1/custom_emojis").ok().await;

    assert_eq!(app.run(&["emoji", "import", path, "--json"]).await.json()[0]["kept"], 3);
    assert_eq!(app.run(&["emoji", "import", path, "--overwrite", "--json"]).await.json()[0]["replaced"], 3);

    app.app.reload().await.unwrap();
    let after = app.anonymous().get("/api/v1/custom_emojis").ok().await;
    assert_ne!(before[0]["url"], after[0]["url"]);
    let old = before[0]["url"].as_str().unwrap().strip_prefix("https://example.test").unwrap().to_owned();
    assert_eq!(app.anonymous().get(&old).send().await.status, 404, "the old file is removed");
}

#[tokio::test]
async fn emoji_import_reports_bad_file_and_imports_others() {
    let app = TestApp::new().await;
    let pack = pack();
    fs::write(pack.path().join("fake.png"), "not an image").unwrap();
    fs::write(pack.path().join("a b.png"), png(2, 2)).unwrap();
    let said = app.run(&["emoji", "import", pack.path().to_str().unwrap(), "--prefix", "p_"]).await;
    assert_eq!(said.code, 1);
    assert!(said.out.contains("fake.png") && said.out.contains("a b.png") && said.out.contains("3 added"), "{said:?}");
    assert!(app.run(&["emoji", "import", "/nonexistent"]).await.fails(1).contains("/nonexistent"));
}

#[tokio::test]
async fn emoji_removal_deletes_its_files() {
    let app = TestApp::new().await;
    let pack = pack();
    app.run(&["emoji", "import", pack.path().to_str().unwrap()]).await.ok();
    app.app.reload().await.unwrap();
    let before = app.anonymous().get("/api/v1/custom_emojis").ok().await;
    let file = before[1]["url"].as_str().unwrap().strip_prefix("https://example.test").unwrap().to_owned();

    app.run(&["emoji", "remove", "rook"]).await.ok();

    app.app.reload().await.unwrap();
    let after = app.anonymous().get("/api/v1/custom_emojis").ok().await;
    assert_eq!(after, json!([before[0], before[2]]));
    app.anonymous().get(&file).fails(404).await;
    assert!(app.run(&["emoji", "remove", "rook"]).await.fails(1).contains("no emoji \"rook\""));
}
