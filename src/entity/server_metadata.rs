//! OAuth 2.0 authorization server metadata (RFC 8414, section 2).

use serde::Serialize;

use context::Cx;
use model::oauth::ResponseMode;
use model::scope;

/// Endpoints and supported features.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerMetadata {
    /// The base URL of this server, with a trailing slash.
    pub issuer: String,
    pub service_documentation: &'static str,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    /// Not in the RFC: the endpoint where Mastodon clients register.
    pub app_registration_endpoint: String,
    pub revocation_endpoint: String,
    pub introspection_endpoint: String,
    /// Of OpenID Connect Discovery, not of the RFC.
    pub userinfo_endpoint: String,
    /// The scopes of the server, then the scopes that extensions declare.
    pub scopes_supported: Vec<String>,
    pub response_types_supported: [&'static str; 1],
    pub response_modes_supported: &'static [ResponseMode],
    pub grant_types_supported: [&'static str; 2],
    pub token_endpoint_auth_methods_supported: [&'static str; 2],
    pub code_challenge_methods_supported: [&'static str; 1],
}

impl ServerMetadata {
    /// The metadata of this server.
    #[must_use]
    pub fn new(cx: &Cx) -> Self {
        let urls = &cx.urls;
        let own = scope::ALL.iter().map(|scope| (*scope).to_owned());
        Self {
            issuer: urls.path("/"),
            service_documentation: "https://docs.joinmastodon.org/",
            authorization_endpoint: urls.path("/oauth/authorize"),
            token_endpoint: urls.path("/oauth/token"),
            app_registration_endpoint: urls.path("/api/v1/apps"),
            revocation_endpoint: urls.path("/oauth/revoke"),
            introspection_endpoint: urls.path("/oauth/introspect"),
            userinfo_endpoint: urls.path("/oauth/userinfo"),
            scopes_supported: own.chain(cx.extensions().scopes().into_iter().map(|scope| scope.name)).collect(),
            response_types_supported: ["code"],
            response_modes_supported: ResponseMode::ALL,
            grant_types_supported: ["authorization_code", "client_credentials"],
            token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
            code_challenge_methods_supported: ["S256"],
        }
    }
}
