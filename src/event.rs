//! What happened, told after the commit to whoever listens in this process: streaming, caches, plugins.
//!
//! An event is a hint and may be missed; what must not be lost is a job in the transaction.

use tokio::sync::broadcast;

use model::{AccountId, NotificationId, StatusId, TokenId};

/// How many events a slow listener may be behind before it loses the oldest.
const CAPACITY: usize = 4096;

/// Something that happened and was committed.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are the ids of what the variant names")]
pub enum Event {
    /// A status (or reblog) was published.
    StatusPublished { status: StatusId, author: AccountId },
    /// A status was edited.
    StatusUpdated { status: StatusId, author: AccountId },
    /// A status is gone.
    StatusDeleted { status: StatusId, author: AccountId },
    /// A home feed was built again.
    HomeRebuilt { account: AccountId },
    /// A plugin put a status into a feed (of this kind and owner) and wants it to be told.
    FeedEntered { kind: i64, owner: i64, status: StatusId },
    /// A plugin has something to say to whoever listens to a topic: `user:1`, or `plugin/topic` of its own.
    PluginMessage { topic: String, event: String, payload: String },
    /// A notification was made.
    Notified { account: AccountId, notification: NotificationId },
    /// An access token was revoked: what is open by it closes.
    TokenRevoked { token: TokenId },
    /// Jobs were queued: a worker need not wait for its next look.
    JobsQueued,
    /// Settings, rules or emojis changed.
    SettingsChanged,
}

/// Where events are published and listened to.
#[derive(Clone, Debug)]
pub struct Events(broadcast::Sender<Event>);

impl Default for Events {
    fn default() -> Self {
        Self(broadcast::Sender::new(CAPACITY))
    }
}

impl Events {
    /// Tells everyone who listens; nobody listening is fine.
    pub fn publish(&self, event: Event) {
        // The only failure is that nobody listens.
        let _ = self.0.send(event);
    }

    /// Events from now on.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.0.subscribe()
    }
}
