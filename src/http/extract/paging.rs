//! Paging: the cursor that a request asks for, or the offset where a list has none, and the links to neighbouring pages.
//!
//! Spec: docs/contract/rules.md#4-pagination.

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use serde_json::json;

use crate::Cx;
use crate::error::{Error, ErrorResponse, Result};
use crate::operation::{Describe, Operation, Parameter, Place};
use crate::state::is_token_name;

/// Cursor and limit of a page. `DEFAULT` and `MAX` are the limits of the route.
#[derive(Clone, Debug)]
pub struct Paging<const DEFAULT: i64 = 20, const MAX: i64 = 40> {
    /// The cursor, as the store takes it.
    pub cursor: Cursor,
    /// The absolute URL of the route, without a query.
    url: String,
    /// The request's other parameters, encoded, to be repeated in links.
    other_params: String,
}

/// The limit of a list that has no cursor. `DEFAULT` and `MAX` are the limits of this route.
#[derive(Clone, Copy, Debug)]
pub struct Limit<const DEFAULT: i64, const MAX: i64>(pub i64);

/// Offset and limit of a list that is paged without a cursor. `DEFAULT` and `MAX` are the limits of the route.
#[derive(Clone, Debug)]
pub struct OffsetPaging<const DEFAULT: i64, const MAX: i64> {
    /// How many results to skip; not negative.
    pub offset: i64,
    /// How many results.
    pub limit: i64,
    /// The absolute URL of the route, without a query.
    url: String,
}

/// The parameters of a cursor, with what documents say of them.
const BOUNDS: [(&str, &str); 3] = [
    ("max_id", "Only results below this id."),
    ("since_id", "Only results above this id, the newest of them."),
    ("min_id", "Only results above this id, the next ones; wins over `since_id`."),
];

/// A cursor lives in `model`, so that `store` and `service` can use it without knowing HTTP.
pub use model::Cursor;

impl<const DEFAULT: i64, const MAX: i64> FromRequestParts<()> for Paging<DEFAULT, MAX> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &()) -> Result<Self> {
        Self::read(&*Cx::of(&parts.extensions)?, &parts.uri, DEFAULT, MAX)
    }
}

impl<const DEFAULT: i64, const MAX: i64> Paging<DEFAULT, MAX> {
    /// Parses the query of `uri`, for a route whose default and maximum limit are known only at run time.
    ///
    /// # Errors
    /// [`Error::BadRequest`] that names the invalid parameter.
    pub fn read(cx: &context::Cx, uri: &Uri, default: i64, max: i64) -> Result<Self> {
        let mut cursor = Cursor { limit: default, ..Cursor::default() };
        let mut other_params = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            match &*name {
                "max_id" => cursor.max_id = bound(&name, &value)?,
                "since_id" => cursor.since_id = bound(&name, &value)?,
                "min_id" => cursor.min_id = bound(&name, &value)?,
                name if is_token_name(name) => {}
                "limit" => {
                    cursor.limit = limit(&value, max);
                    other_params.append_pair("limit", &cursor.limit.to_string());
                }
                _ => {
                    other_params.append_pair(&name, &value);
                }
            }
        }
        Ok(Self { cursor, url: cx.urls.path(uri.path()), other_params: other_params.finish() })
    }

    /// True for the page that begins with the newest entry.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.cursor.max_id.is_none() && !self.cursor.ascending()
    }

    /// The query string of the next older page of a list with these keys, newest first, if there may be one. It repeats
    /// the other parameters of the request.
    #[must_use]
    pub fn older(&self, ids: &[i64]) -> Option<String> {
        let has_more = self.is_full(ids) || self.cursor.ascending();
        ids.last().filter(|_| has_more).map(|id| self.query("max_id", *id))
    }

    /// As [`Paging::older`], of the next newer page.
    #[must_use]
    pub fn newer(&self, ids: &[i64]) -> Option<String> {
        let has_more = if self.cursor.ascending() { self.is_full(ids) } else { self.cursor.max_id.is_some() };
        ids.first().filter(|_| has_more).map(|id| self.query("min_id", *id))
    }

    /// True when there are as many as the request takes.
    fn is_full(&self, ids: &[i64]) -> bool {
        i64::try_from(ids.len()).is_ok_and(|count| count >= self.cursor.limit)
    }

    fn query(&self, name: &str, id: i64) -> String {
        let separator = if self.other_params.is_empty() { "" } else { "&" };
        format!("?{}{separator}{name}={id}", self.other_params)
    }

    /// One link of a `Link` header, to a neighbouring page.
    pub(crate) fn link(&self, name: &str, id: i64, rel: &str) -> String {
        format!("<{}{}>; rel=\"{rel}\"", self.url, self.query(name, id))
    }
}

