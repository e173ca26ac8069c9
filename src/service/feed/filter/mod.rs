//! Filters: create, change and list them. Keywords are in [`keyword`], statuses in [`status`], version 1 of filters,
//! of one keyword each, in [`v1`].
//!
//! Reached from `/api/v2/filters`. Filters are matched where statuses are rendered, in `entity::filter_result`;
//! matching statuses stay in responses. Every change is one transaction that locks the account, so that limits hold,
//! and increments the version of its filters, by which servers cache them in memory.
//!
//! Spec: docs/contract/rules.md#15-filters.

pub mod keyword;
pub mod status;
pub mod v1;

use chrono::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use database::{Conn, Tx};
use keyword::KeywordAttributes;
use model::filter::{FilterAction, FilterContext};
use model::params::{required_to_create, sent_int};
use model::{AccountId, Actor, FilterId, Json, Time};
use store::filter::{FilterKeywordRow, FilterRow, FilterStatusRow, Usage};

/// Most filters of an account.
pub const FILTERS_MAX: i64 = 200;
/// Most keywords in all filters of an account.
pub const KEYWORDS_MAX: i64 = 500;
/// Most characters in all keywords of an account: they are compiled together, and cached in memory.
pub const CHARACTERS_MAX: i64 = 50_000;
/// Most statuses in all filters of an account.
pub const STATUSES_MAX: i64 = 2_000;
/// Longest title, in characters.
const TITLE_MAX: usize = 256;
/// Latest expiry: a hundred years, in seconds.
const EXPIRES_IN_MAX: i64 = 100 * 365 * 24 * 60 * 60;

/// A filter with its keywords and statuses.
#[derive(Clone, Debug)]
pub struct Filter {
    pub row: FilterRow,
    pub keywords: Vec<FilterKeywordRow>,
    pub statuses: Vec<FilterStatusRow>,
}

/// A filter; `None` leaves a value as it is, or takes the default of a new one.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct FilterParams {
    /// At most 256 characters.
    #[schemars(transform = required_to_create)]
    pub title: Option<String>,
    /// Where clients apply it: at least one context.
    #[schemars(transform = required_to_create)]
    pub context: Option<Vec<FilterContext>>,
    /// `warn` by default.
    #[serde(rename = "filter_action")]
    pub action: Option<FilterAction>,
    /// In seconds from now; blank, the default, for a filter that does not expire.
    #[serde(deserialize_with = "sent_int")]
    #[schemars(with = "Option<i64>")]
    pub expires_in: Option<Option<i64>>,
    /// In the order in which they are applied.
    #[serde(rename = "keywords_attributes")]
    pub keywords: Option<Vec<KeywordAttributes>>,
    /// Excludes statuses of accounts that the user follows.
    pub exclude_follows: Option<bool>,
    /// Excludes statuses of accounts of this server.
    #[serde(rename = "exclude_localusers")]
    pub exclude_local_users: Option<bool>,
    /// Whether quoted statuses are matched; true by default.
    pub with_quote: Option<bool>,
    /// Whether the names and notes of authors are matched; false by default.
    pub with_profile: Option<bool>,
}

/// All filters of `viewer`, oldest first.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: &Actor) -> Result<Vec<Filter>> {
    let rows = store::filter::list(&cx.db, viewer.id).await?;
    let keywords = store::filter::list_keywords(&cx.db, viewer.id).await?;
    let statuses = store::filter::list_statuses(&cx.db, viewer.id).await?;
    let whole = |row: FilterRow| Filter {
        keywords: keywords.iter().filter(|keyword| keyword.filter_id == row.id).cloned().collect(),
        statuses: statuses.iter().filter(|status| status.filter_id == row.id).copied().collect(),
        row,
    };
    Ok(rows.into_iter().map(whole).collect())
}

/// One of the viewer's filters.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn find(cx: &Cx, viewer: &Actor, id: FilterId) -> Result<Filter> {
    let row = own(&cx.db, viewer.id, id).await?;
    whole(&cx.db, row).await
}

/// Creates a filter.
///
/// # Errors
/// [`Error::Invalid`] for a blank title, context or keyword, for a value that is too long, and beyond the limits of
/// an account.
#[model::use_case]
pub async fn create(cx: &Cx, actor: &Actor, params: FilterParams) -> Result<Filter> {
    let mut tx = begin(cx, actor.id).await?;
    let row = insert(cx, &mut tx, actor.id, &params).await?;
    keyword::apply(cx, &mut tx, row.id, params.keywords.unwrap_or_default()).await?;
    let made = whole(&mut tx, row).await?;
    commit(cx, tx, actor.id).await?;
    Ok(made)
}

/// Changes a filter and its keywords, all or nothing.
///
/// # Errors
/// As [`create`], and [`Error::NotFound`] when the filter is missing or someone else's, or a keyword is not one of its.
#[model::use_case]
pub async fn update(cx: &Cx, actor: &Actor, id: FilterId, params: FilterParams) -> Result<Filter> {
    let mut tx = begin(cx, actor.id).await?;
    let mut row = own(&mut tx, actor.id, id).await?;
    overwrite(&mut row, &params, cx.clock.now())?;
    store::filter::update(&mut tx, &row).await?;
    keyword::apply(cx, &mut tx, id, params.keywords.unwrap_or_default()).await?;
    let changed = whole(&mut tx, row).await?;
    commit(cx, tx, actor.id).await?;
    Ok(changed)
}

