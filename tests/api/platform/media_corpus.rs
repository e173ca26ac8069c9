//! Files of every kind, including broken and hostile ones: each is accepted or rejected within bounded time, and
//! leaves nothing on disk.

use std::time::{Duration, Instant};

use axum::http::StatusCode;
use serde_json::Value;

use crate::harness::{Client, TestApp, path};
use crate::routes::media::{gif, png};
use crate::routes::moving_media::{made, server, server_with};

/// Time limit of one file on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

const PICTURE: &str = "-f lavfi -i testsrc=size=";
const STILL: &str = " -frames:v 1";
const TONE: &str = "-f lavfi -i sine=duration=1";

/// Result of an upload.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// Accepted, with this type.
    Taken(String),
    /// The upload was refused, or its conversion failed.
    Refused,
}

/// Uploads a file and lets the server convert it, then deletes the result.
async fn fate(alice: &Client, name: &str, file: &[u8]) -> Outcome {
    let begun = Instant::now();
    alice.server.tick();
    let sent = alice.upload(file).send().await;
    let outcome = match sent.status {
        StatusCode::OK | StatusCode::ACCEPTED => {
            let media: Value = serde_json::from_slice(&sent.body).unwrap();
            let place = format!("/api/v1/media/{}", media["id"].as_str().unwrap());
            alice.server.run_jobs().await;
            let shown = alice.get(&place).send().await;
            let outcome = match shown.status {
                StatusCode::OK => {
                    let media: Value = serde_json::from_slice(&shown.body).unwrap();
                    let served = alice.server.anonymous().get(path(&media["url"])).send().await;
                    assert!(served.status == StatusCode::OK && !served.body.is_empty(), "{name}: {media}");
                    Outcome::Taken(media["type"].as_str().unwrap().to_owned())
                }
                StatusCode::UNPROCESSABLE_ENTITY => Outcome::Refused,
                other => panic!("{name}: {other}"),
            };
            alice.delete(&place).ok().await;
            outcome
        }
        StatusCode::UNPROCESSABLE_ENTITY => Outcome::Refused,
        other => panic!("{name}: {other}"),
    };
    assert!(begun.elapsed() < PATIENCE, "{name} took {:?}", begun.elapsed());
    outcome
}

/// Checks that nothing is left of deleted and rejected uploads.
async fn is_clean(app: &TestApp) {
    app.app.clock.advance(chrono::Duration::hours(25));
    app.run_jobs().await;
    assert_eq!(app.stored_files(), 0);
}

/// Arguments, name of the file, and its final type.
fn kinds() -> Vec<(String, &'static str, &'static str)> {
    let still = |size: &str, more: &str| format!("{PICTURE}{size}{STILL}{more}");
    let moving = |size: &str, more: &str| format!("{PICTURE}{size}:rate=10:duration=1{more}");
    let film = |more: &str| format!("{PICTURE}160x120:rate=10:duration=1 {TONE} -pix_fmt yuv420p {more}");
    let sound = |more: &str| format!("{TONE}{more}");
    vec![
        (still("320x180", ""), "a.jpg", "image"),
        (still("1x1", ""), "pixel.png", "image"),
        (still("2x2", ""), "small.jpg", "image"),
        (still("8x2000", ""), "high.png", "image"),
        (still("2000x8", ""), "wide.png", "image"),
        (still("320x180", " -pix_fmt gray"), "grey.png", "image"),
        (still("320x180", " -pix_fmt gray16be"), "grey16.png", "image"),
        (still("320x180", " -pix_fmt rgba"), "alpha.png", "image"),
        (still("320x180", " -pix_fmt rgb48be"), "deep.png", "image"),
        (still("320x180", " -pix_fmt monob"), "mono.png", "image"),
        (still("320x180", " -pix_fmt yuvj444p"), "full.jpg", "image"),
        (still("321x181", " -pix_fmt yuvj420p -q:v 31"), "poor.jpg", "image"),
        (still("320x180", ""), "a.webp", "image"),
        (still("320x180", " -lossless 1"), "exact.webp", "image"),
        (still("320x180", ""), "still.gif", "image"),
        (moving("64x48", ""), "moving.gif", "gifv"),
        (moving("65x49", ""), "odd.gif", "gifv"),
        (film("-c:v libx264 -c:a aac"), "a.mp4", "video"),
        (film("-c:v libx264 -c:a aac -movflags +faststart"), "fast.mp4", "video"),
        (film("-c:v libx264 -c:a aac -movflags frag_keyframe+empty_moov"), "parts.mp4", "video"),
        (film("-c:v libx264 -c:a aac"), "a.mov", "video"),
        (film("-c:v mpeg4 -c:a aac"), "mpeg4.mp4", "video"),
        (film("-c:v libvpx -b:v 200k -c:a libvorbis"), "vp8.webm", "video"),
        (film("-c:v libvpx-vp9 -b:v 200k -c:a libopus"), "vp9.webm", "video"),
        (film("-c:v libtheora -c:a libvorbis"), "a.ogv", "video"),
        (moving("160x120", " -c:v libx264 -pix_fmt yuv420p"), "silent.mp4", "gifv"),
        (moving("161x121", " -c:v libx264 -pix_fmt yuv444p"), "odd.mp4", "gifv"),
        (moving("160x120", " -c:v libvpx-vp9 -b:v 100k"), "silent.webm", "gifv"),
        (sound(""), "a.wav", "audio"),
        (sound(" -c:a pcm_u8 -ar 8000"), "poor.wav", "audio"),
        (sound(" -c:a pcm_s24le -ac 2 -ar 96000"), "rich.wav", "audio"),
        (sound(" -c:a pcm_f32le"), "float.wav", "audio"),
        (sound(""), "a.flac", "audio"),
        (sound(" -c:a libmp3lame -q:a 9"), "a.mp3", "audio"),
        (sound(" -c:a libmp3lame -ac 2 -b:a 320k"), "rich.mp3", "audio"),
        (sound(""), "a.aac", "audio"),
        (sound(""), "a.m4a", "audio"),
        (sound(" -c:a libvorbis"), "a.ogg", "audio"),
        (sound(" -c:a libopus"), "a.opus", "audio"),
        (sound(" -c:a libopus"), "sound.webm", "audio"),
    ]
}

