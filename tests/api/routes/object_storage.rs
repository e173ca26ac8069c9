//! Media in a bucket: uploads, reads, withheld and deleted files, several nodes, and moving from the media folder.

use axum::http::{Method, StatusCode};
use chrono::Duration;
use serde_json::{Value, json};

use crate::bucket::{KEY, fetch};
use crate::harness::{Client, TestApp, path};
use crate::routes::media::png;

/// The addresses of the files of an upload.
fn urls(media: &Value) -> [&str; 2] {
    [&media["url"], &media["preview_url"]].map(|url| url.as_str().unwrap())
}

async fn with_avatar(person: &Client) -> Value {
    let change = person.patch("/api/v1/accounts/update_credentials");
    change.multipart(&[], &[("avatar", "a.png", &png(8, 8))]).ok().await
}

/// The files of the media folder, without the bucket.
fn local_files(app: &TestApp) -> usize {
    app.stored_files() - app.objects()
}

#[tokio::test]
async fn files_are_stored_in_the_bucket_and_streamed() {
    let app = TestApp::with_bucket(&[]).await;
    let alice = app.account("alice").await;
    let media = alice.upload(&png(1280, 720)).ok().await;
    let account = with_avatar(&alice).await;
    assert_eq!(local_files(&app), 0);
    assert!(app.objects() >= 3);

    let url = path(&media["url"]);
    let whole = app.anonymous().get(url).send().await;
    assert_eq!((whole.status, whole.header("content-type")), (StatusCode::OK, "image/png"));
    assert_eq!(whole.header("cache-control"), "public, max-age=31536000, s-maxage=86400, immutable");
    assert_eq!(whole.header("content-length"), whole.body.len().to_string());
    assert_eq!(image::load_from_memory(&whole.body).unwrap().width(), 1280);
    for (range, expected) in [("bytes=0-3", &whole.body[..4]), ("bytes=-5", &whole.body[whole.body.len() - 5..])] {
        let part = app.anonymous().get(url).header("range", range).send().await;
        assert_eq!((part.status, part.body.as_slice()), (StatusCode::PARTIAL_CONTENT, expected), "{range}");
    }
    let beyond = app.anonymous().get(url).header("range", "bytes=99999999-").send().await;
    assert_eq!(beyond.status, StatusCode::RANGE_NOT_SATISFIABLE);
    let unchanged = app.anonymous().get(url).header("if-none-match", whole.header("etag")).send().await;
    assert_eq!(unchanged.status, StatusCode::NOT_MODIFIED);
    assert_eq!(app.anonymous().get(path(&account["avatar"])).send().await.status, StatusCode::OK);

    let deleted = alice.request(Method::DELETE, &format!("/api/v1/media/{}", media["id"].as_str().unwrap()));
    deleted.ok().await;
    app.run_jobs().await;
    app.app.clock.advance(Duration::days(2));
    app.run_jobs().await;
    for url in urls(&media) {
        app.anonymous().get(path(&json!(url))).fails(404).await;
    }
    assert_eq!(app.anonymous().get(path(&account["avatar"])).send().await.status, StatusCode::OK);
}

#[tokio::test]
async fn suspended_files_are_unreachable_at_the_public_address_too() {
    let app = TestApp::with_public_bucket().await;
    let alice = app.account("alice").await;
    let media = alice.upload(&png(20, 20)).ok().await;
    alice.publish(json!({ "status": "a picture", "media_ids": [media["id"]] })).await;
    let avatar = with_avatar(&alice).await["avatar"].as_str().unwrap().to_owned();
    let [url, preview] = urls(&media);
    let base = app.app.config.storage.public_url.as_ref().unwrap().as_str();
    assert!([url, preview, &avatar].iter().all(|url| url.starts_with(base)), "{media}");
    let status = |url: &str| fetch(url).0.split(' ').nth(1).unwrap().to_owned();
    let (head, body) = fetch(url);
    assert!(head.contains("content-type: image/png") && head.contains("immutable"), "{head}");
    let key = url.strip_prefix(base).unwrap();
    // Pages may load files from there, and from nowhere else.
    let host = base.split('/').take(3).collect::<Vec<_>>().join("/");
    let page = app.anonymous().get("/@alice").send().await;
    let policy = page.header("content-security-policy");
    assert!(policy.contains(&format!("img-src 'self' {host}; media-src 'self' {host};")), "{policy}");
    let ours = app.anonymous().get(&format!("/media{key}")).send().await;
    assert!(ours.body == body, "URLs that others know from before lead to the file");

    app.suspend(&alice).await;
    app.run_jobs().await;
    for url in [url, preview, &avatar] {
        assert_eq!(status(url), "404", "{url}");
    }
    assert_eq!(status(&format!("{base}/withheld{key}")), "404");
    app.anonymous().get(&format!("/media{key}")).fails(404).await;

    app.unsuspend(&alice).await;
    app.run_jobs().await;
    assert!(fetch(url).1 == body);
}

