//! Video and audio: <https://docs.joinmastodon.org/methods/media/#v2>, with the real programs and with files that
//! they generate here.

use std::path::{Path, PathBuf};
use std::process::Command;

use axum::http::StatusCode;
use base64::Engine as _;
use chrono::Duration;
use context::queue::ProcessMedia;
use serde_json::{Value, json};
use service::media::moving::{self, Processing};

use crate::harness::{Client, TestApp, path};
use crate::routes::media::png;

/// An animated picture of one second.
const PICTURES: &str = "-f lavfi -i testsrc=size=320x180:rate=10:duration=1";

/// A tone of one second.
const TONE: &str = "-f lavfi -i sine=duration=1";

fn tool(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/bin").join(name);
    assert!(path.is_file(), "{} is not there: `make ffmpeg` gets it", path.display());
    path
}

/// Output of `ffmpeg` with `arguments`, in a file called `name`.
pub fn made(arguments: &str, name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    let mut command = Command::new(tool("ffmpeg"));
    command.args(["-v", "error", "-nostdin"]).args(arguments.split(' ')).arg(&file);
    assert!(command.status().unwrap().success(), "{arguments}");
    std::fs::read(file).unwrap()
}

/// H.264 and AAC, with a location in its metadata.
fn mp4() -> Vec<u8> {
    made(&format!("{PICTURES} {TONE} -c:v libx264 -pix_fmt yuv420p -c:a aac -metadata title=48.8584N"), "a.mp4")
}

/// A server that converts video.
pub async fn server() -> TestApp {
    server_with(&[]).await
}

/// As [`server`], with additional configuration keys.
pub async fn server_with(keys: &[(&str, &str)]) -> TestApp {
    let (ffmpeg, ffprobe) = (tool("ffmpeg"), tool("ffprobe"));
    let programs =
        [("ROOKERY_MEDIA_FFMPEG", ffmpeg.to_str().unwrap()), ("ROOKERY_MEDIA_FFPROBE", ffprobe.to_str().unwrap())];
    TestApp::with(&[&programs, keys].concat()).await
}

/// Uploads a file that is converted later.
async fn upload(client: &Client, file: &[u8]) -> Value {
    let files = [("file", "holiday.png", file)];
    client.post("/api/v2/media").multipart(&[], &files).expect(StatusCode::ACCEPTED).await
}

fn place(media: &Value) -> String {
    format!("/api/v1/media/{}", media["id"].as_str().unwrap())
}

/// Uploads a file and converts it.
async fn converted(client: &Client, file: &[u8]) -> Value {
    let media = upload(client, file).await;
    client.server.run_jobs().await;
    client.get(&place(&media)).ok().await
}

