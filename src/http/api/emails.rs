//! E-mail confirmation for apps. Open to accounts that are not confirmed yet.
//!
//! Spec: <https://docs.joinmastodon.org/methods/emails/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadAccounts, WriteAccounts};
use crate::extract::{AnyStateAuth, Params};
use crate::json::Json;
use service::confirmation;

/// Body parameters of [`create_confirmation`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// Replaces the address before the message is sent.
    email: Option<String>,
}

/// `POST /api/v1/emails/confirmations`
pub async fn create_confirmation(
    cx: Cx,
    AnyStateAuth(actor, ..): AnyStateAuth<WriteAccounts>,
    Params(params): Params<Confirmation>,
) -> Result<Json<entity::Empty>> {
    confirmation::resend(&cx, &actor, params.email.as_deref()).await?;
    Ok(Json::empty())
}

/// `GET /api/v1/emails/check_confirmation`: a bare `true` or `false`.
pub async fn check_confirmation(cx: Cx, AnyStateAuth(actor, ..): AnyStateAuth<ReadAccounts>) -> Result<Json<bool>> {
    Json::of(&confirmation::is_confirmed(&cx, &actor).await?)
}
