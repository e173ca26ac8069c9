//! One connection: its owner, its queue, and why it ends.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::ws::Utf8Bytes;
use tokio::sync::{Notify, mpsc};

use model::{AccountId, Scopes, TokenId};

/// The transport of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    WebSocket,
    EventSource,
}

/// Why the server ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// More messages were queued than its queue holds.
    Slow,
    /// Its token was revoked, or its account cannot be used any more.
    Revoked,
    /// This process missed changes, and so did its clients.
    Missed,
    /// Its subject no longer exists, such as a deleted list. Only for server-sent events.
    Gone,
    /// As `Gone`, for a plugin's channel: the plugin no longer serves it.
    Unserved,
    /// As `Gone`: a new generation of the plugin refuses it.
    Refused,
    /// As `Gone`: a new generation of the plugin does not respond.
    Unanswered,
    /// The server stops.
    Restart,
}

impl End {
    /// The code of the close frame (RFC 6455, section 7.4.1, and IANA's registry), and its reason.
    pub(crate) fn code(self) -> (u16, &'static str) {
        match self {
            Self::Slow => (1008, "Messages were not taken in time: connect again and read what you missed"),
            Self::Revoked => (1008, "The access token is not valid any more"),
            Self::Missed => (1013, "Some events were missed: connect again and read what you missed"),
            Self::Gone => (1000, "This stream has ended"),
            Self::Unserved => (1000, "The plugin that served this stream is off"),
            Self::Refused => (1008, "The plugin that serves this stream refuses it now: ask again to read why"),
            Self::Unanswered => (1013, "The plugin that serves this stream gives no answer: try again in a moment"),
            Self::Restart => (1012, "The server restarts: connect again in a moment"),
        }
    }
}

/// A connection, shared by the hub and the task of the connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) id: u64,
    pub(crate) owner: Owner,
    pub(crate) form: Form,
    queue: mpsc::Sender<Utf8Bytes>,
    end: OnceLock<End>,
    ended: Notify,
    /// When its token was last found to be valid, by `database::versions`.
    pub(crate) checked: AtomicU64,
}

/// The owner of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub(crate) account: AccountId,
    pub(crate) token: TokenId,
    pub(crate) scopes: Scopes,
}

impl Connection {
    /// Creates a connection of `owner`, and returns the queue of its outgoing messages.
    pub(crate) fn new(
        id: u64,
        owner: Owner,
        form: Form,
        queue: usize,
        checked: u64,
    ) -> (Self, mpsc::Receiver<Utf8Bytes>) {
        let (sender, receiver) = mpsc::channel(queue);
        let (end, ended, checked) = (OnceLock::new(), Notify::new(), AtomicU64::new(checked));
        (Self { id, owner, form, queue: sender, end, ended, checked }, receiver)
    }

    /// Queues `text`. If the queue is full, the connection ends.
    pub(crate) fn send(&self, text: Utf8Bytes) {
        let is_full = matches!(self.queue.try_send(text), Err(mpsc::error::TrySendError::Full(_)));
        if is_full && self.end(End::Slow) {
            metrics::counter!("rookery_streaming_slow_total").increment(1);
        }
    }

    /// Ends the connection. The first reason counts; returns false when one was set already.
    pub(crate) fn end(&self, why: End) -> bool {
        let first = self.end.set(why).is_ok();
        if first {
            // Stored for a task that does not wait yet: there is at most one.
            self.ended.notify_one();
        }
        first
    }

    /// Waits until the connection is to end.
    pub(crate) async fn ended(&self) -> End {
        loop {
            if let Some(end) = self.end.get() {
                return *end;
            }
            self.ended.notified().await;
        }
    }

    /// Records that its token was valid at `version`.
    pub(crate) fn set_checked(&self, version: u64) {
        self.checked.store(version, Ordering::Release);
    }
}
