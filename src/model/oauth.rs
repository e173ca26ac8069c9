//! OAuth 2.0: applications, and the words of the protocol (RFC 6749, RFC 7636).

use super::{AppId, Scopes, Time, text_enum};

/// Where a code is shown instead of sent: for applications that have no address.
pub const OUT_OF_BAND: &str = "urn:ietf:wg:oauth:2.0:oob";

/// A registered application.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "columns of the table oauth_apps")]
pub struct Application {
    pub id: AppId,
    pub name: String,
    pub website: Option<String>,
    /// One per line.
    pub redirect_uris: String,
    pub scopes: String,
    pub client_id: String,
    pub client_secret_hash: String,
    /// The server's own: nobody is asked whether to trust it.
    pub superapp: bool,
    pub created_at: Time,
}

impl Application {
    /// What it may ever ask for.
    #[must_use]
    pub fn scopes(&self) -> Scopes {
        Scopes::from_stored(&self.scopes)
    }

    /// Where codes may be sent; at least one.
    pub fn redirect_uris(&self) -> impl Iterator<Item = &str> {
        self.redirect_uris.lines()
    }
}

text_enum! {
    /// Why a request failed, as programs read it (RFC 6749 sections 4.1.2.1 and 5.2, RFC 6750 section 3.1).
    ErrorCode {
        /// A parameter is missing or broken.
        InvalidRequest = "invalid_request",
        /// The application is unknown, or its secret wrong.
        InvalidClient = "invalid_client",
        /// The code is unknown, too old, used, or another's.
        InvalidGrant = "invalid_grant",
        /// Unknown, or more than the application registered for.
        InvalidScope = "invalid_scope",
        /// The access token is not, or no longer, one of ours.
        InvalidToken = "invalid_token",
        /// The application may not do this.
        UnauthorizedClient = "unauthorized_client",
        /// Only codes and client credentials are exchanged.
        UnsupportedGrantType = "unsupported_grant_type",
        /// Only codes are given.
        UnsupportedResponseType = "unsupported_response_type",
        /// The person said no.
        AccessDenied = "access_denied",
        /// Only S256.
        InvalidCodeChallengeMethod = "invalid_code_challenge_method",
        /// Our fault.
        ServerError = "server_error",
        /// Later it may work.
        TemporarilyUnavailable = "temporarily_unavailable",
    }
}

text_enum! {
    /// How an answer travels to the redirect URI.
    ResponseMode {
        /// In its query.
        Query = "query",
        /// After `#`.
        Fragment = "fragment",
        /// In a form that the person sends.
        FormPost = "form_post",
    }
}
