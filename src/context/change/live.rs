//! Committed changes for listeners in this process: streams, and through them other nodes.
//!
//! Sent after the commit, without waiting for receivers. A change is a hint that may be missed; data that must not be
//! lost is stored as a row.

use std::sync::Arc;

use tokio::sync::broadcast;

use super::kinds::Change;
use database::Tx;

/// How many changes a slow subscriber may be behind before it loses the oldest.
const CAPACITY: usize = 4096;

/// Sends committed changes to listeners in this process.
#[derive(Clone, Debug)]
pub struct Live {
    /// Changes of this node and of other nodes.
    all: broadcast::Sender<Arc<Change>>,
    /// Changes of this node alone.
    own: broadcast::Sender<Arc<Change>>,
}

impl Default for Live {
    fn default() -> Self {
        Self { all: broadcast::Sender::new(CAPACITY), own: broadcast::Sender::new(CAPACITY) }
    }
}

impl Live {
    /// Receives the changes sent after this call.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Change>> {
        self.all.subscribe()
    }

    /// As [`Live::subscribe`], for changes of this node alone, which other nodes have not received yet.
    #[must_use]
    pub fn subscribe_own(&self) -> broadcast::Receiver<Arc<Change>> {
        self.own.subscribe()
    }

    /// True when there is a subscriber; otherwise details that only listeners need can be skipped.
    #[must_use]
    pub fn has_subscribers(&self) -> bool {
        self.all.receiver_count() > 0
    }

    /// Sends a change that is not a change of the database: a message.
    pub fn tell(&self, change: Change) {
        self.send(Arc::new(change));
    }

    /// Sends a change that another node made.
    pub fn tell_from_elsewhere(&self, change: Change) {
        // Sending fails only if there are no receivers.
        let _ = self.all.send(Arc::new(change));
    }

    fn send(&self, change: Arc<Change>) {
        let _ = self.own.send(Arc::clone(&change));
        let _ = self.all.send(change);
    }

    /// Sends `change` once `tx` is committed.
    pub fn tell_after(&self, tx: &mut Tx, change: &Change) {
        if self.has_subscribers() {
            let (live, change) = (self.clone(), Arc::new(change.clone()));
            tx.after_commit(move || live.send(change));
        }
    }
}
