//! Reading: timelines, lists, hashtags, filters, search, trends, streams.

mod announced;
pub mod feed_access;
pub mod filter;
pub mod list;
pub mod marker;
pub mod refresh;
pub mod replies;
pub mod search;
pub mod tag;
pub mod tag_review;
pub mod timeline;
pub mod trend;

pub use announced::is_announced;
