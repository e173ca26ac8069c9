//! The pictures of the server: thumbnail, icon and logo.

use axum::http::StatusCode;
use chrono::Duration;
use model::Staff;
use serde_json::{Value, json};

use crate::harness::{Browser, TestApp, path};
use crate::platform::contract;
use crate::routes::media::png;

async fn instance(app: &TestApp) -> Value {
    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    contract::check("Instance", &instance);
    instance
}

/// Width and height of the picture at `url`.
async fn size(app: &TestApp, url: &Value) -> (u32, u32) {
    let file = app.anonymous().get(path(url)).send().await;
    assert_eq!(file.status, StatusCode::OK, "{url}");
    let picture = image::load_from_memory(&file.body).unwrap();
    (picture.width(), picture.height())
}

async fn set(app: &TestApp, key: &str, file: &[u8]) {
    service::picture::set(&app.app, &Staff::operator(), key, file).await.unwrap();
}

#[tokio::test]
async fn thumbnail_has_two_sizes_and_a_placeholder() {
    let app = TestApp::new().await;
    let default = instance(&app).await["thumbnail"].take();
    assert!(default.get("versions").is_none() && default.get("blurhash").is_none());

    set(&app, "thumbnail", &png(300, 300)).await;
    let thumbnail = instance(&app).await["thumbnail"].take();
    assert_eq!(thumbnail["url"], thumbnail["versions"]["@1x"]);
    assert_eq!(size(&app, &thumbnail["versions"]["@1x"]).await, (1200, 630));
    assert_eq!(size(&app, &thumbnail["versions"]["@2x"]).await, (2400, 1260));
    assert!(thumbnail["blurhash"].as_str().unwrap().len() > 6);
    let v1 = app.anonymous().get("/api/v1/instance").ok().await;
    assert_eq!(v1["thumbnail"], thumbnail["url"]);
    let front = app.anonymous().get("/").send().await.text();
    assert!(front.contains(&format!("property=\"og:image\" content=\"{}\"", thumbnail["url"].as_str().unwrap())));
}

#[tokio::test]
async fn icon_and_logo_are_those_of_pages_and_apps() {
    let app = TestApp::new().await;
    set(&app, "icon", &png(64, 64)).await;
    set(&app, "logo", &png(400, 100)).await;
    let icons = instance(&app).await["icon"].take();
    for icon in icons.as_array().unwrap() {
        let (width, height) = size(&app, &icon["src"]).await;
        assert_eq!(icon["size"], format!("{width}x{height}"));
    }
    let small = icons[0]["src"].as_str().unwrap();
    let page = Browser::new(&app).get("/about").await.text();
    assert!(page.contains(&format!("sizes=\"32x32\" href=\"{small}\"")) && !page.contains("favicon.svg"));
    assert!(page.contains("<img class=\"logo\""));
    assert_eq!(app.anonymous().get("/favicon.ico").send().await.header("location"), small);
    let manifest = app.anonymous().get("/manifest").ok().await;
    let shown: Vec<&Value> = manifest["icons"].as_array().unwrap().iter().map(|icon| &icon["src"]).collect();
    assert_eq!(shown, [&icons[1]["src"], &icons[2]["src"]]);
}

#[tokio::test]
async fn replaced_picture_is_removed_a_day_later() {
    let app = TestApp::new().await;
    set(&app, "thumbnail", &png(30, 30)).await;
    let first = instance(&app).await["thumbnail"]["url"].take();
    service::settings::set(&app.app, &Staff::operator(), "thumbnail", "").await.unwrap();
    set(&app, "logo", &png(30, 30)).await;
    assert!(instance(&app).await["thumbnail"]["url"].as_str().unwrap().ends_with("/assets/thumbnail.png"));
    app.run_jobs().await;
    size(&app, &first).await;
    app.app.clock.advance(Duration::days(2));
    app.run_jobs().await;
    app.anonymous().get(path(&first)).fails(404).await;
    let page = Browser::new(&app).get("/about").await.text();
    let logo = page.split("<img class=\"logo\" src=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(size(&app, &json!(logo)).await, (30, 30), "what is shown stays");
}

#[tokio::test]
async fn command_sets_pictures_from_files() {
    let app = TestApp::new().await;
    let folder = tempfile::tempdir().unwrap();
    let (good, bad) = (folder.path().join("a.png"), folder.path().join("b.png"));
    std::fs::write(&good, png(50, 50)).unwrap();
    std::fs::write(&bad, "no picture").unwrap();
    let refused = app.run(&["settings", "set", "icon", bad.to_str().unwrap()]).await.fails(1);
    assert!(refused.contains("icon:"), "{refused}");
    app.run(&["settings", "set", "icon", "/no/such/file.png"]).await.fails(1);
    app.run(&["settings", "set", "icon", good.to_str().unwrap()]).await.ok();
    app.app.reload().await.unwrap();
    assert_eq!(app.app.settings().icon.files.len(), 3);
    app.run(&["settings", "set", "icon", ""]).await.ok();
    app.app.reload().await.unwrap();
    assert!(app.app.settings().icon.files.is_empty());
}

#[tokio::test]
async fn pictures_of_closed_server_are_seen_by_everyone() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_LIMITED_FEDERATION", "true")]).await;
    set(&app, "logo", &png(30, 30)).await;
    let page = app.anonymous().get("/auth/sign_in").send().await.text();
    let logo = page.split("<img class=\"logo\" src=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(size(&app, &json!(logo)).await, (30, 30));
}

#[tokio::test]
async fn pictures_are_stored_in_a_bucket() {
    let app = TestApp::with_bucket(&[]).await;
    set(&app, "thumbnail", &png(30, 30)).await;
    assert_eq!(app.objects(), 2);
    let url = instance(&app).await["thumbnail"]["url"].take();
    assert_eq!(size(&app, &url).await, (1200, 630));
}
