//! Ordered sets of statuses that the host keeps.

use super::{imports::feeds as host, numbers};
use crate::Result;
pub use crate::contract::feeds::{CustomFeed, Entry, Feed};
use crate::contract::types::Page;

/// A feed of the plugin's own: a name that the manifest declares, and which of that name.
#[must_use]
pub fn custom(name: &str, key: impl Into<i64>) -> Feed {
    Feed::Custom(CustomFeed { name: name.to_owned(), key: key.into() })
}

/// Puts statuses into feeds; says how many entered.
///
/// # Errors
/// The host's.
pub fn insert(entries: &[Entry]) -> Result<u32> {
    Ok(host::insert(entries)?)
}

/// Takes statuses out.
///
/// # Errors
/// The host's.
pub fn remove<I: Copy + Into<i64>>(feed: &Feed, ids: &[I]) -> Result<u32> {
    Ok(host::remove(feed, &numbers(ids))?)
}

/// Takes everything by these authors out.
///
/// # Errors
/// The host's.
pub fn remove_authors<I: Copy + Into<i64>>(feeds: &[Feed], authors: &[I]) -> Result<u32> {
    Ok(host::remove_authors(feeds, &numbers(authors))?)
}

/// A page of ids, unfiltered.
///
/// # Errors
/// The host's.
pub fn range(feed: &Feed, page: Page) -> Result<Vec<i64>> {
    Ok(host::range(feed, page)?)
}

/// Empties feeds of the plugin's own.
///
/// # Errors
/// The host's.
pub fn drop_feeds(feeds: &[Feed]) -> Result<()> {
    Ok(host::drop_feeds(feeds)?)
}
