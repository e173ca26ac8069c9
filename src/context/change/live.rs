//! Committed changes, told to whoever listens in this process: streams, and through them other nodes.
//!
//! Told after the commit, and never waited for. What must not be lost is a row, which this is not.

use std::sync::Arc;

use tokio::sync::broadcast;

use super::kinds::Change;
use database::Tx;

/// How many changes a slow subscriber may be behind before it loses the oldest.
const CAPACITY: usize = 4096;

/// Committed changes, for whoever listens in this process. A hint that may be missed: what must not be lost is a row.
#[derive(Clone, Debug)]
pub struct Live {
    /// Of this node and of others.
    all: broadcast::Sender<Arc<Change>>,
    /// Of this node alone.
    own: broadcast::Sender<Arc<Change>>,
}

impl Default for Live {
    fn default() -> Self {
        Self { all: broadcast::Sender::new(CAPACITY), own: broadcast::Sender::new(CAPACITY) }
    }
}

impl Live {
    /// Changes from now on.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Change>> {
        self.all.subscribe()
    }

    /// The same, of this node alone: what other nodes do not know of.
    #[must_use]
    pub fn subscribe_own(&self) -> broadcast::Receiver<Arc<Change>> {
        self.own.subscribe()
    }

    /// True when somebody listens: what is read only to say more of a change may be left out otherwise.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.all.receiver_count() > 0
    }

    /// Tells whoever listens of what is no change of the database: a message.
    pub fn tell(&self, change: Change) {
        self.send(Arc::new(change));
    }

    /// Tells whoever listens of a change that another node made.
    pub fn tell_from_elsewhere(&self, change: Change) {
        // Nobody listening any more is the only failure.
        let _ = self.all.send(Arc::new(change));
    }

    fn send(&self, change: Arc<Change>) {
        let _ = self.own.send(Arc::clone(&change));
        let _ = self.all.send(change);
    }

    /// Tells whoever listens once `tx` is committed.
    pub fn tell_after(&self, tx: &mut Tx, change: &Change) {
        if self.is_heard() {
            let (live, change) = (self.clone(), Arc::new(change.clone()));
            tx.after_commit(move || live.send(change));
        }
    }
}
