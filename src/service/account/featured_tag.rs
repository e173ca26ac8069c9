//! Hashtags that people feature on their profiles.
//!
//! Reached from the routes of featured tags; [`account`] lists the featured tags of an account. Counters include only
//! statuses that anyone may read, and change with these (`store::tag`). Other servers are informed by `federation`.
//!
//! Spec: docs/contract/rules.md#23-discovery.

use crate::{account, tag};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use model::{Account, Actor, RowId};
use store::featured_tag::{FeaturedTag, NewFeaturedTag};
use store::tag::FoundTag;

/// Features the hashtag `name`, and returns the account with it.
///
/// # Errors
/// [`Error::Invalid`] when it is not a valid hashtag, is featured already, or beyond the limit of featured hashtags.
#[model::use_case]
pub async fn create(cx: &Cx, actor: &Actor, name: &str) -> Result<(Account, FeaturedTag)> {
    let (name, display) = tag::parse(name).ok_or_else(|| refused("Name is not a valid hashtag"))?;
    let id = insert(cx, actor, &name, display).await?.ok_or_else(|| refused("Name is featured already"))?;
    let (account, tags) = account::featured_tags(cx, actor.id).await?;
    let made = tags.into_iter().find(|tag| tag.id == id).ok_or(Error::NotFound)?;
    Ok((account, made))
}

/// Features the hashtag `name`. Repeating it is not an error.
///
/// # Errors
/// [`Error::NotFound`] when it is not a valid hashtag, [`Error::Invalid`] beyond the limit of featured hashtags.
#[model::use_case]
pub async fn feature(cx: &Cx, actor: &Actor, name: &str) -> Result<FoundTag> {
    let tag = tag::find(cx, Some(actor), name).await?;
    if tag.featuring {
        return Ok(tag);
    }
    insert(cx, actor, &tag.name, &tag.display_name).await?;
    tag::find(cx, Some(actor), name).await
}

/// Stops featuring the hashtag `name`; not an error when it was not featured.
///
/// # Errors
/// [`Error::NotFound`] when it is not a valid hashtag.
#[model::use_case]
pub async fn unfeature(cx: &Cx, actor: &Actor, name: &str) -> Result<FoundTag> {
    let tag = tag::find(cx, Some(actor), name).await?;
    let mut tx = cx.db.begin().await?;
    if store::featured_tag::delete_by_tag(&mut tx, actor.id, tag.id).await? {
        let change = Change::TagUnfeatured { account: actor.id, name: tag.name.clone() };
        change::record(cx, &mut tx, change).await?;
    }
    tx.commit().await?;
    Ok(FoundTag { featuring: false, ..tag })
}

/// Features the hashtag with this name in normal form; `None` when it is featured already.
async fn insert(cx: &Cx, actor: &Actor, name: &str, display: &str) -> Result<Option<RowId>> {
    let mut tx = cx.db.begin().await?;
    // Serialises concurrent requests, so that each counts towards the limit.
    store::account::lock(&mut tx, &[actor.id]).await?;
    let known = store::featured_tag::list(&mut tx, actor.id).await?;
    if known.iter().any(|tag| tag.name == name) {
        return Ok(None);
    }
    let most = cx.settings().max_featured_tags;
    if i64::try_from(known.len()).is_ok_and(|count| count >= most) {
        return Err(refused(&format!("You feature {most} hashtags already, which is the limit")));
    }
    let tag = tag::get_or_insert(cx, &mut tx, name, display).await?;
    let new = NewFeaturedTag { id: cx.ids.next(), account: actor.id, tag, now: cx.clock.now() };
    store::featured_tag::insert(&mut tx, new).await?;
    change::record(cx, &mut tx, Change::TagFeatured { account: actor.id, name: name.to_owned() }).await?;
    tx.commit().await?;
    Ok(Some(new.id))
}

fn refused(why: &str) -> Error {
    Error::invalid(format!("Validation failed: {why}"))
}

/// Stops featuring a hashtag.
///
/// # Errors
/// [`Error::NotFound`] when `id` is missing or someone else's.
#[model::use_case]
pub async fn delete(cx: &Cx, actor: &Actor, id: RowId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let known = store::featured_tag::list(&mut tx, actor.id).await?;
    let tag = known.into_iter().find(|tag| tag.id == id).ok_or(Error::NotFound)?;
    if !store::featured_tag::delete(&mut tx, actor.id, id).await? {
        return Err(Error::NotFound);
    }
    change::record(cx, &mut tx, Change::TagUnfeatured { account: actor.id, name: tag.name }).await?;
    tx.commit().await?;
    Ok(())
}

/// The hashtags that `viewer` used most recently and does not feature.
#[model::use_case]
pub async fn suggestions(cx: &Cx, viewer: &Actor) -> Result<Vec<FoundTag>> {
    Ok(store::featured_tag::list_suggestions(&cx.db, viewer.id).await?)
}
