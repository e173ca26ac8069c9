//! Reading: timelines, lists, hashtags, filters, search, trends, streams.

pub mod filter;
pub mod list;
pub mod marker;
pub mod search;
pub mod streaming;
pub mod tag;
pub mod tag_review;
pub mod timeline;
pub mod trend;
