//! Files of other servers: how they reach clients in each mode, and what is not believed of them.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::Request;
use chrono::Duration;
use context::queue;
use futures_util::StreamExt as _;
use model::domain_policy::Flags;
use model::instance::Severity;
use model::remote_file::RemoteMediaMode;
use serde_json::{Value, json};
use service::domain_decision::{self, BlockParams};
use service::remote::files::trim::Budget;
use service::remote::files::{modes, stock};

use super::scene::Scene;
use crate::harness::liar::{Reply, with};
use crate::harness::{Answer, Liar, id};
use crate::platform::contract;
use crate::routes::media::{gif, png};

/// The path of an address of this server.
fn path(address: &Value) -> &str {
    let address = address.as_str().expect("an address");
    address.strip_prefix("http://localhost:3000").unwrap_or_else(|| panic!("{address} is elsewhere"))
}

fn picture(url: &str) -> Value {
    json!({ "type": "Document", "mediaType": "image/png", "url": url })
}

impl Scene {
    /// The attachment of a new note of Carol.
    async fn attachment(&self, name: &str, document: Value) -> Value {
        let status = self.receive(&with(self.carol.note(name), &json!({ "attachment": [document] }))).await;
        status["media_attachments"][0].clone()
    }

    async fn load(&self, address: &Value) -> Answer {
        self.app.anonymous().get(path(address)).send().await
    }

    async fn copies(&self) -> i64 {
        self.app.count("remote_files WHERE file IS NOT NULL").await
    }

    async fn mode(&self, mode: RemoteMediaMode) {
        let domain = self.liar.domain.clone();
        modes::set(&self.app.app, &model::Staff::operator(), &domain, Some(mode)).await.unwrap();
    }
}

fn is_missing(answer: &Answer) -> bool {
    let kind = answer.header("content-type");
    answer.status == 503 && kind == "image/png" && !answer.header("retry-after").is_empty()
}

#[tokio::test]
async fn pictures_are_copied_when_they_are_first_requested() {
    let scene = Scene::new().await;
    let url = scene.liar.put("/1.png", Reply::of("image/png", png(800, 600)));
    let media = scene.attachment("1", picture(&url)).await;
    assert_eq!((&media["remote_url"], &media["blurhash"]), (&json!(url), &Value::Null));
    assert_eq!(scene.liar.asked("/1.png"), 0, "no client requested it");

    // One fetch serves all.
    let all = futures_util::future::join_all((0..5).map(|_| scene.load(&media["url"]))).await;
    for answer in &all {
        assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "image/png"), "{}", answer.text());
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
    let small = scene.load(&media["preview_url"]).await;
    assert_eq!(small.status, 200);
    assert!(small.body.len() < all[0].body.len());
    assert_eq!((scene.liar.asked("/1.png"), scene.copies().await), (1, 1));
    let part = scene.app.anonymous().get(path(&media["url"])).header("range", "bytes=0-9").send().await;
    assert_eq!((part.status.as_u16(), part.body.len()), (206, 10));
    // What its server did not tell is known now.
    let status = scene.status(&scene.carol.note("1")).await.unwrap();
    let media = &status["media_attachments"][0];
    assert_eq!(media["meta"]["original"]["width"], 800);
    assert!(media["blurhash"].is_string(), "{media}");

    // Another file of the same account has another address, and the former one leads nowhere.
    let face = scene.liar.put("/face.gif", Reply::of("image/gif", gif()));
    let changed = with(scene.carol.actor(), &json!({ "icon": { "type": "Image", "url": face } }));
    scene.send(&scene.carol, "Update", changed).await;
    let account = scene.account(&scene.carol).await;
    assert_eq!(scene.load(&account["avatar"]).await.header("content-type"), "image/gif");
    assert_eq!(scene.load(&account["avatar_static"]).await.header("content-type"), "image/png");
    let other = scene.liar.put("/other.png", Reply::of("image/png", png(40, 40)));
    let changed = with(scene.carol.actor(), &json!({ "icon": { "type": "Image", "url": other } }));
    scene.send(&scene.carol, "Update", changed).await;
    let later = scene.account(&scene.carol).await;
    assert_eq!(scene.load(&account["avatar"]).await.status, 404);
    assert_eq!(scene.load(&later["avatar"]).await.status, 200);
    scene.app.run_jobs().await;
    assert_eq!(scene.app.stored_files(), 3, "the files of the former avatar are gone");
}

