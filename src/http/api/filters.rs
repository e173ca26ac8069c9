//! Filters, with their keywords and statuses; the older form is in [`filters_v1`](super::filters_v1).
//!
//! Spec: <https://docs.joinmastodon.org/methods/filters/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadFilters, WriteFilters};
use crate::extract::params::{ParamsOfOwn, sent_int};
use crate::extract::{Auth, Params, Path};
use crate::json::Json;
use crate::operation::required;
use model::filter::{FilterAction, FilterContext};
use model::{FilterId, RowId, StatusId};

use context::json::Fragment;
use service::filter::keyword::KeywordChange;
use service::filter::{self, FilterChange};

/// `GET /api/v2/filters`
pub async fn index(cx: Cx, Auth(actor, ..): Auth<ReadFilters>) -> Result<Json<Vec<entity::Filter>>> {
    let filters = filter::list(&cx, &actor).await?;
    Ok(Json::list(all(&filters, entity::filter::render)?))
}

/// `GET /api/v2/filters/{id}`
pub async fn show(
    cx: Cx,
    Auth(actor, ..): Auth<ReadFilters>,
    Path(id): Path<FilterId>,
) -> Result<Json<entity::Filter>> {
    Ok(Json::new(entity::filter::render(&filter::find(&cx, &actor, id).await?)?))
}

/// Body parameters of [`create`].
#[crate::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct NewFilter {
    /// At most 256 characters.
    #[schemars(transform = required)]
    title: Option<String>,
    /// Where clients apply it.
    #[schemars(transform = required)]
    context: Option<Vec<FilterContext>>,
    /// `warn` by default.
    filter_action: Option<FilterAction>,
    /// In seconds from now; never when it is blank.
    #[serde(deserialize_with = "sent_int")]
    #[schemars(with = "Option<i64>")]
    expires_in: Option<Option<i64>>,
    keywords_attributes: Option<Vec<NewKeyword>>,
    /// No statuses of accounts that the user follows.
    exclude_follows: Option<bool>,
    /// No statuses of accounts of this server.
    exclude_localusers: Option<bool>,
    /// Whether quoted statuses are looked at; true by default.
    with_quote: Option<bool>,
    /// Whether the names and notes of authors are looked at; false by default.
    with_profile: Option<bool>,
}

/// A keyword of a new filter. A blank one is ignored.
#[crate::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct NewKeyword {
    /// At most 512 characters.
    keyword: Option<String>,
    /// It must not be part of a longer word; true by default.
    whole_word: Option<bool>,
}

/// Body parameters of [`update`]: what is left out stays as it is.
#[crate::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ChangedFilter {
    /// At most 256 characters.
    title: Option<String>,
    /// Where clients apply it.
    context: Option<Vec<FilterContext>>,
    filter_action: Option<FilterAction>,
    /// In seconds from now; never when it is blank.
    #[serde(deserialize_with = "sent_int")]
    #[schemars(with = "Option<i64>")]
    expires_in: Option<Option<i64>>,
    keywords_attributes: Option<Vec<ChangedKeyword>>,
    /// No statuses of accounts that the user follows.
    exclude_follows: Option<bool>,
    /// No statuses of accounts of this server.
    exclude_localusers: Option<bool>,
    /// Whether quoted statuses are looked at.
    with_quote: Option<bool>,
    /// Whether the names and notes of authors are looked at.
    with_profile: Option<bool>,
}

/// A keyword to change, or without an id to add. A blank one is ignored.
#[crate::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct ChangedKeyword {
    /// One of the filter's keywords.
    id: Option<RowId>,
    /// At most 512 characters.
    keyword: Option<String>,
    /// It must not be part of a longer word.
    whole_word: Option<bool>,
    /// Deletes it.
    #[serde(rename = "_destroy")]
    destroy: Option<bool>,
}

impl From<NewKeyword> for KeywordChange {
    fn from(new: NewKeyword) -> Self {
        Self { keyword: new.keyword, whole_word: new.whole_word, ..Self::default() }
    }
}

impl From<ChangedKeyword> for KeywordChange {
    fn from(changed: ChangedKeyword) -> Self {
        Self {
            id: changed.id,
            keyword: changed.keyword,
            whole_word: changed.whole_word,
            destroy: changed.destroy.unwrap_or_default(),
        }
    }
}

impl From<NewFilter> for FilterChange {
    fn from(new: NewFilter) -> Self {
        Self {
            // Missing is as wrong as blank.
            title: Some(new.title.unwrap_or_default()),
            context: Some(new.context.unwrap_or_default()),
            action: new.filter_action,
            expires_in: new.expires_in,
            exclude_follows: new.exclude_follows,
            exclude_local_users: new.exclude_localusers,
            with_quote: new.with_quote,
            with_profile: new.with_profile,
            keywords: new.keywords_attributes.into_iter().flatten().map(KeywordChange::from).collect(),
        }
    }
}

impl From<ChangedFilter> for FilterChange {
    fn from(changed: ChangedFilter) -> Self {
        Self {
            title: changed.title,
            context: changed.context,
            action: changed.filter_action,
            expires_in: changed.expires_in,
            exclude_follows: changed.exclude_follows,
            exclude_local_users: changed.exclude_localusers,
            with_quote: changed.with_quote,
            with_profile: changed.with_profile,
            keywords: changed.keywords_attributes.into_iter().flatten().map(KeywordChange::from).collect(),
        }
    }
}

/// `POST /api/v2/filters`
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Params(params): Params<NewFilter>,
) -> Result<Json<entity::Filter>> {
    Ok(Json::new(entity::filter::render(&filter::create(&cx, &actor, params.into()).await?)?))
}

