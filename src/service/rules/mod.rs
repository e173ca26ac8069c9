//! Rules that every use case shares: rate limits, the audit log, blocked words and addresses, domains, languages.
//!
//! Stands on no other room.

pub mod audit;
pub mod domain;
pub mod email_block;
pub mod locale;
pub mod ownership;
pub mod rate_limits;
pub mod user_ip;
pub mod username_block;
pub(crate) mod word;
