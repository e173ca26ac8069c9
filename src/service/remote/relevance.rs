//! Which activities of other servers concern this one, and those that were undone before they came.

use context::Cx;
use context::error::Result;
use model::{Account, AccountId};

use super::status::RemoteStatus;

/// The account of this server with the URI `uri`.
#[model::use_case]
pub async fn local_account(cx: &Cx, uri: &str) -> Result<Option<Account>> {
    Ok(store::remote::find_account(&cx.db, uri).await?.filter(Account::is_local))
}

/// The URIs of the accounts of this server that have these user names, or had them before, each with the name. `usernames`:
/// in lower case.
#[model::use_case]
pub async fn named(cx: &Cx, usernames: &[String]) -> Result<Vec<(String, String)>> {
    Ok(store::username::list_uris(&cx.db, usernames).await?)
}

/// True when an account of this server follows `account`.
#[model::use_case]
pub async fn is_followed(cx: &Cx, account: AccountId) -> Result<bool> {
    Ok(store::remote::has_local_follower(&cx.db, account).await?)
}

/// True when a status concerns someone here: it addresses one of `local`, quotes or answers one of their statuses, or
/// answers or is by an account that they follow.
#[model::use_case]
pub async fn is_relevant(cx: &Cx, status: &RemoteStatus, local: &[AccountId]) -> Result<bool> {
    if !local.is_empty() || is_followed(cx, status.author).await? {
        return Ok(true);
    }
    let quote = status.references.iter().find(|reference| reference.quote);
    if let Some(quote) = quote
        && crate::public::local_status(cx, &quote.url).await?.is_some()
    {
        return Ok(true);
    }
    let Some(parent) = status.in_reply_to else { return Ok(false) };
    let Some(parent) = store::status::find(&cx.db, parent).await? else { return Ok(false) };
    Ok(parent.local || is_followed(cx, parent.account_id).await?)
}

/// True when the policy about the author's domain rejects a status since it mentions, answers, quotes or refers to an account
/// here that does not follow the author. `local`: the accounts here that it addresses.
#[model::use_case]
pub async fn is_unwelcome(cx: &Cx, status: &RemoteStatus, local: &[AccountId]) -> Result<bool> {
    if !super::flags(cx, status.author).await?.reject_reply_exclude_followers {
        return Ok(false);
    }
    let mut named = Vec::from_iter(status.in_reply_to);
    for reference in &status.references {
        named.extend(crate::public::local_status(cx, &reference.url).await?);
    }
    let named = store::status::list(&cx.db, &named).await?;
    let concerned: Vec<AccountId> = named.iter().map(|status| status.account_id).chain(local.iter().copied()).collect();
    Ok(!store::follow::list_strangers_among(&cx.db, status.author, &concerned).await?.is_empty())
}

/// Remembers that `account` undid the activity, or deleted the object, `uri`: it may come later.
#[model::use_case]
pub async fn remember_undone(cx: &Cx, account: AccountId, uri: &str) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    store::tombstone::insert(&mut tx, uri, account, cx.clock.now()).await?;
    Ok(tx.commit().await?)
}

/// True when `account` undid the activity, or deleted the object, `uri`.
#[model::use_case]
pub async fn is_undone(cx: &Cx, account: AccountId, uri: &str) -> Result<bool> {
    Ok(store::tombstone::exists(&cx.db, uri, account).await?)
}
