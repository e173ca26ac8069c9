//! Search: accounts and hashtags by prefix, statuses by their words, and resolving a URL or an address.
//!
//! Reached from `GET /api/v2/search`. With `resolve`, other servers are asked. `statuses` decides which statuses a viewer finds.
//! Spec: docs/contract/rules.md#16-search.

mod criteria;
mod document;
pub mod index;
mod statuses;

use crate::access::{accounts, owner, web_address};
use crate::visibility::{self, Seen};
use context::Cx;
use context::error::{Error, Result};
use context::federation::Resolved;
use model::account::AccountSearch;
use model::{AccountId, Actor, StatusId};
use store::tag::FoundTag;

pub use self::criteria::MARKS;

use self::criteria::Criteria;

/// Fewest characters for a prefix search without authentication.
const ANONYMOUS_MIN_CHARS: usize = 5;
/// Most hashtag candidates that are ranked.
const TAG_CANDIDATES: i64 = 200;

/// A search request.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub q: String,
    /// `accounts`, `hashtags` or `statuses`; `None`: all three.
    pub kind: Option<String>,
    pub limit: i64,
    pub offset: Option<i64>,
    pub resolve: bool,
    pub following: bool,
    pub exclude_unreviewed: bool,
    pub account_id: Option<AccountId>,
    /// Only statuses after this one.
    pub min_id: Option<StatusId>,
    /// Only statuses before this one.
    pub max_id: Option<StatusId>,
    /// The widest searchability to include; `None`: as wide as anyone's.
    pub searchability: Option<String>,
}

/// Search results.
#[derive(Debug, Default)]
pub struct Results {
    pub accounts: Vec<AccountId>,
    pub statuses: Vec<Seen>,
    pub hashtags: Vec<FoundTag>,
}

/// Searches as `viewer`.
///
/// # Errors
/// [`Error::BadRequest`] for an empty query or a negative limit, [`Error::Unauthorized`] for options that need
/// authentication, [`Error::NotFound`] when `account_id` or `from:` names an unknown account, [`Error::Invalid`] for an
/// operator or value that makes no sense.
#[model::use_case]
pub async fn search(cx: &Cx, viewer: Option<&Actor>, query: &Query) -> Result<Results> {
    let q = query.q.trim();
    if q.is_empty() {
        return Err(Error::missing("q"));
    }
    if viewer.is_none() && (query.offset.is_some() || query.resolve) {
        return Err(Error::Unauthorized("Searching with offset or resolve requires an authenticated user".into()));
    }
    if query.limit < 0 {
        return Err(Error::bad_request("limit must not be negative"));
    }
    if let Some(id) = query.account_id {
        accounts::find_visible(cx, id).await?;
    }
    if query.resolve && (q.starts_with("http://") || q.starts_with("https://")) {
        return by_address(cx, viewer, q).await;
    }
    let wants = |kind: &str| query.kind.as_deref().is_none_or(|wanted| wanted == kind);
    let mut results = Results::default();
    if wants("statuses") {
        results.statuses = statuses_of(cx, viewer, query).await?;
    }
    if wants("accounts") && !q.starts_with('#') {
        results.accounts = accounts(cx, viewer, q, query).await?;
    }
    if wants("hashtags") && !q.starts_with('@') {
        results.hashtags = hashtags(cx, viewer, q, query).await?;
    }
    Ok(results)
}

/// A thing that an address names.
#[derive(Debug)]
pub enum Named {
    Account(AccountId),
    Status(Box<Seen>),
}

/// The account or status named by `address`: a URL, or `user@domain` with or without `acct:` or `@` before it, of this
/// server or another, which is asked. `None` when there is none, or none that `viewer` may see.
#[model::use_case]
pub async fn resolve(cx: &Cx, viewer: &Actor, address: &str) -> Result<Option<Named>> {
    let address = address.trim();
    if address.starts_with("http://") || address.starts_with("https://") {
        let mut found = by_address(cx, Some(viewer), address).await?;
        let status = found.statuses.pop().map(|seen| Named::Status(Box::new(seen)));
        return Ok(status.or_else(|| found.accounts.pop().map(Named::Account)));
    }
    let acct = address.strip_prefix("acct:").unwrap_or(address).trim_start_matches('@');
    if !acct.contains('@') {
        return Ok(None);
    }
    Ok(accounts::resolve(cx, acct).await?.map(Named::Account))
}