#[tokio::test]
async fn files_are_passed_on_with_ranges() {
    let scene = Scene::new().await;
    scene.mode(RemoteMediaMode::Pass).await;
    let url = scene.liar.put("/1.png", Reply::of("image/png", png(80, 60)));
    let media = scene.attachment("1", picture(&url)).await;
    for asked in 1..3 {
        let answer = scene.load(&media["url"]).await;
        assert_eq!((answer.status.as_u16(), &answer.body), (200, &png(80, 60)), "as it came");
        assert_eq!(answer.header("content-security-policy"), "default-src 'none'; sandbox");
        assert_eq!(scene.liar.asked("/1.png"), asked);
    }
    let part = Reply::status(206, "abcd").header("content-type", "video/mp4").header("content-range", "bytes 0-3/10");
    let url = scene.liar.put("/1.mp4", part);
    let film = json!({ "type": "Document", "mediaType": "video/mp4", "url": url });
    let media = scene.attachment("2", film).await;
    assert_eq!((&media["type"], &media["preview_url"]), (&json!("video"), &Value::Null));
    let answer = scene.app.anonymous().get(path(&media["url"])).header("range", "bytes=0-3").send().await;
    assert_eq!((answer.status.as_u16(), answer.text().as_str()), (206, "abcd"));
    assert_eq!((answer.header("content-range"), answer.header("accept-ranges")), ("bytes 0-3/10", "bytes"));
    assert_eq!((scene.app.count("remote_files").await, scene.app.stored_files()), (0, 0));
}

#[tokio::test]
async fn video_is_passed_on_until_it_is_copied() {
    let scene = Scene::new().await;
    let bytes = [b"\0\0\0\x18ftypisom\0\0\x02\0isommp41".as_slice(), &[7; 5000]].concat();
    let url = scene.liar.put("/1.mp4", Reply::of("video/mp4", bytes.clone()));
    let film = json!({ "type": "Document", "mediaType": "video/mp4", "url": url });
    let media = scene.attachment("1", film).await;
    assert_eq!(scene.load(&media["url"]).await.body, bytes);
    scene.app.run_jobs().await;
    assert_eq!((scene.liar.asked("/1.mp4"), scene.copies().await), (2, 1));
    let part = scene.app.anonymous().get(path(&media["url"])).header("range", "bytes=4-7").send().await;
    assert_eq!((part.status.as_u16(), part.text().as_str()), (206, "ftyp"));
    assert_eq!(scene.liar.asked("/1.mp4"), 2);

    // A file that only claims to be a video is not stored.
    let url = scene.liar.put("/2.mp4", Reply::of("video/mp4", "<script>"));
    let film = json!({ "type": "Document", "mediaType": "video/mp4", "url": url });
    let media = scene.attachment("2", film).await;
    scene.load(&media["url"]).await;
    scene.app.run_jobs().await;
    assert_eq!(scene.copies().await, 1);
    // Nor passed on as anything but a video.
    let url = scene.liar.put("/3.mp4", Reply::of("text/html", "<script>"));
    let media = scene.attachment("3", json!({ "type": "Document", "mediaType": "video/mp4", "url": url })).await;
    assert_eq!(scene.load(&media["url"]).await.status, 503);
}

