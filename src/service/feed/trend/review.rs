//! Reviews of trends: staff approves or rejects a hashtag, a status or an author for trends.
//!
//! Reached from `rookery trend`; the admin API reviews by id ([`unreviewed`](super::unreviewed)). A review applies to current and future trends from the next request on.

use crate::access::accounts;
use crate::audit::{self, Entry, Target};
use crate::tag;
use context::Cx;
use context::error::{Error, Result};
use database::Tx;
use model::trend::TrendKind;
use model::{Staff, StatusId, TagId};
pub use store::trend::{NamedTrend, Subject};

/// The trends of a kind, the highest score first; with `pending` only unreviewed ones.
#[model::use_case]
pub async fn list(cx: &Cx, kind: TrendKind, pending: bool) -> Result<Vec<NamedTrend>> {
    let mut trends = store::trend::list_named(&cx.db, kind).await?;
    trends.retain(|trend| !pending || trend.allowed.is_none());
    Ok(trends)
}

/// The hashtag `name`, created if it was never used, so that it can be rejected in advance.
///
/// # Errors
/// [`Error::NotFound`] when it is not a valid hashtag.
#[model::use_case]
pub async fn find_tag(cx: &Cx, name: &str) -> Result<TagId> {
    let (name, display) = tag::parse(name).ok_or(Error::NotFound)?;
    let mut tx = cx.db.begin().await?;
    let id = tag::get_or_insert(cx, &mut tx, &name, display).await?;
    tx.commit().await?;
    Ok(id)
}

/// The status, if there is one.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find_status(cx: &Cx, id: StatusId) -> Result<Subject> {
    let status = store::status::find(&cx.db, id).await?.ok_or(Error::NotFound)?;
    Ok(Subject::Status(status.reblog_of_id.unwrap_or(status.id)))
}

/// The account named `acct`, as the author of statuses.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find_author(cx: &Cx, acct: &str) -> Result<Subject> {
    Ok(Subject::Author(accounts::lookup(cx, acct).await?.id))
}

/// Approves or rejects `subject` for trends; `name` is what `staff` calls it.
#[model::use_case]
pub async fn review(cx: &Cx, staff: &Staff, subject: Subject, name: &str, allowed: bool) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    store::trend::review(&mut tx, subject, allowed, cx.clock.now()).await?;
    let target = match subject {
        Subject::Tag(id) => Target::new("tag", id, format!("#{}", name.trim_start_matches('#'))),
        Subject::Status(id) => Target::new("status", id, format!("#{id}")),
        Subject::Author(id) => Target::new("account", id, format!("@{}", name.trim_start_matches('@'))),
    };
    record(cx, &mut tx, staff, target, allowed).await?;
    tx.commit().await?;
    Ok(())
}

/// Logs a decision about trends.
pub(crate) async fn record(cx: &Cx, tx: &mut Tx, staff: &Staff, target: Target, allowed: bool) -> Result<()> {
    let action = if allowed { "trend.approve" } else { "trend.reject" };
    audit::record(cx, tx, staff, Entry::new(action, target)).await
}
