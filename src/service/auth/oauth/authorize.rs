//! The authorization endpoint of the authorization code grant: validating a request and issuing the code.
//!
//! Reached from `/oauth/authorize`. Until the redirect URI is known to be registered, errors are shown to the person
//! and never sent to it (RFC 6749, section 4.1.2.1).

use chrono::Duration;

use super::{Fault, Result, scopes};
use context::Cx;
use context::error::Error;
use crypto::Secret;
use model::oauth::{ErrorCode, ResponseMode};
use model::{AccountId, Application, Scopes};
use store::oauth_code::CodeRow;

/// Lifetime of a code (docs/contract/rules.md#8-oauth-and-sign-up).
const CODE_LIFETIME: Duration = Duration::minutes(10);
/// How long an expired code is kept, so that a replay is detected.
pub const CODE_REPLAY_WINDOW: Duration = Duration::days(1);
/// Characters of a SHA-256 in base64url.
const CHALLENGE_LENGTH: usize = 43;

/// An authorization request as sent.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub response_type: Option<String>,
    pub response_mode: Option<String>,
    pub client_id: Option<String>,
    pub redirect_uri: Option<String>,
    pub scope: Option<String>,
    pub state: Option<String>,
    pub code_challenge: Option<String>,
    pub code_challenge_method: Option<String>,
}

/// A validated authorization request.
#[derive(Debug)]
pub struct Checked {
    /// The requested scopes.
    pub scopes: Scopes,
    /// PKCE challenge (S256) of the verifier that must accompany the code.
    challenge: Option<String>,
}

/// The requesting application, if the redirect URI exactly matches a registered one.
///
/// # Errors
/// [`Error::Unauthorized`] for an unknown application, [`Error::BadRequest`] for a missing parameter or an unregistered
/// URI.
#[model::use_case]
pub async fn client(cx: &Cx, request: &Request) -> Result<Application, Error> {
    let client_id = request.client_id.as_deref().ok_or_else(|| Error::missing("client_id"))?;
    let redirect_uri = request.redirect_uri.as_deref().ok_or_else(|| Error::missing("redirect_uri"))?;
    let unknown = || Error::Unauthorized("The application is not known to this server".into());
    let application = store::application::find_by_client_id(&cx.db, client_id).await?.ok_or_else(unknown)?;
    if application.redirect_uris().any(|registered| registered == redirect_uri) {
        Ok(application)
    } else {
        Err(Error::bad_request("The redirect_uri is not one that the application registered"))
    }
}

/// The response mode; an unknown one is reported by [`check`] in the default mode.
#[must_use]
pub fn mode(request: &Request) -> ResponseMode {
    request.response_mode.as_deref().and_then(|mode| mode.parse().ok()).unwrap_or(ResponseMode::Query)
}

/// Validates the rest: errors here are sent to the application.
///
/// # Errors
/// [`Fault::Refused`].
pub fn check(cx: &Cx, application: &Application, request: &Request) -> Result<Checked> {
    let invalid = |text: &'static str| Fault::refused(ErrorCode::InvalidRequest, text);
    match request.response_type.as_deref() {
        Some("code") => {}
        None => return Err(Fault::missing("response_type")),
        Some(_) => return Err(Fault::refused(ErrorCode::UnsupportedResponseType, "response_type must be code")),
    }
    if request.response_mode.as_deref().is_some_and(|mode| mode.parse::<ResponseMode>().is_err()) {
        return Err(invalid("response_mode must be one of query, fragment, form_post"));
    }
    if !matches!(request.code_challenge_method.as_deref(), None | Some("S256")) {
        return Err(Fault::refused(ErrorCode::InvalidCodeChallengeMethod, "code_challenge_method must be S256"));
    }
    let challenge = match (&request.code_challenge, &request.code_challenge_method) {
        (None, None) => None,
        (None, Some(_)) => return Err(Fault::missing("code_challenge")),
        // Without a method, RFC 7636 means plain.
        (Some(_), None) => {
            return Err(Fault::refused(ErrorCode::InvalidCodeChallengeMethod, "code_challenge_method must be S256"));
        }
        (Some(challenge), Some(_)) if is_s256(challenge) => Some(challenge.clone()),
        (Some(_), Some(_)) => return Err(invalid("code_challenge must be a SHA-256 in base64url without padding")),
    };
    Ok(Checked { scopes: scopes(cx, application, request.scope.as_deref())?, challenge })
}

fn is_s256(challenge: &str) -> bool {
    challenge.len() == CHALLENGE_LENGTH
        && challenge.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// True when no consent is needed: the application is the server's own, or already holds a token with these scopes.
#[model::use_case]
pub async fn is_settled(
    cx: &Cx,
    application: &Application,
    account: AccountId,
    checked: &Checked,
) -> Result<bool, Error> {
    if application.superapp {
        return Ok(true);
    }
    let held = store::oauth::list_tokens(&cx.db, application.id, account).await?;
    Ok(held.iter().any(|token| Scopes::from_stored(&token.scopes).is_same_set(&checked.scopes)))
}

/// Issues the authorization code for `account` to `application`.
#[model::use_case]
pub async fn authorize(
    cx: &Cx,
    application: &Application,
    account: AccountId,
    request: &Request,
    checked: Checked,
) -> Result<Secret, Error> {
    let (now, code) = (cx.clock.now(), crypto::random_text(32));
    let row = CodeRow {
        id: cx.ids.next(),
        app_id: application.id,
        account_id: account,
        redirect_uri: request.redirect_uri.clone().unwrap_or_default(),
        scopes: checked.scopes.to_string(),
        code_challenge: checked.challenge,
        expires_at: now + CODE_LIFETIME,
        redeemed_at: None,
        token_id: None,
    };
    let mut tx = cx.db.begin().await?;
    store::oauth_code::delete_expired(&mut tx, now - CODE_REPLAY_WINDOW).await?;
    store::oauth_code::insert(&mut tx, &row, crypto::hash(&code), now).await?;
    tx.commit().await?;
    Ok(Secret::from(code))
}
