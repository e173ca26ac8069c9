//! Which page a client wants (contract rules, section 4).

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;

use crate::app::App;
use crate::error::{Error, Result};

/// Bounds of a page by id, and how many records at most. `DEFAULT` and `MAX` are the route's.
#[derive(Clone, Debug)]
pub struct Paging<const DEFAULT: i64 = 20, const MAX: i64 = 40> {
    /// The bounds, as the store takes them.
    pub cursor: Cursor,
    /// The absolute URL of the route, without a query.
    url: String,
    /// The caller's other parameters, encoded, to be repeated in links.
    kept: String,
}

/// Bounds of a page by id. Plain, so that `store` and `service` can have it without knowing HTTP.
pub use model::Cursor;

impl<const DEFAULT: i64, const MAX: i64> FromRequestParts<App> for Paging<DEFAULT, MAX> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        Self::read(app, &parts.uri, DEFAULT, MAX)
    }
}

impl<const DEFAULT: i64, const MAX: i64> Paging<DEFAULT, MAX> {
    /// What the query of `uri` asks for, `limit` within the bounds of a route that is known only now.
    ///
    /// # Errors
    /// [`Error::BadRequest`] that names the parameter.
    pub fn read(app: &App, uri: &Uri, default: i64, max: i64) -> Result<Self> {
        let mut cursor = Cursor { limit: default, ..Cursor::default() };
        let mut kept = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            match &*name {
                "max_id" => cursor.max_id = bound(&name, &value)?,
                "since_id" => cursor.since_id = bound(&name, &value)?,
                "min_id" => cursor.min_id = bound(&name, &value)?,
                "access_token" | "bearer_token" => {}
                "limit" => {
                    cursor.limit = limit(&value, max);
                    kept.append_pair("limit", &cursor.limit.to_string());
                }
                _ => {
                    kept.append_pair(&name, &value);
                }
            }
        }
        Ok(Self { cursor, url: app.urls.path(uri.path()), kept: kept.finish() })
    }

    /// The link to a neighbouring page.
    pub(in crate::http) fn link(&self, name: &str, id: i64, rel: &str) -> String {
        let separator = if self.kept.is_empty() { "" } else { "&" };
        format!("<{}?{}{separator}{name}={id}>; rel=\"{rel}\"", self.url, self.kept)
    }
}

/// An id that bounds a page; blank means none.
fn bound(name: &str, value: &str) -> Result<Option<i64>> {
    if value.is_empty() {
        return Ok(None);
    }
    value
        .parse()
        .map(Some)
        .map_err(|_| Error::bad_request(format!("{name} must be an id: a decimal number of at most 64 bits")))
}

/// The absolute value, capped; what is no number counts as 0, which gives an empty page.
fn limit(value: &str, max: i64) -> i64 {
    let digits = value.trim().trim_start_matches(['-', '+']);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    digits.parse().unwrap_or(max).min(max)
}