/// The pending job that converts an upload.
async fn waiting_job(app: &TestApp) -> ProcessMedia {
    let jobs: Vec<(String,)> =
        app.db().fetch_raw("SELECT CAST(payload AS TEXT) FROM jobs WHERE kind = 'process_media'").await.unwrap();
    serde_json::from_str(&jobs[0].0).unwrap()
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[tokio::test]
async fn video_is_accepted_immediately_and_converted_by_a_job() {
    let app = server().await;
    let alice = app.account("alice").await;
    let file = mp4();
    assert!(contains(&file, b"48.8584N"));

    let media = upload(&alice, &file).await;

    assert_eq!((&media["type"], &media["url"], &media["preview_url"]), (&json!("video"), &Value::Null, &Value::Null));
    alice.get(&place(&media)).expect(StatusCode::PARTIAL_CONTENT).await;
    let changed = alice.put(&place(&media)).json(&json!({"description": "a test picture", "focus": "0.5,0"}));
    assert_eq!(changed.expect(StatusCode::PARTIAL_CONTENT).await["description"], "a test picture");
    let status = json!({"status": "look", "media_ids": [media["id"]]});
    assert!(alice.post("/api/v1/statuses").json(&status).fails(422).await.contains("processed"));

    app.run_jobs().await;

    let media = alice.get(&place(&media)).ok().await;
    assert_eq!((&media["type"], &media["description"]), (&json!("video"), &json!("a test picture")));
    let original = &media["meta"]["original"];
    assert_eq!(
        (&original["width"], &original["height"], &original["frame_rate"]),
        (&json!(320), &json!(180), &json!("10/1"))
    );
    assert!((0.9..1.2).contains(&original["duration"].as_f64().unwrap()), "{original}");
    assert!(original["bitrate"].as_u64().unwrap() > 1000, "{original}");
    assert_eq!(media["meta"]["small"]["size"], "320x180");
    assert_eq!(media["meta"]["focus"], json!({"x": 0.5, "y": 0.0}));
    let said =
        ["fps", "size", "audio_encode", "audio_bitrate", "audio_channels"].map(|name| media["meta"][name].clone());
    assert_eq!(said, [json!(10), json!("320x180"), json!("aac"), json!("44100 Hz"), json!("mono")]);
    assert!(media["meta"]["length"].as_str().unwrap().starts_with("0:00:0"), "{media}");
    assert!(media["blurhash"].is_string());
    assert_eq!(app.stored_files(), 2, "the original file and temporary files are deleted");

    let whole = app.anonymous().get(path(&media["url"])).send().await;
    assert_eq!((whole.header("content-type"), whole.header("accept-ranges")), ("video/mp4", "bytes"));
    assert!(!contains(&whole.body, b"48.8584N"), "metadata is left out");
    assert!(contains(&whole.body[..1024], b"moov"), "players start before the download ends");
    let part = app.anonymous().get(path(&media["url"])).header("range", "bytes=4-7").send().await;
    assert_eq!((part.status, part.body.as_slice()), (StatusCode::PARTIAL_CONTENT, b"ftyp".as_slice()));
    let picture = app.anonymous().get(path(&media["preview_url"])).send().await;
    assert_eq!(image::load_from_memory(&picture.body).unwrap().width(), 320);

    alice.publish(&status).await;
}

#[tokio::test]
async fn original_upload_is_never_served() {
    let app = server().await;
    let alice = app.account("alice").await;
    upload(&alice, &mp4()).await;
    let incoming = waiting_job(&app).await.incoming;
    assert!(app.file_folder().join(&incoming).is_file());
    app.anonymous().get(&format!("/media/{incoming}")).fails(404).await;
    alice.get(&format!("/media/{incoming}")).fails(404).await;
}

#[tokio::test]
async fn silent_video_becomes_gifv() {
    let app = server().await;
    let alice = app.account("alice").await;
    let file = made("-f lavfi -i testsrc=size=321x181:rate=10:duration=1 -c:v libvpx -b:v 200k", "a.webm");

    let media = converted(&alice, &file).await;

    assert_eq!(media["type"], "gifv");
    let original = &media["meta"]["original"];
    assert_eq!(
        (&original["width"], &original["height"], &original["frame_rate"]),
        (&json!(320), &json!(180), &json!("10/1"))
    );
    assert!(path(&media["url"]).ends_with(".mp4"));
    assert_eq!(media["meta"].get("audio_encode"), None);
}

#[tokio::test]
async fn every_kind_of_sound_becomes_mp3() {
    let app = server().await;
    let alice = app.account("alice").await;
    let kinds = [
        ("a.wav", ""),
        ("a.flac", ""),
        ("a.mp3", ""),
        ("a.aac", ""),
        ("a.m4a", ""),
        ("a.ogg", " -c:a libvorbis"),
        ("a.opus", " -c:a libopus"),
        ("a.webm", " -c:a libopus"),
    ];
    for (name, encoder) in kinds {
        let media = converted(&alice, &made(&format!("{TONE}{encoder}"), name)).await;
        assert_eq!((&media["type"], &media["preview_url"]), (&json!("audio"), &Value::Null), "{name}");
        assert!(path(&media["url"]).ends_with(".mp3"), "{name}");
        let seconds = media["meta"]["original"]["duration"].as_f64().unwrap();
        assert!((0.9..1.3).contains(&seconds), "{name}: {seconds}");
        assert_eq!(media["meta"].get("colors"), None, "{name}");
        let file = app.anonymous().get(path(&media["url"])).send().await;
        assert_eq!(file.header("content-type"), "audio/mpeg");
    }
}

#[tokio::test]
async fn cover_of_a_sound_is_its_thumbnail() {
    let app = server().await;
    let alice = app.account("alice").await;
    let cover = "-f lavfi -i color=c=navy:size=200x200:duration=0.1:rate=10 -map 0:a -map 1:v -frames:v 1 -c:v png \
                 -disposition:v attached_pic -c:a libmp3lame";
    let media = converted(&alice, &made(&format!("{TONE} {cover}"), "a.mp3")).await;
    assert_eq!((&media["type"], &media["meta"]["small"]["size"]), (&json!("audio"), &json!("200x200")));
    let colors = &media["meta"]["colors"];
    assert_eq!((&colors["background"], &colors["foreground"]), (&json!("#04047c"), &json!("#ffffff")), "{colors}");
    assert!(media["blurhash"].is_string() && media["preview_url"].is_string());
}

#[tokio::test]
async fn first_version_of_the_route_responds_after_conversion() {
    let app = server().await;
    let alice = app.account("alice").await;
    let post = |file: &[u8]| alice.post("/api/v1/media").multipart(&[("focus", "0,1")], &[("file", "a", file)]);

    let media = post(&mp4()).ok().await;
    assert_eq!((&media["type"], &media["meta"]["focus"]["y"]), (&json!("video"), &json!(1.0)));
    assert_eq!(app.stored_files(), 2);
    // The job that was queued in case of a kill finds nothing to do.
    app.app.clock.advance(Duration::hours(1));
    app.run_jobs().await;
    assert_eq!(alice.get(&place(&media)).ok().await, media);
    assert_eq!(app.stored_files(), 2);
}

#[tokio::test]
async fn video_without_the_programs_is_refused_and_not_announced() {
    let (with, without) = (server().await, TestApp::new().await);
    for (app, announced) in [(&with, true), (&without, false)] {
        let instance = app.anonymous().get("/api/v2/instance").ok().await;
        let types = instance["configuration"]["media_attachments"]["supported_mime_types"].as_array().unwrap();
        assert_eq!(types.contains(&json!("video/mp4")), announced);
        assert_eq!(types.contains(&json!("audio/flac")), announced);
    }
    let alice = without.account("alice").await;
    let refused = alice.upload(&mp4()).fails(422).await;
    assert!(refused.contains("does not accept video"), "{refused}");
    assert_eq!(without.stored_files(), 0);
}

#[tokio::test]
async fn hostile_file_is_refused_and_leaves_nothing() {
    let app = server().await;
    let alice = app.account("alice").await;
    let whole = mp4();
    let tiny = |options: &str| made(&format!("-f lavfi -i {options} -c:v libx264 -preset ultrafast"), "a.mp4");
    let list = b"ffconcat version 1.0\nfile /etc/passwd\n".to_vec();
    let playlist = b"#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10.0,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n".to_vec();
    let files = [
        ("half of a file", whole[..whole.len() / 2].to_vec(), "damaged"),
        ("its name alone", whole[..32].to_vec(), "damaged"),
        ("noise", [&whole[..16], &[0xA5; 4096]].concat(), "damaged"),
        ("another kind", [b"fLaC".as_slice(), &whole].concat(), "damaged"),
        ("a list of files", list.clone(), "not supported"),
        ("a playlist", playlist.clone(), "not supported"),
        ("a list behind a tag", [b"ID3\x04\0\0\0\0\0\0".as_slice(), &list].concat(), "damaged"),
        ("a playlist in a box", [&whole[..32], &playlist].concat(), "damaged"),
        ("an address", b"http://127.0.0.1/video.mp4".to_vec(), "not supported"),
        (
            "an entity",
            b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]>".to_vec(),
            "supported",
        ),
        ("too many pixels", tiny("color=size=3842x2160:rate=1:duration=1"), "pixels"),
        ("too many frames by the second", tiny("color=size=16x16:rate=130:duration=0.2"), "frames per second"),
        ("an odd codec", made("-f lavfi -i sine=duration=0.1 -c:a adpcm_ms", "a.wav"), "damaged"),
    ];
    for (what, file, reason) in files {
        let refused = alice.upload(&file).fails(422).await;
        assert!(refused.contains(reason), "{what}: {refused}");
        assert!(!refused.contains("root:"), "{what}: {refused}");
        assert_eq!(app.stored_files(), 0, "{what}");
    }
}

