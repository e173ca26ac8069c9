//! Data for moderation: reports, roles and trends.

pub mod report;
pub mod role;
pub mod trend;
pub mod trend_use;
