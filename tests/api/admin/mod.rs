//! The admin API: one file for each module of handlers in `src/http/api/admin`, with the same name.

mod accounts;
mod audit_log;
mod canonical_email_blocks;
mod domain_allows;
mod domain_blocks;
mod email_domain_blocks;
mod ip_blocks;
mod metrics;
mod metrics_speed;
mod roles;
mod sign_ups;
mod trends;
mod user_ips;
mod words;
