//! The staff's decisions about hashtags: spelling, use, listing and trends.
//!
//! Reached from the hashtag routes of the admin API and from `rookery trend hashtag`. A hashtag that is not usable cannot
//! be published in local statuses, one that is not listable is not found by a search, and neither is shown as a trend.
//!
//! Spec: docs/contract/extensions.md#13-admin-api

use crate::audit::{self, Entry, Target};
use crate::tag;
use context::Cx;
use context::error::{Error, Result};
use model::{AccountId, Cursor, Staff, TagId};
use serde_json::json;
pub use store::tag_review::{ReviewedTag, TagDecision};

/// A page of all hashtags, the last recorded one first.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: Option<AccountId>, cursor: &Cursor) -> Result<Vec<ReviewedTag>> {
    Ok(store::tag_review::list(&cx.db, viewer, cursor).await?)
}

/// The hashtag `id`.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find(cx: &Cx, viewer: Option<AccountId>, id: TagId) -> Result<ReviewedTag> {
    store::tag_review::list_by_ids(&cx.db, viewer, &[id]).await?.pop().ok_or(Error::NotFound)
}

/// The hashtag `name`, if it was ever used.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find_named(cx: &Cx, name: &str) -> Result<ReviewedTag> {
    let (name, _) = tag::parse(name).ok_or(Error::NotFound)?;
    let known = store::tag::list_by_names(&cx.db, &[name]).await?;
    let (id, _) = known.first().ok_or(Error::NotFound)?;
    find(cx, None, *id).await
}

/// Decides about the hashtag `id`, which counts as reviewed even when nothing changes.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`] for a spelling that is another hashtag.
#[model::use_case]
pub async fn update(cx: &Cx, staff: &Staff, id: TagId, decision: TagDecision) -> Result<ReviewedTag> {
    let viewer = staff.account;
    let mut tx = cx.db.begin().await?;
    let tag = store::tag_review::list_by_ids(&mut tx, viewer, &[id]).await?.pop().ok_or(Error::NotFound)?.tag;
    if let Some(spelling) = &decision.display_name {
        let same = text::hashtag::normalise(spelling).is_some_and(|name| name == tag.name);
        if !same {
            return Err(Error::invalid(format!(
                "Validation failed: display_name must differ from {:?} only by upper and lower case and by accents",
                tag.name
            )));
        }
    }
    store::tag_review::update(&mut tx, id, &decision, cx.clock.now()).await?;
    let tag = store::tag_review::list_by_ids(&mut tx, viewer, &[id]).await?.pop().ok_or(Error::NotFound)?;
    let TagDecision { display_name, trendable, usable, listable } = decision;
    let details = json!({
        "display_name": display_name, "trendable": trendable, "usable": usable, "listable": listable,
    });
    let target = Target::new("tag", id, format!("#{}", tag.tag.name));
    audit::record(cx, &mut tx, staff, Entry::new("tag.update", target).with(details)).await?;
    tx.commit().await?;
    Ok(tag)
}
