//! The public view in a browser or feed reader: profiles, statuses, threads.
//!
//! Reached from the web pages and feeds. There is no viewer: [`visibility`] and [`timeline`] are called for an
//! anonymous one. Accounts and statuses of other servers have their pages there.

use crate::access::{owner, web_address};
use crate::timeline::{self, ProfileQuery, Thread, TimelinePage};
use crate::visibility::{self, Seen};
use context::Cx;
use context::error::{Error, Result};
use model::urls::{self, Owner};
use model::{Account, Actor, Cursor, Status, StatusId};

/// The local account named `name` (`alice`, or `alice@` and a domain of this server), now or before, ignoring case. A
/// suspended account is returned.
///
/// # Errors
/// [`Error::NotFound`] when it does not exist, or awaits confirmation or approval.
#[model::use_case]
pub async fn person(cx: &Cx, name: &str) -> Result<Account> {
    let username = match name.split_once('@') {
        None => name,
        Some((username, domain)) if cx.config.is_local_domain(domain) => username,
        Some(_) => return Err(Error::NotFound),
    };
    named(cx, &Owner::Page(username.to_owned())).await
}

/// The local account that `owner` names. A suspended account is returned.
///
/// # Errors
/// [`Error::NotFound`] when it does not exist, or awaits confirmation or approval.
#[model::use_case]
pub async fn named(cx: &Cx, owner: &Owner) -> Result<Account> {
    let account = owner::find(cx, owner).await?.ok_or(Error::NotFound)?;
    store::account::find_known(&cx.db, account.id).await?.ok_or(Error::NotFound)
}

/// The page of the account of another server named `name`, `user@domain`, on its own server. `None` for any other name,
/// and for an account that is not known, suspended, or has no page.
#[model::use_case]
pub async fn remote_account_page(cx: &Cx, name: &str) -> Result<Option<String>> {
    Ok(remote_account(cx, name).await?.and_then(|account| web_address(account.url)))
}

/// The page of the status `id` of the account `name`, `user@domain`, on the server of its author; for a reblog the page
/// of the original. `None` as in [`remote_account_page`], and for a status that `viewer` may not see.
#[model::use_case]
pub async fn remote_status_page(cx: &Cx, viewer: Option<&Actor>, name: &str, id: StatusId) -> Result<Option<String>> {
    let Some(account) = remote_account(cx, name).await? else { return Ok(None) };
    let seen = match visibility::status(cx, viewer, id).await {
        Err(Error::NotFound) => return Ok(None),
        seen => seen?,
    };
    if seen.head().account_id != account.id {
        return Ok(None);
    }
    let status = store::status::find(&cx.db, seen.proper().id).await?;
    Ok(status.and_then(|status| web_address(status.url)))
}

/// The account whose page is named `name` for `viewer`: as [`person`], and for people who are signed in also a known account
/// of another server, `user@domain`.
///
/// # Errors
/// As [`person`].
#[model::use_case]
pub async fn person_for(cx: &Cx, viewer: Option<&Actor>, name: &str) -> Result<Account> {
    match viewer {
        Some(_) => match remote_account(cx, name).await? {
            Some(account) => Ok(account),
            None => person(cx, name).await,
        },
        None => person(cx, name).await,
    }
}

/// The known account `name`, `user@domain`, of another server, unless it is suspended.
async fn remote_account(cx: &Cx, name: &str) -> Result<Option<Account>> {
    let is_remote = name.split_once('@').is_some_and(|(_, domain)| !cx.config.is_local_domain(domain));
    if !is_remote {
        return Ok(None);
    }
    let found = store::account::list_by_handles(&cx.db, &[name.to_lowercase()]).await?.pop();
    Ok(found.filter(|account| !account.is_local() && !account.is_suspended()))
}

/// `url`, if a browser may be sent there: `http` or `https`, with a host.
fn web_address(url: Option<String>) -> Option<String> {
    url.filter(|url| url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()))
}

