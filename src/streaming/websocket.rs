//! WebSocket: several channels in one connection (docs/contract/streaming.md#6-websocket).

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures_util::SinkExt as _;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};

use crate::channel::{Refused, Wanted};
use crate::connection::End;
use crate::hub::Guest;
use context::limits::Key;
use service::rate_limits;
use text::json_shape;

/// The largest message that a client may send, in bytes.
const MESSAGE_BYTES: usize = 64 * 1024;
/// The most messages that a client may send within a [`WINDOW`]: two for each of its subscriptions, and as many again.
const MESSAGES_PER_WINDOW: u32 = 300;
const WINDOW: Duration = Duration::from_secs(60);
/// Size of the read buffer, in bytes: clients send little.
const READ_BYTES: usize = 1024;
/// How often a client is pinged. A client that has not replied to the previous ping is disconnected.
const PING_EVERY: Duration = Duration::from_secs(30);
/// How long a client may take to read the close frame.
const FAREWELL: Duration = Duration::from_secs(1);
/// The same for a client that is disconnected because it is slow: it sees the reason if it reads again within this
/// time.
const FAREWELL_OF_SLOW: Duration = Duration::from_secs(5);

/// Upgrades to WebSocket and serves `guest`, who subscribes to `first` immediately.
pub(crate) fn answer(
    upgrade: WebSocketUpgrade,
    guest: Guest,
    queue: mpsc::Receiver<Utf8Bytes>,
    first: Option<Wanted>,
) -> Response {
    upgrade
        .read_buffer_size(READ_BYTES)
        .write_buffer_size(0)
        .max_message_size(MESSAGE_BYTES)
        .max_frame_size(MESSAGE_BYTES)
        .on_upgrade(move |socket| async move {
            let mut pings = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
            pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let (window, received) = (Instant::now(), 0);
            Conversation { socket, guest, queue, pings, awaiting_pong: false, window, received }.hold(first).await;
        })
}

/// A connection by WebSocket.
struct Conversation {
    socket: WebSocket,
    guest: Guest,
    queue: mpsc::Receiver<Utf8Bytes>,
    pings: Interval,
    /// A ping was sent that the client has not answered yet.
    awaiting_pong: bool,
    /// Start of the current window of the client's messages, and the number received in it.
    window: Instant,
    received: u32,
}

/// Why a connection ends.
enum Over {
    /// The client left, or does not respond.
    Left,
    /// The client broke the protocol: the code of the close frame, and the reason.
    Broken(u16, &'static str),
    /// The server ends it.
    Ended(End),
}

impl Conversation {
    async fn hold(mut self, first: Option<Wanted>) {
        let over = match first {
            Some(first) => self.subscribe(first).await,
            None => Ok(()),
        };
        let over = match over {
            Ok(()) => self.converse().await,
            Err(over) => over,
        };
        let ((code, reason), patience) = match over {
            Over::Left => return,
            Over::Broken(code, reason) => ((code, reason), FAREWELL),
            Over::Ended(End::Slow) => {
                // Queued messages are useless to the client now.
                self.queue.close();
                while self.queue.try_recv().is_ok() {}
                (End::Slow.code(), FAREWELL_OF_SLOW)
            }
            Over::Ended(end) => (end.code(), FAREWELL),
        };
        let farewell = CloseFrame { code, reason: reason.into() };
        // A client that reads nothing does not read the close frame either.
        let _ = timeout(patience, self.socket.send(Message::Close(Some(farewell)))).await;
    }

    async fn converse(&mut self) -> Over {
        loop {
            let next = tokio::select! {
                biased;
                end = self.guest.connection.ended() => return Over::Ended(end),
                message = self.socket.recv() => match message {
                    Some(Ok(message)) => match self.count() {
                        Ok(()) => self.answer(message).await,
                        Err(over) => Err(over),
                    },
                    Some(Err(_)) | None => Err(Over::Left),
                },
                Some(text) = self.queue.recv() => self.send(Message::Text(text)).await,
                _ = self.pings.tick() => self.ping().await,
            };
            if let Err(over) = next {
                return over;
            }
        }
    }

    /// Counts a message of the client against the limits of the connection and of the person.
    fn count(&mut self) -> Result<(), Over> {
        let now = Instant::now();
        if now.duration_since(self.window) >= WINDOW {
            (self.window, self.received) = (now, 0);
        }
        self.received += 1;
        let person = Key::Person(self.guest.connection.owner.account);
        let standing = rate_limits::spend(&self.guest.hub.cx, &rate_limits::STREAM_MESSAGES, &person);
        if self.received > MESSAGES_PER_WINDOW || standing.is_some_and(|standing| standing.exceeded) {
            return Err(Over::Broken(1008, "Too many messages: wait a few minutes before you connect again"));
        }
        Ok(())
    }

    /// Sends `message`, unless the connection ends meanwhile.
    async fn send(&mut self, message: Message) -> Result<(), Over> {
        tokio::select! {
            biased;
            sent = self.socket.send(message) => sent.map_err(|_| Over::Left),
            end = self.guest.connection.ended() => Err(Over::Ended(end)),
        }
    }

    async fn ping(&mut self) -> Result<(), Over> {
        if std::mem::replace(&mut self.awaiting_pong, true) {
            return Err(Over::Left);
        }
        self.send(Message::Ping(Vec::new().into())).await
    }

    async fn answer(&mut self, message: Message) -> Result<(), Over> {
        match message {
            Message::Text(text) => self.obey(&text).await,
            Message::Binary(_) => Err(Over::Broken(1003, "Messages are text")),
            // The library replies to pings.
            Message::Ping(_) => self.socket.flush().await.map_err(|_| Over::Left),
            Message::Pong(_) => {
                self.awaiting_pong = false;
                Ok(())
            }
            Message::Close(_) => Err(Over::Left),
        }
    }

    /// Handles the message `text`. Messages that make no sense are ignored.
    async fn obey(&mut self, text: &str) -> Result<(), Over> {
        if json_shape::check(text.as_bytes()).is_err() {
            return Ok(());
        }
        let Ok(Value::Object(message)) = serde_json::from_str(text) else { return Ok(()) };
        let Some(wanted) = requested(&message) else { return Ok(()) };
        match message.get("type").and_then(Value::as_str) {
            Some("subscribe") => self.subscribe(wanted).await,
            Some("unsubscribe") => {
                self.guest.unsubscribe(&wanted.any_label());
                Ok(())
            }
            Some(_) | None => Ok(()),
        }
    }

    async fn subscribe(&mut self, wanted: Wanted) -> Result<(), Over> {
        let opened = Arc::new(wanted).open(&self.guest.hub.cx, &self.guest.connection.owner).await;
        let subscribed = opened.and_then(|opened| self.guest.subscribe(opened).map_err(|text| Refused::new(429, text)));
        match subscribed {
            Ok(()) => Ok(()),
            Err(Refused { status, text }) => {
                let error = serde_json::json!({ "error": text, "status": status });
                self.send(Message::Text(error.to_string().into())).await
            }
        }
    }
}

/// The channel that a message names, with all its parameters that are strings or numbers.
fn requested(message: &Map<String, Value>) -> Option<Wanted> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let name = message.get("stream").and_then(text)?;
    let params = message.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?)));
    Some(Wanted { name, params: params.collect() })
}
