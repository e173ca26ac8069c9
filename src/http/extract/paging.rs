//! Which page a client wants (contract rules, section 4).

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::app::App;
use crate::error::{Error, Result};

/// Bounds of a page by id, and how many records at most. `DEFAULT` and `MAX` are the route's.
#[derive(Clone, Debug)]
pub struct Paging<const DEFAULT: i64 = 20, const MAX: i64 = 40> {
    /// The bounds, as the store takes them.
    pub cursor: Cursor,
    /// The absolute URL of the route, without a query.
    pub(in crate::http) url: String,
    /// The caller's other parameters, encoded, to be repeated in links.
    pub(in crate::http) kept: String,
}

/// Bounds of a page by id. Plain, so that `store` and `service` can have it without knowing HTTP.
pub use crate::model::Cursor;

impl<const DEFAULT: i64, const MAX: i64> FromRequestParts<App> for Paging<DEFAULT, MAX> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let mut cursor = Cursor { limit: DEFAULT, ..Cursor::default() };
        let mut kept = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
            match &*name {
                "max_id" => cursor.max_id = bound(&name, &value)?,
                "since_id" => cursor.since_id = bound(&name, &value)?,
                "min_id" => cursor.min_id = bound(&name, &value)?,
                "access_token" | "bearer_token" => {}
                "limit" => {
                    cursor.limit = limit(&value, MAX);
                    kept.append_pair("limit", &cursor.limit.to_string());
                }
                _ => {
                    kept.append_pair(&name, &value);
                }
            }
        }
        Ok(Self { cursor, url: app.urls.path(parts.uri.path()), kept: kept.finish() })
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