#[tokio::test]
async fn lies_about_pictures_have_a_placeholder() {
    let scene = Scene::new().await;
    let svg = "<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>";
    let mut huge = png(8, 8);
    huge[16..24].copy_from_slice(&[0, 0, 0xC3, 0x50, 0, 0, 0xC3, 0x50]);
    let lies = [
        ("/page.png", Reply::of("image/png", "<html>")),
        ("/drawing.png", Reply::of("image/png", svg)),
        ("/huge.png", Reply::of("image/png", huge)),
        ("/endless.png", Reply::EndlessBody),
        ("/gone.png", Reply::status(404, "")),
        ("/inside.png", Reply::redirect("http://10.0.0.1/1.png")),
        ("/closed.png", Reply::Hangup),
    ];
    for (name, reply) in lies {
        let url = scene.liar.put(name, reply);
        let media = scene.attachment(&name[1..], picture(&url)).await;
        for address in [&media["url"], &media["preview_url"]] {
            let answer = scene.load(address).await;
            assert!(is_missing(&answer), "{name}: {}", answer.status);
        }
        assert!(scene.liar.asked(name) <= 1, "{name} is left in peace");
        // A host that does not respond is spared, and not a file of another host.
        scene.app.app.clock.advance(Duration::hours(1));
    }
    assert_eq!((scene.copies().await, scene.app.stored_files()), (0, 0));
    // A drawing, by its own word.
    let drawing = json!({ "type": "Document", "mediaType": "image/svg+xml", "url": scene.liar.url("/1.svg") });
    let media = scene.attachment("svg", drawing).await;
    assert_eq!((&media["type"], &media["url"]), (&json!("unknown"), &Value::Null));

    // What is there later is found, after a pause that grows.
    let url = scene.liar.script("/late.png", [Reply::status(404, ""), Reply::of("image/png", png(8, 8))]);
    let media = scene.attachment("late", picture(&url)).await;
    assert!(is_missing(&scene.load(&media["url"]).await));
    assert!(is_missing(&scene.load(&media["url"]).await));
    assert_eq!(scene.liar.asked("/late.png"), 1);
    scene.app.app.clock.advance(Duration::minutes(1));
    assert_eq!(scene.load(&media["url"]).await.status, 200);

    // A host whose media are rejected, although the author's are not.
    let other = Liar::start().await;
    let url = other.put("/1.png", Reply::of("image/png", png(8, 8)));
    let elsewhere = scene.attachment("elsewhere", picture(&url)).await;
    let flags = Flags { reject_media: true, ..Flags::NONE };
    let params = BlockParams { flags, ..BlockParams::new(Severity::Noop) };
    domain_decision::block(&scene.app.app, &model::Staff::operator(), &other.domain, params).await.unwrap();
    assert_eq!((scene.load(&elsewhere["url"]).await.status.as_u16(), other.asked("/1.png")), (404, 0));

    // An address that was guessed, and files that are not to be shown.
    let address = path(&media["url"]).to_owned();
    for wrong in [format!("{address}x"), address.replace("/attachment/", "/avatar/"), "/media/remote/a/b/c".to_owned()]
    {
        assert_eq!(scene.app.anonymous().get(&wrong).send().await.status, 404, "{wrong}");
    }
    scene.mode(RemoteMediaMode::Keep).await;
    let sql = "UPDATE accounts SET suspended_at = created_at WHERE username = 'carol'";
    scene.app.execute(sql).await;
    assert_eq!(scene.load(&media["url"]).await.status, 404, "its author is suspended");
}

