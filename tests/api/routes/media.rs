//! <https://docs.joinmastodon.org/methods/media/>, and the files themselves.

use std::io::Cursor;

use axum::http::StatusCode;
use chrono::Duration;
use image::{Rgb, RgbImage};
use model::{Actor, MediaId, StatusId};

use serde_json::{Value, json};

use crate::harness::{Browser, Client, TestApp, path};

/// A PNG with visible content.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let image = RgbImage::from_fn(width, height, |x, y| {
        Rgb([u8::try_from(x % 256).unwrap(), u8::try_from(y % 256).unwrap(), 120])
    });
    image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// An animated GIF.
pub fn gif() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = gif::Encoder::new(&mut bytes, 64, 48, &[0, 0, 0, 255, 255, 255]).unwrap();
    for number in 0..4_u16 {
        let pixels: Vec<u8> = (0..64 * 48_u16).map(|at| u8::from((at % 64 + number * 8) / 16 % 2 == 0)).collect();
        let mut frame = gif::Frame::from_indexed_pixels(64, 48, pixels, None);
        frame.delay = 10;
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    bytes
}

async fn upload(client: &Client, fields: &[(&str, &str)], file: &[u8]) -> Value {
    client.post("/api/v2/media").multipart(fields, &[("file", "whatever.exe", file)]).ok().await
}

fn id(media: &Value) -> MediaId {
    media["id"].as_str().unwrap().parse().unwrap()
}

/// Inserts a status directly.
async fn status_of(client: &Client) -> StatusId {
    let app = &client.server;
    let id: StatusId = app.app.ids.next();
    let now = app.app.clock.now().timestamp_micros();
    let time = if app.db().engine() == database::Engine::Sqlite { now.to_string() } else { "now()".to_owned() };
    let insert = format!(
        "INSERT INTO statuses (id, account_id, uri, local, text, content, spoiler_text, sensitive, visibility, searchability,
                               listed, has_media, replies_count, reblogs_count, favourites_count, created_at, version)
         VALUES ({id}, {}, 'https://example.test/s/{id}', TRUE, '', '', '', FALSE, 'public', 'direct',
                 TRUE, TRUE, 0, 0, 0, {time}, 0)",
        client.id()
    );
    app.execute(&insert).await;
    id
}

async fn actor(client: &Client) -> std::sync::Arc<Actor> {
    let grant = service::auth::grant(&client.server.app, client.token.as_deref().unwrap()).await.unwrap().unwrap();
    grant.actor.clone().unwrap()
}

#[tokio::test]
async fn image_is_uploaded_shown_and_served() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;

    let media = upload(&alice, &[("description", "a slope"), ("focus", "0.5,-0.25")], &png(1280, 720)).await;

    assert_eq!(media["type"], "image");
    assert_eq!(media["description"], "a slope");
    assert_eq!(
        media["meta"]["original"],
        json!({"width": 1280, "height": 720, "size": "1280x720", "aspect": 1280.0 / 720.0})
    );
    assert_eq!(media["meta"]["small"]["size"], "640x360");
    assert_eq!(media["meta"]["focus"], json!({"x": 0.5, "y": -0.25}));
    assert_eq!(media["remote_url"], Value::Null);
    assert_eq!(media["text_url"], Value::Null);
    assert!(media["blurhash"].is_string());
    assert_ne!(media["url"], media["preview_url"]);
    let again = alice.get(&format!("/api/v1/media/{}", id(&media))).ok().await;
    assert_eq!(again, media);

    let file = app.anonymous().get(path(&media["url"])).send().await;
    assert_eq!(file.status, StatusCode::OK);
    assert_eq!(file.header("content-type"), "image/png");
    assert_eq!(file.header("cache-control"), "public, max-age=31536000, s-maxage=86400, immutable");
    assert_eq!(file.header("content-security-policy"), "default-src 'none'; sandbox");
    assert_eq!(file.header("x-content-type-options"), "nosniff");
    assert_eq!(file.header("access-control-allow-origin"), "*");
    assert_eq!(file.header("content-length"), file.body.len().to_string());
    assert_eq!(image::load_from_memory(&file.body).unwrap().width(), 1280);

    let unchanged = app.anonymous().get(path(&media["url"])).header("if-none-match", file.header("etag")).send().await;
    assert_eq!((unchanged.status, unchanged.body.len()), (StatusCode::NOT_MODIFIED, 0));
}

