//! OAuth 2.0: applications, and the enumerations of the protocol (RFC 6749, RFC 7636).

use super::{AppId, Scopes, Time, text_enum};

/// The redirect URI of applications without a callback: the code is shown to the user instead of being sent.
pub const OUT_OF_BAND: &str = "urn:ietf:wg:oauth:2.0:oob";

/// A registered application.
#[derive(Clone, Debug, crate::Row)]
#[row(table = "oauth_apps", alias = "p")]
pub struct Application {
    pub id: AppId,
    pub name: String,
    pub website: Option<String>,
    /// One per line.
    pub redirect_uris: String,
    pub scopes: String,
    pub client_id: String,
    pub client_secret_hash: String,
    /// The server's own application, which needs no consent.
    pub superapp: bool,
    pub created_at: Time,
}

impl Application {
    /// All scopes that it may request.
    #[must_use]
    pub fn scopes(&self) -> Scopes {
        Scopes::from_stored(&self.scopes)
    }

    /// The registered redirect URIs; at least one.
    pub fn redirect_uris(&self) -> impl Iterator<Item = &str> {
        self.redirect_uris.lines()
    }
}

text_enum! {
    /// Error codes of the protocol (RFC 6749 sections 4.1.2.1 and 5.2, RFC 6750 section 3.1).
    ErrorCode {
        /// A parameter is missing or malformed.
        InvalidRequest = "invalid_request",
        /// The application is unknown, or its secret wrong.
        InvalidClient = "invalid_client",
        /// The code is unknown, expired, already used, or was issued to another application.
        InvalidGrant = "invalid_grant",
        /// The scope is unknown, or the application did not register for it.
        InvalidScope = "invalid_scope",
        /// The access token is unknown or revoked.
        InvalidToken = "invalid_token",
        /// The application may not do this.
        UnauthorizedClient = "unauthorized_client",
        /// Only authorization codes and client credentials are supported.
        UnsupportedGrantType = "unsupported_grant_type",
        /// Only `code` is supported.
        UnsupportedResponseType = "unsupported_response_type",
        /// The user denied the request.
        AccessDenied = "access_denied",
        /// Only S256 is supported.
        InvalidCodeChallengeMethod = "invalid_code_challenge_method",
        /// The server failed.
        ServerError = "server_error",
        /// The request may succeed later.
        TemporarilyUnavailable = "temporarily_unavailable",
    }
}

text_enum! {
    /// How a response is sent to the redirect URI.
    ResponseMode {
        Query = "query",
        /// In the fragment, after `#`.
        Fragment = "fragment",
        /// In a form that is submitted by POST.
        FormPost = "form_post",
    }
}
