//! Turns by key: so many holders at a time of each key, in the order of their arrival.
//!
//! In memory, for this process alone. A key is forgotten with its last holder.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A table of turns; its clones are the same table.
#[derive(Clone, Debug)]
pub struct Turns {
    each: usize,
    keys: Arc<Mutex<HashMap<String, Arc<Semaphore>>>>,
}

/// A turn, which ends when it is dropped.
#[derive(Debug)]
pub struct Turn {
    turns: Turns,
    key: String,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// A table with `each` holders of a key at a time.
    #[must_use]
    pub fn new(each: usize) -> Self {
        Self { each, keys: Arc::default() }
    }

    /// Waits for a turn of `key`.
    pub async fn take(&self, key: &str) -> Turn {
        let mut turn = Turn { turns: self.clone(), key: key.to_owned(), permit: None };
        // The semaphore is never closed.
        turn.permit = self.of(key).acquire_owned().await.ok();
        turn
    }

    /// A turn of `key`, if it has one now.
    #[must_use]
    pub fn try_take(&self, key: &str) -> Option<Turn> {
        let mut turn = Turn { turns: self.clone(), key: key.to_owned(), permit: None };
        turn.permit = Some(self.of(key).try_acquire_owned().ok()?);
        Some(turn)
    }

    fn of(&self, key: &str) -> Arc<Semaphore> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(keys.entry(key.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.each))))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop(self.permit.take());
        let mut keys = self.turns.keys.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing else holds it or waits for it: the map has the only reference.
        if keys.get(&self.key).is_some_and(|turns| Arc::strong_count(turns) == 1) {
            keys.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn key_has_so_many_turns_and_is_forgotten() {
        let turns = Turns::new(2);
        let (one, two) = (turns.take("a").await, turns.take("a").await);
        assert!(turns.try_take("a").is_none());
        drop(turns.take("b").await);
        drop(one);
        let three = turns.try_take("a");
        assert!(three.is_some());
        drop((two, three));
        assert!(turns.keys.lock().unwrap().is_empty());
    }
}
