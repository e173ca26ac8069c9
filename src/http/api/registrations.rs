//! Sign-up from an app; the sign-up page for browsers is in [`web::sign_up`](crate::web::sign_up).
//!
//! Spec: <https://docs.joinmastodon.org/methods/accounts/#create>

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::WriteAccounts;
use crate::extract::{AppAuth, Params};
use crate::json::Json;
use crypto::Secret;
use entity::token::Token;
use model::params::language;
use model::params::required;
use service::registration::{self, SignUp};

/// Body parameters of [`create`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Registration {
    /// Letters, digits and underscores, at most 30.
    #[schemars(transform = required)]
    username: Option<String>,
    #[schemars(transform = required)]
    email: Option<String>,
    /// 8 to 72 characters.
    #[schemars(transform = required)]
    password: Option<String>,
    /// Whether the user agrees to the server's rules, which must be true.
    #[schemars(transform = required)]
    agreement: Option<bool>,
    /// Why the user wants to join, at most 420 characters; needed where the server asks for it.
    reason: Option<String>,
    /// `2000-12-31`; needed where the server has a minimum age. It is checked and not stored (Mastodon 4.4).
    date_of_birth: Option<String>,
    /// The language of messages, an ISO 639 code.
    #[serde(deserialize_with = "language")]
    locale: Option<String>,
    /// A name of the IANA time zone database.
    time_zone: Option<String>,
    /// All other parameters: plugins may declare some of them.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// `POST /api/v1/accounts`
pub async fn create(
    cx: Cx,
    AppAuth(grant, ..): AppAuth<WriteAccounts>,
    Params(params): Params<Registration>,
) -> Result<Json<entity::Token>> {
    let token = registration::register_by_app(&cx, params.into(), &grant).await?;
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
            date_of_birth: form.date_of_birth,
            locale: form.locale,
            time_zone: form.time_zone,
            params: form.rest,
        }
    }
}
