//! Server-sent events: one channel for each connection (docs/contract/streaming.md#5-server-sent-events).

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::ws::Utf8Bytes;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures_util::stream;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::hub::Guest;

/// The first bytes of a response: a comment, so that proxies and clients see that it has begun.
const HELLO: &str = ":)\n";
/// A comment that keeps an idle connection open.
const THUMP: &str = ":thump\n";
const THUMP_EVERY: Duration = Duration::from_secs(15);

/// A response that ends with the connection.
struct Stream {
    guest: Guest,
    queue: mpsc::Receiver<Utf8Bytes>,
    thumps: Interval,
    /// The first bytes were sent.
    greeted: bool,
    /// The last bytes were sent.
    over: bool,
}

/// The response that sends the events that `guest` subscribed to.
pub(crate) fn answer(guest: Guest, queue: mpsc::Receiver<Utf8Bytes>) -> Response {
    let mut thumps = interval_at(Instant::now() + THUMP_EVERY, THUMP_EVERY);
    thumps.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let stream = Stream { guest, queue, thumps, greeted: false, over: false };
    let body = stream::unfold(stream, |mut stream| async move {
        let bytes = stream.next().await?;
        Some((Ok::<_, Infallible>(bytes), stream))
    });
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    // Nginx buffers responses otherwise.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

impl Stream {
    /// The next bytes to send; `None` after the end of the response.
    async fn next(&mut self) -> Option<Bytes> {
        if self.over {
            return None;
        }
        if !std::mem::replace(&mut self.greeted, true) {
            return Some(Bytes::from_static(HELLO.as_bytes()));
        }
        tokio::select! {
            biased;
            end = self.guest.connection.ended() => {
                self.over = true;
                let (_, reason) = end.code();
                Some(format!(":{reason}\n\n").into())
            }
            message = self.queue.recv() => message.map(Bytes::from),
            _ = self.thumps.tick() => Some(Bytes::from_static(THUMP.as_bytes())),
        }
    }
}
