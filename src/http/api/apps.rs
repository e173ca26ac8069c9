//! Registering client applications.
//!
//! Spec: <https://docs.joinmastodon.org/methods/apps/>

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::AnyScope;
use crate::extract::{AnyStateAppAuth, Params};
use crate::json::Json;
use entity::application::{Application, CredentialApplication};
use model::params::required;

use service::application::Registration;

/// Body parameters of [`create`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct NewApp {
    /// At most 60 characters.
    #[schemars(transform = required)]
    client_name: Option<String>,
    /// Each may hold several URIs, one per line; together at most 2,000 characters.
    #[schemars(transform = required)]
    redirect_uris: Option<Vec<String>>,
    /// Separated by spaces; `read` when it is left out.
    #[serde(deserialize_with = "text_or_nothing")]
    scopes: Option<String>,
    /// An http or https URL of at most 2,000 characters.
    website: Option<String>,
}

/// Scopes that are not a string count as absent, which selects the default (contract: `POST /api/v1/apps`).
fn text_or_nothing<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_str().map(ToOwned::to_owned))
}

/// `POST /api/v1/apps`
///
/// # Errors
/// 422 that names the missing or invalid parameter.
pub async fn create(cx: Cx, Params(new): Params<NewApp>) -> Result<Json<entity::CredentialApplication>> {
    let registration = Registration {
        client_name: new.client_name,
        redirect_uris: new.redirect_uris.unwrap_or_default(),
        scopes: new.scopes,
        website: new.website,
    };
    let (application, secret) = service::application::register(&cx, registration).await?;
    Json::of(&CredentialApplication::new(&cx, &application, &secret))
}

/// `GET /api/v1/apps/verify_credentials`
///
/// # Errors
/// 401 without a valid token.
pub async fn verify_credentials(
    cx: Cx,
    AnyStateAppAuth(grant, _): AnyStateAppAuth<AnyScope>,
) -> Result<Json<entity::Application>> {
    let application = service::application::get(&cx, grant.app).await?;
    Json::of(&Application::new(&cx, &application))
}
