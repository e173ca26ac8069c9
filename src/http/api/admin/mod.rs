//! Handlers of the admin API, for the staff.
//!
//! Each names the permission and the scope that it needs in its arguments.
//!
//! Spec: docs/contract/extensions.md#13-admin-api; <https://docs.joinmastodon.org/methods/admin/>

pub mod accounts;
pub mod appeals;
pub mod audit_log;
pub mod canonical_email_blocks;
pub mod domain_allows;
pub mod domain_blocks;
pub mod domain_imports;
pub mod domain_lists;
pub mod domains;
pub mod email_domain_blocks;
pub mod ip_blocks;
pub mod metrics;
pub mod relays;
pub mod remote_media;
pub mod reports;
pub mod roles;
pub mod rules;
pub mod statuses;
pub mod tags;
pub mod trends;
pub mod username_blocks;
pub mod warning_presets;
