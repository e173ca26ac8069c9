//! <https://docs.joinmastodon.org/entities/Token/>, and token introspection.

use serde::Serialize;

use model::{AccountId, Scopes};
use service::oauth::introspect::Active;
use service::token::Issued;

/// An access token response (RFC 6749, section 5.1).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Token {
    pub access_token: String,
    pub token_type: &'static str,
    pub scope: String,
    /// Seconds since the epoch.
    pub created_at: i64,
}

impl From<&Issued> for Token {
    fn from(issued: &Issued) -> Self {
        Self {
            access_token: issued.text.expose().to_owned(),
            token_type: "Bearer",
            scope: issued.scopes.clone(),
            created_at: issued.created_at.timestamp(),
        }
    }
}

/// An introspection response (RFC 7662, section 2.2); for an inactive token only `active`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TokenIntrospection {
    pub active: bool,
    #[serde(flatten)]
    pub details: Option<Details>,
}

/// The members of an active token.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Details {
    pub scope: String,
    pub client_id: Option<String>,
    pub token_type: &'static str,
    /// Seconds since the epoch.
    pub iat: i64,
    /// `null`: tokens do not expire.
    pub exp: Option<i64>,
}

impl From<Option<Active>> for TokenIntrospection {
    fn from(found: Option<Active>) -> Self {
        let details = found.map(|active| Details {
            iat: active.token.created_at.timestamp(),
            scope: active.token.scopes,
            client_id: active.client_id,
            token_type: "Bearer",
            exp: None,
        });
        Self { active: details.is_some(), details }
    }
}

/// The response of `GET /oauth/token/info`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TokenInfo {
    pub resource_owner_id: Option<AccountId>,
    pub scope: Vec<String>,
    /// `null`: tokens do not expire.
    pub expires_in: Option<i64>,
    pub application: TokenApplication,
    /// Seconds since the epoch.
    pub created_at: i64,
}

/// The application of a token, identified by its client id.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TokenApplication {
    pub uid: Option<String>,
}

impl From<Active> for TokenInfo {
    fn from(active: Active) -> Self {
        Self {
            resource_owner_id: active.token.account_id,
            scope: Scopes::from_stored(&active.token.scopes).iter().map(ToOwned::to_owned).collect(),
            expires_in: None,
            application: TokenApplication { uid: active.client_id },
            created_at: active.token.created_at.timestamp(),
        }
    }
}