#[tokio::test]
async fn presigned_reads_are_redirected() {
    let app = TestApp::with_bucket(&[("ROOKERY_S3_PRESIGNED", "true"), ("ROOKERY_S3_PRESIGNED_SECONDS", "120")]).await;
    let alice = app.account("alice").await;
    let media = alice.upload(&png(20, 20)).ok().await;
    assert!(urls(&media)[0].starts_with("https://example.test/media/"), "{media}");
    let redirect = app.anonymous().get(path(&media["url"])).send().await;
    assert_eq!((redirect.status, redirect.header("cache-control")), (StatusCode::FOUND, "private, max-age=60"));
    let location = redirect.header("location").to_owned();
    assert!(location.contains("X-Amz-Expires=120"), "{location}");
    let head = app.anonymous().request(Method::HEAD, path(&media["url"])).send().await;
    assert_eq!((head.status, head.header("content-type")), (StatusCode::OK, "image/png"));
    let (head, body) = fetch(&location);
    assert!(head.starts_with("HTTP/1.1 200") && image::load_from_memory(&body).is_ok(), "{head}");
    app.anonymous().get("/media/media/00/00/00000000000000000000000000000000.png").fails(404).await;
}

#[tokio::test]
async fn nodes_share_files() {
    let one = TestApp::with_bucket(&[]).await;
    let two = one.beside(&[]).await;
    let alice = one.account("alice").await;
    let first = alice.upload(&png(20, 20)).ok().await;
    let second = alice.at(&two).upload(&png(30, 30)).ok().await;
    for node in [&one, &two] {
        for media in [&first, &second] {
            assert_eq!(node.anonymous().get(path(&media["url"])).send().await.status, StatusCode::OK);
        }
    }
}

#[tokio::test]
async fn bucket_that_fails_stores_nothing() {
    for (keys, remedy) in [
        ([("ROOKERY_S3_SECRET_ACCESS_KEY", "wrong")].as_slice(), "s3.secret_access_key"),
        (&[("ROOKERY_S3_BUCKET", "elsewhere")], "create it"),
        (&[("ROOKERY_S3_ENDPOINT", "http://127.0.0.1:1"), ("ROOKERY_S3_RETRY_SECONDS", "0")], "cannot be reached"),
    ] {
        let app = TestApp::with_bucket(keys).await;
        let alice = app.account("alice").await;
        let refused = alice.upload(&png(20, 20)).fails(503).await;
        assert!(!refused.contains("127.0.0.1"), "{refused}");
        app.anonymous().get("/media/media/00/00/00000000000000000000000000000000.png").fails(503).await;
        assert_eq!(app.stored_files(), 0);
        let printed = app.run_set(keys, &["doctor"]).await.out;
        let line = printed.lines().find(|line| line.contains("object storage")).unwrap_or_default();
        assert!(line.starts_with("BAD") && line.contains(remedy) && !line.contains(KEY.1), "{printed}");
    }
}

#[tokio::test]
async fn files_move_to_the_bucket_while_the_server_serves() {
    let app = TestApp::with_bucket(&[("ROOKERY_STORAGE_BACKEND", "local")]).await;
    let alice = app.account("alice").await;
    let media = alice.upload(&png(1280, 720)).ok().await;
    with_avatar(&alice).await;
    let files = local_files(&app) as u64;
    assert_eq!((files >= 3, app.objects()), (true, 0));

    let moved = app.run(&["media", "move", "--to", "s3", "--json"]).await.json();
    assert_eq!((&moved[0]["copied"], &moved[0]["deleted"]), (&json!(files), &json!(0)));
    assert_eq!((local_files(&app), app.objects() as u64), (usize::try_from(files).unwrap(), files));
    let early = app.run(&["media", "move", "--to", "s3", "--delete"]).await.fails(1);
    assert!(early.contains("storage.backend = \"s3\""), "{early}");

    let switched = [("ROOKERY_STORAGE_BACKEND", "s3")];
    let rest = app.run_set(&switched, &["media", "move", "--to", "s3", "--delete", "--json"]).await.json();
    assert_eq!(
        rest[0],
        json!({"copied": 0, "copied_size_bytes": 0, "present": files, "deleted": files, "vanished": 0, "differing": 0})
    );
    assert_eq!(local_files(&app), 0);
    let shown = app.anonymous().get(path(&media["url"])).send().await;
    assert_eq!(shown.status, StatusCode::OK, "the server reads from both");
    let back = app.run(&["media", "move", "--to", "local"]).await.ok();
    assert!(back.contains(&format!("{files} files of")), "{back}");

    let none = [("ROOKERY_STORAGE_BACKEND", "local"), ("ROOKERY_S3_BUCKET", "")];
    let refused = app.run_set(&none, &["media", "move", "--to", "s3"]).await.fails(1);
    assert!(refused.contains("no bucket"), "{refused}");
}

#[tokio::test]
async fn doctor_reports_nodes_with_a_folder_each() {
    let app = TestApp::with_bucket(&[("ROOKERY_STORAGE_BACKEND", "local")]).await;
    let printed = app.run(&["doctor"]).await.out;
    assert!(printed.contains("good     object storage") && !printed.contains("use this database"), "{printed}");

    let later = match app.db().engine() {
        database::Engine::Sqlite => "9000000000000000",
        database::Engine::Postgres => "now() + interval '1 hour'",
    };
    let nodes = "SELECT node FROM id_nodes ORDER BY node LIMIT 2";
    app.execute(&format!("UPDATE id_nodes SET lease_until = {later} WHERE node IN ({nodes})")).await;
    let printed = app.run(&["doctor"]).await.out;
    assert!(printed.contains("warning  nodes") && printed.contains("2 processes (servers"), "{printed}");
    let shared = app.run_set(&[("ROOKERY_STORAGE_BACKEND", "s3")], &["doctor"]).await.out;
    assert!(!shared.contains("use this database"), "{shared}");
}
