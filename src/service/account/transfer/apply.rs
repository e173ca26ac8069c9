//! Applies one row of an import with the use case that a client would call. A row that was applied already changes
//! nothing.

use super::entry::{Entry, FilterEntry, KeywordEntry};
use super::export;
use crate::access::accounts;
use crate::access::web_address;
use crate::filter::keyword::{KeywordAttributes, KeywordParams};
use crate::filter::{self, FilterParams};
use crate::follow::{self, FollowParams};
use crate::{account, domain_block, interaction, list, relationship};
use chrono::DateTime;
use context::Cx;
use context::error::{Error, Result};
use model::{AccountId, Actor, RowId, StatusId};

/// Applies `entry` for `actor`.
///
/// # Errors
/// Errors of the use case; [`Error::Invalid`] for an account or a status that this server does not know.
pub(super) async fn apply(cx: &Cx, actor: &Actor, entry: Entry) -> Result<()> {
    match entry {
        Entry::Follow { acct, reblogs, notify, languages } => {
            let target = account(cx, &acct).await?;
            follow::follow(cx, actor, target, FollowParams { reblogs, notify, languages }).await
        }
        Entry::Block { acct } => relationship::block(cx, actor, account(cx, &acct).await?).await,
        Entry::Mute { acct, hide_notifications } => {
            relationship::mute(cx, actor, account(cx, &acct).await?, hide_notifications, 0).await
        }
        Entry::Domain { domain } => domain_block::block(cx, actor, &domain).await,
        Entry::Member { list, acct } => put_on_list(cx, actor, list, &acct).await,
        Entry::Bookmark { uri } => {
            let status = status(cx, &uri).await?.ok_or_else(unknown_status)?;
            interaction::bookmark(cx, actor, status).await.map_err(|error| if_missing(error, unknown_status))
        }
        Entry::Filter(filter) => make_filter(cx, actor, filter).await,
    }
}

/// Follows the account if necessary, and adds it to a list, which is created if necessary.
async fn put_on_list(cx: &Cx, actor: &Actor, title: String, acct: &str) -> Result<()> {
    let target = account(cx, acct).await?;
    if target != actor.id {
        follow::follow(cx, actor, target, FollowParams::default()).await?;
    }
    let list = find_or_make_list(cx, actor, title).await?;
    if store::list::list_members_among(&cx.db, list, &[target]).await?.is_empty() {
        list::add_members(cx, actor, list, &[target]).await?;
    }
    Ok(())
}

async fn find_or_make_list(cx: &Cx, actor: &Actor, title: String) -> Result<RowId> {
    let lists = list::list(cx, actor).await?;
    match lists.into_iter().find(|list| list.title == title) {
        Some(list) => Ok(list.id),
        None => Ok(list::create(cx, actor, list::ListParams { title: Some(title), ..list::ListParams::default() })
            .await?
            .id),
    }
}

/// Creates a filter, unless an equal one exists.
async fn make_filter(cx: &Cx, actor: &Actor, filter: FilterEntry) -> Result<()> {
    let key = filter.key();
    if export::filters(cx, actor.id).await?.iter().any(|(_, existing)| existing.key() == key) {
        return Ok(());
    }
    let new_keyword = |keyword: KeywordEntry| KeywordAttributes {
        params: KeywordParams { keyword: Some(keyword.keyword), whole_word: Some(keyword.whole_word) },
        ..KeywordAttributes::default()
    };
    let params = FilterParams {
        title: Some(filter.title),
        context: Some(filter.context),
        action: Some(filter.filter_action),
        expires_in: filter.expires_at.map(|at| seconds_until(cx, &at)).transpose()?.map(Some),
        exclude_follows: Some(filter.exclude_follows),
        exclude_local_users: Some(filter.exclude_localusers),
        with_quote: Some(filter.with_quote),
        with_profile: Some(filter.with_profile),
        keywords: Some(filter.keywords.into_iter().map(new_keyword).collect()),
    };
    filter::create(cx, actor, params).await.map(drop)
}

/// Seconds from now until an RFC 3339 time; 0 when it is past.
fn seconds_until(cx: &Cx, at: &str) -> Result<i64> {
    let at = DateTime::parse_from_rfc3339(at).map_err(|_| Error::invalid("expires_at: must be a time of ISO 8601"))?;
    Ok((at.timestamp() - cx.clock.now().timestamp()).max(0))
}

/// The account with a handle, looked up on its server if it is not known here.
async fn account(cx: &Cx, acct: &str) -> Result<AccountId> {
    let unknown = || Error::invalid(format!("This server does not know the account {acct}"));
    if let Err(Error::NotFound) = account::lookup(cx, acct).await {
        cx.federation.find_accounts(cx, &[accounts::name(cx, acct)]).await?;
    }
    let found = account::lookup(cx, acct).await.map_err(|error| if_missing(error, unknown))?;
    if found.is_suspended() { Err(unknown()) } else { Ok(found.id) }
}

/// The status with a URI, if this server knows it.
async fn status(cx: &Cx, uri: &str) -> Result<Option<StatusId>> {
    if let Some((_, id)) = web_address::status(cx, uri) {
        return Ok(Some(id));
    }
    Ok(store::reference::list_by_addresses(&cx.db, &[uri.to_owned()]).await?.pop().map(|(_, id)| id))
}

fn unknown_status() -> Error {
    Error::invalid("This server does not know the post, or you may not see it")
}

/// `error`, or `other` in place of [`Error::NotFound`].
fn if_missing(error: Error, other: impl FnOnce() -> Error) -> Error {
    match error {
        Error::NotFound => other(),
        error => error,
    }
}
