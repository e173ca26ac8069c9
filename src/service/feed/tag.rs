//! Hashtags: looking one up, and following it.
//!
//! Reached from the routes of tags. A job adds statuses to the home feed after a follow: [`Change::TagFollowed`]. A
//! hashtag is displayed as in its first publicly readable use, and until then in normal form or as its reader wrote
//! it, so that the spelling in private statuses is not disclosed. [`featured_tag`](crate::featured_tag) contains the
//! hashtags on profiles.
//!
//! Spec: docs/contract/rules.md#23-discovery.

pub use store::tag::FoundTag;

use crate::rate_limits::{self, Family};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use database::Tx;
use model::{Actor, Cursor, TagId};
use store::tag::FollowedTag;
use text::hashtag;

/// Longest name, in characters: below the limit of an index on PostgreSQL.
const NAME_MAX: usize = 255;

/// A hashtag's name in normal form and as it was sent, without the `#`; `None` when it is invalid.
pub(crate) fn parse(name: &str) -> Option<(String, &str)> {
    let display = hashtag::bare(name);
    if display.chars().count() > NAME_MAX {
        return None;
    }
    hashtag::normalise(display).map(|name| (name, display))
}

/// The hashtag `name`, and whether `viewer` follows it. An unknown hashtag looks the same as an unused one.
///
/// # Errors
/// [`Error::NotFound`] when it is not a valid hashtag.
#[model::use_case]
pub async fn find(cx: &Cx, viewer: Option<&Actor>, name: &str) -> Result<FoundTag> {
    let (name, display) = parse(name).ok_or(Error::NotFound)?;
    let found = store::tag::find(&cx.db, &name, viewer.map(|actor| actor.id)).await?;
    Ok(match found {
        Some(tag) if tag.used_publicly => tag.tag,
        Some(tag) if tag.tag.following || tag.tag.featuring => FoundTag { display_name: display.to_owned(), ..tag.tag },
        Some(_) | None => {
            let display_name = display.to_owned();
            FoundTag { id: TagId::from(0), display_name, name, reviewed: false, following: false, featuring: false }
        }
    })
}

/// Makes `actor` follow the hashtag `name`. Repeating it is not an error.
///
/// # Errors
/// As [`find`]; [`Error::RateLimited`] beyond the daily limit of follows.
#[model::use_case]
pub async fn follow(cx: &Cx, actor: &Actor, name: &str) -> Result<FoundTag> {
    let tag = find(cx, Some(actor), name).await?;
    if tag.following {
        return Ok(tag);
    }
    let spent = rate_limits::family(cx, actor.id, Family::Follows)?;
    let mut tx = cx.db.begin().await?;
    let id = get_or_insert(cx, &mut tx, &tag.name, &tag.display_name).await?;
    let inserted = store::tag::insert_follow(&mut tx, cx.ids.next(), actor.id, id, cx.clock.now()).await?;
    if inserted {
        change::record(cx, &mut tx, Change::TagFollowed { account: actor.id, tag: id }).await?;
    }
    tx.commit().await?;
    if inserted {
        spent.keep();
    }
    Ok(FoundTag { id, following: true, ..tag })
}

/// Ends `actor`'s follow of the hashtag `name`; not an error when there is none.
///
/// # Errors
/// As [`find`].
#[model::use_case]
pub async fn unfollow(cx: &Cx, actor: &Actor, name: &str) -> Result<FoundTag> {
    let tag = find(cx, Some(actor), name).await?;
    let mut tx = cx.db.begin().await?;
    if store::tag::delete_follow(&mut tx, actor.id, tag.id).await? {
        change::record(cx, &mut tx, Change::TagUnfollowed { account: actor.id, tag: tag.id }).await?;
    }
    tx.commit().await?;
    Ok(FoundTag { following: false, ..tag })
}

/// A page of the hashtags that `viewer` follows, most recent follow first.
#[model::use_case]
pub async fn followed(cx: &Cx, viewer: &Actor, cursor: &Cursor) -> Result<Vec<FollowedTag>> {
    Ok(store::tag::list_followed(&cx.db, viewer.id, cursor).await?)
}

/// The hashtag with this name in normal form, created if missing.
pub(crate) async fn get_or_insert(cx: &Cx, tx: &mut Tx, name: &str, display_name: &str) -> Result<TagId> {
    store::tag::insert(tx, vec![(cx.ids.next(), name, display_name)], false, cx.clock.now()).await?;
    let known = store::tag::list_by_names(&mut *tx, &[name.to_owned()]).await?;
    known.first().map(|(id, _)| *id).ok_or_else(|| Error::internal("a hashtag is missing"))
}
