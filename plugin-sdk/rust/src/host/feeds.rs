//! Feeds: ordered sets of status ids that the host stores, each capped at 1,000.

use super::{imports::feeds as host, numbers};
use crate::Result;
pub use crate::contract::feeds::{CustomFeed, Entry, Feed};
use crate::contract::types::Page;

/// One of the plugin's own feeds: a name that the manifest declares, and the key of one feed of that name.
#[must_use]
pub fn custom(name: &str, key: impl Into<i64>) -> Feed {
    Feed::Custom(CustomFeed { name: name.to_owned(), key: key.into() })
}

/// Adds statuses to feeds; returns how many were added.
pub fn insert(entries: &[Entry]) -> Result<u32> {
    Ok(host::insert(entries)?)
}

/// Removes statuses from a feed.
pub fn remove<I: Copy + Into<i64>>(feed: &Feed, ids: &[I]) -> Result<u32> {
    Ok(host::remove(feed, &numbers(ids))?)
}

/// Removes everything by these authors, their reblogs and reblogs of them included.
pub fn remove_authors<I: Copy + Into<i64>>(feeds: &[Feed], authors: &[I]) -> Result<u32> {
    Ok(host::remove_authors(feeds, &numbers(authors))?)
}

/// A page of ids, not checked for visibility: return them with [`Output::statuses`](crate::Output::statuses), which is.
pub fn range(feed: &Feed, page: Page) -> Result<Vec<i64>> {
    Ok(host::range(feed, page)?)
}

/// Empties the plugin's own feeds.
pub fn drop_feeds(feeds: &[Feed]) -> Result<()> {
    Ok(host::drop_feeds(feeds)?)
}