#[tokio::test]
async fn least_recently_used_copies_go_first_and_come_back() {
    let scene = Scene::new().await;
    let mut all = Vec::new();
    for number in 0..6 {
        let name = format!("/{number}.png");
        let url = scene.liar.put(&name, Reply::of("image/png", png(300, 200)));
        let media = scene.attachment(&number.to_string(), picture(&url)).await;
        assert_eq!(scene.load(&media["url"]).await.status, 200);
        scene.app.app.clock.advance(Duration::hours(2));
        all.push(media);
    }
    scene.load(&all[0]["url"]).await;
    let (bytes,) = scene.app.db().fetch_raw::<(i64,)>("SELECT MAX(bytes) FROM remote_files").await.unwrap()[0];
    // A host has a quarter: room for two.
    let budget = Budget { bytes: Some(bytes * 8), used_since: None };
    let removed = stock::prune(&scene.app.app, budget).await.unwrap();
    scene.app.run_jobs().await;
    assert_eq!((removed.files, scene.copies().await, scene.app.stored_files()), (4, 2, 4));
    for number in [0, 5] {
        scene.load(&all[number]["url"]).await;
        assert_eq!(scene.liar.asked(&format!("/{number}.png")), 1, "{number} was used last");
    }
    assert_eq!(scene.load(&all[1]["url"]).await.status, 200);
    assert_eq!(scene.liar.asked("/1.png"), 2, "fetched again");

    // Staff sees what there is, by kind and host.
    let admin = scene.app.staff("admin", "Admin").await;
    let overview = admin.get("/api/v1/admin/remote_media").ok().await;
    contract::check("Admin_RemoteMedia", &overview);
    assert_eq!((&overview["files"], &overview["kinds"][0]["kind"]), (&json!(3), &json!("attachment")));
    assert_eq!(
        (&overview["hosts"][0]["host"], &overview["hosts"][0]["mode"]),
        (&json!(scene.liar.domain), &json!("cache"))
    );
    scene.alice.get("/api/v1/admin/remote_media").fails(403).await;
    let path = "/api/v1/admin/remote_media/domains";
    let changed = admin.post(path).json(&json!({ "domain": "big.test", "mode": "pass" })).ok().await;
    assert_eq!(changed["domains"], json!([{ "domain": "big.test", "mode": "pass" }]));
    assert_eq!(admin.post(path).json(&json!({ "domain": "big.test" })).ok().await["domains"], json!([]));
    admin.post(path).json(&json!({ "domain": "not a domain", "mode": "pass" })).fails(422).await;
    admin.post(path).json(&json!({ "domain": "localhost:3000", "mode": "pass" })).fails(422).await;

    // What is kept stays, whatever its age.
    let old = Budget { bytes: Some(1), used_since: Some(scene.app.app.clock.now() + Duration::days(1)) };
    scene.mode(RemoteMediaMode::Keep).await;
    assert_eq!(stock::prune(&scene.app.app, old).await.unwrap().files, 0);
    // A lost file is noticed, and fetched again.
    std::fs::remove_dir_all(scene.app.file_folder().join("remote")).unwrap();
    assert_eq!(stock::verify(&scene.app.app).await.unwrap().lost, 3);
    assert_eq!(scene.load(&all[0]["url"]).await.status, 200);
    // With its status goes the copy.
    scene.send(&scene.carol, "Delete", scene.carol.note("0")["id"].clone()).await;
    let mut tx = scene.app.db().begin().await.unwrap();
    queue::enqueue(&scene.app.app, &mut tx, &queue::PruneRemoteFiles::begin()).await.unwrap();
    queue::enqueue(&scene.app.app, &mut tx, &queue::TrimRemoteFiles {}).await.unwrap();
    tx.commit().await.unwrap();
    scene.app.app.clock.advance(Duration::days(2));
    scene.app.run_jobs().await;
    assert_eq!((scene.copies().await, scene.app.stored_files()), (0, 0));
    assert_eq!(
        scene.app.count("jobs WHERE kind IN ('prune_remote_files', 'trim_remote_files')").await,
        2,
        "they recur"
    );
}

