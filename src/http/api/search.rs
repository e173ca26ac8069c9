//! Search for accounts, statuses and hashtags.
//!
//! Spec: <https://docs.joinmastodon.org/methods/search/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::ReadSearch;
use crate::extract::{MaybeAuth, Params};
use crate::json::Json;
use model::params::required;
use model::{AccountId, StatusId};

use context::json::{Array, Object};
use service::search::{self, Query};

/// Default number of results of each type.
const DEFAULT_LIMIT: i64 = 40;
/// Maximum number of results of each type.
const MAX_LIMIT: i64 = 80;

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct SearchParams {
    #[schemars(transform = required)]
    q: Option<String>,
    /// The only kind of results wanted: `accounts`, `hashtags` or `statuses`.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Most results of each kind.
    #[schemars(range(min = 0, max = MAX_LIMIT), extend("default" = DEFAULT_LIMIT))]
    limit: Option<i64>,
    /// How many results to skip; only with `type`, and for users.
    offset: Option<i64>,
    /// Whether `q` may be the URL of an account or status; for users.
    resolve: Option<bool>,
    /// Only accounts that the user follows.
    following: Option<bool>,
    /// No hashtags that the moderators have not reviewed.
    exclude_unreviewed: Option<bool>,
    /// Only statuses of this account.
    account_id: Option<AccountId>,
    /// Only statuses after this one.
    min_id: Option<StatusId>,
    /// Only statuses before this one.
    max_id: Option<StatusId>,
    /// How far statuses may be from the user: by anyone, by followed accounts, with an interaction by the user, or by
    /// the user.
    #[schemars(extend("enum" = ["public", "private", "direct", "limited"]))]
    searchability: Option<String>,
}

/// `GET /api/v2/search`
pub async fn index(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadSearch>,
    Params(params): Params<SearchParams>,
) -> Result<Json<entity::Search>> {
    let query = Query {
        q: params.q.unwrap_or_default(),
        kind: params.kind.filter(|kind| !kind.is_empty()),
        limit: params.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT),
        offset: params.offset,
        resolve: params.resolve.unwrap_or_default(),
        following: params.following.unwrap_or_default(),
        exclude_unreviewed: params.exclude_unreviewed.unwrap_or_default(),
        account_id: params.account_id,
        min_id: params.min_id,
        max_id: params.max_id,
        searchability: params.searchability.filter(|level| !level.is_empty()),
    };
    let found = search::search(&cx, viewer.as_deref(), &query).await?;
    let (accounts, statuses) =
        entity::status::render_results(&cx, viewer.as_deref(), &found.accounts, &found.statuses).await?;
    let hashtags = entity::tag::render(&cx, &found.hashtags, viewer.is_some()).await?;
    let mut object = Object::with_capacity(64);
    object
        .member("accounts", accounts.as_str())
        .member("statuses", statuses.as_str())
        .member("hashtags", Array::from(hashtags).as_str());
    Ok(Json::new(object.close()))
}
