//! The outgoing client against malicious host names and servers.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use hyper::body::Bytes;
use ipnet::IpNet;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

/// A fake resolver: each answer is returned once, the last one repeatedly.
#[derive(Debug, Default)]
struct Names(Mutex<HashMap<String, Vec<Vec<&'static str>>>>);

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        let mut names = self.0.lock().unwrap();
        let answers = names.get_mut(host).ok_or_else(|| std::io::Error::other("no such name"))?;
        let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
        Ok(answer.into_iter().map(|address| SocketAddr::new(address.parse().unwrap(), port)).collect())
    }
}

fn client(names: &[(&str, &[&[&'static str]])], allowed: &[&str]) -> Client {
    let known = names.iter().map(|(name, answers)| ((*name).to_owned(), answers.iter().map(|a| a.to_vec()).collect()));
    let allowed: Vec<IpNet> = allowed.iter().map(|net| net.parse().unwrap()).collect();
    Client::with_resolver(&allowed, Arc::new(Names(Mutex::new(known.collect()))))
}

fn get(url: &str) -> Request {
    Request {
        method: Method::GET,
        target: Target::parse(url).unwrap(),
        headers: HeaderMap::new(),
        body: Bytes::new(),
        timeout: Duration::from_secs(60),
        limit: 1000,
    }
}

/// A server that sends `answer` to every client and keeps the connection; it reports each request and disconnect.
async fn server(answer: &'static str) -> (u16, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, received) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let sender = sender.clone();
            tokio::spawn(async move {
                let mut request = vec![0; 4096];
                let length = stream.read(&mut request).await.unwrap();
                sender.send(String::from_utf8_lossy(&request[..length]).into_owned()).unwrap();
                stream.write_all(answer.as_bytes()).await.unwrap();
                while stream.read(&mut request).await.is_ok_and(|length| length > 0) {}
                sender.send("left".to_owned()).unwrap();
            });
        }
    });
    (port, received)
}

#[test]
fn obscured_address_is_refused() {
    for url in [
        "ftp://example.org/",
        "file:///etc/passwd",
        "gopher://example.org",
        "https://",
        "//example.org",
        "https://user@example.org/",
        "https://user:pass@example.org/",
        "https://example.org@127.0.0.1/",
        "https://:secret@example.org",
        "https://example.org./",
        "http://127.0.0.1.nip.io./",
        "https://exa mple.org/",
        "https://exam%00ple.org/",
        "https://example.org:99999/",
        "https://[::1",
        "https://1.2.3.4.5.6.256/",
    ] {
        assert!(matches!(Target::parse(url), Err(Error::Url(_))), "{url}: {:?}", Target::parse(url));
    }
    let target = Target::parse("HTTPS://EXAMPLE.org:443/a/../b?c#d").unwrap();
    assert_eq!((target.scheme(), target.host().as_str(), target.port()), ("https", "example.org", 443));
    assert_eq!((target.url(), target.path_and_query()), ("https://example.org/b?c", "/b?c"));
}

#[tokio::test]
async fn no_spelling_of_a_private_address_is_reached() {
    let client = client(&[], &[]);
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1:80",
        "[::1]",
        "[::ffff:10.0.0.1]",
        "[::ffff:a00:1]",
        "[64:ff9b::a00:1]",
        "[::127.0.0.1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "0xa9fea9fe",
        "0",
        "10.1",
        "192.168.257",
        "１２７.０.０.１",
        "127。0。0。1",
        "[fd00::1]",
    ] {
        let answer = client.send(get(&format!("http://{host}/"))).await;
        assert_eq!(answer.unwrap_err(), Error::Blocked, "{host}");
    }
}

#[tokio::test]
async fn name_of_private_address_is_not_followed() {
    let names: &[(&str, &[&[&str]])] = &[
        ("inside.test", &[&["10.0.0.1"]]),
        ("both.test", &[&["8.8.8.8", "127.0.0.1"]]),
        ("mapped.test", &[&["::ffff:127.0.0.1"]]),
        ("nothing.test", &[&[]]),
    ];
    let client = client(names, &[]);
    for host in ["inside.test", "both.test", "mapped.test"] {
        assert_eq!(client.send(get(&format!("https://{host}/"))).await.unwrap_err(), Error::Blocked, "{host}");
    }
    for host in ["nothing.test", "unknown.test"] {
        assert!(matches!(client.send(get(&format!("http://{host}/"))).await, Err(Error::Dns(_))), "{host}");
    }
}

