//! Finding accounts: by id, by name, by search, and by their connections (followers, following, lists, featured tags).
//!
//! Reached from the accounts routes. Other servers are asked only where a search says so.
//!
//! Spec: docs/contract/rules.md#2-authentication and docs/contract/rules.md#9-accounts.

pub mod account_domains;
pub mod archive;
pub mod directory;
pub mod domain_block;
pub mod featured_tag;
pub mod follow;
mod forget_account;
pub mod owner;
pub mod preference;
pub mod profile;
pub mod profile_image;
pub mod profile_link;
pub mod registration;
pub mod relations;
pub mod relationship;
pub mod removal;
pub mod sign_up;
pub mod signing_key;
pub mod staff;
pub mod suggestion;
pub mod transfer;

use context::Cx;
use context::error::{Error, Result};
use model::account::AccountSearch;
use model::relationship::Listed;
use model::{Account, AccountId, Actor, Cursor};
use store::featured_tag::FeaturedTag;
use store::list::List;

/// The account, unless it is a local one awaiting confirmation or approval. A suspended account is returned.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or not visible, without a difference between the two.
#[model::use_case]
pub async fn find_visible(cx: &Cx, id: AccountId) -> Result<Account> {
    store::account::find_known(&cx.db, id).await?.ok_or(Error::NotFound)
}

/// The visible accounts among `ids`, each once, in the order given.
#[model::use_case]
pub async fn list_visible(cx: &Cx, ids: &[AccountId]) -> Result<Vec<AccountId>> {
    let mut known = store::account::list_known(&cx.db, ids).await?;
    let mut listed = Vec::with_capacity(known.len());
    for id in ids {
        if let Some(at) = known.iter().position(|candidate| candidate == id) {
            listed.push(known.swap_remove(at));
        }
    }
    Ok(listed)
}

/// The account named `acct`: `user`, or `user@domain` for an account of another server that is known here.
///
/// # Errors
/// [`Error::NotFound`] when no such account is known.
#[model::use_case]
pub async fn lookup(cx: &Cx, acct: &str) -> Result<Account> {
    let found = store::account::list_by_handles(&cx.db, &[name(cx, acct)]).await?.pop().ok_or(Error::NotFound)?;
    let known = store::account::list_known(&cx.db, &[found.id]).await?;
    if known.is_empty() { Err(Error::NotFound) } else { Ok(found) }
}

/// The account with the address `acct`, `user@domain`; looked up on its server if it is of another. `None` when there is
/// none.
#[model::use_case]
pub async fn resolve(cx: &Cx, acct: &str) -> Result<Option<AccountId>> {
    match handle(cx, acct) {
        (name, Some(domain)) => Ok(cx.federation.find_accounts(cx, &[format!("{name}@{domain}")]).await?.pop()),
        (_, None) => match lookup(cx, acct).await {
            Err(Error::NotFound) => Ok(None),
            found => found.map(|account| Some(account.id)),
        },
    }
}

/// Accounts whose user name or display name begins with `q`, or whose `user@domain` does: exact matches first, then
/// accounts that `viewer` follows. With `resolve`, a complete address of another server is looked up there.
#[model::use_case]
pub async fn search(
    cx: &Cx,
    viewer: Option<AccountId>,
    q: &str,
    wanted: AccountSearch,
    resolve: bool,
) -> Result<Vec<AccountId>> {
    let q = q.trim();
    if q.trim_start_matches('@').is_empty() || wanted.limit == 0 {
        return Ok(Vec::new());
    }
    let viewer = viewer.unwrap_or(AccountId::from(0));
    match handle(cx, q) {
        (name, None) if q.trim_start_matches('@').contains('@') => {
            Ok(store::account_search::by_handle(&cx.db, viewer, &name, None, wanted).await?)
        }
        (name, None) => Ok(store::account_search::by_prefix(&cx.db, viewer, &name, wanted).await?),
        (name, Some(domain)) => {
            if resolve && wanted.offset == 0 && !wanted.following && !wanted.follower {
                cx.federation.find_accounts(cx, &[format!("{name}@{domain}")]).await?;
            }
            Ok(store::account_search::by_handle(&cx.db, viewer, &name, Some(&domain), wanted).await?)
        }
    }
}

/// The hashtags featured on an account's profile, most used first; empty for a suspended account.
///
/// # Errors
/// [`Error::NotFound`] as in [`find_visible`].
#[model::use_case]
pub async fn featured_tags(cx: &Cx, id: AccountId) -> Result<(Account, Vec<FeaturedTag>)> {
    let account = find_visible(cx, id).await?;
    let tags = if account.is_suspended() { Vec::new() } else { store::featured_tag::list(&cx.db, account.id).await? };
    Ok((account, tags))
}

/// The lists of `viewer` that contain `id`; empty for a suspended account.
///
/// # Errors
/// [`Error::NotFound`] as in [`find_visible`].
#[model::use_case]
pub async fn lists(cx: &Cx, viewer: &Actor, id: AccountId) -> Result<Vec<List>> {
    let account = find_visible(cx, id).await?;
    if account.is_suspended() {
        return Ok(Vec::new());
    }
    Ok(store::list::list_with_member(&cx.db, viewer.id, account.id).await?)
}

/// `acct` in the form by which accounts are looked up: in lower case, and without this server's own domain.
pub(super) fn name(cx: &Cx, acct: &str) -> String {
    match handle(cx, acct) {
        (username, None) => username,
        (username, Some(domain)) => format!("{username}@{domain}"),
    }
}

/// User name and domain of `acct`, in lower case; the domain is `None` for this server's own.
fn handle(cx: &Cx, acct: &str) -> (String, Option<String>) {
    let acct = acct.trim().trim_start_matches('@').to_lowercase();
    match acct.split_once('@') {
        None => (acct, None),
        Some((username, domain)) => {
            let own = [&cx.urls.local_domain, &cx.urls.web_domain].iter().any(|own| own.eq_ignore_ascii_case(domain));
            // In ASCII, as domains are stored.
            let domain = crate::domain::parse(domain).unwrap_or_else(|| domain.to_owned());
            (username.to_owned(), (!own).then_some(domain))
        }
    }
}

/// The followers of `id` that `viewer` may see, by keyset pagination.
///
/// # Errors
/// [`Error::NotFound`] as in [`find_visible`].
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
/// [`Error::NotFound`] as in [`find_visible`].
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
/// [`Error::NotFound`] as in [`find_visible`].
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
