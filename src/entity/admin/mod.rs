//! The entities of the admin API, one file each.

pub mod audit_entry;
pub mod ip_block;

pub use audit_entry::AuditEntry;
pub use ip_block::IpBlock;
