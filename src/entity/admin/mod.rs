//! The entities of the admin API, one file each.

pub mod account;
pub mod audit_entry;

pub use crate::schema::AdminAccount as Account;
pub use audit_entry::AuditEntry;
