//! OAuth 2.0: the authorization code and client credentials grants (RFC 6749), PKCE (RFC 7636), revocation (RFC 7009)
//! and introspection (RFC 7662).
//!
//! Tokens neither expire nor are refreshed; passwords are never exchanged. Spec:
//! docs/contract/rules.md#2-authentication and docs/contract/rules.md#8-oauth-and-sign-up.

pub mod authorize;
pub mod exchange;
pub mod introspect;
pub mod revoke;

use std::borrow::Cow;

use context::Cx;
use context::error::Error;
use model::oauth::ErrorCode;
use model::{Application, Scopes};

/// The result of a protocol step.
pub type Result<T, E = Fault> = std::result::Result<T, E>;

/// Why a protocol step failed.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// An OAuth error response.
    #[error("{description}")]
    Refused {
        code: ErrorCode,
        /// The description for developers.
        description: Cow<'static, str>,
    },
    /// Any other error.
    #[error(transparent)]
    Other(#[from] Error),
}

impl Fault {
    /// [`Fault::Refused`].
    pub fn refused(code: ErrorCode, description: impl Into<Cow<'static, str>>) -> Self {
        Self::Refused { code, description: description.into() }
    }
    fn missing(parameter: &str) -> Self {
        Self::refused(ErrorCode::InvalidRequest, format!("{parameter} is missing"))
    }
}

impl From<database::Error> for Fault {
    fn from(error: database::Error) -> Self {
        Self::Other(error.into())
    }
}

/// Client authentication.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    pub client_id: Option<String>,
    pub client_secret: Option<crypto::Secret>,
}

/// The application with these credentials.
async fn authenticate(cx: &Cx, credentials: &Credentials) -> Result<Application> {
    let unknown = || Fault::refused(ErrorCode::InvalidClient, "The client is unknown, or its secret is wrong");
    let id = credentials.client_id.as_deref().ok_or_else(unknown)?;
    let secret = credentials.client_secret.as_ref().ok_or_else(unknown)?;
    let application = store::application::find_by_client_id(&cx.db, id).await?.ok_or_else(unknown)?;
    if crypto::same(&crypto::hash(secret.expose()), &application.client_secret_hash) {
        Ok(application)
    } else {
        Err(unknown())
    }
}

/// Parses the scopes in `text`: the server's own, and the ones that extensions currently declare.
///
/// # Errors
/// The first word that is not a scope.
pub fn read_scopes(cx: &Cx, text: &str) -> Result<Scopes, String> {
    let declared = cx.extensions().scopes();
    Scopes::parse_with(text, |word| declared.iter().any(|scope| scope.name == word))
}

/// The granted scopes for `asked`: `read` by default, never more than the application registered.
fn scopes(cx: &Cx, application: &Application, asked: Option<&str>) -> Result<Scopes> {
    let invalid = |text: String| Fault::refused(ErrorCode::InvalidScope, text);
    let text = asked.filter(|text| !text.trim().is_empty()).unwrap_or("read");
    let scopes = read_scopes(cx, text).map_err(|word| invalid(format!("{word:?} is not a scope")))?;
    if scopes.is_empty() || !application.scopes().contains_all(&scopes) {
        return Err(invalid("The scope is more than the application registered for".to_owned()));
    }
    Ok(scopes)
}
