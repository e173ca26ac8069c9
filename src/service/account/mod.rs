//! Accounts: signing up, profiles, relationships, and leaving; and their connections (followers, following, lists,
//! featured tags).
//!
//! Reached from the accounts routes. Finding them is in [`accounts`](crate::access::accounts).
//!
//! Spec: docs/contract/rules.md#2-authentication and docs/contract/rules.md#9-accounts.

pub mod archive;
mod carry_over;
pub mod confirmation;
pub mod directory;
pub mod domain_block;
pub mod featured_tag;
pub mod follow;
mod forget_account;
pub mod moving;
pub mod owner;
pub mod preference;
pub mod profile;
pub mod profile_image;
pub mod profile_link;
pub mod registration;
pub mod relationship;
pub mod removal;
pub mod sign_up;
pub mod signing_key;
pub mod status_cleanup;
pub mod suggestion;
pub mod transfer;
pub mod username;

pub use crate::access::accounts::{find_visible, list_visible, lookup, resolve, search};
use context::Cx;
use context::error::Result;
use model::relationship::Listed;
use model::{Account, AccountId, Actor, Cursor};
use store::featured_tag::FeaturedTag;
use store::list::List;

/// The hashtags featured on an account's profile, most used first; empty for a suspended account.
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) as in [`find_visible`].
#[model::use_case]
pub async fn featured_tags(cx: &Cx, id: AccountId) -> Result<(Account, Vec<FeaturedTag>)> {
    let account = find_visible(cx, id).await?;
    let tags = if account.is_suspended() { Vec::new() } else { store::featured_tag::list(&cx.db, account.id).await? };
    Ok((account, tags))
}

/// The lists of `viewer` that contain `id`; empty for a suspended account.
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) as in [`find_visible`].
#[model::use_case]
pub async fn lists(cx: &Cx, viewer: &Actor, id: AccountId) -> Result<Vec<List>> {
    let account = find_visible(cx, id).await?;
    if account.is_suspended() {
        return Ok(Vec::new());
    }
    Ok(store::list::list_with_member(&cx.db, viewer.id, account.id).await?)
}

/// The followers of `id` that `viewer` may see, by keyset pagination.
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) as in [`find_visible`].
#[model::use_case]
pub async fn followers(cx: &Cx, viewer: Option<&Actor>, id: AccountId, cursor: &Cursor) -> Result<Vec<Listed>> {
    let account = find_visible(cx, id).await?;
    if hides_network(cx, viewer, &account).await? {
        return Ok(Vec::new());
    }
    let filter = viewer.map(|actor| actor.id).filter(|viewer| *viewer != id);
    Ok(store::follow::list_followers(&cx.db, id, filter, cursor, cx.clock.now()).await?)
}

/// The accounts followed by `id` that `viewer` may see, by keyset pagination.
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) as in [`find_visible`].
#[model::use_case]
pub async fn following(cx: &Cx, viewer: Option<&Actor>, id: AccountId, cursor: &Cursor) -> Result<Vec<Listed>> {
    let account = find_visible(cx, id).await?;
    if hides_network(cx, viewer, &account).await? {
        return Ok(Vec::new());
    }
    let filter = viewer.map(|actor| actor.id).filter(|viewer| *viewer != id);
    Ok(store::follow::list_following(&cx.db, id, filter, cursor, cx.clock.now()).await?)
}

/// The accounts that `id` features on its profile, by their ids. Empty when it is suspended or blocks `viewer`;
/// without accounts that block `viewer` or that `viewer` blocks.
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) as in [`find_visible`].
#[model::use_case]
pub async fn endorsements(cx: &Cx, viewer: Option<&Actor>, id: AccountId, cursor: &Cursor) -> Result<Vec<Listed>> {
    let account = find_visible(cx, id).await?;
    if account.is_suspended() {
        return Ok(Vec::new());
    }
    let viewer = viewer.map(|actor| actor.id).filter(|viewer| *viewer != id);
    if let Some(viewer) = viewer
        && store::relationship::blocks(&cx.db, account.id, viewer).await?
    {
        return Ok(Vec::new());
    }
    Ok(store::relationship::list_endorsements(&cx.db, id, viewer, cursor).await?)
}

/// True when `account` hides its followers and the accounts it follows from `viewer`.
async fn hides_network(cx: &Cx, viewer: Option<&Actor>, account: &Account) -> Result<bool> {
    if account.is_suspended() {
        return Ok(true);
    }
    match viewer {
        Some(viewer) if viewer.id == account.id => Ok(false),
        _ if account.hide_collections == Some(true) => Ok(true),
        Some(viewer) => Ok(store::relationship::blocks(&cx.db, account.id, viewer.id).await?),
        None => Ok(false),
    }
}
