//! Polls: their state, and votes.
//!
//! They are made and removed with their statuses ([`statuses`](super::statuses)).
//!
//! Spec: <https://docs.joinmastodon.org/methods/polls/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadStatuses, WriteStatuses};
use crate::extract::params::ParamsOfOwn;
use crate::extract::{Auth, MaybeAuth, Params, Path};
use crate::json::Json;
use model::PollId;
use model::params::ints;
use model::params::required;

use service::poll;

/// `GET /api/v1/polls/{id}`
pub async fn show(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    Path(id): Path<PollId>,
) -> Result<Json<entity::Poll>> {
    let seen = poll::find(&cx, viewer.as_deref(), id).await?;
    Ok(Json::new(entity::poll::render_one(&cx, viewer.as_deref(), seen.head()).await?))
}

/// Body parameters of [`vote`].
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Votes {
    /// Positions of options, from 0.
    #[serde(default, deserialize_with = "ints")]
    #[schemars(transform = required)]
    choices: Option<Vec<i64>>,
}

/// `POST /api/v1/polls/{id}/votes`
pub async fn vote(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<PollId>,
    params: ParamsOfOwn<Params<Votes>>,
) -> Result<Json<entity::Poll>> {
    let Params(params) = params.or_missing(poll::find(&cx, Some(&actor), id)).await?;
    let seen = poll::vote(&cx, &actor, id, &params.choices.unwrap_or_default()).await?;
    Ok(Json::new(entity::poll::render_one(&cx, Some(&actor), seen.head()).await?))
}
