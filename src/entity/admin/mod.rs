//! The entities of the admin API, one file each.

pub mod audit_entry;

pub use audit_entry::AuditEntry;
