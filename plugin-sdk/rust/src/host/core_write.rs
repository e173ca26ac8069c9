//! Changes the server's data: statuses, bookmarks, notifications, profile images, follows.

use super::{imports::core_write as host, numbers};
use crate::Result;
pub use crate::contract::core_write::{NewNotification, NewStatus};

/// Publishes statuses of local accounts, with one result for each. Must come before any other change of the call.
pub fn create_statuses(items: &[NewStatus]) -> Result<Vec<Result<i64>>> {
    Ok(host::create_statuses(items)?.into_iter().map(|item| item.map_err(Into::into)).collect())
}

/// Deletes statuses of local accounts; returns how many there were.
pub fn delete_statuses<I: Copy + Into<i64>>(ids: &[I]) -> Result<u32> {
    Ok(host::delete_statuses(&numbers(ids))?)
}

/// Bookmarks statuses; returns for each whether it was not bookmarked before.
pub fn bookmark<I: Copy + Into<i64>>(account: impl Into<i64>, statuses: &[I]) -> Result<Vec<bool>> {
    Ok(host::bookmark(account.into(), &numbers(statuses))?)
}

/// Notifies local accounts, subject to their blocks, mutes and notification policies.
pub fn notify(items: &[NewNotification]) -> Result<u32> {
    Ok(host::notify(items)?)
}

/// Deletes the notifications about these activities.
pub fn retract<I: Copy + Into<i64>>(kind: &str, activities: &[I]) -> Result<u32> {
    Ok(host::retract(kind, &numbers(activities))?)
}

/// Takes images (`avatar`, `header`) off the profile of a local account; returns how many there were.
pub fn remove_profile_images(account: impl Into<i64>, images: &[&str]) -> Result<u32> {
    let images: Vec<String> = images.iter().map(|image| (*image).to_owned()).collect();
    Ok(host::remove_profile_images(account.into(), &images)?)
}

/// Makes a local account follow others, or ask to; returns for each whether that is new.
pub fn follow<I: Copy + Into<i64>>(account: impl Into<i64>, targets: &[I]) -> Result<Vec<bool>> {
    Ok(host::follow(account.into(), &numbers(targets))?)
}

/// Invalidates the server's cache of this plugin's decorations of these entities.
pub fn touch<I: Copy + Into<i64>>(kind: &str, ids: &[I]) -> Result<()> {
    Ok(host::touch(kind, &numbers(ids))?)
}
