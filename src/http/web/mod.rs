//! Pages for people with a browser: server-rendered, without scripts, every form an ordinary POST.
//!
//! [`layer`] stands around the browser's routes: it gives handlers the [`Cookies`] of the request and writes those they
//! set; [`errors`] turns every error into a page for whoever can read one. A handler answers with a [`Page`]; [`SignedIn`] and [`Form`] in its argument list
//! ask for a session and check the CSRF token. Feeds, mail and pages share the templates of `crate::templates`.

pub mod assets;
pub mod confirmation;
pub mod cookies;
pub mod csrf;
pub mod extensions;
pub mod feed;
pub mod front;
pub mod owner;
pub mod password;
pub mod profile;
pub mod render;
pub mod session;
pub mod settings;
pub mod sign_in;
pub mod sign_up;
pub mod status;
pub mod tag;
pub mod visitor;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::http::error::Failure;
use model::Account;
use text::escape;

pub use cookies::Cookies;
pub use csrf::{Csrf, Form};
pub use render::{Hidden, Page};
pub use session::{SignedIn, WebSession};
pub use visitor::Visitor;

/// Cookies in and out: around every route whose handlers know the browser.
pub async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let cookies = Cookies::read(&app, request.headers());
    request.extensions_mut().insert(cookies.clone());
    let mut response = next.run(request).await;
    cookies.write(response.headers_mut());
    response
}

/// Errors as pages, for whoever asked for a page: around every route, and the layers that refuse requests.
pub async fn errors(State(app): State<App>, request: Request, next: Next) -> Response {
    let page = wants_page(request.uri().path(), request.headers());
    let response = next.run(request).await;
    match response.extensions().get::<Failure>() {
        Some(failure) if page => {
            let mut shown = error_page(&app, response.status(), &failure.0);
            for value in response.headers().get_all(header::SET_COOKIE) {
                shown.headers_mut().append(header::SET_COOKIE, value.clone());
            }
            shown
        }
        _ => response,
    }
}

/// Programs are answered in JSON wherever they ask, people with a page except from the API.
fn wants_page(path: &str, headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let always = ["/auth/", "/settings", "/oauth/authorize"].iter().any(|start| path.starts_with(start));
    always || (accepted.contains("text/html") && !path.starts_with("/api/"))
}
/// What is missing and what is hidden look alike.
const NOT_FOUND: &str = "There is no page at this address, or it is not for everyone to see.";

/// A page that says what went wrong.
pub fn error_page(app: &App, status: StatusCode, message: &str) -> Response {
    let context = minijinja::context! {
        page_title => title(status),
        noindex => true,
        status => status.as_u16(),
        title => title(status),
        message => if status == StatusCode::NOT_FOUND { NOT_FOUND.to_owned() } else { sentence(message) },
        request_id => status.is_server_error().then(crate::http::observe::request_id).flatten(),
    };
    match Page::render(app, "error.html", context) {
        Ok(page) => page.with_status(status).into_response(),
        Err(error) => {
            tracing::error!(%error, "could not render an error");
            status.into_response()
        }
    }
}

/// The heading over an error.
fn title(status: StatusCode) -> &'static str {
    match status.as_u16() {
        400 | 422 => "That did not work",
        401 => "Not recognised",
        403 => "Not allowed",
        404 => "Nothing here",
        410 => "Gone",
        413 => "Too large",
        429 => "Too many tries",
        503 => "Please try again",
        _ => "Something broke",
    }
}

/// Ends in a full stop.
fn sentence(text: &str) -> String {
    if text.ends_with(['.', '?', '!']) { text.to_owned() } else { format!("{text}.") }
}

/// Sends the browser to `url` with GET, whatever it came with: 302, as the contract's OAuth rows say.
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

/// A local account's name as HTML; the user name when it has none.
pub(super) fn display_name_html(account: &Account) -> String {
    let name = if account.display_name.is_empty() { &account.username } else { &account.display_name };
    escape(name)
}

/// A local account's picture.
pub(super) fn avatar_url(app: &App, account: &Account) -> String {
    account.avatar.as_ref().map_or_else(|| app.urls.default_avatar(), |key| app.urls.media(key))
}
