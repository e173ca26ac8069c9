//! Routes whose HTML is the server's own sign-up page (`html = "sign-up"`): the link of an invitation.
//!
//! A browser that asks for HTML gets the page, whose form carries the path's parameters, and the plugin is asked by its hook
//! `sign-up`. Everybody else gets the plugin's answer. Sessions are of no account for either.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Map, Value};

use super::table::{Found, Mounted};
use crate::Cx;
use context::error::{Error, Result};
use rookery_http::web::{Cookies, Csrf, sign_up};

/// True when `request` is for the page.
pub(super) fn is_asked_for(mounted: &Mounted, request: &Request) -> bool {
    let accepted = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    mounted.route().html.is_some() && accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

/// The page, with the path's parameters.
///
/// # Errors
/// [`Error::Plugin`] when a plugin whose answer is needed gives none.
pub(super) async fn page(cx: &Cx, found: Found, headers: &HeaderMap) -> Result<Response> {
    let core = rookery_http::Cx(context::Cx::clone(cx));
    let cookies = Cookies::read(&core, headers);
    let csrf = Csrf::of(&core, &cookies);
    let params: Map<String, Value> = found.params.into_iter().map(|(name, value)| (name, value.into())).collect();
    let page = sign_up::show_with(&core, &cookies, &csrf, params).await.map_err(|error| error.0)?;
    let mut response = page.into_response();
    cookies.write(response.headers_mut());
    vary(&mut response);
    Ok(response)
}

/// Checks a plugin's response at the path of sign-up: a refusal where sign-up is impossible.
///
/// # Errors
/// [`Error::Forbidden`] in place of a success, on a server for one.
pub(super) fn beside(cx: &Cx, response: &mut Response) -> Result<()> {
    if response.status().is_success() && cx.config.access.single_user {
        return Err(Error::forbidden("This server takes no new members"));
    }
    vary(response);
    Ok(())
}

/// Caches must not give one for the other.
fn vary(response: &mut Response) {
    response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept"));
}
