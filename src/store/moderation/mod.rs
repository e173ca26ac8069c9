//! What staff look after: reports, roles, and what trends.

pub mod report;
pub mod role;
pub mod trend;
pub mod trend_use;
