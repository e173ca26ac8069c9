//! Changes what the server keeps.

use super::{imports::core_write as host, numbers};
use crate::Result;
pub use crate::contract::core_write::{NewNotification, NewStatus};

/// Publishes statuses of local accounts; each has its own answer.
///
/// # Errors
/// The host's.
pub fn create_statuses(items: &[NewStatus]) -> Result<Vec<Result<i64>>> {
    Ok(host::create_statuses(items)?.into_iter().map(|item| item.map_err(Into::into)).collect())
}

/// Deletes statuses of local accounts.
///
/// # Errors
/// The host's.
pub fn delete_statuses<I: Copy + Into<i64>>(ids: &[I]) -> Result<u32> {
    Ok(host::delete_statuses(&numbers(ids))?)
}

/// Bookmarks statuses; says which were not bookmarked before.
///
/// # Errors
/// The host's.
pub fn bookmark<I: Copy + Into<i64>>(account: impl Into<i64>, statuses: &[I]) -> Result<Vec<bool>> {
    Ok(host::bookmark(account.into(), &numbers(statuses))?)
}

/// Notifies local accounts.
///
/// # Errors
/// The host's.
pub fn notify(items: &[NewNotification]) -> Result<u32> {
    Ok(host::notify(items)?)
}

/// Takes back notifications of these activities.
///
/// # Errors
/// The host's.
pub fn retract<I: Copy + Into<i64>>(kind: &str, activities: &[I]) -> Result<u32> {
    Ok(host::retract(kind, &numbers(activities))?)
}

/// Says that what the plugin adds to these entities changed.
///
/// # Errors
/// The host's.
pub fn touch<I: Copy + Into<i64>>(kind: &str, ids: &[I]) -> Result<()> {
    Ok(host::touch(kind, &numbers(ids))?)
}