#[tokio::test]
async fn each_kind_is_served_in_each_mode() {
    for mode in [RemoteMediaMode::Cache, RemoteMediaMode::Keep, RemoteMediaMode::Pass] {
        let scene = Scene::new().await;
        scene.mode(mode).await;
        let at = |name: &str| scene.liar.put(&format!("/files/{name}"), Reply::of("image/png", png(90, 60)));
        let sound = scene.liar.put("/files/sound", Reply::of("audio/mpeg", [b"ID3".as_slice(), &[0; 400]].concat()));
        let icon = json!({ "type": "Image", "mediaType": "image/png", "url": at("emoji") });
        let emoji = json!({ "type": "Emoji", "name": ":rook:", "icon": icon });
        let profile = json!({
            "icon": { "type": "Image", "url": at("face") },
            "image": { "type": "Image", "url": at("header") },
        });
        scene.send(&scene.carol, "Update", with(scene.carol.actor(), &profile)).await;
        let attached = json!([
            picture(&at("picture")),
            { "type": "Document", "mediaType": "audio/mpeg", "url": sound, "icon": { "type": "Image", "url": at("cover") } },
        ]);
        let note = json!({ "content": "<p>:rook:</p>", "tag": emoji, "attachment": attached });
        let status = scene.receive(&with(scene.carol.note("1"), &note)).await;
        let media = &status["media_attachments"];
        let addresses = [
            &media[0]["url"],
            &media[0]["preview_url"],
            &media[1]["url"],
            &media[1]["preview_url"],
            &status["account"]["avatar"],
            &status["account"]["avatar_static"],
            &status["account"]["header"],
            &status["emojis"][0]["url"],
            &status["emojis"][0]["static_url"],
        ];
        for address in addresses {
            let answer = scene.load(address).await;
            let kind = if *address == media[1]["url"] { "audio/mpeg" } else { "image/png" };
            assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, kind), "{mode:?}: {address}");
        }
        scene.app.run_jobs().await;
        let copies = if mode == RemoteMediaMode::Pass { 0 } else { 6 };
        assert_eq!(scene.copies().await, copies, "{mode:?}");
    }
}

/// The strings of a document at which a client would load something.
fn loaded(value: &Value, name: &str, found: &mut BTreeSet<(String, String)>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| loaded(value, name, found)),
        Value::Array(items) => items.iter().for_each(|item| loaded(item, name, found)),
        Value::String(text) => {
            found.insert((name.to_owned(), text.clone()));
        }
        _ => {}
    }
}

#[tokio::test]
async fn clients_load_nothing_from_other_servers() {
    let scene = Scene::new().await;
    let at = |name: &str| scene.liar.url(&format!("/files/{name}"));
    let emoji = |name: &str| {
        let icon = json!({ "type": "Image", "mediaType": "image/png", "url": at("emoji") });
        json!({ "type": "Emoji", "name": format!(":{name}:"), "icon": icon })
    };
    let profile = json!({
        "name": "Carol :rook:",
        "icon": { "type": "Image", "url": at("face") },
        "image": { "type": "Image", "url": at("header") },
        "tag": [emoji("rook")],
    });
    scene.send(&scene.carol, "Update", with(scene.carol.actor(), &profile)).await;
    let files = json!({
        "content": format!("<p>:rook: @alice <img src=\"{}\"></p>", at("inline")),
        "tag": [emoji("rook"), { "type": "Mention", "href": super::scene::ALICE, "name": "@alice" }],
        "attachment": [
            picture(&at("picture")),
            { "type": "Document", "mediaType": "video/mp4", "url": at("film"), "icon": { "type": "Image", "url": at("still") } },
            { "type": "Document", "mediaType": "audio/mpeg", "url": at("sound") },
            { "type": "Document", "mediaType": "application/pdf", "url": at("paper") },
        ],
    });
    let status = scene.receive(&with(scene.carol.note("1"), &files)).await;
    scene.alice.post(&format!("/api/v1/statuses/{}/bookmark", id(&status))).ok().await;
    let account = scene.account(&scene.carol).await;
    let paths = [
        "/api/v1/timelines/home".to_owned(),
        "/api/v1/timelines/public".to_owned(),
        "/api/v1/notifications".to_owned(),
        "/api/v2/notifications".to_owned(),
        "/api/v1/conversations".to_owned(),
        "/api/v1/bookmarks".to_owned(),
        "/api/v2/search?q=carol".to_owned(),
        format!("/api/v1/statuses/{}", id(&status)),
        format!("/api/v1/statuses/{}/context", id(&status)),
        format!("/api/v1/accounts/{}", id(&account)),
        format!("/api/v1/accounts/{}/statuses?only_media=true", id(&account)),
        format!("/api/v1/accounts/{}/following", scene.alice.id()),
    ];
    // Members that people follow, and that apps do not load.
    let links = ["url", "uri", "remote_url", "preview_remote_url", "domain", "acct", "content", "note", "in_reply_to"];
    let mut ours = BTreeSet::new();
    for path in paths {
        let mut found = BTreeSet::new();
        loaded(&scene.alice.get(&path).ok().await, "", &mut found);
        for (name, text) in found {
            if text.contains("/media/remote/") {
                ours.insert(text.clone());
            }
            let file = text.contains("/files/") && !["remote_url", "preview_remote_url"].contains(&name.as_str());
            assert!(!file, "{path}: {name}: {text}");
            let elsewhere = text.contains(&scene.liar.domain) && text.starts_with("http");
            assert!(!elsewhere || links.contains(&name.as_str()), "{path}: {name}: {text}");
        }
    }
    // Avatar, header and emoji, each with a still one; the picture and a smaller one, the film, its picture, the sound.
    assert_eq!(ours.len(), 11, "{ours:#?}");
    for page in [format!("/@{}", scene.carol.address()), format!("/@{}/{}", scene.carol.address(), id(&status))] {
        let text = scene.app.anonymous().get(&page).send().await.text();
        assert!(!text.contains("/files/"), "{page}");
    }
}

