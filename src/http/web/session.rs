//! Browser sessions: the session cookie and the extractors that require it.
//!
//! Sessions themselves are kept by `service::session`.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::cookies::{Cookies, Name};
use super::redirect;
use crate::Cx;
use crate::error::{Error, ErrorResponse, Result};
use crate::operation::{Caller, Describe, Operation, Security};
use context::{BrowserUser, Language};
use model::Actor;
use service::session::{self, Person};

/// The longest lifetime that browsers allow (400 days); expiry is decided by the server.
const COOKIE_AGE_SECONDS: i64 = 400 * 24 * 60 * 60;

/// The user of the browser's session, if there is one. From then on, pages show them in the header and speak the language
/// of their settings.
#[derive(Debug)]
pub struct WebSession(pub Option<Person>);

/// The signed-in user; anyone else is redirected to the sign-in page, and back afterwards.
#[derive(Debug)]
pub struct SignedIn(pub Person);

impl FromRequestParts<()> for WebSession {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &()) -> Result<Self> {
        let cookies = Cookies::from_request_parts(parts, state).await?;
        let cx = Cx::of(&parts.extensions)?;
        let person = match cookies.get(Name::Session).filter(|token| !token.is_empty()) {
            Some(token) => session::find(&cx, token).await?,
            None => None,
        };
        let account = person.as_ref().map(|person| Arc::new(person.account.clone()));
        cx.note_browser_user(account.map_or(BrowserUser::Anonymous, BrowserUser::SignedIn));
        let chosen = person.as_ref().and_then(|person| Language::of(person.user.locale.as_deref()?));
        chosen.into_iter().for_each(|language| cx.speak(language));
        Ok(Self(person))
    }
}

impl FromRequestParts<()> for SignedIn {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &()) -> Result<Self, Response> {
        match WebSession::from_request_parts(parts, state).await {
            Ok(WebSession(Some(person))) => Ok(Self(person)),
            Ok(WebSession(None)) => Err(redirect(&sign_in_url(&return_address(parts)))),
            Err(error) => Err(error.into_response()),
        }
    }
}

impl Describe for WebSession {}

impl Describe for SignedIn {
    fn describe(operation: &mut Operation) {
        operation.security = Security { caller: Caller::Session, ..Security::PUBLIC };
    }
}

/// The user of the browser's session as a viewer, if there is one: for what is shown to some people only, on a route whose
/// pages are otherwise the same for everyone.
///
/// # Errors
/// When the session cannot be looked up.
pub async fn viewer(cx: &Cx, cookies: &Cookies) -> Result<Option<Actor>> {
    let Some(token) = cookies.get(Name::Session).filter(|token| !token.is_empty()) else { return Ok(None) };
    let Some(person) = session::find(cx, token).await? else { return Ok(None) };
    match session::actor(cx, &person).await {
        Err(Error::NotFound) => Ok(None),
        actor => Ok(Some(actor?)),
    }
}

/// Where to continue after sign-in: the request's own URL, or the settings after a POST, which cannot be repeated.
fn return_address(parts: &Parts) -> String {
    match parts.method {
        axum::http::Method::GET => parts.uri.path_and_query().map_or("/settings", |url| url.as_str()).to_owned(),
        _ => "/settings".to_owned(),
    }
}

/// The URL of the sign-in page, which redirects to `next`, a path on this server.
#[must_use]
pub fn sign_in_url(next: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    format!("/auth/sign_in?{query}")
}

/// Starts a session of `account` in this browser.
pub async fn start(cx: &Cx, cookies: &Cookies, headers: &HeaderMap, account: model::AccountId) -> Result<()> {
    let browser = headers.get(header::USER_AGENT).and_then(|name| name.to_str().ok()).unwrap_or_default();
    let token = session::start(cx, account, cookies.get(Name::Session), browser).await?;
    cookies.set(Name::Session, token.expose(), Some(COOKIE_AGE_SECONDS));
    Ok(())
}

/// Ends this browser's session, if it has one.
pub async fn end(cx: &Cx, cookies: &Cookies) -> Result<()> {
    if let Some(token) = cookies.get(Name::Session) {
        session::end(cx, token).await?;
        cookies.remove(Name::Session);
    }
    Ok(())
}
