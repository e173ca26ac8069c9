//! Searching: accounts and hashtags by their beginning, and what an address of this server names.
//!
//! There is no full-text index, so no status is found by its words (contract rules, section 16): the list stays empty.
//! Nobody is looked up elsewhere.

use crate::app::App;
use crate::error::{Error, Result};
use crate::service::account;
use crate::service::visibility::{self, Seen};
use model::account::Wanted;
use model::{AccountId, Actor, StatusId};
use store::tag::Found;

/// Whoever is not signed in finds accounts by a part of the name only from so many characters on.
const ANONYMOUS_MIN_CHARS: usize = 5;
/// Hashtags looked at before the best are kept.
const TAG_CANDIDATES: i64 = 200;
/// What may stand before a colon in a query.
const PREFIXES: &[&str] =
    &["from", "has", "is", "language", "before", "after", "during", "in", "my", "domain", "order", "searchability"];

/// What someone searches for.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the parameters of GET /api/v2/search")]
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
}

/// What was found.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "named by the Search entity")]
pub struct Results {
    pub accounts: Vec<AccountId>,
    pub statuses: Vec<Seen>,
    pub hashtags: Vec<Found>,
}

/// Searches as `viewer`.
///
/// # Errors
/// [`Error::BadRequest`] without words, [`Error::Unauthorized`] for what needs someone signed in,
/// [`Error::NotFound`] for an account that the query names and nobody has, [`Error::Invalid`] for an unknown operator.
pub async fn search(app: &App, viewer: Option<&Actor>, query: &Query) -> Result<Results> {
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
        account::find_visible(app, id).await?;
    }
    if query.resolve && (q.starts_with("http://") || q.starts_with("https://")) {
        return by_address(app, viewer, q).await;
    }
    let wants = |kind: &str| query.kind.as_deref().is_none_or(|wanted| wanted == kind);
    let mut results = Results::default();
    if wants("statuses") {
        check_operators(app, viewer, q).await?;
    }
    if wants("accounts") && !q.starts_with('#') {
        results.accounts = accounts(app, viewer, q, query).await?;
    }
    if wants("hashtags") && !q.starts_with('@') {
        results.hashtags = hashtags(app, viewer, q, query).await?;
    }
    Ok(results)
}

async fn accounts(app: &App, viewer: Option<&Actor>, q: &str, query: &Query) -> Result<Vec<AccountId>> {
    if viewer.is_none() && q.trim_start_matches('@').chars().count() < ANONYMOUS_MIN_CHARS {
        return match account::lookup(app, q).await {
            Ok(found) => Ok(vec![found.id]),
            Err(Error::NotFound) => Ok(Vec::new()),
            Err(error) => Err(error),
        };
    }
    let wanted = Wanted { following: query.following, follower: false, limit: query.limit, offset: offset(query) };
    account::search(app, viewer.map(|actor| actor.id), q, wanted).await
}

/// Only one kind can be paged through; a negative offset counts as none (contract, decision 1).
fn offset(query: &Query) -> i64 {
    if query.kind.is_some() { query.offset.unwrap_or_default().max(0) } else { 0 }
}

async fn hashtags(app: &App, viewer: Option<&Actor>, q: &str, query: &Query) -> Result<Vec<Found>> {
    let Some(name) = text::hashtag::normalise(text::hashtag::bare(q)) else { return Ok(Vec::new()) };
    let mut found = store::tag::search(&app.db, &name, viewer.map(|actor| actor.id), TAG_CANDIDATES).await?;
    found.retain(|tag| !query.exclude_unreviewed || tag.reviewed || tag.name == name);
    found.sort_by_key(|tag| (tag.name != name, tag.name.chars().count()));
    let (skip, take) =
        (usize::try_from(offset(query)).unwrap_or(usize::MAX), usize::try_from(query.limit).unwrap_or_default());
    Ok(found.into_iter().skip(skip).take(take).collect())
}

/// Words with a colon: known ones, and `from:` names someone.
async fn check_operators(app: &App, viewer: Option<&Actor>, q: &str) -> Result<()> {
    for word in q.split_whitespace() {
        let Some((prefix, value)) = word.trim_start_matches(['+', '-']).split_once(':') else { continue };
        let is_operator = !prefix.is_empty()
            && prefix.bytes().all(|byte| byte.is_ascii_lowercase())
            && !value.starts_with("//")
            && !value.is_empty();
        if !is_operator {
            continue;
        }
        if !PREFIXES.contains(&prefix) {
            return Err(Error::invalid(format!("{prefix}: is no search operator; known are {}", PREFIXES.join(", "))));
        }
        if prefix == "from" && !(value == "me" && viewer.is_some()) {
            account::lookup(app, value).await?;
        }
    }
    Ok(())
}

/// The account or status that an address names, if it is known here.
async fn by_address(app: &App, viewer: Option<&Actor>, address: &str) -> Result<Results> {
    let mut results = Results::default();
    let (username, id) = match address
        .strip_prefix(app.urls.origin.as_str())
        .map(|path| path.trim_matches('/').split('/').collect::<Vec<_>>())
    {
        Some(path) => match path.as_slice() {
            [name] if name.starts_with('@') => (Some((*name).to_owned()), None),
            [name, id] if name.starts_with('@') => (None, id.parse::<StatusId>().ok()),
            ["users", name] => (Some((*name).to_owned()), None),
            ["users", _, "statuses", id] => (None, id.parse::<StatusId>().ok()),
            _ => (None, None),
        },
        None => (None, store::status::find_by_uri(&app.db, address).await?),
    };
    if let Some(id) = id {
        results.statuses.extend(visibility::status(app, viewer, id).await.ok());
    }
    if let Some(name) = username {
        results.accounts.extend(account::lookup(app, &name).await.ok().map(|found| found.id));
    }
    Ok(results)
}
