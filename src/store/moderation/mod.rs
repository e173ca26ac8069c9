//! Data for moderation: the audit log, metrics, reports, roles, trends and the publishers of links.

pub mod audit;
pub mod day_count;
pub mod metrics;
pub mod publisher;
pub mod report;
pub mod role;
pub mod trend;
pub mod trend_use;
