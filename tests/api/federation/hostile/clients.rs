//! Slow and odd clients at an inbox, over real connections.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::Scene;
use crate::harness::liar::{KEY, with};
use crate::harness::{Letter, Liar, Listening};

/// Time after which a test counts as hanging.
const HANGS: Duration = Duration::from_secs(20);
/// A server that waits for a second.
const HASTY: [(&str, &str); 4] = [
    Liar::KEYS[0],
    ("ROOKERY_CONNECTIONS_STALL_TIMEOUT_SECONDS", "1"),
    ("ROOKERY_CONNECTIONS_HEAD_TIMEOUT_SECONDS", "1"),
    ("ROOKERY_SERVER_REQUEST_TIMEOUT_SECONDS", "2"),
];

/// A connection by hand.
struct Raw(TcpStream);

impl Raw {
    async fn open(server: &Listening) -> Self {
        Self(TcpStream::connect(server.address()).await.unwrap())
    }

    /// Sends bytes; false when the server closed the connection.
    async fn write(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.0.write_all(bytes.as_ref()).await.is_ok()
    }

    /// Everything that comes until the server closes the connection.
    async fn rest(&mut self) -> String {
        let mut read = Vec::new();
        // A connection may be reset: what came before counts.
        let reading = async { while matches!(self.0.read_buf(&mut read).await, Ok(1..)) {} };
        tokio::time::timeout(HANGS, reading).await.expect("the server ends it");
        String::from_utf8_lossy(&read).into_owned()
    }

    /// The status of the first response; `None` when the connection is closed without.
    async fn status(&mut self) -> Option<u16> {
        let rest = self.rest().await;
        rest.split(' ').nth(1).map(|status| status.parse().unwrap_or_else(|_| panic!("{rest}")))
    }
}

/// The head of `letter` with further lines.
fn head(letter: &Letter, lines: &[&str]) -> String {
    let mut head = format!("POST {} HTTP/1.1\r\n", letter.path);
    for (name, value) in &letter.headers {
        head.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
    }
    for line in lines {
        head.push_str(&format!("{line}\r\n"));
    }
    head + "\r\n"
}

impl Scene {
    fn follow_letter(&self) -> Letter {
        self.mallory.letter(&self.app, &self.mallory.activity("Follow", self.alice_uri("")))
    }

    async fn nothing_came(&self) {
        self.app.run_jobs().await;
        assert_eq!(self.app.count("inbound_activities").await + self.app.count("follows").await, 0);
    }
}

#[tokio::test]
async fn honest_request_is_accepted() {
    let scene = Scene::new().await;
    let server = scene.app.listen().await;
    let letter = scene.follow_letter();
    let mut client = Raw::open(&server).await;
    let length = format!("content-length: {}", letter.body.len());
    assert!(client.write(head(&letter, &[&length, "connection: close"])).await);
    assert!(client.write(&letter.body).await);
    assert_eq!(client.status().await, Some(202));
}

#[tokio::test]
async fn body_in_chunks_that_never_ends_is_refused() {
    let scene = Scene::new().await;
    let server = scene.app.listen().await;
    let mut client = Raw::open(&server).await;
    assert!(client.write(head(&scene.follow_letter(), &["transfer-encoding: chunked"])).await);
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    // 1 MiB, and a little more than the buffers between.
    for _ in 0..17 {
        client.write(&chunk).await;
    }
    assert_eq!(client.status().await, Some(413));
    scene.nothing_came().await;
    assert_eq!(scene.liar.asked("/users/mallory"), 0, "no key is fetched for it");
}

#[tokio::test]
async fn body_that_says_that_it_is_large_is_not_read() {
    let scene = Scene::new().await;
    let server = scene.app.listen().await;
    for length in ["1048577", "99999999999", "18446744073709551615"] {
        let mut client = Raw::open(&server).await;
        assert!(client.write(head(&scene.follow_letter(), &[&format!("content-length: {length}")])).await);
        let status = client.status().await;
        // The last number is more than the parser of requests takes.
        assert!([Some(413), Some(431)].contains(&status), "{length}: {status:?}");
    }
    scene.nothing_came().await;
}

#[tokio::test]
async fn length_that_is_no_number_or_two_numbers_is_refused() {
    let scene = Scene::new().await;
    let server = scene.app.listen().await;
    let letter = scene.follow_letter();
    let right = format!("content-length: {}", letter.body.len());
    for lines in [
        vec!["content-length: -1"],
        vec!["content-length: x"],
        vec!["content-length: +5"],
        vec![right.as_str(), "content-length: 5"],
        vec!["transfer-encoding: gzip"],
        vec!["transfer-encoding: chunked, x"],
    ] {
        let mut client = Raw::open(&server).await;
        client.write(head(&letter, &lines)).await;
        client.write(&letter.body).await;
        assert_eq!(client.status().await, Some(400), "{lines:?}");
    }
    scene.nothing_came().await;
}

#[tokio::test]
async fn length_that_is_too_small_cuts_the_activity() {
    let scene = Scene::new().await;
    let server = scene.app.listen().await;
    let letter = scene.follow_letter();
    let mut client = Raw::open(&server).await;
    let length = format!("content-length: {}", letter.body.len() - 10);
    client.write(head(&letter, &[&length])).await;
    client.write(&letter.body).await;
    assert_eq!(client.status().await, Some(400));
    scene.nothing_came().await;
}