/// The URI of the local account or status whose page or ActivityPub object is `address`, if everyone may see it, also on
/// other servers.
///
/// # Errors
/// [`Error::NotFound`] for any other address.
#[model::use_case]
pub async fn interactive(cx: &Cx, address: &str) -> Result<String> {
    if let Some((author, id)) = web_address::status(cx, address) {
        let account = named(cx, &author).await?;
        let seen = visibility::status(cx, None, id).await?;
        let shown = seen.head().account_id == account.id && seen.original().is_none() && !seen.is_local_only();
        return if shown { Ok(urls::note(&account.uri, id)) } else { Err(Error::NotFound) };
    }
    let Some((of, "")) = cx.urls.owner(address) else { return Err(Error::NotFound) };
    let account = named(cx, &of).await?;
    if account.is_suspended() { Err(Error::NotFound) } else { Ok(account.uri) }
}

/// The status of this server whose ActivityPub object or page is `address`, as other servers may name it; `None` for any
/// other address, and for a status that stays on this server. Says nothing of who may see it.
#[model::use_case]
pub async fn local_status(cx: &Cx, address: &str) -> Result<Option<StatusId>> {
    let Some((author, id)) = web_address::status(cx, address) else { return Ok(None) };
    let leaves = |status: &Status| status.local && !status.local_only;
    let Some(status) = store::status::find(&cx.db, id).await?.filter(leaves) else { return Ok(None) };
    if status.uri == address || status.url.as_deref() == Some(address) {
        return Ok(Some(id));
    }
    let author = owner::find(cx, &author).await?;
    Ok(author.is_some_and(|author| author.id == status.account_id).then_some(id))
}

/// The status at `address`, if everyone may read and embed it, with its author. A reblog has a URL, but no content to
/// embed.
///
/// # Errors
/// [`Error::NotFound`] when the URL does not belong to a status of this server, or the status is neither public nor
/// unlisted, or a reblog.
#[model::use_case]
pub async fn embeddable(cx: &Cx, address: &str) -> Result<(Account, Seen)> {
    let (author, id) = web_address::status(cx, address).ok_or(Error::NotFound)?;
    let account = named(cx, &author).await?;
    let seen = visibility::status(cx, None, id).await?;
    let shown = seen.head().account_id == account.id && seen.original().is_none();
    if shown && seen.head().visibility.is_anonymous() { Ok((account, seen)) } else { Err(Error::NotFound) }
}

/// The oldest local account: the owner of a single-user server.
#[model::use_case]
pub async fn owner(cx: &Cx) -> Result<Option<Account>> {
    Ok(store::account::find_oldest_local(&cx.db).await?)
}

/// The public statuses of `account` without replies to others and reblogs, for its feed.
#[model::use_case]
pub async fn feed(cx: &Cx, account: &Account, cursor: &Cursor) -> Result<TimelinePage> {
    let query = ProfileQuery { exclude_replies: true, exclude_reblogs: true, ..ProfileQuery::default() };
    timeline::profile(cx, None, account.id, &query, cursor).await
}

/// The statuses that `account` pinned, as far as `viewer` may see them.
#[model::use_case]
pub async fn pinned(cx: &Cx, viewer: Option<&Actor>, account: &Account) -> Result<Vec<Seen>> {
    let query = ProfileQuery { pinned: true, ..ProfileQuery::default() };
    let limit = cx.settings().max_pinned_statuses;
    Ok(timeline::profile(cx, viewer, account.id, &query, &Cursor::first(limit)).await?.shown)
}

/// A status of `account`, with its thread, as far as `viewer` may see it.
///
/// # Errors
/// [`Error::NotFound`] when it is missing, hidden or someone else's.
#[model::use_case]
pub async fn status(cx: &Cx, viewer: Option<&Actor>, account: &Account, id: StatusId) -> Result<(Seen, Thread)> {
    let seen = visibility::status(cx, viewer, id).await?;
    if seen.head().account_id != account.id {
        return Err(Error::NotFound);
    }
    let thread = timeline::context(cx, viewer, seen.proper().id, true).await?;
    Ok((seen, thread))
}
