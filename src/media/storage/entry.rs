//! The places of stored files, and a file as a place lists it.

use std::time::SystemTime;

use super::key::Key;

/// How long clients and shared caches keep a file. A shared cache asks again after a day, since the file of a suspended
/// account is withheld.
pub const CACHE_CONTROL: &str = "public, max-age=31536000, s-maxage=86400, immutable";

/// A place of stored files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The folder of this machine.
    Local,
    /// The bucket.
    Bucket,
}

/// A stored file, as a place lists it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) withheld: bool,
    pub(super) bytes: u64,
    pub(super) modified: SystemTime,
    /// Known without reading the file.
    pub(super) md5: Option<[u8; 16]>,
}
