//! Federation: remote accounts and statuses by their URIs, activities received, documents owed, and tombstones.

pub mod delivery;
pub mod host;
pub mod inbound;
pub mod purge;
pub mod relay;
pub mod remote;
pub mod remote_file;
pub mod remote_thread;
pub mod retention;
pub mod synchronization;
pub mod tombstone;
