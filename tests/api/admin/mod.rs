//! The admin API: one file for each module of handlers in `src/http/api/admin`, with the same name.

mod accounts;
mod appeals;
mod audit_log;
mod canonical_email_blocks;
mod domain_allows;
mod domain_blocks;
mod domain_imports;
mod domain_lists;
mod email_domain_blocks;
mod ip_blocks;
mod metrics;
mod metrics_speed;
mod reports;
mod roles;
mod rows;
mod rules;
mod sign_ups;
mod statuses;
mod trends;
mod user_ips;
mod username_blocks;
mod warning_presets;
mod words;
