//! The entities of the admin API, one file each.

pub mod account;
pub mod appeal;
pub mod audit_entry;
pub mod canonical_email_block;
pub mod cohort;
pub mod dimension;
pub mod domain_allow;
pub mod domain_block;
pub mod domain_import;
pub mod domain_list;
mod domain_purge;
pub mod email_domain_block;
pub mod ip_block;
pub mod measure;
mod metrics;
pub mod publisher;
pub mod relay;
pub mod remote_media;
pub mod report;
mod role;
pub mod tag;
pub mod trend;
pub mod username_block;
pub mod warning_preset;

pub use crate::schema::{
    AdminAccount as Account, AdminAppeal as Appeal, AdminReport as Report, AdminReportNote as ReportNote,
};
pub use audit_entry::AuditEntry;
pub use canonical_email_block::CanonicalEmailBlock;
pub use domain_allow::DomainAllow;
pub use domain_block::{DomainBlock, DomainBlockConflict};
pub use domain_import::{DomainImport, DomainImportRefused};
pub use domain_list::{DomainExclusion, DomainList, DomainListDraft};
pub use domain_purge::DomainPurge;
pub use email_domain_block::EmailDomainBlock;
pub use ip_block::IpBlock;
pub use relay::Relay;
pub use remote_media::RemoteMedia;
pub use role::Role;
pub use username_block::UsernameBlock;
pub use warning_preset::WarningPreset;