#[tokio::test]
async fn staff_copies_emojis_of_other_servers() {
    let scene = Scene::new().await;
    let url = scene.liar.put("/rook.png", Reply::of("image/png", png(64, 64)));
    let icon = json!({ "type": "Image", "mediaType": "image/png", "url": url });
    let tag = json!({ "type": "Emoji", "name": ":rook:", "icon": icon });
    let note = with(scene.carol.note("1"), &json!({ "content": "<p>:rook:</p>", "tag": tag }));
    let status = scene.receive(&note).await;
    assert_eq!(scene.load(&status["emojis"][0]["url"]).await.status, 200);
    let named = format!("rook@{}", scene.liar.domain);
    let copy = async |arguments: &[&str]| {
        scene.app.run_set(&Liar::KEYS, &[&["--json", "emoji", "copy"], arguments].concat()).await
    };
    assert_eq!(copy(&[&named, "--as", "tower"]).await.json()[0]["outcome"], "added");
    assert_eq!(copy(&[&named, "--as", "tower"]).await.json()[0]["outcome"], "kept");
    assert_ne!(copy(&["crow@nowhere.test"]).await.code, 0);
    scene.app.app.invalidate().await.unwrap();
    let emojis = scene.alice.get("/api/v1/custom_emojis").ok().await;
    assert_eq!((emojis.as_array().unwrap().len(), &emojis[0]["shortcode"]), (1, &json!("tower")));
}

/// The memory of this process, in MiB.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() / 256
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures the memory of the process: alone"]
async fn forty_large_files_pass_through_little_memory() {
    let scene = Scene::new().await;
    let other = Liar::start().await;
    for liar in [&scene.liar, &other] {
        let (staff, mode) = (model::Staff::operator(), Some(RemoteMediaMode::Pass));
        modes::set(&scene.app.app, &staff, &liar.domain, mode).await.unwrap();
    }
    let mut addresses = Vec::new();
    for number in 0..40 {
        let liar = if number % 2 == 0 { &scene.liar } else { &other };
        let url = liar.put(&format!("/{number}.mp4"), Reply::LongVideo(60 << 20));
        let film = json!({ "type": "Document", "mediaType": "video/mp4", "url": url });
        addresses.push(scene.attachment(&number.to_string(), film).await["url"].clone());
    }
    let before = resident();
    let most = std::sync::atomic::AtomicUsize::new(before);
    let load = async |address: &Value| {
        let request = Request::get(path(address)).header("host", "localhost:3000").body(Body::empty()).unwrap();
        let mut body = scene.app.open(request).await.into_body().into_data_stream();
        let mut bytes = 0;
        while let Some(piece) = body.next().await {
            bytes += piece.unwrap().len();
            most.fetch_max(resident(), std::sync::atomic::Ordering::Relaxed);
        }
        bytes
    };
    let all = futures_util::future::join_all(addresses.iter().map(load)).await;
    assert!(all.iter().all(|bytes| *bytes == 60 << 20), "{all:?}");
    let most = most.into_inner();
    assert!(most < before + 100, "{before} MiB before, {most} MiB at most");
}
