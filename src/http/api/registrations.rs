//! Signing up in an app. <https://docs.joinmastodon.org/methods/accounts/#create>

use axum::extract::State;
use serde::Deserialize;

use crate::app::App;
use crate::entity::token::Token;
use crate::error::Result;
use crate::http::extract::auth::WriteAccounts;
use crate::http::extract::params::{flag, text};
use crate::http::extract::{AppAuth, Params};
use crate::http::json::Json;
use crate::service::registration::{self, SignUp};
use crypto::Secret;

/// Parameters of [`create`].
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Registration {
    #[serde(deserialize_with = "text")]
    username: Option<String>,
    #[serde(deserialize_with = "text")]
    email: Option<String>,
    #[serde(deserialize_with = "text")]
    password: Option<String>,
    #[serde(deserialize_with = "flag")]
    agreement: Option<bool>,
    #[serde(deserialize_with = "text")]
    reason: Option<String>,
    #[serde(deserialize_with = "text")]
    locale: Option<String>,
    #[serde(deserialize_with = "text")]
    time_zone: Option<String>,
}

/// `POST /api/v1/accounts`
pub async fn create(
    State(app): State<App>,
    AppAuth(grant, ..): AppAuth<WriteAccounts>,
    Params(params): Params<Registration>,
) -> Result<Json> {
    let token = registration::register_by_app(&app, params.into(), &grant).await?;
    Json::of(&Token::from(&token))
}

impl From<Registration> for SignUp {
    fn from(form: Registration) -> Self {
        let trimmed = |text: Option<String>| text.map(|text| text.trim().to_owned()).unwrap_or_default();
        Self {
            username: trimmed(form.username),
            email: trimmed(form.email),
            password: Secret::from(form.password.unwrap_or_default()),
            agreement: form.agreement.unwrap_or_default(),
            reason: form.reason,
            locale: form.locale,
            time_zone: form.time_zone,
        }
    }
}
