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
    by_document: HashMap<Document, Said>,
}

/// What plugins add to a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) members: Arc<Members>,
    /// When to ask again, if some plugin failed.
    pub(super) until: Option<Instant>,
}

impl InstanceCache {
    pub(super) fn find(&self, of: (u64, i64), document: Document) -> Option<Said> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let said = kept.by_document.get(&document).filter(|_| kept.of == of)?;
        said.until.is_none_or(|until| Instant::now() < until).then(|| said.clone())
    }

    pub(super) fn keep(&self, of: (u64, i64), document: Document, said: Said) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.of != of {
            *kept = CachedMembers { of, by_document: HashMap::new() };
        }
        kept.by_document.insert(document, said);
    }
}
