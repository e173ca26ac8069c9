//! One connection: whose it is, what waits for it, and why it ends.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::ws::Utf8Bytes;
use tokio::sync::{Notify, mpsc};

use model::{AccountId, Scopes, TokenId};

/// How a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    WebSocket,
    EventSource,
}

/// Why the server ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// More waited for it than its queue holds.
    Slow,
    /// Its token was revoked, or its account cannot be used any more.
    Revoked,
    /// This process missed changes, and so did its clients.
    Missed,
    /// What it was opened for is gone: a list that was deleted, by server-sent events.
    Gone,
    /// The same, of a plugin's channel: the plugin does not serve it any more.
    Unserved,
    /// The same: a new generation of the plugin refuses it.
    Refused,
    /// The same: a new generation gives no answer.
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

/// A connection, as the hub and its own task share it.
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

/// Whose a connection is.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub(crate) account: AccountId,
    pub(crate) token: TokenId,
    pub(crate) scopes: Scopes,
}

impl Connection {
    /// A connection of `owner`, and what it is to be sent.
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

    /// Puts `text` into its queue; when that is full, the connection ends.
    pub(crate) fn send(&self, text: Utf8Bytes) {
        let is_full = matches!(self.queue.try_send(text), Err(mpsc::error::TrySendError::Full(_)));
        if is_full && self.end(End::Slow) {
            metrics::counter!("rookery_streaming_slow_total").increment(1);
        }
    }

    /// Ends it; the first reason counts. False when there was one already.
    pub(crate) fn end(&self, why: End) -> bool {
        let first = self.end.set(why).is_ok();
        if first {
            // Kept for a task that does not wait yet: there is one at most.
            self.ended.notify_one();
        }
        first
    }

    /// Waits until it is to end.
    pub(crate) async fn ended(&self) -> End {
        loop {
            if let Some(end) = self.end.get() {
                return *end;
            }
            self.ended.notified().await;
        }
    }

    /// Notes that its token was valid at `version`.
    pub(crate) fn set_checked(&self, version: u64) {
        self.checked.store(version, Ordering::Release);
    }
}
