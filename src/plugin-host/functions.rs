//! Machine code of single functions, in memory, for development: a component that was built again mostly consists of
//! functions that were compiled before.
//!
//! Reached from wasmtime, whose keys contain everything that a function's code depends on. Dropped with the engine; the
//! cache on disk (`cache`) stores whole components.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wasmtime::CacheStore;

/// Bytes of all keys and code together; nothing is added beyond that. A Python component takes about a tenth.
const MAX_BYTES: usize = 512 << 20;

/// Compiled functions by their keys.
#[derive(Default)]
pub(crate) struct Functions(Mutex<Known>);

#[derive(Default)]
struct Known {
    code: HashMap<Box<[u8]>, Box<[u8]>>,
    bytes: usize,
}

impl Functions {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known();
        f.debug_struct("Functions").field("count", &known.code.len()).field("bytes", &known.bytes).finish()
    }
}

impl CacheStore for Functions {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        self.known().code.get(key).map(|code| Cow::Owned(code.to_vec()))
    }

    fn insert(&self, key: &[u8], value: Vec<u8>) -> bool {
        let mut known = self.known();
        let bytes = known.bytes + key.len() + value.len();
        if bytes > MAX_BYTES {
            return false;
        }
        if known.code.insert(key.into(), value.into()).is_none() {
            known.bytes = bytes;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_their_keys() {
        let functions = Functions::default();
        assert!(functions.get(b"key").is_none());
        assert!(functions.insert(b"key", vec![1, 2, 3]));
        assert_eq!(functions.get(b"key").as_deref(), Some(&[1, 2, 3][..]));
        assert_eq!(format!("{functions:?}"), "Functions { count: 1, bytes: 6 }");
    }

    #[test]
    fn additions_stop_at_limit() {
        let functions = Functions::default();
        functions.known().bytes = MAX_BYTES - 4;
        assert!(!functions.insert(b"key", vec![1, 2, 3]));
        assert!(functions.insert(b"key", vec![1]));
    }
}