#[tokio::test]
async fn name_is_resolved_once_and_pinned() {
    let (port, mut received) = server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    // The second answer would be blocked: it tests whether the client resolves twice (DNS rebinding).
    let client = client(&[("rebinding.test", &[&["127.0.0.1"], &["10.0.0.1"]])], &["127.0.0.0/8"]);
    let url = format!("http://rebinding.test:{port}/path?query");
    let answer = client.send(get(&url)).await.unwrap();
    assert_eq!((answer.status, answer.body), (StatusCode::OK, Bytes::from("ok")));
    let request = received.recv().await.unwrap();
    assert!(request.starts_with("GET /path?query HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("host: rebinding.test:{port}\r\n")), "{request}");
    assert_eq!(client.send(get(&url)).await.unwrap_err(), Error::Blocked);
}

#[tokio::test]
async fn redirect_is_returned_as_response() {
    let (port, mut received) =
        server("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n").await;
    let answer = client(&[], &["127.0.0.0/8"]).send(get(&format!("http://127.0.0.1:{port}/"))).await.unwrap();
    assert_eq!(answer.status, StatusCode::FOUND);
    received.recv().await.unwrap();
    assert_eq!(received.recv().await.unwrap(), "left");
}

#[tokio::test]
async fn endless_body_is_cut_off_and_connection_closed() {
    let declared = "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n";
    let chunk = ".".repeat(500);
    let chunked = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1f4\r\n{chunk}\r\n");
    let (port, mut received) = server(declared).await;
    let client = client(&[], &["127.0.0.0/8"]);
    let answer = client.send(get(&format!("http://127.0.0.1:{port}/"))).await;
    assert_eq!(answer.unwrap_err(), Error::TooLarge(1001));
    received.recv().await.unwrap();
    assert_eq!(received.recv().await.unwrap(), "left");

    let (port, mut received) = server(chunked.leak()).await;
    let small = Request { limit: 100, ..get(&format!("http://127.0.0.1:{port}/")) };
    let answer = client.send(small).await;
    assert!(matches!(answer, Err(Error::TooLarge(_))), "{answer:?}");
    received.recv().await.unwrap();
    assert_eq!(received.recv().await.unwrap(), "left");
}

#[tokio::test]
async fn tarpit_ends_at_time_limit() {
    let client = client(&[], &["127.0.0.0/8"]);
    for answer in ["", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\ndrip"] {
        let (port, mut received) = server(answer).await;
        let url = format!("http://127.0.0.1:{port}/");
        let late = async {
            received.recv().await.unwrap();
            tokio::time::pause();
            tokio::time::advance(Duration::from_secs(61)).await;
            tokio::time::resume();
        };
        let (answer, ()) = tokio::join!(client.send(get(&url)), late);
        assert_eq!(answer.unwrap_err(), Error::Timeout);
        assert_eq!(received.recv().await.unwrap(), "left");
    }
}

#[tokio::test]
async fn wrong_certificate_is_refused() {
    let (port, _received) = server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let answer = client(&[], &["127.0.0.0/8"]).send(get(&format!("https://127.0.0.1:{port}/"))).await;
    assert!(matches!(answer, Err(Error::Tls(_))), "{answer:?}");
}

fn page(url: &str) -> Fetch<'static> {
    Fetch {
        target: Target::parse(url).unwrap(),
        agent: "Rook",
        timeout: Duration::from_secs(60),
        limit: 10,
        beyond: Beyond::Cut,
        kinds: &["text/html"],
        plain: PlainHttp::Any,
        etag: None,
    }
}

const HTML: &str = "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=x\r\nLink: <https://a.test>; rel=me\r\nContent-Length: 12\r\n\r\n<p>hello</p>";

#[tokio::test]
async fn fetch_is_conditional_with_a_validator() {
    let head = "HTTP/1.1 304 Not Modified\r\nETag: \"b\"\r\nContent-Length: 0\r\n\r\n";
    let (port, mut received) = server(head).await;
    let client = client(&[], &["127.0.0.0/8"]);
    let url = format!("http://127.0.0.1:{port}/");
    let unchanged = client.fetch(Fetch { etag: Some("\"a\""), ..page(&url) }).await;
    assert_eq!(unchanged.unwrap_err(), FetchError::Status(304));
    assert!(received.recv().await.unwrap().to_lowercase().contains("if-none-match: \"a\""));
    let (port, _received) =
        server("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"c\"\r\nContent-Length: 0\r\n\r\n").await;
    let document = client.fetch(page(&format!("http://127.0.0.1:{port}/"))).await.unwrap();
    assert_eq!(document.etag(), Some("\"c\""));
}

#[tokio::test]
async fn fetch_follows_redirects_and_checks_each_address() {
    let (port, mut received) = server(HTML).await;
    let moved = format!("HTTP/1.1 301 Moved\r\nLocation: http://there.test:{port}/page\r\nContent-Length: 0\r\n\r\n");
    let (first, _also) = server(moved.leak()).await;
    let names: &[(&str, &[&[&str]])] = &[("there.test", &[&["127.0.0.1"], &["10.0.0.1"]])];
    let client = client(names, &["127.0.0.0/8"]);
    let url = format!("http://127.0.0.1:{first}/");
    let document = client.fetch(page(&url)).await.unwrap();
    assert_eq!(document.target.url(), format!("http://there.test:{port}/page"));
    assert_eq!(document.content_type(), "Text/HTML; charset=x");
    assert_eq!(document.links().collect::<Vec<_>>(), ["<https://a.test>; rel=me"]);
    assert_eq!(document.body, Bytes::from("<p>hello</"), "cut at the limit");
    let request = received.recv().await.unwrap();
    assert!(request.contains("user-agent: Rook\r\n") && request.contains("accept: text/html\r\n"), "{request}");
    assert_eq!(client.fetch(page(&url)).await.unwrap_err(), FetchError::Request(Error::Blocked));
}

#[tokio::test]
async fn fetch_takes_no_other_document_than_the_wanted() {
    let client = client(&[], &["127.0.0.0/8"]);
    for (answer, why) in [
        ("HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n", FetchError::Status(404)),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 5\r\n\r\nabcde",
            FetchError::Kind("video/mp4".to_owned()),
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde", FetchError::Kind(String::new())),
        ("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", FetchError::Redirects),
        (
            "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
            FetchError::Request(Error::Url("the scheme must be http or https".to_owned())),
        ),
    ] {
        let (port, _received) = server(answer).await;
        let error = client.fetch(page(&format!("http://127.0.0.1:{port}/"))).await.unwrap_err();
        assert_eq!((error.is_transient(), error), (false, why));
    }
    let (port, _received) = server(HTML).await;
    let url = format!("http://127.0.0.1:{port}/");
    let whole = Fetch { beyond: Beyond::Refuse, ..page(&url) };
    assert_eq!(client.fetch(whole).await.unwrap_err(), FetchError::Request(Error::TooLarge(12)));
    let secure = Fetch { plain: PlainHttp::Never, ..page(&url) };
    assert!(matches!(client.fetch(secure).await, Err(FetchError::Request(Error::Url(_)))));
}

/// A server that answers each request on a connection until it has answered `most`; it reports each connection.
async fn patient_server(most: usize) -> (u16, tokio::sync::mpsc::UnboundedReceiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, received) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            sender.send(()).unwrap();
            tokio::spawn(async move {
                let mut request = vec![0; 4096];
                for _ in 0..most {
                    if !stream.read(&mut request).await.is_ok_and(|length| length > 0) {
                        break;
                    }
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
                }
            });
        }
    });
    (port, received)
}

