//! <https://docs.joinmastodon.org/methods/emails/>

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use crate::app::App;
use crate::error::Result;
use crate::http::error::json;
use crate::http::extract::auth::{ReadAccounts, WriteAccounts};
use crate::http::extract::params::text;
use crate::http::extract::{AnyStateAuth, Params};
use crate::http::json::Json;
use crate::service::confirmation;

/// Parameters of [`create_confirmation`].
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Confirmation {
    #[serde(deserialize_with = "text")]
    email: Option<String>,
}

/// `POST /api/v1/emails/confirmations`
pub async fn create_confirmation(
    State(app): State<App>,
    AnyStateAuth(actor, ..): AnyStateAuth<WriteAccounts>,
    Params(params): Params<Confirmation>,
) -> Result<Json> {
    confirmation::resend(&app, &actor, params.email.as_deref()).await?;
    Json::empty()
}

/// `GET /api/v1/emails/check_confirmation`: a bare `true` or `false`.
pub async fn check_confirmation(
    State(app): State<App>,
    AnyStateAuth(actor, ..): AnyStateAuth<ReadAccounts>,
) -> Result<Response> {
    Ok(json(StatusCode::OK, &confirmation::is_confirmed(&app, &actor).await?))
}