#[tokio::test]
async fn animation_becomes_seekable_video() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;

    let media = alice.post("/api/v1/media").multipart(&[], &[("file", "a.gif", &gif())]).ok().await;

    assert_eq!(media["type"], "gifv");
    assert_eq!(media["meta"]["original"]["frame_rate"], "10/1");
    assert_eq!(media["meta"]["original"]["width"], 64);
    assert!(path(&media["url"]).ends_with(".mp4"));
    let whole = app.anonymous().get(path(&media["url"])).send().await;
    assert_eq!(whole.header("content-type"), "video/mp4");
    assert_eq!(whole.header("accept-ranges"), "bytes");
    let part = app.anonymous().get(path(&media["url"])).header("range", "bytes=4-7").send().await;
    assert_eq!(part.status, StatusCode::PARTIAL_CONTENT);
    assert_eq!(part.header("content-range"), format!("bytes 4-7/{}", whole.body.len()));
    assert_eq!(part.body, b"ftyp");
    let beyond = app.anonymous().get(path(&media["url"])).header("range", "bytes=99999999-").send().await;
    assert_eq!(beyond.status, StatusCode::RANGE_NOT_SATISFIABLE);
}

#[tokio::test]
async fn description_and_focus_change_until_it_is_posted() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let media = upload(&alice, &[("description", "before")], &png(40, 30)).await;
    let path = format!("/api/v1/media/{}", id(&media));

    let changed = alice.put(&path).multipart(&[("focus", "-1.0,1")], &[]).ok().await;
    assert_eq!((&changed["description"], &changed["meta"]["focus"]), (&json!("before"), &json!({"x": -1.0, "y": 1.0})));
    let changed = alice.put(&path).json(&json!({"description": "after"})).ok().await;
    assert_eq!((&changed["description"], &changed["meta"]["focus"]["y"]), (&json!("after"), &json!(1.0)));
    let changed = alice.put(&path).form(&[("description", ""), ("focus", "")]).ok().await;
    assert_eq!((&changed["description"], &changed["meta"]["focus"]), (&Value::Null, &Value::Null));

    alice.put(&path).json(&json!({"focus": "2,0"})).fails(422).await;
    alice.put(&path).json(&json!({"description": "x".repeat(1501)})).fails(422).await;
    alice.put(&path).multipart(&[], &[("thumbnail", "t.png", &png(9, 9))]).fails(422).await;
}

#[tokio::test]
async fn malformed_image_is_refused_by_name() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let post = |file: &[u8]| alice.upload(file);

    assert!(post(b"").fails(422).await.contains("file"));
    assert!(post(b"fLaC what").fails(422).await.contains("does not accept video and audio"));
    assert!(post(b"<svg xmlns='http://www.w3.org/2000/svg'/>").fails(422).await.contains("not supported"));
    let whole = png(100, 100);
    assert!(post(&whole[..whole.len() / 2]).fails(422).await.contains("damaged"));
    assert!(post(&vec![0; 17 * 1024 * 1024]).fails(422).await.contains("larger"));
    alice.post("/api/v2/media").send().await;
    alice.post("/api/v2/media").fails(422).await;
    alice.post("/api/v2/media").json(&json!({"file": "text"})).fails(422).await;
    alice.post("/api/v2/media").body("multipart/form-data; boundary=x", b"--x\r\nbroken".to_vec()).fails(400).await;
    alice.post("/api/v2/media").body("text/plain", b"file".to_vec()).fails(400).await;
    let small = png(8, 8);
    let with = |fields| alice.post("/api/v2/media").multipart(fields, &[("file", "a.png", &small)]);
    assert!(with(&[("focus", "left")]).fails(422).await.contains("focus"));
    let thumbnail = [("file", "a.png", &small[..]), ("thumbnail", "t.png", &small[..])];
    assert!(alice.post("/api/v2/media").multipart(&[], &thumbnail).fails(422).await.contains("thumbnail"));
    assert_eq!(app.stored_files(), 0, "a refused upload leaves nothing");
}

