//! AVIF and HEIC pictures, which the machine's `ffmpeg` converts to JPEG.

use serde_json::{Value, json};

use crate::harness::{TestApp, path};
use crate::routes::moving_media::server;

/// Pictures in AVIF and HEIC, of 64x48 and 64x64 pixels.
const STILLS: [(&[u8], &str, u32); 2] = [
    (include_bytes!("../../../src/media/samples/still.avif"), "image/avif", 48),
    (include_bytes!("../../../src/media/samples/still.heic"), "image/heic", 64),
];

async fn accepted_types(app: &TestApp) -> Value {
    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    instance["configuration"]["media_attachments"]["supported_mime_types"].clone()
}

#[tokio::test]
async fn still_pictures_of_avif_and_heic_become_jpegs() {
    let app = server().await;
    let alice = app.account("alice").await;
    assert!(!accepted_types(&app).await.as_array().unwrap().contains(&json!("image/avif")), "not tried yet");
    for (picture, mime, height) in STILLS {
        let media = alice.upload(picture).ok().await;
        assert_eq!(media["type"], "image", "{mime}");
        let original = &media["meta"]["original"];
        assert_eq!((&original["width"], &original["height"]), (&json!(64), &json!(height)), "{mime}");
        let stored = app.anonymous().get(path(&media["url"])).send().await;
        assert_eq!(stored.header("content-type"), "image/jpeg", "{mime}");
        let update = alice.patch("/api/v1/accounts/update_credentials");
        let shown = update.multipart(&[], &[("avatar", "a", picture)]).ok().await;
        assert!(shown["avatar"].as_str().unwrap().ends_with(".jpg"), "{mime}: {shown}");
        assert!(accepted_types(&app).await.as_array().unwrap().contains(&json!(mime)), "{mime}");
    }
}

#[tokio::test]
async fn still_picture_of_another_type_than_declared_is_refused() {
    let app = server().await;
    let alice = app.account("alice").await;
    let (avif, heic) = (STILLS[0].0, STILLS[1].0);
    let sized = |width: u32, height: u32| {
        let mut picture = avif.to_vec();
        let at = picture.windows(4).position(|name| name == b"ispe").unwrap() + 8;
        picture[at..at + 4].copy_from_slice(&width.to_be_bytes());
        picture[at + 4..at + 8].copy_from_slice(&height.to_be_bytes());
        picture
    };
    for (picture, said) in [
        (sized(6400, 4800), "image/avif are not supported"),
        (sized(64_000, 48_000), "pixels"),
        (avif[..avif.len() / 2].to_vec(), "damaged"),
        (heic[..400].to_vec(), "damaged"),
    ] {
        let refused = alice.upload(&picture).fails(422).await;
        assert!(refused.contains(said), "{said}: {refused}");
    }
    assert_eq!(app.stored_files(), 0);
}

#[tokio::test]
async fn still_pictures_are_refused_without_ffmpeg() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for (picture, mime, _) in STILLS {
        let refused = alice.upload(picture).fails(422).await;
        assert!(refused.contains(&format!("{mime} are not supported")), "{refused}");
    }
}
