//! Data for moderation: the audit log, reports, roles and trends.

pub mod audit;
pub mod managed_account;
pub mod report;
pub mod role;
pub mod trend;
pub mod trend_use;
pub mod warning;