#[tokio::test]
async fn requests_to_one_origin_share_a_connection_until_it_is_closed() {
    let client = client(&[], &["127.0.0.0/8"]);
    let (port, mut opened) = patient_server(3).await;
    let ask = async |path: &str| {
        let answer = client.send_reusing(get(&format!("http://127.0.0.1:{port}{path}"))).await.unwrap();
        assert_eq!((answer.status, &answer.body[..]), (StatusCode::OK, &b"ok"[..]));
    };
    let mut count = || std::iter::from_fn(|| opened.try_recv().ok()).count();
    for path in ["/a", "/b", "/c"] {
        ask(path).await;
    }
    assert_eq!(count(), 1);
    // The server has closed it, whether the client has noticed or not.
    ask("/d").await;
    assert_eq!(count(), 1, "another one");
    ask("/e").await;
    assert_eq!(count(), 0);
    client.send(get(&format!("http://127.0.0.1:{port}/f"))).await.unwrap();
    assert_eq!(count(), 1, "other requests have a separate connection");
    tokio::join!(ask("/g"), ask("/h"));
    assert_eq!(count(), 1, "concurrent requests do not wait for each other");
}

#[tokio::test]
async fn connection_with_an_answer_that_was_not_read_is_not_used_again() {
    let client = client(&[], &["127.0.0.0/8"]);
    let (port, mut received) = server("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n").await;
    let ask = async || client.send_reusing(get(&format!("http://127.0.0.1:{port}/"))).await;
    for _ in 0..2 {
        assert_eq!(ask().await.unwrap_err(), Error::TooLarge(2000));
        assert!(received.recv().await.unwrap().starts_with("GET"));
        assert_eq!(received.recv().await.as_deref(), Some("left"));
    }
}

