//! Cached answers of the hook `instance-info`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

use context::extension::Document;

/// Members to add: path (`configuration.reactions`), and JSON.
pub(super) type Members = Vec<(String, String)>;

/// Cached answers of plugins.
#[derive(Debug, Default)]
pub struct InstanceCache(Mutex<CachedMembers>);

#[derive(Debug, Default)]
struct CachedMembers {
    /// The registry's and the settings' generation that the answers are for.
    of: (u64, i64),
    by_document: HashMap<Document, Additions>,
}

/// What plugins add to a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Additions {
    pub(super) members: Arc<Members>,
    /// When to ask again, if some plugin failed.
    pub(super) until: Option<Instant>,
}

impl InstanceCache {
    pub(super) fn find(&self, of: (u64, i64), document: Document) -> Option<Additions> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let additions = cached.by_document.get(&document).filter(|_| cached.of == of)?;
        additions.until.is_none_or(|until| Instant::now() < until).then(|| additions.clone())
    }

    pub(super) fn keep(&self, of: (u64, i64), document: Document, additions: Additions) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.of != of {
            *cached = CachedMembers { of, by_document: HashMap::new() };
        }
        cached.by_document.insert(document, additions);
    }
}
