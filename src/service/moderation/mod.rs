//! What the staff does: the admin API, its pages and its commands share these use cases.
//!
//! Each takes the acting [`Staff`](model::Staff) and checks its rank; the permission is checked by the extractor of the
//! route, and an operator at the command line has every permission. Each change writes an entry of the audit log in its
//! transaction.
//!
//! Spec: docs/contract/extensions.md#13-admin-api

pub mod account;
pub mod action;
pub mod appeal;
pub mod domain_decision;
pub mod domain_list;
pub mod domain_purge;
pub mod filing;
pub mod ip_block;
pub mod metrics;
pub mod relay;
pub mod report;
pub mod role;
pub mod staff;
pub mod status;
pub(crate) mod strike_link;
pub mod warning_preset;