#[tokio::test]
async fn upload_is_accessible_to_its_owner_with_the_scope_only() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let path = format!("/api/v1/media/{}", id(&upload(&alice, &[], &png(20, 20)).await));

    for client in [app.anonymous(), app.anonymous()] {
        client.get(&path).fails(401).await;
        client.post("/api/v2/media").fails(401).await;
    }
    alice.with_scopes("read").await.get(&path).fails(403).await;
    alice.with_scopes("read").await.post("/api/v1/media").fails(403).await;
    app.application("write").await.post("/api/v2/media").fails(422).await;
    alice.with_scopes("write:media").await.get(&path).ok().await;
    bob.get(&path).fails(404).await;
    bob.put(&path).json(&json!({"description": "mine"})).fails(404).await;
    bob.get("/api/v1/media/nonsense").fails(404).await;
}

#[tokio::test]
async fn media_routes_serve_no_other_path() {
    let app = TestApp::new().await;
    for path in [
        "/media/",
        "/media/secret.key",
        "/media/../secret.key",
        "/media/media/..%2f..%2f..%2fsecret.key",
        "/media/media/00/00/00000000000000000000000000000000.png",
        "/media/media/00/00/00000000000000000000000000000000.html",
    ] {
        app.anonymous().get(path).fails(404).await;
    }
}

#[tokio::test]
async fn unattached_upload_is_deleted_after_day() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let media = upload(&alice, &[], &png(20, 20)).await;
    assert_eq!(app.stored_files(), 2);

    app.app.clock.advance(Duration::hours(23));
    app.run_jobs().await;
    alice.put(&format!("/api/v1/media/{}", id(&media))).json(&json!({"description": "still here"})).ok().await;
    app.app.clock.advance(Duration::hours(23));
    app.run_jobs().await;
    assert_eq!(app.stored_files(), 2);
    app.app.clock.advance(Duration::hours(2));
    app.run_jobs().await;

    assert_eq!(app.stored_files(), 0);
    alice.get(&format!("/api/v1/media/{}", id(&media))).fails(404).await;
}

#[tokio::test]
async fn posted_media_are_kept_with_their_status_and_deleted_after_it() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let (first, second) = (upload(&alice, &[], &png(20, 20)).await, upload(&alice, &[], &png(30, 20)).await);
    let status = status_of(&alice).await;
    let wanted = [id(&second), id(&first)];
    let mut tx = app.db().begin().await.unwrap();
    let person = actor(&alice).await;
    let rows = service::media::attachable(&app.app, &mut tx, &person, None, &wanted).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), wanted);
    service::media::attach(&app.app, &mut tx, status, &wanted).await.unwrap();
    tx.commit().await.unwrap();

    alice.get(&format!("/api/v1/media/{}", id(&first))).fails(404).await;
    app.app.clock.advance(Duration::days(3));
    app.run_jobs().await;
    assert_eq!(app.stored_files(), 4);
    let shown = alice.status(&status).ok().await;
    assert_eq!(shown["media_attachments"][0]["id"], second["id"]);

    let mut tx = app.db().begin().await.unwrap();
    service::media::attachable(&app.app, &mut tx, &person, None, &wanted).await.unwrap_err();
    service::media::attachable(&app.app, &mut tx, &person, Some(status), &wanted).await.unwrap();
    service::media::detach(&app.app, &mut tx, status, &[id(&second)]).await.unwrap();
    tx.commit().await.unwrap();
    alice.get(&format!("/api/v1/media/{}", id(&first))).ok().await;
    app.app.clock.advance(Duration::days(1));
    app.run_jobs().await;
    assert_eq!(app.stored_files(), 2);
}

