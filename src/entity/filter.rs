//! <https://docs.joinmastodon.org/entities/Filter/>, its keywords and statuses, and the older form of filters.

use serde::Serialize;

use context::error::Result;
use context::json::Fragment;
use model::filter::{FilterAction, FilterContext};
use model::{FilterId, RowId, StatusId, Time};
use service::filter;
use service::filter::v1::Phrase;
use store::filter::{FilterKeywordRow, FilterRow, FilterStatusRow};

/// A filter. Has no keywords and statuses inside a `FilterResult`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Filter<'a> {
    id: FilterId,
    title: &'a str,
    context: &'a [FilterContext],
    expires_at: Option<String>,
    filter_action: FilterAction,
    filter_action_ex: FilterAction,
    exclude_follows: bool,
    exclude_localusers: bool,
    with_quote: bool,
    with_profile: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    keywords: Option<Vec<FilterKeyword<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statuses: Option<Vec<FilterStatus>>,
}

/// <https://docs.joinmastodon.org/entities/FilterKeyword/>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FilterKeyword<'a> {
    id: RowId,
    keyword: &'a str,
    whole_word: bool,
}

/// <https://docs.joinmastodon.org/entities/FilterStatus/>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FilterStatus {
    id: RowId,
    status_id: StatusId,
}

/// <https://docs.joinmastodon.org/entities/V1_Filter/>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct V1Filter<'a> {
    id: RowId,
    phrase: &'a str,
    context: &'a [FilterContext],
    whole_word: bool,
    expires_at: Option<String>,
    irreversible: bool,
    exclude_follows: bool,
    exclude_localusers: bool,
}

impl<'a> Filter<'a> {
    fn new(row: &'a FilterRow) -> Self {
        Self {
            id: row.id,
            title: &row.title,
            context: &row.context,
            expires_at: row.expires_at.map(Time::to_api),
            filter_action: row.action.coarse(),
            filter_action_ex: row.action,
            exclude_follows: row.exclude_follows,
            exclude_localusers: row.exclude_local_users,
            with_quote: row.with_quote,
            with_profile: row.with_profile,
            keywords: None,
            statuses: None,
        }
    }
}

impl<'a> From<&'a FilterKeywordRow> for FilterKeyword<'a> {
    fn from(row: &'a FilterKeywordRow) -> Self {
        Self { id: row.id, keyword: &row.keyword, whole_word: row.whole_word }
    }
}

impl From<&FilterStatusRow> for FilterStatus {
    fn from(row: &FilterStatusRow) -> Self {
        Self { id: row.id, status_id: row.status_id }
    }
}

/// Renders a filter with its keywords and statuses.
pub fn render(whole: &filter::Filter) -> Result<Fragment> {
    Fragment::of(&Filter {
        keywords: Some(whole.keywords.iter().map(FilterKeyword::from).collect()),
        statuses: Some(whole.statuses.iter().map(FilterStatus::from).collect()),
        ..Filter::new(&whole.row)
    })
}

/// Renders a filter as part of a `FilterResult`.
pub(super) fn render_bare(row: &FilterRow) -> Result<Fragment> {
    Fragment::of(&Filter::new(row))
}

pub fn render_keyword(row: &FilterKeywordRow) -> Result<Fragment> {
    Fragment::of(&FilterKeyword::from(row))
}

/// Renders the entry of a status.
pub fn render_status(row: &FilterStatusRow) -> Result<Fragment> {
    Fragment::of(&FilterStatus::from(row))
}

/// Renders a keyword with its filter, in the older form.
pub fn render_v1((filter, keyword): &Phrase) -> Result<Fragment> {
    Fragment::of(&V1Filter {
        id: keyword.id,
        phrase: &keyword.keyword,
        context: &filter.context,
        whole_word: keyword.whole_word,
        expires_at: filter.expires_at.map(Time::to_api),
        irreversible: filter.action == FilterAction::Hide,
        exclude_follows: filter.exclude_follows,
        exclude_localusers: filter.exclude_local_users,
    })
}
