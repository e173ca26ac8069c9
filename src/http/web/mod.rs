//! Pages for browsers: server-rendered, without scripts; every form is an ordinary POST.
//!
//! A handler of a route with cookies takes the request's [`Cookies`]; cookies that it sets are written to the response.
//! Errors are shown as pages to clients that accept HTML. A handler returns a [`Page`]; [`SignedIn`] and [`Form`] in
//! its argument list require a session and a valid CSRF token. Pages and feeds are rendered from the folder
//! `templates`.

pub mod assets;
pub mod client;
pub mod confirmation;
pub mod cookies;
pub mod csrf;
pub mod custom_css;
mod elsewhere;
pub mod embed;
pub mod explore;
pub mod feed;
pub mod front;
pub mod interaction;
pub mod manifest;
pub mod next;
pub mod owner;
pub mod password;
pub mod profile;
pub mod render;
pub mod search;
pub mod session;
pub mod settings;
pub mod share;
pub mod sign_in;
pub mod sign_up;
pub mod status;
pub mod strike;
pub mod tag;
mod templates;
pub mod terms;
pub mod unsubscribe;
pub mod visitor;
pub mod visitor_interaction;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::Cx;
use crate::error::Failure;
use crate::policy::RouteKind;
use crate::state::RequestState;
use model::Account;
use text::escape;

pub use cookies::Cookies;
pub use csrf::{Csrf, Form, FormWithFiles, FormWithoutToken, NoFields};
pub use render::{Hidden, Page};
pub use session::{SignedIn, WebSession};
pub use templates::TEMPLATES;
pub use visitor::Visitor;

/// `response`, as a page when it is an error and the client wants pages.
pub(crate) fn error_as_page(state: &RequestState<'_>, response: Response) -> Response {
    match response.extensions().get::<Failure>() {
        Some(failure) if state.wants_page => {
            let mut shown = error_page(&state.cx, response.status(), &failure.0);
            for value in response.headers().get_all(header::SET_COOKIE) {
                shown.headers_mut().append(header::SET_COOKIE, value.clone());
            }
            shown
        }
        _ => response,
    }
}

/// True when the client gets errors as a page: on browser-only paths, and outside the API when it accepts HTML.
pub(crate) fn wants_page(kind: RouteKind, headers: &HeaderMap) -> bool {
    let accepted = || headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match kind {
        RouteKind::Api => false,
        RouteKind::Page => true,
        RouteKind::Program => accepted().contains("text/html"),
    }
}

/// An error page; `message` is in English, as services say it.
pub fn error_page(cx: &Cx, status: StatusCode, message: &str) -> Response {
    let language = cx.language();
    let message = match status {
        // The same text for missing and hidden pages.
        StatusCode::NOT_FOUND => language.say("error.not_found"),
        _ => language.say_error(message).unwrap_or_else(|| sentence(message)),
    };
    let title = language.say(title(status));
    let context = minijinja::context! {
        page_title => title,
        noindex => true,
        status => status.as_u16(),
        title => title,
        message => message,
        request_id => status.is_server_error().then(|| cx.request_id()).flatten(),
    };
    match Page::render(cx, "error.html", context) {
        Ok(page) => page.with_status(status).into_response(),
        Err(error) => {
            tracing::error!(%error, "could not render an error");
            status.into_response()
        }
    }
}

/// The message that is the heading of an error page.
fn title(status: StatusCode) -> &'static str {
    match status.as_u16() {
        400 | 422 => "error.wrong",
        401 => "error.unknown",
        403 => "error.forbidden",
        404 => "error.nothing",
        410 => "error.gone",
        413 => "error.large",
        429 => "error.often",
        503 => "error.again",
        _ => "error.broken",
    }
}

/// Adds a full stop when the text has no closing punctuation.
fn sentence(text: &str) -> String {
    if text.ends_with(['.', '?', '!']) { text.to_owned() } else { format!("{text}.") }
}

/// A 302 redirect, which browsers follow with GET whatever the method; the contract requires 302 in the OAuth flow.
pub fn redirect(url: &str) -> Response {
    let mut response = StatusCode::FOUND.into_response();
    let escaped = percent_encoding::utf8_percent_encode(url, percent_encoding::CONTROLS).to_string();
    match HeaderValue::from_str(&escaped) {
        Ok(value) => {
            response.headers_mut().insert(header::LOCATION, value);
            response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// A local account's display name as HTML; the user name when it has none.
pub(super) fn display_name_html(account: &Account) -> String {
    let name = if account.display_name.is_empty() { &account.username } else { &account.display_name };
    escape(name)
}

/// The URL of a local account's avatar, or of the default avatar.
pub(super) fn avatar_url(cx: &Cx, account: &Account) -> String {
    account.avatar.as_ref().map_or_else(|| cx.urls.default_avatar(), |key| cx.urls.media(key))
}