/// Deletes a filter with its keywords and statuses.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn delete(cx: &Cx, actor: &Actor, id: FilterId) -> Result<()> {
    let mut tx = begin(cx, actor.id).await?;
    if !store::filter::delete(&mut tx, actor.id, id).await? {
        return Err(Error::NotFound);
    }
    commit(cx, tx, actor.id).await
}

/// Starts a transaction that changes the filters of `account`, which it locks.
async fn begin(cx: &Cx, account: AccountId) -> Result<Tx> {
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[account]).await?.pop().ok_or(Error::NotFound)?;
    Ok(tx)
}

/// Commits a transaction of [`begin`]: checks the limits, and records the change once.
async fn commit(cx: &Cx, mut tx: Tx, account: AccountId) -> Result<()> {
    check_limits(store::filter::usage(&mut tx, account).await?)?;
    store::filter::raise_version(&mut tx, account).await?;
    change::record(cx, &mut tx, Change::FiltersChanged { account }).await?;
    Ok(tx.commit().await?)
}

fn check_limits(usage: Usage) -> Result<()> {
    let limits = [
        (usage.filters, FILTERS_MAX, "filters"),
        (usage.keywords, KEYWORDS_MAX, "keywords in all filters"),
        (usage.characters, CHARACTERS_MAX, "characters in all keywords"),
        (usage.statuses, STATUSES_MAX, "statuses in all filters"),
    ];
    match limits.into_iter().find(|(used, most, _)| used > most) {
        Some((_, most, what)) => Err(Error::invalid(format!("Validation failed: more than {most} {what}"))),
        None => Ok(()),
    }
}

#[model::boxed]
async fn own(db: Conn<'_>, account: AccountId, id: FilterId) -> Result<FilterRow> {
    store::filter::find(db, account, id).await?.ok_or(Error::NotFound)
}

#[model::boxed]
async fn whole(mut db: Conn<'_>, row: FilterRow) -> Result<Filter> {
    let keywords = store::filter::list_keywords_of(db.reborrow(), row.id).await?;
    let statuses = store::filter::list_statuses_of(db, row.id).await?;
    Ok(Filter { row, keywords, statuses })
}

/// Inserts a filter without keywords.
async fn insert(cx: &Cx, tx: &mut Tx, account: AccountId, params: &FilterParams) -> Result<FilterRow> {
    let mut row = FilterRow {
        id: cx.ids.next(),
        account_id: account,
        title: String::new(),
        context: Json(Vec::new()),
        action: FilterAction::Warn,
        expires_at: None,
        exclude_follows: false,
        exclude_local_users: false,
        with_quote: true,
        with_profile: false,
    };
    overwrite(&mut row, params, cx.clock.now())?;
    store::filter::insert(tx, &row).await?;
    Ok(row)
}

/// Applies `params` to `row`, and validates the result.
fn overwrite(row: &mut FilterRow, params: &FilterParams, now: Time) -> Result<()> {
    if let Some(title) = &params.title {
        row.title.clone_from(title);
    }
    if let Some(context) = &params.context {
        row.context = Json(each_once(context));
    }
    if let Some(expires_in) = params.expires_in {
        row.expires_at = expires_in.map(|seconds| expiry(seconds, now)).transpose()?;
    }
    row.action = params.action.unwrap_or(row.action);
    row.exclude_follows = params.exclude_follows.unwrap_or(row.exclude_follows);
    row.exclude_local_users = params.exclude_local_users.unwrap_or(row.exclude_local_users);
    row.with_quote = params.with_quote.unwrap_or(row.with_quote);
    row.with_profile = params.with_profile.unwrap_or(row.with_profile);
    check(row)
}

fn check(row: &FilterRow) -> Result<()> {
    if row.title.trim().is_empty() {
        return Err(Error::invalid("Validation failed: title can't be blank"));
    }
    if row.title.chars().count() > TITLE_MAX {
        return Err(Error::invalid(format!(
            "Validation failed: title is too long (maximum is {TITLE_MAX} characters)"
        )));
    }
    if row.context.is_empty() {
        return Err(Error::invalid("Validation failed: context can't be blank"));
    }
    Ok(())
}

fn each_once(context: &[FilterContext]) -> Vec<FilterContext> {
    let mut once = Vec::new();
    for one in context {
        if !once.contains(one) {
            once.push(*one);
        }
    }
    once
}

/// `seconds` from now.
fn expiry(seconds: i64, now: Time) -> Result<Time> {
    if !(0..=EXPIRES_IN_MAX).contains(&seconds) {
        return Err(Error::invalid(format!("expires_in: must be 0 to {EXPIRES_IN_MAX} seconds")));
    }
    Ok(now + Duration::seconds(seconds))
}
