//! A page as an answer, with the headers that protect it.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::assets;
use crate::app::App;
use crate::error::Result;
use crate::http::{cache, files};
use crate::templates;

/// What a page may load: style, pictures and media of this server, and nothing else.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src 'self'; media-src 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The same, for pages whose forms end on this server.
const POLICY_WITH_FORMS: &str = "default-src 'none'; style-src 'self'; img-src 'self'; media-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

/// A rendered page.
#[derive(Debug)]
pub struct Page {
    html: String,
    status: StatusCode,
    headers: HeaderMap,
}

/// A hidden field of a form.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Hidden {
    pub name: &'static str,
    pub value: String,
}

impl Page {
    /// The template `name` with `context`; its head says what that holds. `page_title`, `noindex` and `flash` are part
    /// of it where wanted, what all pages share is added.
    ///
    /// # Errors
    /// When the template does not render, which is a bug.
    pub fn render(app: &App, name: &str, context: impl Serialize) -> Result<Self> {
        let own = minijinja::Value::from_serialize(context);
        let context = minijinja::context! { css_url => assets::css_url(), ..own };
        let html = templates::render(app, name, context)?;
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY_WITH_FORMS));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        Ok(Self { html, status: StatusCode::OK, headers })
    }

    /// Another status than 200.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// For a form whose answer leads to another site: browsers hold `form-action` against the redirect as well.
    #[must_use]
    pub fn leading_elsewhere(self) -> Self {
        self.with_header(header::CONTENT_SECURITY_POLICY, POLICY)
    }

    /// For a page that shows a secret: nothing keeps it.
    #[must_use]
    pub fn unstored(self) -> Self {
        self.with_header(header::CACHE_CONTROL, "no-store")
    }

    /// For a page with a secret in its address: no other site is told where the reader came from.
    #[must_use]
    pub fn without_referrer(self) -> Self {
        self.with_header(header::REFERRER_POLICY, "no-referrer")
    }

    /// The answer for a page that is the same for everyone: others may keep it for a moment, and what the browser that
    /// `asked` has already is not sent again.
    #[must_use]
    pub fn shared(mut self, asked: &HeaderMap) -> Response {
        let tag = format!("\"{}\"", &crypto::sha256_hex(self.html.as_bytes())[..32]);
        let unchanged = asked.get_all(header::IF_NONE_MATCH).iter().any(|sent| files::matches_tag(sent, &tag));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            self.headers.insert(header::ETAG, tag);
        }
        self.headers.insert(header::CACHE_CONTROL, cache::WHILE_ANONYMOUS);
        if unchanged { (StatusCode::NOT_MODIFIED, self.headers).into_response() } else { self.into_response() }
    }

    /// Sets a header; one that is set already is replaced.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        (self.status, self.headers, self.html).into_response()
    }
}