#[tokio::test]
async fn files_of_forty_kinds_are_recognised() {
    let app = server().await;
    let alice = app.account("alice").await;
    let kinds = kinds();
    assert_eq!(kinds.len(), 40);
    for (arguments, name, kind) in kinds {
        let file = made(&arguments, name);
        assert_eq!(fate(&alice, name, &file).await, Outcome::Taken(kind.to_owned()), "{name}");
    }
    is_clean(&app).await;
}

/// A PNG that declares this size and has hardly any data.
fn claiming(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = png(4, 4);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = checksum(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// CRC-32 as in PNG (ISO 3309).
fn checksum(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xEDB8_8320 & 0_u32.wrapping_sub(sum & 1)))
    };
    !bytes.iter().fold(!0, step)
}

/// Boxes within boxes, as deep as possible.
fn nested(depth: u32) -> Vec<u8> {
    let mut bytes = b"\0\0\0\x18ftypisom\0\0\0\0isommp42".to_vec();
    for level in 0..depth {
        bytes.extend((8 * (depth - level)).to_be_bytes());
        bytes.extend(b"moov");
    }
    bytes
}

/// A GIF of many tiny frames.
fn frames(count: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = gif::Encoder::new(&mut bytes, 8, 8, &[0, 0, 0, 255, 255, 255]).unwrap();
    for number in 0..count {
        let pixels = (0..64_u32).map(|at| u8::from((at + number) % 3 == 0)).collect::<Vec<u8>>();
        encoder.write_frame(&gif::Frame::from_indexed_pixels(8, 8, pixels, None)).unwrap();
    }
    drop(encoder);
    bytes
}

/// Files that are broken, of another type than they seem, or larger than they seem. The first part of the name states
/// whether they must be rejected; players can play parts of the others.
fn broken() -> Vec<(String, Vec<u8>)> {
    let film = format!("{PICTURE}160x120:rate=10:duration=1 {TONE} -pix_fmt yuv420p -c:v libx264 -c:a aac");
    let whole = [
        ("png", png(300, 200)),
        ("jpg", made(&format!("{PICTURE}320x180{STILL}"), "a.jpg")),
        ("webp", made(&format!("{PICTURE}320x180{STILL}"), "a.webp")),
        ("gif", gif()),
        ("mp4", made(&film, "a.mp4")),
        ("webm", made(&format!("{TONE} -c:a libopus"), "a.webm")),
        ("mp3", made(TONE, "a.mp3")),
        ("flac", made(TONE, "a.flac")),
    ];
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for (kind, file) in &whole {
        for tenths in [1, 5] {
            files.push((format!("cut {kind} {tenths}"), file[..file.len() * tenths / 10].to_vec()));
        }
    }
    for (kind, file) in whole {
        let mut noise = file;
        let from = noise.len() / 3;
        for (at, byte) in noise.iter_mut().enumerate().skip(from) {
            *byte ^= u8::try_from(at * 7 % 251).unwrap();
        }
        files.push((format!("noisy {kind}"), noise));
    }
    let no = |name: &str, file: &[u8]| (format!("no {name}"), file.to_vec());
    let zip = b"PK\x03\x04\x14\0\0\0\x08\0";
    files.extend([
        no("text", b"hello"),
        no("page", b"<!DOCTYPE html><script>alert(1)</script>"),
        no("svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"),
        no("pdf", b"%PDF-1.7\n1 0 obj"),
        no("zip", zip),
        no("program", b"\x7fELF\x02\x01\x01\0"),
        no("one byte", b"\x89"),
        no("gif that is a script", b"GIF89a/*\0\0*/=1;alert(1)"),
        no("png of four gigapixels", &claiming(65_535, 65_535)),
        no("png of the largest numbers", &claiming(0x7FFF_FFFF, 0x7FFF_FFFF)),
        no("png without an area", &claiming(0, 10)),
        no("playlist", b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/a.ts\n"),
        no("nested boxes", &nested(50_000)),
        ("many frames".to_owned(), frames(20_000)),
        (
            "long film".to_owned(),
            made("-f lavfi -i color=size=16x16:rate=100:duration=200 -c:v libx264 -preset ultrafast", "long.mp4"),
        ),
        (
            "ten hours of silence".to_owned(),
            made("-f lavfi -i anullsrc=r=8000:cl=mono -t 36000 -c:a flac", "silence.flac"),
        ),
    ]);
    files
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forty_broken_or_hostile_files_cost_little_and_leave_nothing() {
    let files = tokio::task::spawn_blocking(broken).await.unwrap();
    assert_eq!(files.len(), 40);
    let app = server_with(&[("ROOKERY_MEDIA_CONVERSION_TIMEOUT_SECONDS", "20")]).await;
    let alice = app.account("alice").await;
    let mut refused = 0;
    for (name, file) in &files {
        let outcome = fate(&alice, name, file).await;
        let must_be = name.starts_with("no ");
        assert!(!must_be || outcome == Outcome::Refused, "{name}: {outcome:?}");
        refused += u32::from(outcome == Outcome::Refused);
        assert!(alice.get("/api/v1/accounts/verify_credentials").send().await.status == StatusCode::OK, "{name}");
    }
    assert!(refused >= 25, "{refused} were refused");
    is_clean(&app).await;
}