#[tokio::test]
async fn file_that_cannot_be_converted_has_failed() {
    let app = server().await;
    let alice = app.account("alice").await;
    let mut file = made(&format!("{PICTURES} -c:v libx264 -pix_fmt yuv420p -movflags +faststart"), "a.mp4");
    let data = file.windows(4).position(|window| window == b"mdat").unwrap() + 4;
    file[data..].fill(0);

    let media = upload(&alice, &file).await;
    app.run_jobs().await;

    assert!(alice.get(&place(&media)).fails(422).await.contains("damaged"));
    alice.put(&place(&media)).json(&json!({"description": "x"})).fails(422).await;
    let status = json!({"status": "look", "media_ids": [media["id"]]});
    alice.post("/api/v1/statuses").json(&status).fails(422).await;
    assert_eq!(app.stored_files(), 0);
    alice.delete(&place(&media)).ok().await;
    alice.get(&place(&media)).fails(404).await;
}

#[tokio::test]
async fn job_that_runs_again_changes_nothing() {
    let app = server().await;
    let alice = app.account("alice").await;
    let media = upload(&alice, &mp4()).await;
    let job = waiting_job(&app).await;
    app.run_jobs().await;
    let shown = alice.get(&place(&media)).ok().await;
    for attempt in [2, 9] {
        assert!(moving::process(&app.app, &job, Processing::Later { attempt }).await.unwrap());
    }
    assert_eq!(alice.get(&place(&media)).ok().await, shown);
    assert_eq!(app.stored_files(), 2);
}

