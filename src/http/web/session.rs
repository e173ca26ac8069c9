//! Who is signed in to the browser.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};

use super::cookies::{Cookies, Name};
use super::redirect;
use crate::app::App;
use crate::error::{Error, Result};
use crate::service::session::{self, Person};

/// Browsers keep the cookie as long as they keep any (400 days); when a session ends, the server decides.
const COOKIE_AGE_SECONDS: i64 = 400 * 24 * 60 * 60;

/// Perhaps someone: the person of the browser's session.
#[derive(Debug)]
pub struct WebSession(pub Option<Person>);

/// Someone; whoever is not signed in is sent to the sign-in page and comes back afterwards.
#[derive(Debug)]
pub struct SignedIn(pub Person);

impl FromRequestParts<App> for WebSession {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let cookies = Cookies::from_request_parts(parts, app).await?;
        let Some(token) = cookies.get(Name::Session).filter(|token| !token.is_empty()) else { return Ok(Self(None)) };
        Ok(Self(session::find(app, token).await?))
    }
}

impl FromRequestParts<App> for SignedIn {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        match WebSession::from_request_parts(parts, app).await {
            Ok(WebSession(Some(person))) => Ok(Self(person)),
            Ok(WebSession(None)) => Err(redirect(&sign_in_url(&return_address(parts)))),
            Err(error) => Err(error.into_response()),
        }
    }
}

/// Where a request goes on after sign-in: its own address, or the settings after a form, which cannot be sent again.
fn return_address(parts: &Parts) -> String {
    match parts.method {
        axum::http::Method::GET => parts.uri.path_and_query().map_or("/settings", |url| url.as_str()).to_owned(),
        _ => "/settings".to_owned(),
    }
}

/// The sign-in page that leads on to `next`, an address of this server.
#[must_use]
pub fn sign_in_url(next: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    format!("/auth/sign_in?{query}")
}

/// Starts a session of `person` in this browser.
///
/// # Errors
/// When the database does.
pub async fn start(app: &App, cookies: &Cookies, account: model::AccountId) -> Result<()> {
    let token = session::start(app, account, cookies.get(Name::Session)).await?;
    cookies.set(Name::Session, token.expose(), Some(COOKIE_AGE_SECONDS));
    Ok(())
}

/// Ends this browser's session, if it has one.
///
/// # Errors
/// When the database does.
pub async fn end(app: &App, cookies: &Cookies) -> Result<()> {
    if let Some(token) = cookies.get(Name::Session) {
        session::end(app, token).await?;
        cookies.remove(Name::Session);
    }
    Ok(())
}