#[tokio::test]
async fn body_that_stops_is_not_waited_for() {
    let scene = Scene::with(&HASTY).await;
    let server = scene.app.listen().await;
    let letter = scene.follow_letter();
    let mut client = Raw::open(&server).await;
    let length = format!("content-length: {}", letter.body.len() + 1);
    client.write(head(&letter, &[&length])).await;
    client.write(&letter.body).await;
    let status = client.status().await;
    assert!(status.is_none_or(|status| status >= 400), "{status:?}");
    scene.nothing_came().await;
}

#[tokio::test]
async fn body_that_trickles_is_cut_off() {
    let scene = Scene::with(&HASTY).await;
    let server = scene.app.listen().await;
    let letter = scene.follow_letter();
    let mut client = Raw::open(&server).await;
    client.write(head(&letter, &["content-length: 1000000"])).await;
    let (mut reading, mut writing) = client.0.into_split();
    let trickle = tokio::spawn(async move {
        while writing.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let mut read = Vec::new();
    while !read.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let came = tokio::time::timeout(HANGS, reading.read_buf(&mut read)).await.expect("it is cut off").unwrap();
        assert_ne!(came, 0, "{}", String::from_utf8_lossy(&read));
    }
    assert!(read.starts_with(b"HTTP/1.1 503 "), "{}", String::from_utf8_lossy(&read));
    trickle.abort();
    scene.nothing_came().await;
}

#[tokio::test]
async fn head_that_never_ends_is_not_waited_for() {
    let scene = Scene::with(&HASTY).await;
    let server = scene.app.listen().await;
    let mut client = Raw::open(&server).await;
    client.write("POST /inbox HTTP/1.1\r\nhost: localhost:3000\r\n").await;
    let status = client.status().await;
    assert!(status.is_none_or(|status| status == 408), "{status:?}");
}

#[tokio::test]
async fn many_and_long_headers_are_refused() {
    let scene = Scene::new().await;
    let server = scene.app.listen().await;
    let letter = scene.follow_letter();
    let length = format!("content-length: {}", letter.body.len());
    let many: Vec<String> = (0..1_000).map(|number| format!("x-{number}: x")).collect();
    let long = format!("x: {}", "x".repeat(100_000));
    let all = many.iter().map(String::as_str).chain([length.as_str()]).collect::<Vec<_>>();
    for lines in [all, vec![long.as_str(), length.as_str()]] {
        let mut client = Raw::open(&server).await;
        client.write(head(&letter, &lines)).await;
        client.write(&letter.body).await;
        assert_eq!(client.status().await, Some(431));
    }
    scene.nothing_came().await;
}

#[tokio::test]
async fn long_signature_and_many_signatures_are_refused() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    let letter = scene.mallory.letter(&scene.app, &follow);
    let signature = letter.headers["signature"].to_str().unwrap().to_owned();
    let long = letter.clone().header("signature", &format!("{signature},x=\"{}\"", "x".repeat(10_000)));
    let (status, reason) = scene.refuse(&long).await;
    assert_eq!((status, reason.as_str()), (401, "too_long"));
    let mut twice = letter;
    twice.headers.append("signature", signature.parse().unwrap());
    let (status, _) = scene.refuse(&twice).await;
    assert_eq!(status, 401);
}

#[tokio::test]
async fn compressed_body_is_refused() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri("")).to_string();
    // The head of gzip, and plain text that is announced as compressed.
    let gzip = [b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03".as_slice(), follow.as_bytes()].concat();
    for encoding in ["gzip", "br", "deflate", "zstd", "gzip, gzip", "x"] {
        for body in [gzip.clone(), follow.clone().into_bytes()] {
            let letter = Letter::new(&scene.app, "/inbox", body).header("content-encoding", encoding);
            let letter = letter.signed(&scene.mallory.key_id, &KEY);
            let answer = letter.send(&scene.app).await;
            assert_eq!(answer.status, 415, "{encoding}");
        }
    }
    scene.nothing_came().await;
}

#[tokio::test]
async fn body_that_is_not_utf_8_is_refused_or_harmless() {
    let scene = Scene::new().await;
    scene.find(&scene.mallory).await;
    let follow = with(scene.mallory.activity("Follow", scene.alice_uri("")), &serde_json::json!({ "name": "x" }));
    let latin = follow.to_string().replace("\"x\"", "\"\u{1}\"").into_bytes();
    let latin: Vec<u8> = latin.into_iter().map(|byte| if byte == 1 { 0xe4 } else { byte }).collect();
    let utf_16: Vec<u8> = follow.to_string().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xef\xbb\xbf".as_slice(), follow.to_string().as_bytes()].concat();
    for (body, statuses) in [(utf_16, [400, 400]), (marked, [400, 400]), (latin, [202, 400])] {
        let letter = Letter::new(&scene.app, "/inbox", body).signed(&scene.mallory.key_id, &KEY);
        let answer = letter.send(&scene.app).await;
        assert!(statuses.contains(&answer.status.as_u16()), "{}", answer.text());
    }
    scene.app.run_jobs().await;
    assert_eq!(scene.app.count("jobs WHERE kind = 'retry_activity'").await, 0);
}
