//! A guest that waits for somebody outside, who never answers.

use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use super::shelf::{Shelf, manifest, route, routes_with};

/// Asks `url` for its page, and answers when that is there.
fn asking(url: &str) -> Vec<u8> {
    let data = format!(
        "(data (i32.const 3072) \"\\00\\0d\\00\\00\\03\\00\\00\\00\\10\\0d\\00\\00\\{:02x}\\00\\00\\00\")
         (data (i32.const 3328) \"GET\") (data (i32.const 3344) \"{url}\")",
        url.len()
    );
    let import = "(import \"rookery:plugin/http-client@0.1.0\" \"fetch\" (func $fetch (param i32 i32 i32)))";
    let body = "(call $fetch (i32.const 3072) (i32.const 1) (i32.const 4096)) (call $ok)";
    routes_with(&format!("{import} {data}"), body)
}

#[tokio::test]
async fn whoever_waits_for_a_tarpit_is_ended_in_time_and_the_connection_is_closed() {
    let tarpit = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", tarpit.local_addr().unwrap());
    let keys = [("ROOKERY_SERVER_DEVELOPMENT", "true"), ("ROOKERY_FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.1/32")];
    let shelf = Shelf::with(&keys).await;
    let more = format!("{}[permissions]\nhttp = [\"{origin}\"]\n[limits]\nroute-wall = \"3s\"\n", route("waiting"));
    shelf.put_component("waiting", &manifest("waiting", "1.0.0", &more), &asking(&format!("{origin}/")));
    shelf.enable("waiting").await.unwrap();
    let (asked, is_asked) = tokio::sync::oneshot::channel();
    let left = tokio::spawn(async move {
        let (mut stream, _) = tarpit.accept().await.unwrap();
        let mut said = vec![stream.read_u8().await.unwrap()];
        asked.send(()).unwrap();
        stream.read_to_end(&mut said).await.unwrap();
        String::from_utf8(said).unwrap()
    });

    let late = async {
        is_asked.await.unwrap();
        shelf.app.time_passes(Duration::from_millis(3_100)).await;
    };
    let client = shelf.app.anonymous();
    let (answer, ()) = tokio::join!(client.get("/api/v1/waiting").send(), late);

    assert_eq!(answer.status, 504, "{}", answer.text());
    let said = tokio::time::timeout(Duration::from_secs(60), left).await.expect("the connection is closed").unwrap();
    assert!(said.starts_with("GET / HTTP/1.1\r\n"), "{said}");
    let failures = shelf.app.app.plugins.observed.of("waiting").failures;
    assert_eq!(failures.iter().map(|failed| failed.ended.as_str()).collect::<Vec<_>>(), ["wall"]);
    shelf.app.anonymous().get("/api/v1/instance").ok().await;
}
