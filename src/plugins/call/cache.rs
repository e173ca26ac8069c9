//! In-memory cache shared by all instances of a plugin in this process (contract: interface `cache`).

use std::sync::Arc;

use chrono::Duration;

use super::Call;
use crate::call::memory::{BYTES, Entry, OVERHEAD};

impl Call {
    pub(super) fn remembered(&self, key: &str) -> Option<Arc<[u8]>> {
        let entry = self.state.memory.0.get()?.get(key)?;
        (entry.expires > self.cx.clock.now()).then_some(entry.value)
    }

    pub(super) fn remember(&self, key: String, value: Vec<u8>, ttl_ms: u32) {
        let size = u64::try_from(key.len() + value.len() + OVERHEAD).unwrap_or(u64::MAX);
        if size > BYTES {
            return;
        }
        let expires = self.cx.clock.now() + Duration::milliseconds(ttl_ms.into());
        self.state.memory.entries().insert(key, Entry { value: value.into(), expires });
    }

    pub(super) fn forget(&self, prefix: &str) {
        if let Some(entries) = self.state.memory.0.get() {
            entries.retain(|key, _| !key.starts_with(prefix));
        }
    }
}