#[tokio::test]
async fn foreign_or_too_many_attachments_are_refused() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(id(&upload(&alice, &[], &png(8, 8)).await));
    }
    let mut tx = app.db().begin().await.unwrap();
    let (alice, bob) = (actor(&alice).await, actor(&bob).await);
    service::media::attachable(&app.app, &mut tx, &bob, None, &ids[..1]).await.unwrap_err();
    service::media::attachable(&app.app, &mut tx, &alice, None, &ids).await.unwrap_err();
    service::media::attachable(&app.app, &mut tx, &alice, None, &[MediaId::from(7)]).await.unwrap_err();
    assert_eq!(service::media::attachable(&app.app, &mut tx, &alice, None, &[ids[0], ids[0]]).await.unwrap().len(), 1);
}

#[tokio::test]
async fn limited_federation_serves_files_to_local_accounts_only() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_LIMITED_FEDERATION", "true")]).await;
    let alice = app.account("alice").await;
    let media = upload(&alice, &[], &png(20, 20)).await;

    app.anonymous().get(path(&media["url"])).fails(401).await;
    app.application("read").await.get(path(&media["url"])).fails(401).await;
    let file = alice.get(path(&media["url"])).send().await;
    assert_eq!((file.status, file.header("cache-control")), (StatusCode::OK, "private, max-age=31536000"));
    let browser = Browser::signed_in(&app, "alice").await;
    assert_eq!(browser.get(path(&media["url"])).await.status, StatusCode::OK);
    // Nor does anyone else learn which files of other servers there are.
    let elsewhere = "/media/remote/avatar/1/AAAAAAAAAAAAAAAAAAAAAA";
    app.anonymous().get(elsewhere).fails(401).await;
    alice.get(elsewhere).fails(404).await;
}

#[tokio::test]
async fn files_are_withheld_while_their_owner_is_suspended() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let mut files = Vec::new();
    for (person, own) in [(&bob, false), (&alice, true)] {
        // More than one batch.
        for _ in 0..if own { 27 } else { 1 } {
            let media = upload(person, &[], &png(8, 8)).await;
            let posted = json!({ "status": "a picture", "media_ids": [media["id"]] });
            person.post("/api/v1/statuses").json(&posted).ok().await;
            files.extend([&media["url"], &media["preview_url"]].map(|url| (path(url).to_owned(), own)));
        }
        let picture = png(8, 8);
        let change = person.patch("/api/v1/accounts/update_credentials");
        let changed = change.multipart(&[], &[("avatar", "a.png", &picture), ("header", "h.png", &picture)]).ok().await;
        files.extend(["avatar", "header"].map(|key| (path(&changed[key]).to_owned(), own)));
    }
    app.run_jobs().await;
    let stored = app.stored_files();
    let (file, _) = files.iter().find(|(_, own)| *own).unwrap();
    let tag = app.anonymous().get(file).send().await.header("etag").to_owned();
    let shown = async |file: &str| app.anonymous().get(file).header("if-none-match", &tag).send().await.status;
    assert_eq!(shown(file).await, StatusCode::NOT_MODIFIED);

    app.suspend(&alice).await;
    app.run_jobs().await;
    for (file, own) in &files {
        assert_eq!(shown(file).await == StatusCode::NOT_FOUND, *own, "{file}");
    }
    assert_eq!(app.stored_files(), stored, "none is lost");

    app.unsuspend(&alice).await;
    app.run_jobs().await;
    for (file, _) in &files {
        assert!(shown(file).await != StatusCode::NOT_FOUND, "{file}");
    }

    app.suspend(&alice).await;
    app.run_jobs().await;
    app.app.clock.advance(Duration::days(31));
    app.run_jobs().await;
    app.app.clock.advance(Duration::minutes(2));
    app.run_jobs().await;
    assert_eq!(app.stored_files(), files.iter().filter(|(_, own)| !own).count());
}
