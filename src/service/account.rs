//! Finding accounts: by id, by name, by what they are connected to.
//!
//! Spec: contract rules, sections 2 and 9.

use crate::app::App;
use crate::error::{Error, Result};
use model::account::Wanted;
use model::relationship::Listed;
use model::{Account, AccountId, Actor, Cursor};
use store::featured_tag::FeaturedTag;
use store::list::List;

/// The account, unless it is a local one that waits for confirmation or approval. A suspended one is found.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or must not be known of; the two look alike.
pub async fn find_visible(app: &App, id: AccountId) -> Result<Account> {
    store::account::find_known(&app.db, id).await?.ok_or(Error::NotFound)
}

/// Those of `ids` that may be known of, each once, in the order given.
///
/// # Errors
/// When the database does.
pub async fn list_visible(app: &App, ids: &[AccountId]) -> Result<Vec<AccountId>> {
    let mut known = store::account::list_known(&app.db, ids).await?;
    let mut listed = Vec::with_capacity(known.len());
    for id in ids {
        if let Some(at) = known.iter().position(|candidate| candidate == id) {
            listed.push(known.swap_remove(at));
        }
    }
    Ok(listed)
}

/// The account with this name: `user`, or `user@domain` for one of another server that is known here already.
///
/// # Errors
/// [`Error::NotFound`] when none is known by it.
pub async fn lookup(app: &App, acct: &str) -> Result<Account> {
    let (username, domain) = handle(app, acct);
    let name = domain.map_or_else(|| username.clone(), |domain| format!("{username}@{domain}"));
    let found = store::account::list_by_handles(&app.db, &[name]).await?.pop().ok_or(Error::NotFound)?;
    let known = store::account::list_known(&app.db, &[found.id]).await?;
    if known.is_empty() { Err(Error::NotFound) } else { Ok(found) }
}

/// Accounts whose user name or display name begins with `q`, or with that name and domain: exact matches first, then
/// those whom `viewer` follows. Known accounts only; nobody is looked up elsewhere.
///
/// # Errors
/// When the database does.
pub async fn search(app: &App, viewer: Option<AccountId>, q: &str, wanted: Wanted) -> Result<Vec<AccountId>> {
    let q = q.trim();
    if q.trim_start_matches('@').is_empty() || wanted.limit == 0 {
        return Ok(Vec::new());
    }
    let viewer = viewer.unwrap_or(AccountId::from(0));
    match handle(app, q) {
        (name, None) if q.trim_start_matches('@').contains('@') => {
            Ok(store::account_search::by_handle(&app.db, viewer, &name, None, wanted).await?)
        }
        (name, None) => Ok(store::account_search::by_prefix(&app.db, viewer, &name, wanted).await?),
        (name, Some(domain)) => {
            Ok(store::account_search::by_handle(&app.db, viewer, &name, Some(&domain), wanted).await?)
        }
    }
}

/// The hashtags that an account shows on its profile, most used first; none of a suspended one.
///
/// # Errors
/// [`Error::NotFound`] as in [`find_visible`].
pub async fn featured_tags(app: &App, id: AccountId) -> Result<(Account, Vec<FeaturedTag>)> {
    let account = find_visible(app, id).await?;
    let tags = if account.is_suspended() { Vec::new() } else { store::featured_tag::list(&app.db, account.id).await? };
    Ok((account, tags))
}

/// Those of `viewer`'s lists that `id` is on; none for a suspended account.
///
/// # Errors
/// [`Error::NotFound`] as in [`find_visible`].
pub async fn lists(app: &App, viewer: &Actor, id: AccountId) -> Result<Vec<List>> {
    let account = find_visible(app, id).await?;
    if account.is_suspended() {
        return Ok(Vec::new());
    }
    Ok(store::list::list_with_member(&app.db, viewer.id, account.id).await?)
}

/// User name and domain of `acct`, in lower case; no domain for this server's own.
fn handle(app: &App, acct: &str) -> (String, Option<String>) {
    let acct = acct.trim().trim_start_matches('@').to_lowercase();
    match acct.split_once('@') {
        None => (acct, None),
        Some((username, domain)) => {
            let own = [&app.urls.local_domain, &app.urls.web_domain].iter().any(|own| own.eq_ignore_ascii_case(domain));
            (username.to_owned(), (!own).then(|| domain.to_owned()))
        }
    }
}

/// Who follows `id`, as far as `viewer` may know.
///
/// # Errors
/// [`Error::NotFound`] as in [`find_visible`].
pub async fn followers(app: &App, viewer: Option<&Actor>, id: AccountId, cursor: &Cursor) -> Result<Vec<Listed>> {
    let account = find_visible(app, id).await?;
    if hides_network(app, viewer, &account).await? {
        return Ok(Vec::new());
    }
    let filter = viewer.map(|actor| actor.id).filter(|viewer| *viewer != id);
    Ok(store::follow::list_followers(&app.db, id, filter, cursor, app.clock.now()).await?)
}

/// Whom `id` follows, as far as `viewer` may know.
///
/// # Errors
/// [`Error::NotFound`] as in [`find_visible`].
pub async fn following(app: &App, viewer: Option<&Actor>, id: AccountId, cursor: &Cursor) -> Result<Vec<Listed>> {
    let account = find_visible(app, id).await?;
    if hides_network(app, viewer, &account).await? {
        return Ok(Vec::new());
    }
    let filter = viewer.map(|actor| actor.id).filter(|viewer| *viewer != id);
    Ok(store::follow::list_following(&app.db, id, filter, cursor, app.clock.now()).await?)
}

/// True when `viewer` must not see whom `account` follows and who follows it.
async fn hides_network(app: &App, viewer: Option<&Actor>, account: &Account) -> Result<bool> {
    if account.is_suspended() {
        return Ok(true);
    }
    match viewer {
        Some(viewer) if viewer.id == account.id => Ok(false),
        _ if account.hide_collections == Some(true) => Ok(true),
        Some(viewer) => Ok(store::relationship::blocks(&app.db, account.id, viewer.id).await?),
        None => Ok(false),
    }
}