#[tokio::test]
async fn conversion_that_fails_repeatedly_is_given_up() {
    let app = server().await;
    let alice = app.account("alice").await;
    let media = upload(&alice, &mp4()).await;
    let job = waiting_job(&app).await;
    assert!(moving::process(&app.app, &job, Processing::Later { attempt: 4 }).await.unwrap());
    assert!(alice.get(&place(&media)).fails(422).await.contains("several times"));
    app.run_jobs().await;
    assert_eq!(app.stored_files(), 0);
}

#[tokio::test]
async fn attachment_is_deleted_unless_a_status_has_it() {
    let app = server().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let image = alice.upload(&png(8, 8)).ok().await;
    app.anonymous().delete(&place(&image)).fails(401).await;
    alice.with_scopes("read").await.delete(&place(&image)).fails(403).await;
    bob.delete(&place(&image)).fails(404).await;
    assert_eq!(alice.delete(&place(&image)).ok().await, json!({}));
    alice.delete(&place(&image)).fails(404).await;
    app.run_jobs().await;
    assert_eq!(app.stored_files(), 0);

    let waits = upload(&alice, &mp4()).await;
    alice.delete(&place(&waits)).ok().await;
    app.run_jobs().await;
    assert_eq!(app.stored_files(), 0, "the file waiting for conversion is deleted too");

    let image = alice.upload(&png(8, 8)).ok().await;
    alice.publish(json!({"status": "look", "media_ids": [image["id"]]})).await;
    assert!(alice.delete(&place(&image)).fails(422).await.contains("used"));
    app.run_jobs().await;
    assert_eq!(app.stored_files(), 2);
}

#[tokio::test]
async fn unposted_upload_is_deleted_with_all_its_files() {
    let app = server().await;
    let alice = app.account("alice").await;
    converted(&alice, &mp4()).await;
    assert_eq!(app.stored_files(), 2);
    app.app.clock.advance(Duration::hours(25));
    app.run_jobs().await;
    assert_eq!(app.stored_files(), 0);
}

#[tokio::test]
async fn thumbnail_is_sent_with_a_video_and_replaced() {
    let app = server().await;
    let alice = app.account("alice").await;
    let (file, first, second) = (mp4(), png(64, 48), png(32, 48));
    let sent = [("file", "a.mp4", &file[..]), ("thumbnail", "t.png", &first[..])];

    let media = alice.post("/api/v2/media").multipart(&[], &sent).expect(StatusCode::ACCEPTED).await;
    assert_eq!(media["meta"]["small"]["size"], "64x48", "a preview is there before the video");
    let kept = media["preview_url"].clone();
    app.run_jobs().await;
    let media = alice.get(&place(&media)).ok().await;
    assert_eq!((&media["preview_url"], &media["meta"]["small"]["size"]), (&kept, &json!("64x48")));
    assert_eq!(app.stored_files(), 2);

    alice.put(&place(&media)).multipart(&[], &[("thumbnail", "t.png", b"no picture")]).fails(422).await;
    let changed = alice.put(&place(&media)).multipart(&[], &[("thumbnail", "t.png", &second)]).ok().await;
    assert_eq!(changed["meta"]["small"]["size"], "32x48");
    assert_eq!(changed["meta"]["original"], media["meta"]["original"]);
    assert_ne!(changed["preview_url"], kept);
    alice.publish(json!({"status": "look", "media_ids": [media["id"]]})).await;
    app.app.clock.advance(Duration::hours(25));
    app.run_jobs().await;
    assert_eq!(app.stored_files(), 2, "the previous picture is deleted, the video stays");
    app.anonymous().get(path(&changed["preview_url"])).send().await;
    let image = [("file", "a.png", &first[..]), ("thumbnail", "t.png", &second[..])];
    assert!(alice.post("/api/v2/media").multipart(&[], &image).fails(422).await.contains("thumbnail"));
}

