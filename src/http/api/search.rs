//! <https://docs.joinmastodon.org/methods/search/>

use axum::extract::State;
use serde::Deserialize;

use crate::app::App;
use crate::entity::{self, Fragment, Object};
use crate::error::Result;
use crate::http::extract::auth::ReadSearch;
use crate::http::extract::params::{flag, int, text, word};
use crate::http::extract::{MaybeAuth, Params};
use crate::http::json::Json;
use crate::service::search::{self, Query};
use model::AccountId;

/// Results of each kind, unless asked otherwise.
const DEFAULT_LIMIT: i64 = 40;
/// Most results of each kind.
const MAX_LIMIT: i64 = 80;

/// The parameters of a search.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct SearchParams {
    #[serde(deserialize_with = "text")]
    q: Option<String>,
    #[serde(rename = "type", deserialize_with = "text")]
    kind: Option<String>,
    #[serde(deserialize_with = "int")]
    limit: Option<i64>,
    #[serde(deserialize_with = "int")]
    offset: Option<i64>,
    #[serde(deserialize_with = "flag")]
    resolve: Option<bool>,
    #[serde(deserialize_with = "flag")]
    following: Option<bool>,
    #[serde(deserialize_with = "flag")]
    exclude_unreviewed: Option<bool>,
    #[serde(deserialize_with = "word")]
    account_id: Option<AccountId>,
}

/// `GET /api/v2/search`
pub async fn index(
    State(app): State<App>,
    MaybeAuth(viewer, ..): MaybeAuth<ReadSearch>,
    Params(params): Params<SearchParams>,
) -> Result<Json> {
    let query = Query {
        q: params.q.unwrap_or_default(),
        kind: params.kind.filter(|kind| !kind.is_empty()),
        limit: params.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT),
        offset: params.offset,
        resolve: params.resolve.unwrap_or_default(),
        following: params.following.unwrap_or_default(),
        exclude_unreviewed: params.exclude_unreviewed.unwrap_or_default(),
        account_id: params.account_id,
    };
    let found = search::search(&app, viewer.as_deref(), &query).await?;
    let (accounts, statuses) =
        entity::status::render_results(&app, viewer.as_deref(), &found.accounts, &found.statuses).await?;
    let hashtags = entity::tag::render(&app, &found.hashtags, viewer.is_some()).await?;
    let mut object = Object::with_capacity(64);
    object
        .member("accounts", &Fragment::array(&accounts))
        .member("statuses", &Fragment::array(&statuses))
        .member("hashtags", &Fragment::array(&hashtags));
    Ok(Json(object.close()))
}
