//! <https://docs.joinmastodon.org/methods/accounts/>

use axum::extract::State;

use crate::app::App;
use crate::entity;
use crate::error::Result;
use crate::http::extract::auth::ReadAccounts;
use crate::http::extract::{MaybeAuth, Path};
use crate::http::json::Json;
use crate::model::AccountId;

/// `GET /api/v1/accounts/{id}`
pub async fn show(State(app): State<App>, _: MaybeAuth<ReadAccounts>, Path(id): Path<AccountId>) -> Result<Json> {
    Ok(Json(entity::account::render_one(&app, id).await?))
}