#[tokio::test]
async fn plain_http_is_for_the_networks_that_were_allowed() {
    let (port, _received) = server(HTML).await;
    let names: &[(&str, &[&[&str]])] = &[("near.test", &[&["127.0.0.1"]]), ("far.test", &[&["93.184.215.14"]])];
    let allowed =
        |name: &str| Fetch { plain: PlainHttp::Allowed, kinds: &[], ..page(&format!("http://{name}:{port}/")) };
    let near = client(names, &["127.0.0.0/8"]);
    assert_eq!(near.fetch(allowed("near.test")).await.unwrap().body, Bytes::from("<p>hello</"), "of any kind");
    let refused = near.fetch(allowed("far.test")).await.unwrap_err();
    assert_eq!(refused, FetchError::Request(Error::Url("the scheme must be https".to_owned())));
    let strange = client(names, &[]).fetch(allowed("near.test")).await.unwrap_err();
    assert_eq!(strange, FetchError::Request(Error::Blocked));
}

/// Passes a document on from a server that sends `answer`; returns what arrived, and how it ended.
async fn passed(answer: &'static str, limit: u64) -> Result<(Vec<u8>, Result<(), Error>), FetchError> {
    let (port, _reports) = server(answer).await;
    let pass = Pass {
        target: Target::parse(&format!("http://127.0.0.1:{port}/")).unwrap(),
        agent: "test",
        range: Some("bytes=0-"),
        patience: Duration::from_millis(300),
        timeout: Duration::from_secs(60),
        limit,
        kinds: &["video/mp4"],
        plain: PlainHttp::Any,
    };
    let mut streaming = client(&[], &["127.0.0.0/8"]).pass(pass).await?;
    let mut bytes = Vec::new();
    loop {
        match streaming.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Ok((bytes, Ok(()))),
            Err(error) => return Ok((bytes, Err(error))),
        }
    }
}

#[tokio::test]
async fn document_is_passed_on_within_its_limits() {
    let whole = "HTTP/1.1 206 Partial\r\nContent-Type: Video/MP4; a=b\r\nContent-Length: 4\r\n\r\nabcd";
    assert_eq!(passed(whole, 4).await, Ok((b"abcd".to_vec(), Ok(()))));
    assert_eq!(passed(whole, 3).await, Err(FetchError::Request(Error::TooLarge(4))));
    // Without a length, it ends where it becomes too long.
    let chunked =
        "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n";
    assert!(matches!(passed(chunked, 3).await, Ok((_, Err(Error::TooLarge(_))))));
    // A server that pauses for ever.
    let (bytes, end) = passed(chunked, 100).await.unwrap();
    assert_eq!((bytes.as_slice(), end), (b"abcd".as_slice(), Err(Error::Timeout)));
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(passed(page, 4).await, Err(FetchError::Kind("text/html".to_owned())));
    let gone = "HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(passed(gone, 4).await, Err(FetchError::Status(404)));
}
