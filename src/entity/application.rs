//! <https://docs.joinmastodon.org/entities/Application/>

use serde::Serialize;

use context::Cx;
use crypto::Secret;
use model::AppId;

/// A registered application.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Application {
    pub id: AppId,
    pub name: String,
    pub website: Option<String>,
    pub scopes: Vec<String>,
    pub redirect_uris: Vec<String>,
    /// All redirect URIs, one per line: the form that older clients read.
    pub redirect_uri: String,
    pub vapid_key: Option<String>,
}

/// The response to the registration of an application, the only one with its secret.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CredentialApplication {
    #[serde(flatten)]
    pub application: Application,
    pub client_id: String,
    pub client_secret: String,
    /// 0: the secret does not expire (RFC 7591, section 3.2.1).
    pub client_secret_expires_at: u8,
}

impl Application {
    /// The public members of `application`.
    #[must_use]
    pub fn new(cx: &Cx, application: &model::Application) -> Self {
        Self {
            id: application.id,
            name: application.name.clone(),
            website: application.website.clone(),
            scopes: application.scopes().iter().map(ToOwned::to_owned).collect(),
            redirect_uris: application.redirect_uris().map(ToOwned::to_owned).collect(),
            redirect_uri: application.redirect_uris.clone(),
            vapid_key: cx.vapid.as_ref().map(|vapid| vapid.public_key().to_owned()),
        }
    }
}

impl CredentialApplication {
    /// `application` with its secret.
    #[must_use]
    pub fn new(cx: &Cx, application: &model::Application, secret: &Secret) -> Self {
        Self {
            application: Application::new(cx, application),
            client_id: application.client_id.clone(),
            client_secret: secret.expose().to_owned(),
            client_secret_expires_at: 0,
        }
    }
}