async fn accounts(cx: &Cx, viewer: Option<&Actor>, q: &str, query: &Query) -> Result<Vec<AccountId>> {
    if viewer.is_none() && q.trim_start_matches('@').chars().count() < ANONYMOUS_MIN_CHARS {
        return match accounts::lookup(cx, q).await {
            Ok(found) => Ok(vec![found.id]),
            Err(Error::NotFound) => Ok(Vec::new()),
            Err(error) => Err(error),
        };
    }
    let wanted =
        AccountSearch { following: query.following, follower: false, limit: query.limit, offset: offset(query) };
    accounts::search(cx, viewer.map(|actor| actor.id), q, wanted, query.resolve).await
}

/// The statuses that `viewer` finds. Without signing in the result is empty, but the query is still validated.
async fn statuses_of(cx: &Cx, viewer: Option<&Actor>, query: &Query) -> Result<Vec<Seen>> {
    let criteria = Criteria::read(cx, viewer, query).await?;
    let Some(viewer) = viewer else { return Ok(Vec::new()) };
    statuses::find(cx, viewer, &criteria, size(offset(query)), size(query.limit)).await
}

fn size(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

/// The offset, which applies only to a single kind; a negative one counts as 0 (contract, decision 1).
fn offset(query: &Query) -> i64 {
    if query.kind.is_some() { query.offset.unwrap_or_default().max(0) } else { 0 }
}

async fn hashtags(cx: &Cx, viewer: Option<&Actor>, q: &str, query: &Query) -> Result<Vec<FoundTag>> {
    let Some(name) = text::hashtag::normalise(text::hashtag::bare(q)) else { return Ok(Vec::new()) };
    let mut found = store::tag::search(&cx.db, &name, viewer.map(|actor| actor.id), TAG_CANDIDATES).await?;
    found.retain(|tag| !query.exclude_unreviewed || tag.reviewed || tag.name == name);
    found.sort_by_key(|tag| (tag.name != name, tag.name.chars().count()));
    Ok(found.into_iter().skip(size(offset(query))).take(size(query.limit)).collect())
}

/// The account in `from:`. `me` is the viewer; the leading `@` and the domain may be omitted, and anything after the
/// domain is ignored.
///
/// # Errors
/// [`Error::NotFound`] when it does not exist.
async fn account_named(cx: &Cx, viewer: Option<&Actor>, value: &str) -> Result<AccountId> {
    if let Some(viewer) = viewer.filter(|_| value == "me") {
        return Ok(viewer.id);
    }
    let named: Vec<&str> = value.trim_start_matches('@').splitn(3, '@').take(2).collect();
    Ok(accounts::lookup(cx, &named.join("@")).await?.id)
}

/// The account or status with this URL, of this server or another; nothing that `viewer` may not see.
async fn by_address(cx: &Cx, viewer: Option<&Actor>, address: &str) -> Result<Results> {
    let mut results = Results::default();
    let (account, id) = if address.starts_with(cx.urls.origin.as_str()) {
        (owner::id_of(cx, address).await?, web_address::status(cx, address).map(|(_, id)| id))
    } else {
        match cx.federation.find_by_url(cx, address).await? {
            Some(Resolved::Account(id)) => {
                results.accounts.push(id);
                (None, None)
            }
            Some(Resolved::Status(id)) => (None, Some(id)),
            None => (None, None),
        }
    };
    if let Some(id) = id {
        results.statuses.extend(visibility::status(cx, viewer, id).await.ok());
    }
    if let Some(account) = account {
        results.accounts.extend(accounts::list_visible(cx, &[account]).await?);
    }
    Ok(results)
}
