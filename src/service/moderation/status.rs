//! What the staff does with single posts: shows them whatever their visibility, deletes them, and marks their media as sensitive.
//!
//! Reached from `/api/v1/admin/statuses/{id}`, an addition of this server, and from `rookery status`. A decision about the
//! author is a strike: see [`action`](super::action).

use serde_json::json;

use super::account::Managed;
use crate::audit::{self, Entry, Target};
use crate::held_status::{self, HeldStatus};
use crate::status::{self, revision};
use crate::visibility::{self, Seen};
use context::Cx;
use context::change::{self, Change, StatusTraits};
use context::error::{Error, Result};
use database::Tx;
use model::{Account, Staff, Status, StatusId};
use store::status_edit::Revision;

/// A post as the staff sees it.
#[derive(Debug)]
pub enum Single {
    Existing(Box<Seen>),
    /// Its author deleted it, and a report or a strike names it.
    Deleted(Box<HeldStatus>),
}

/// The status or reblog `id`, whatever its visibility.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn show(cx: &Cx, id: StatusId) -> Result<Single> {
    if let Some(seen) = visibility::everything(cx, &[id]).await?.pop() {
        return Ok(Single::Existing(Box::new(seen)));
    }
    let held = held_status::list(cx, &[id]).await?.pop().ok_or(Error::NotFound)?;
    Ok(Single::Deleted(Box::new(held)))
}

/// Deletes the status or reblog `id` for everyone. One of another server is deleted here, and is not fetched again soon.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Forbidden`] when `staff` does not outrank its author.
#[model::use_case]
pub async fn remove(cx: &Cx, staff: &Staff, id: StatusId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let (author, found) = lock(&mut tx, staff, id).await?;
    status::remove(cx, &mut tx, author.id, id).await?;
    if !found.local {
        store::tombstone::insert(&mut tx, &found.uri, author.id, cx.clock.now()).await?;
    }
    log(cx, &mut tx, staff, "status.delete", &author, id).await?;
    Ok(tx.commit().await?)
}

/// Marks the status `id` as sensitive, or takes that back; nothing happens when it is so already. For a status of this
/// server it is an edit, which other servers are told.
///
/// # Errors
/// [`Error::NotFound`], also for a reblog; [`Error::Forbidden`] when `staff` does not outrank its author.
#[model::use_case]
pub async fn set_sensitive(cx: &Cx, staff: &Staff, id: StatusId, sensitive: bool) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let (author, _) = lock(&mut tx, staff, id).await?;
    let old = store::status::lock(&mut tx, id).await?.filter(|status| status.reblog_of_id.is_none());
    let old = old.ok_or(Error::NotFound)?;
    if old.sensitive == sensitive {
        return Ok(());
    }
    let traits = StatusTraits::from(&old);
    if old.local {
        let media = store::media::list_for_statuses(&mut tx, &[id]).await?;
        let options = if old.has_poll { Some(store::poll::list_titles(&mut tx, id).await?) } else { None };
        let revised = Revision { sensitive, ..revision::of(&old) };
        store::status_edit::insert(&mut tx, &revision::kept(cx, old, &media, options)?).await?;
        store::status_edit::update(&mut tx, id, revised, cx.clock.now()).await?;
        change::record(cx, &mut tx, Change::StatusEdited { status: id, author: author.id, traits }).await?;
    } else {
        store::status::set_sensitive(&mut tx, id, sensitive).await?;
    }
    let action = if sensitive { "status.sensitive" } else { "status.unsensitive" };
    log(cx, &mut tx, staff, action, &author, id).await?;
    Ok(tx.commit().await?)
}

/// The status `id` and its author, who is locked.
async fn lock(tx: &mut Tx, staff: &Staff, id: StatusId) -> Result<(Account, Status)> {
    let found = store::status::find(&mut *tx, id).await?.ok_or(Error::NotFound)?;
    let author = Managed::lock(tx, staff, found.account_id).await?.account;
    Ok((author, found))
}

async fn log(cx: &Cx, tx: &mut Tx, staff: &Staff, action: &'static str, author: &Account, id: StatusId) -> Result<()> {
    let details = json!({ "account": format!("@{}", author.acct()) });
    audit::record(cx, tx, staff, Entry::new(action, Target::new("status", id, format!("#{id}"))).with(details)).await
}