#[tokio::test]
async fn length_of_videos_and_sounds_has_a_limit() {
    let app = server_with(&[("ROOKERY_MEDIA_DURATION_LIMIT_SECONDS", "1")]).await;
    let alice = app.account("alice").await;
    let long = [
        made("-f lavfi -i color=size=16x16:rate=5:duration=2 -c:v libx264 -pix_fmt yuv420p", "a.mp4"),
        made("-f lavfi -i sine=duration=2 -c:a libmp3lame", "a.mp3"),
    ];
    for file in &long {
        let refused = alice.upload(file).fails(422).await;
        assert!(refused.contains("at most 1 seconds"), "{refused}");
    }
    let short = made("-f lavfi -i sine=duration=0.9 -c:a libmp3lame", "a.mp3");
    alice.upload(&short).expect(StatusCode::ACCEPTED).await;
}

#[tokio::test]
async fn thumbnail_is_replaced_by_an_edit() {
    let app = server().await;
    let alice = app.account("alice").await;
    let media = converted(&alice, &mp4()).await;
    let id = media["id"].as_str().unwrap();
    let status = alice.publish(json!({"status": "look", "media_ids": [id]})).await;
    let edit = |ids: &[&str], name: &str, file: &[u8]| {
        let mut fields = vec![("status", "look"), ("media_ids[]", id)];
        fields.extend(ids.iter().map(|id| ("media_attributes[][id]", *id)));
        let path = format!("/api/v1/statuses/{}", status["id"].as_str().unwrap());
        alice.put(&path).multipart(&fields, &[("media_attributes[][thumbnail]", name, file)])
    };
    app.tick();
    let edited = edit(&[id], "t.png", &png(32, 48)).ok().await;
    let shown = &edited["media_attachments"][0];
    assert_eq!((&shown["id"], &shown["meta"]["small"]["size"]), (&media["id"], &json!("32x48")));
    assert_ne!(shown["preview_url"], media["preview_url"]);
    assert_eq!((&shown["url"], edited["edited_at"].is_string()), (&media["url"], true));
    let again = edit(&[id], "t.png", &png(32, 48)).ok().await;
    assert_ne!(again["media_attachments"][0]["preview_url"], shown["preview_url"], "another picture of the same size");

    let in_json = |thumbnail: String| {
        let attributes = json!([{"id": id, "description": "a bird", "thumbnail": thumbnail}]);
        let body = json!({"status": "look", "media_ids": [id], "media_attributes": attributes});
        alice.edit(&status, &body)
    };
    let uri =
        |bytes: &[u8]| format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(bytes));
    let written = in_json(uri(&png(16, 24))).ok().await;
    let shown = &written["media_attachments"][0];
    assert_eq!((&shown["meta"]["small"]["size"], &shown["description"]), (&json!("16x24"), &json!("a bird")));
    for odd in [uri(b"no picture"), "data:image/png,abc".to_owned(), "https://example.test/a.png".to_owned()] {
        in_json(odd).fails(422).await;
    }
    let again = edit(&[id], "t.png", &png(32, 48)).ok().await;

    edit(&[id], "t.png", b"no picture").fails(422).await;
    assert!(edit(&[], "t.png", &png(8, 8)).fails(422).await.contains("thumbnail"), "the attachment must be named");
    let image = alice.upload(&png(9, 9)).ok().await;
    let other = image["id"].as_str().unwrap();
    assert_eq!(edit(&[other], "t.png", &png(8, 8)).ok().await["media_attachments"], again["media_attachments"]);
    alice.delete(&format!("/api/v1/media/{other}")).ok().await;
    app.app.clock.advance(Duration::hours(25));
    app.run_jobs().await;
    assert_eq!(app.stored_files(), 2, "the video and the last picture");
}

#[tokio::test]
async fn conversions_of_one_account_leave_room_for_others() {
    let app = server().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let file = mp4();
    let hers = upload(&alice, &file).await;
    let job = waiting_job(&app).await;
    // An account has at most one of two concurrent conversions.
    let permit = app.app.converter.permit(i64::from(alice.id())).await.unwrap();
    assert!(!moving::process(&app.app, &job, Processing::Later { attempt: 1 }).await.unwrap());
    let his = bob.post("/api/v1/media").multipart(&[], &[("file", "a", &file)]).ok().await;
    assert_eq!(his["type"], "video");
    alice.get(&place(&hers)).expect(StatusCode::PARTIAL_CONTENT).await;
    drop(permit);
    app.run_jobs().await;
    alice.get(&place(&hers)).ok().await;
}

