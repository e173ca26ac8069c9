//! The tokens whose use is being recorded in this process.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::TokenId;

/// The tokens whose use is being recorded: concurrent requests with one of them need not record it again.
#[derive(Debug, Default)]
pub struct RecordingUses(Mutex<HashSet<TokenId>>);

impl RecordingUses {
    /// Adds a token; false when its use is already being recorded.
    pub fn insert(&self, token: TokenId) -> bool {
        self.tokens().insert(token)
    }

    /// Removes a token whose use was recorded.
    pub fn remove(&self, token: TokenId) {
        self.tokens().remove(&token);
    }

    /// True when no use is being recorded.
    pub fn is_empty(&self) -> bool {
        self.tokens().is_empty()
    }

    fn tokens(&self) -> MutexGuard<'_, HashSet<TokenId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
