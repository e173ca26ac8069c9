//! Bodies that no handler reads: the next request on the connection gets a response, or the previous response
//! announced the close (RFC 9112, section 9.6).
//!
//! Over real connections, at every route. The limits of time and size for reading such a body are tested next to the
//! server's listener.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Request, Response, Version, header};
use futures_util::stream;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use crate::harness::{Client, Listening, TestApp};
use crate::platform::declarations::routed;

/// Delay between a head and its body: two packets.
const APART: Duration = Duration::from_micros(500);
const BODY: &str = "{}";

/// A connection of either protocol.
enum Connection {
    One(http1::SendRequest<Body>),
    Two(http2::SendRequest<Body>),
}

impl Connection {
    async fn open(server: &Listening, version: Version) -> Self {
        let stream = TcpStream::connect(server.address()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let stream = TokioIo::new(stream);
        if version == Version::HTTP_2 {
            let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
            tokio::spawn(connection);
            return Self::Two(sender);
        }
        let (sender, connection) = http1::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        Self::One(sender)
    }

    async fn send(&mut self, request: Request<Body>) -> hyper::Result<Response<Incoming>> {
        match self {
            Self::One(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Self::Two(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }
}

/// A request whose body follows its head after a delay.
fn request(client: &Client, version: Version, route: &str) -> Request<Body> {
    let (method, path) = route.split_once(' ').unwrap();
    let path = path.replace(':', "1");
    let uri = if version == Version::HTTP_2 { format!("http://example.test{path}") } else { path };
    let late = stream::once(async {
        tokio::time::sleep(APART).await;
        Ok::<_, std::convert::Infallible>(Bytes::from_static(BODY.as_bytes()))
    });
    let mut request = Request::builder().method(method).uri(uri).version(version);
    if version != Version::HTTP_2 {
        request = request.header(header::HOST, "example.test");
    }
    if let Some(token) = &client.token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request.header(header::CONTENT_TYPE, "application/json").header(header::CONTENT_LENGTH, BODY.len());
    request.body(Body::from_stream(late)).unwrap()
}

/// Sends two requests on one connection; true if the first response closed it, and announced that.
async fn twice(server: &Listening, client: &Client, version: Version, route: &str) -> bool {
    let mut connection = Connection::open(server, version).await;
    let first =
        connection.send(request(client, version, route)).await.unwrap_or_else(|error| panic!("{route}: {error}"));
    let closes = first.headers().get(header::CONNECTION).is_some_and(|value| value == "close");
    first.into_body().collect().await.unwrap();
    if closes {
        return true;
    }
    let second = connection.send(request(client, version, route)).await;
    let second =
        second.unwrap_or_else(|error| panic!("{version:?} {route}: the connection closed unannounced: {error}"));
    assert!(second.status().as_u16() != 500, "{route}");
    false
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn body_that_is_not_read_closes_no_connection_unannounced() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let server = app.listen().await;
    let (stranger, routes) = (app.anonymous(), routed());
    assert!(routes.len() > 150, "{}", routes.len());
    let mut closed = 0_usize;
    for version in [Version::HTTP_11, Version::HTTP_2] {
        for route in &routes {
            for client in [&stranger, &alice] {
                closed += usize::from(twice(&server, client, version, route).await);
            }
        }
        for route in ["GET /nonsense", "POST /api/v1/nonsense", "GET /@alice", "PATCH /livez"] {
            closed += usize::from(twice(&server, &stranger, version, route).await);
        }
    }
    // Only a machine that stalls for a second closes one, and then announces it.
    assert!(closed < routes.len(), "{closed} connections were closed");
}