/// `PUT /api/v2/filters/{id}`
pub async fn update(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<FilterId>,
    params: ParamsOfOwn<Params<ChangedFilter>>,
) -> Result<Json<entity::Filter>> {
    let Params(params) = params.or_missing(filter::find(&cx, &actor, id)).await?;
    Ok(Json::new(entity::filter::render(&filter::update(&cx, &actor, id, params.into()).await?)?))
}

/// `DELETE /api/v2/filters/{id}`
pub async fn delete(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<FilterId>,
) -> Result<Json<entity::Empty>> {
    filter::delete(&cx, &actor, id).await?;
    Ok(Json::empty())
}

/// Body parameters of [`create_keyword`].
#[crate::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct KeywordParams {
    /// At most 512 characters.
    #[schemars(transform = required)]
    keyword: Option<String>,
    /// It must not be part of a longer word; true by default.
    whole_word: Option<bool>,
}

/// Body parameters of [`update_keyword`]: what is left out stays as it is.
#[crate::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct KeywordChanges {
    /// At most 512 characters.
    keyword: Option<String>,
    /// It must not be part of a longer word.
    whole_word: Option<bool>,
}

/// `GET /api/v2/filters/{id}/keywords`
pub async fn keywords(
    cx: Cx,
    Auth(actor, ..): Auth<ReadFilters>,
    Path(id): Path<FilterId>,
) -> Result<Json<Vec<entity::FilterKeyword>>> {
    let keywords = filter::keyword::list(&cx, &actor, id).await?;
    Ok(Json::list(all(&keywords, entity::filter::render_keyword)?))
}

/// `POST /api/v2/filters/{id}/keywords`
pub async fn create_keyword(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<FilterId>,
    params: ParamsOfOwn<Params<KeywordParams>>,
) -> Result<Json<entity::FilterKeyword>> {
    let Params(params) = params.or_missing(filter::find(&cx, &actor, id)).await?;
    let change = KeywordChange { keyword: params.keyword, whole_word: params.whole_word, ..KeywordChange::default() };
    Ok(Json::new(entity::filter::render_keyword(&filter::keyword::create(&cx, &actor, id, change).await?)?))
}

/// `POST /api/v2/filters/{id}/keywords/{ignored}`: as [`create_keyword`], whatever the last segment is.
pub async fn create_keyword_at(
    cx: Cx,
    auth: Auth<WriteFilters>,
    Path((id, _)): Path<(FilterId, String)>,
    params: ParamsOfOwn<Params<KeywordParams>>,
) -> Result<Json<entity::FilterKeyword>> {
    create_keyword(cx, auth, Path(id), params).await
}

/// `GET /api/v2/filters/keywords/{id}`
pub async fn show_keyword(
    cx: Cx,
    Auth(actor, ..): Auth<ReadFilters>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::FilterKeyword>> {
    Ok(Json::new(entity::filter::render_keyword(&filter::keyword::find(&cx, &actor, id).await?)?))
}

/// `PUT /api/v2/filters/keywords/{id}`
pub async fn update_keyword(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<KeywordChanges>>,
) -> Result<Json<entity::FilterKeyword>> {
    let Params(params) = params.or_missing(filter::keyword::find(&cx, &actor, id)).await?;
    let change = KeywordChange { keyword: params.keyword, whole_word: params.whole_word, ..KeywordChange::default() };
    Ok(Json::new(entity::filter::render_keyword(&filter::keyword::update(&cx, &actor, id, change).await?)?))
}

/// `DELETE /api/v2/filters/keywords/{id}`
pub async fn delete_keyword(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    filter::keyword::delete(&cx, &actor, id).await?;
    Ok(Json::empty())
}

/// Body parameters of [`create_status`].
#[crate::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct StatusParams {
    /// The status to add.
    #[schemars(transform = required)]
    status_id: Option<StatusId>,
}

/// `GET /api/v2/filters/{id}/statuses`
pub async fn statuses(
    cx: Cx,
    Auth(actor, ..): Auth<ReadFilters>,
    Path(id): Path<FilterId>,
) -> Result<Json<Vec<entity::FilterStatus>>> {
    let statuses = filter::status::list(&cx, &actor, id).await?;
    Ok(Json::list(all(&statuses, entity::filter::render_status)?))
}

/// `POST /api/v2/filters/{id}/statuses`
pub async fn create_status(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<FilterId>,
    params: ParamsOfOwn<Params<StatusParams>>,
) -> Result<Json<entity::FilterStatus>> {
    let Params(params) = params.or_missing(filter::find(&cx, &actor, id)).await?;
    Ok(Json::new(entity::filter::render_status(&filter::status::create(&cx, &actor, id, params.status_id).await?)?))
}

/// `GET /api/v2/filters/statuses/{id}`
pub async fn show_status(
    cx: Cx,
    Auth(actor, ..): Auth<ReadFilters>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::FilterStatus>> {
    Ok(Json::new(entity::filter::render_status(&filter::status::find(&cx, &actor, id).await?)?))
}

/// `DELETE /api/v2/filters/statuses/{id}`
pub async fn delete_status(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    filter::status::delete(&cx, &actor, id).await?;
    Ok(Json::empty())
}

/// Each of `rows`, rendered.
pub(super) fn all<T>(rows: &[T], render: fn(&T) -> context::error::Result<Fragment>) -> Result<Vec<Fragment>> {
    Ok(rows.iter().map(render).collect::<context::error::Result<_>>()?)
}
