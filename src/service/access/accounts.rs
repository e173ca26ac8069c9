//! Finding accounts: by id, by name and by search. Other servers are asked only where a search says so.

use context::Cx;
use context::error::{Error, Result};
use model::account::AccountSearch;
use model::{Account, AccountId};

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

/// The account named `acct`, now or before: `user`, or `user@domain` for an account of another server that is known here.
///
/// # Errors
/// [`Error::NotFound`] when no such account is known.
#[model::use_case]
pub async fn lookup(cx: &Cx, acct: &str) -> Result<Account> {
    let handle = name(cx, acct);
    let found = match store::account::list_by_handles(&cx.db, std::slice::from_ref(&handle)).await?.pop() {
        Some(found) => Some(found),
        None if handle.contains('@') => None,
        // A name that an account of this server had before.
        None => store::username::find_account(&cx.db, &handle).await?,
    };
    let found = found.ok_or(Error::NotFound)?;
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

/// `acct` in the form by which accounts are looked up: in lower case, and without this server's own domain.
pub(crate) fn name(cx: &Cx, acct: &str) -> String {
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
