//! Data for moderation: the audit log, reports, publishers of links, metrics, blocked networks,
//! e-mail addresses and user names, and the addresses that accounts used.

pub mod audit;
pub mod day_count;
pub mod email_block;
pub mod held_status;
pub mod ip_block;
pub mod managed_account;
pub mod metrics;
pub mod publisher;
pub mod removal;
pub mod report;
pub mod trend_use;
pub mod user_ip;
pub mod username_block;
pub mod warning;