#[tokio::test]
async fn too_large_video_is_refused_before_it_is_stored() {
    let (ffmpeg, ffprobe) = (tool("ffmpeg"), tool("ffprobe"));
    let app = TestApp::with(&[
        ("ROOKERY_MEDIA_FFMPEG", ffmpeg.to_str().unwrap()),
        ("ROOKERY_MEDIA_FFPROBE", ffprobe.to_str().unwrap()),
        ("ROOKERY_MEDIA_VIDEO_SIZE_LIMIT_BYTES", "1048576"),
    ])
    .await;
    let alice = app.account("alice").await;
    let mut file = mp4();
    file.resize(1024 * 1024 + 1, 0);
    assert!(alice.upload(&file).fails(422).await.contains("larger"));
    file.resize(40 * 1024 * 1024, 0);
    assert!(alice.upload(&file).fails(422).await.contains("larger"));
    assert_eq!(app.stored_files(), 0);
}

#[tokio::test]
async fn stored_files_are_counted_and_strays_deleted() {
    let app = server().await;
    let alice = app.account("alice").await;
    converted(&alice, &mp4()).await;
    let folder = app.file_folder();
    let stray = |name: &str| folder.join(format!("media/ab/cd/abcd{name}.png"));
    std::fs::create_dir_all(stray("").parent().unwrap()).unwrap();
    let (old, new) = (stray(&"0".repeat(28)), stray(&"1".repeat(28)));
    for file in [&old, &new] {
        std::fs::write(file, b"stray").unwrap();
    }
    std::fs::File::open(&old).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();

    let usage = app.run(&["media", "usage", "--json"]).await.json();
    assert_eq!(
        (&usage[0]["attachments"][0]["kind"], &usage[0]["attachments"][0]["unattached"]),
        (&json!("video"), &json!(1))
    );
    assert_eq!((&usage[0]["folders"][0]["folder"], &usage[0]["folders"][0]["files"]), (&json!("media"), &json!(4)));
    assert!(app.run(&["media", "usage"]).await.ok().contains("1 on no status"));
    let pruned = app.run(&["media", "prune", "--json"]).await.json();
    assert_eq!(pruned[0], json!({"files": 1, "size_bytes": 5, "remote_files": 0, "remote_size_bytes": 0}));
    assert!(!old.exists() && new.exists());
    assert_eq!(app.stored_files(), 3);
}

#[tokio::test]
async fn many_frames_are_converted_and_too_many_refused() {
    let app = server().await;
    let alice = app.account("alice").await;
    let frames = |count: u32| {
        let options = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -frames:v";
        made(&format!("-f lavfi -i color=size=16x16:rate=120 {options} {count}"), "a.mp4")
    };
    let media = converted(&alice, &frames(20_000)).await;
    let seconds = media["meta"]["original"]["duration"].as_f64().unwrap();
    assert!((166.0..167.0).contains(&seconds), "{seconds}");
    let refused = alice.upload(&frames(36_001)).fails(422).await;
    assert!(refused.contains("36000 frames"), "{refused}");
}

#[tokio::test]
async fn hour_of_silence_stays_within_time_limit() {
    let (ffmpeg, ffprobe) = (tool("ffmpeg"), tool("ffprobe"));
    let app = TestApp::with(&[
        ("ROOKERY_MEDIA_FFMPEG", ffmpeg.to_str().unwrap()),
        ("ROOKERY_MEDIA_FFPROBE", ffprobe.to_str().unwrap()),
        ("ROOKERY_MEDIA_CONVERSION_TIMEOUT_SECONDS", "1"),
    ])
    .await;
    let alice = app.account("alice").await;
    let silence = made("-f lavfi -i anullsrc=r=44100:cl=stereo -t 3600 -compression_level 0", "a.flac");

    let media = upload(&alice, &silence).await;
    let begun = std::time::Instant::now();
    app.run_jobs().await;

    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    assert!(alice.get(&place(&media)).fails(422).await.contains("too long"));
    assert_eq!(app.stored_files(), 0);
}

#[tokio::test]
async fn programs_are_confined_and_not_run_otherwise() {
    let app = server().await;
    let confinement = app.app.converter.confinement().await.unwrap();
    assert!(confinement.calls, "{confinement}");
}
