//! A guest that waits for a site that never responds, and routes outside the API.

use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use super::shelf::{Shelf, manifest, route, routes, routes_with};

/// A component that fetches `url`, and responds once it has the page.
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
async fn tarpit_request_ends_in_time() {
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
    let failures = shelf.app.plugins().plugins.observed.of("waiting").failures;
    assert_eq!(failures.iter().map(|failed| failed.ended.as_str()).collect::<Vec<_>>(), ["wall"]);
    shelf.app.anonymous().get("/api/v1/instance").ok().await;
}

/// A server whose plugin serves `/bells` to everyone, outside the API.
async fn bells(keys: &[(&str, &str)]) -> Shelf {
    let shelf = Shelf::with(&[&[("ROOKERY_SERVER_DEVELOPMENT", "true")], keys].concat()).await;
    let route = "[[route]]\nid = \"index\"\nmethod = \"GET\"\npath = \"/bells\"\nauth = \"none\"\n";
    shelf.put_component("bells", &manifest("bells", "1.0.0", route), &routes("(call $ok)"));
    shelf.enable("bells").await.unwrap();
    shelf
}

#[tokio::test]
async fn closed_server_serves_plugin_routes_outside_the_api_to_people_alone() {
    let open = bells(&[]).await;
    open.app.anonymous().get("/bells").ok().await;
    for key in ["ROOKERY_ACCESS_DISALLOW_UNAUTHENTICATED_API", "ROOKERY_ACCESS_LIMITED_FEDERATION"] {
        let closed = bells(&[(key, "true")]).await;
        closed.app.anonymous().get("/bells").fails(401).await;
        closed.app.application("read").await.get("/bells").fails(401).await;
        closed.app.account("alice").await.get("/bells").ok().await;
    }
}

#[tokio::test]
async fn plugin_routes_outside_the_api_count_against_the_general_limit() {
    let shelf = bells(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await;
    let stranger = shelf.app.anonymous();
    for _ in 0..300 {
        stranger.get("/bells").ok().await;
    }
    stranger.get("/bells").fails(429).await;
    stranger.get("/api/v1/instance").fails(429).await;
}
