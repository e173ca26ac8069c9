//! The entities of the admin API, one file each.

pub mod audit_entry;
pub mod cohort;
pub mod dimension;
pub mod measure;
mod metrics;
pub mod publisher;
pub mod tag;
pub mod trend;

pub use audit_entry::AuditEntry;