impl<const DEFAULT: i64, const MAX: i64> FromRequestParts<()> for Limit<DEFAULT, MAX> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &()) -> Result<Self> {
        let query = parts.uri.query().unwrap_or_default();
        let sent = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "limit").last();
        Ok(Self(sent.map_or(DEFAULT, |(_, value)| limit(&value, MAX))))
    }
}

impl<const DEFAULT: i64, const MAX: i64> FromRequestParts<()> for OffsetPaging<DEFAULT, MAX> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &()) -> Result<Self> {
        let Limit(limit) = Limit::<DEFAULT, MAX>::from_request_parts(parts, state).await?;
        let query = parts.uri.query().unwrap_or_default();
        let sent = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "offset").last();
        let offset = sent.map(|(_, value)| offset(&value)).transpose()?.unwrap_or_default();
        let url = Cx::of(&parts.extensions)?.urls.path(parts.uri.path());
        Ok(Self { offset, limit, url })
    }
}

impl<const DEFAULT: i64, const MAX: i64> OffsetPaging<DEFAULT, MAX> {
    /// The `Link` header of a page of `count` results: `next` when it is full, `prev` beyond the first pages
    /// (docs/contract/rules.md#4-pagination). `None` without either.
    pub(crate) fn links(&self, count: usize) -> Option<String> {
        let full = self.limit > 0 && i64::try_from(count).is_ok_and(|count| count >= self.limit);
        let next = full.then(|| self.link(self.offset.saturating_add(self.limit), "next"));
        let prev = (self.offset > self.limit).then(|| self.link(self.offset - self.limit, "prev"));
        let links: Vec<String> = next.into_iter().chain(prev).collect();
        (!links.is_empty()).then(|| links.join(", "))
    }

    fn link(&self, offset: i64, rel: &str) -> String {
        format!("<{}?limit={}&offset={offset}>; rel=\"{rel}\"", self.url, self.limit)
    }
}

impl<const DEFAULT: i64, const MAX: i64> Describe for Paging<DEFAULT, MAX> {
    fn describe(operation: &mut Operation) {
        for (name, text) in BOUNDS {
            let schema = json!({ "type": "string", "description": text });
            operation.parameters.push(Parameter::optional(name, Place::Query, schema));
        }
        Limit::<DEFAULT, MAX>::describe(operation);
    }
}

impl<const DEFAULT: i64, const MAX: i64> Describe for Limit<DEFAULT, MAX> {
    fn describe(operation: &mut Operation) {
        let schema = json!({
            "type": "integer",
            "description": "How many results; more than the maximum counts as the maximum.",
            "minimum": 0,
            "default": DEFAULT,
            "maximum": MAX,
        });
        operation.parameters.push(Parameter::optional("limit", Place::Query, schema));
    }
}

impl<const DEFAULT: i64, const MAX: i64> Describe for OffsetPaging<DEFAULT, MAX> {
    fn describe(operation: &mut Operation) {
        let schema =
            json!({ "type": "integer", "description": "How many results to skip.", "minimum": 0, "default": 0 });
        operation.parameters.push(Parameter::optional("offset", Place::Query, schema));
        Limit::<DEFAULT, MAX>::describe(operation);
    }
}

/// The offset in a parameter; a negative one counts as 0 (contract, decision 1), and so does an empty value.
fn offset(value: &str) -> Result<i64> {
    if value.is_empty() {
        return Ok(0);
    }
    let parsed: i64 = value.trim().parse().map_err(|_| Error::invalid("offset: must be a whole number"))?;
    Ok(parsed.max(0))
}

/// The id in a cursor parameter; an empty value means none.
fn bound(name: &str, value: &str) -> Result<Option<i64>> {
    if value.is_empty() {
        return Ok(None);
    }
    Ok(value
        .parse()
        .map(Some)
        .map_err(|_| Error::bad_request(format!("{name} must be an id: a decimal number of at most 64 bits")))?)
}

/// The absolute value, at most `max`; anything that is not a number counts as 0, which yields an empty page.
fn limit(value: &str, max: i64) -> i64 {
    let digits = value.trim().trim_start_matches(['-', '+']);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    digits.parse().unwrap_or(max).min(max)
}
