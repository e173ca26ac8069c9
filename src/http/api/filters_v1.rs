//! Filters in their older form, one for each keyword.
//!
//! Spec: <https://docs.joinmastodon.org/methods/filters/#v1>

use schemars::JsonSchema;
use serde::Deserialize;

use super::filters::all;
use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadFilters, WriteFilters};
use crate::extract::params::{ParamsOfOwn, sent_int};
use crate::extract::{Auth, Params, Path};
use crate::json::Json;
use crate::operation::required;
use model::RowId;
use model::filter::FilterContext;

use service::filter::keyword;
use service::filter::v1::{self, PhraseChange};

/// `GET /api/v1/filters`
pub async fn index(cx: Cx, Auth(actor, ..): Auth<ReadFilters>) -> Result<Json<Vec<entity::V1Filter>>> {
    Ok(Json::list(all(&v1::list(&cx, &actor).await?, entity::filter::render_v1)?))
}

/// `GET /api/v1/filters/{id}`
pub async fn show(cx: Cx, Auth(actor, ..): Auth<ReadFilters>, Path(id): Path<RowId>) -> Result<Json<entity::V1Filter>> {
    Ok(Json::new(entity::filter::render_v1(&v1::find(&cx, &actor, id).await?)?))
}

/// Body parameters of [`create`].
#[crate::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct NewPhrase {
    /// At most 256 characters.
    #[schemars(transform = required)]
    phrase: Option<String>,
    /// Where clients apply it.
    #[schemars(transform = required)]
    context: Option<Vec<FilterContext>>,
    /// Whether clients leave out what matches; false by default.
    irreversible: Option<bool>,
    /// It must not be part of a longer word; true by default.
    whole_word: Option<bool>,
    /// In seconds from now; never when it is blank.
    #[serde(deserialize_with = "sent_int")]
    #[schemars(with = "Option<i64>")]
    expires_in: Option<Option<i64>>,
    /// No statuses of accounts that the user follows.
    exclude_follows: Option<bool>,
    /// No statuses of accounts of this server.
    exclude_localusers: Option<bool>,
}

/// Body parameters of [`update`]: what is left out stays as it is.
#[crate::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ChangedPhrase {
    /// At most 256 characters.
    phrase: Option<String>,
    /// Where clients apply it.
    context: Option<Vec<FilterContext>>,
    /// Whether clients leave out what matches.
    irreversible: Option<bool>,
    /// It must not be part of a longer word.
    whole_word: Option<bool>,
    /// In seconds from now; never when it is blank.
    #[serde(deserialize_with = "sent_int")]
    #[schemars(with = "Option<i64>")]
    expires_in: Option<Option<i64>>,
}

/// `POST /api/v1/filters`
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Params(params): Params<NewPhrase>,
) -> Result<Json<entity::V1Filter>> {
    let new = PhraseChange {
        // Missing is as wrong as blank.
        phrase: Some(params.phrase.unwrap_or_default()),
        context: Some(params.context.unwrap_or_default()),
        irreversible: params.irreversible,
        whole_word: params.whole_word,
        expires_in: params.expires_in,
        exclude_follows: params.exclude_follows,
        exclude_local_users: params.exclude_localusers,
    };
    Ok(Json::new(entity::filter::render_v1(&v1::create(&cx, &actor, new).await?)?))
}

/// `PUT /api/v1/filters/{id}`
pub async fn update(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<ChangedPhrase>>,
) -> Result<Json<entity::V1Filter>> {
    let Params(params) = params.or_missing(v1::find(&cx, &actor, id)).await?;
    let change = PhraseChange {
        phrase: params.phrase,
        context: params.context,
        irreversible: params.irreversible,
        whole_word: params.whole_word,
        expires_in: params.expires_in,
        ..PhraseChange::default()
    };
    Ok(Json::new(entity::filter::render_v1(&v1::update(&cx, &actor, id, change).await?)?))
}

/// `DELETE /api/v1/filters/{id}`: the keyword; its filter stays.
pub async fn delete(cx: Cx, Auth(actor, ..): Auth<WriteFilters>, Path(id): Path<RowId>) -> Result<Json<entity::Empty>> {
    keyword::delete(&cx, &actor, id).await?;
    Ok(Json::empty())
}
