//! Streaming clients: server-sent events through the router, and WebSockets over a connection.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::{HeaderMap, Request, StatusCode, header};
use context::change::Change;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::{Client, TestApp};

/// Time limit of an expected event on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Name of the event that marks the end of earlier events.
const MARK: &str = "mark";

/// An event: name and payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub name: String,
    pub payload: String,
}

impl Event {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.payload).unwrap_or_else(|error| panic!("not JSON ({error}): {self:?}"))
    }
}

/// A stream by server-sent events.
pub struct Events {
    app: TestApp,
    body: BodyDataStream,
    text: String,
}

impl Events {
    /// The next event, comments skipped; `None` if the stream has ended.
    pub async fn next(&mut self) -> Option<Event> {
        timeout(PATIENCE, self.event()).await.expect("an event comes, or the stream ends")
    }

    /// The next event within this time.
    pub async fn try_next(&mut self, time: Duration) -> Option<Event> {
        timeout(time, self.event()).await.ok().flatten()
    }

    async fn event(&mut self) -> Option<Event> {
        loop {
            while let Some(end) = self.text.find("\n\n").map(|end| end + 2) {
                let block: String = self.text.drain(..end).collect();
                let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
                if let Some(name) = field("event: ") {
                    let payload = field("data: ").unwrap_or_default();
                    crate::platform::openapi::hold_event(&self.app, &name, &payload);
                    return Some(Event { name, payload });
                }
            }
            let bytes = self.body.next().await?;
            self.text.push_str(std::str::from_utf8(&bytes.unwrap()).unwrap());
        }
    }

    /// The rest of the stream until its end, including comments.
    pub async fn rest(mut self) -> String {
        let end = async {
            while let Some(bytes) = self.body.next().await {
                self.text.push_str(std::str::from_utf8(&bytes.unwrap()).unwrap());
            }
        };
        timeout(PATIENCE, end).await.expect("the stream ends");
        self.text
    }

    /// Events before the next mark.
    pub async fn until_mark(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            match self.next().await.expect("the stream is open") {
                event if event.name == MARK => return events,
                event => events.push(event),
            }
        }
    }
}

impl Client {
    /// Opens a stream by server-sent events.
    pub async fn events(&self, path: &str) -> Events {
        let response = self.open_events(path).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
        Events { app: self.server.clone(), body: response.into_body().into_data_stream(), text: String::new() }
    }

    /// Requests a stream by server-sent events; the response may be an error.
    pub async fn open_events(&self, path: &str) -> axum::response::Response {
        let mut request = Request::builder().uri(format!("/api/v1/streaming/{path}"));
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.header(header::HOST, "example.test").body(Body::empty()).unwrap();
        self.server.open(request).await
    }
}

impl TestApp {
    /// Sends a mark to the `user` streams of `people`; earlier events arrive before it.
    pub fn mark(&self, people: &[&Client]) {
        for person in people {
            self.app.live.tell(Change::TopicMessage {
                topic: format!("user:{}", person.id()),
                event: MARK.to_owned(),
                payload: "{}".to_owned(),
                scopes: Vec::new(),
            });
        }
    }

    /// Events so far on a `user` stream of `person`.
    pub async fn told(&self, person: &Client, events: &mut Events) -> Vec<Event> {
        self.mark(&[person]);
        events.until_mark().await
    }

    /// Serves connections until the result is dropped.
    pub async fn listen(&self) -> Listening {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let (router, app) = (self.service(), self.app.clone());
        let served = tokio::spawn(async move {
            rookery_server::serve_connections(router, &app.config, listener, stopped).await;
        });
        Listening { address, _stop: stop, served }
    }
}

/// A server that accepts connections.
pub struct Listening {
    address: SocketAddr,
    _stop: watch::Sender<bool>,
    served: tokio::task::JoinHandle<()>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.served.abort();
    }
}

/// A connection by WebSocket.
pub struct Socket(WebSocketStream<TcpStream>);

impl Listening {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connects with these headers; returns the status and headers of the response if the protocol is not switched.
    pub async fn connect(&self, query: &str, headers: &[(&'static str, &str)]) -> Result<Socket, (u16, HeaderMap)> {
        let url = format!("ws://{}/api/v1/streaming{query}", self.address);
        let mut request = url.into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        match timeout(PATIENCE, client_async(request, stream)).await.expect("an answer") {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(tungstenite::Error::Http(response)) => Err((response.status().as_u16(), response.headers().clone())),
            Err(error) => panic!("{error}"),
        }
    }

    /// Connects as `person`.
    pub async fn socket(&self, person: &Client, query: &str) -> Socket {
        let bearer = format!("Bearer {}", person.token.as_ref().unwrap());
        self.connect(query, &[("authorization", &bearer)]).await.expect("a WebSocket")
    }
}

impl Socket {
    pub async fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    pub async fn send_raw(&mut self, message: Message) {
        self.0.send(message).await.unwrap();
    }

    /// Subscribes, and waits until the server has processed the message.
    pub async fn subscribe(&mut self, params: &Value) {
        let mut message = params.clone();
        message["type"] = json!("subscribe");
        self.send(&message).await;
        // Messages are processed in order: an error for this one means that the previous one is done.
        self.send(&json!({ "type": "subscribe", "stream": "nonsense" })).await;
        assert_eq!(self.next().await, json!({ "error": "Unknown stream type", "status": 400 }));
    }

    /// The next message.
    pub async fn next(&mut self) -> Value {
        loop {
            match timeout(PATIENCE, self.0.next()).await.expect("a message").expect("an open socket").unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The next message within this time.
    pub async fn try_next(&mut self, time: Duration) -> Option<Value> {
        timeout(time, self.next()).await.ok()
    }

    /// The close frame; earlier messages are skipped.
    pub async fn closed(&mut self) -> Option<CloseFrame> {
        loop {
            match timeout(PATIENCE, self.0.next()).await.expect("an end") {
                Some(Ok(Message::Close(frame))) => return frame,
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }
}
