//! <https://docs.joinmastodon.org/methods/apps/>

use axum::extract::State;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::app::App;
use crate::entity::application::{Application, CredentialApplication};
use crate::error::Result;
use crate::http::extract::auth::AnyScope;
use crate::http::extract::params::{list, text};
use crate::http::extract::{AnyStateAppAuth, Params};
use crate::http::json::Json;
use crate::service;
use crate::service::application::Registration;

/// An application as it describes itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NewApp {
    #[serde(deserialize_with = "text")]
    client_name: Option<String>,
    #[serde(deserialize_with = "list")]
    redirect_uris: Option<Vec<String>>,
    #[serde(deserialize_with = "text_or_nothing")]
    scopes: Option<String>,
    #[serde(deserialize_with = "text")]
    website: Option<String>,
}

/// Scopes in any other form than a text mean the default (contract: `POST /api/v1/apps`).
fn text_or_nothing<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_str().map(ToOwned::to_owned))
}

/// `POST /api/v1/apps`
///
/// # Errors
/// 422 naming the parameter that is missing or wrong.
pub async fn create(State(app): State<App>, Params(new): Params<NewApp>) -> Result<Json> {
    let registration = Registration {
        client_name: new.client_name,
        redirect_uris: new.redirect_uris.unwrap_or_default(),
        scopes: new.scopes,
        website: new.website,
    };
    let (application, secret) = service::application::register(&app, registration).await?;
    Json::of(&CredentialApplication::new(&application, &secret))
}

/// `GET /api/v1/apps/verify_credentials`
///
/// # Errors
/// 401 without a token that works.
pub async fn verify_credentials(
    State(app): State<App>,
    AnyStateAppAuth(grant, _): AnyStateAppAuth<AnyScope>,
) -> Result<Json> {
    let application = service::application::get(&app, grant.app).await?;
    Json::of(&Application::from(&application))
}
