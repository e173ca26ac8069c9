//! A page of a collection with its `Link` header, by keyset pagination or by offset (docs/contract/rules.md#4-pagination).
//!
//! Handlers return [`Page`] and never build the header themselves.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::error::raw_json;
use super::extract::{OffsetPaging, Paging};
use context::json::Array;

/// Rendered entities, and the links to the neighbouring pages.
#[derive(Debug)]
pub struct Page {
    items: Array,
    links: Option<HeaderValue>,
    status: StatusCode,
}

/// How a collection links to its neighbouring pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// `next` when the page is full, `prev` by `min_id`.
    MinId,
    /// `next` when the page is full, `prev` by `since_id`.
    SinceId,
    /// `next` and `prev` (by `min_id`) whenever the page is not empty: timelines and notifications.
    Always,
}

impl Page {
    /// `ids` are the keys of the rows that were read, newest first, before filtering; `items` are those that are shown.
    pub fn new<const D: i64, const M: i64>(
        paging: &Paging<D, M>,
        links: Links,
        ids: &[i64],
        items: impl Into<Array>,
    ) -> Self {
        let mut page = Self { items: items.into(), links: None, status: StatusCode::OK };
        if let (Some(first), Some(last)) = (ids.first(), ids.last()) {
            let full = i64::try_from(ids.len()).is_ok_and(|count| count >= paging.cursor.limit);
            let next = (full || links == Links::Always).then_some(*last);
            let prev = if links == Links::SinceId { "since_id" } else { "min_id" };
            page.links = link_header(paging, next, Some((prev, *first)));
        }
        page
    }

    /// A page by offset: `count` results were read, before filtering; `items` are those that are shown.
    pub fn by_offset<const D: i64, const M: i64>(
        paging: &OffsetPaging<D, M>,
        count: usize,
        items: impl Into<Array>,
    ) -> Self {
        let links = paging.links(count).and_then(|links| HeaderValue::from_str(&links).ok());
        Self { items: items.into(), links, status: StatusCode::OK }
    }

    /// Replaces the status 200, as with 206 while a feed is being built.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }
}

/// A `Link` header: `next` is the `max_id` of the older page, `prev` the parameter name and id of the newer one.
#[must_use]
pub fn link_header<const D: i64, const M: i64>(
    paging: &Paging<D, M>,
    next: Option<i64>,
    prev: Option<(&str, i64)>,
) -> Option<HeaderValue> {
    let next = next.map(|id| paging.link("max_id", id, "next"));
    let prev = prev.map(|(name, id)| paging.link(name, id, "prev"));
    let links: Vec<String> = next.into_iter().chain(prev).collect();
    if links.is_empty() { None } else { HeaderValue::from_str(&links.join(", ")).ok() }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let mut response = raw_json(self.status, String::from(self.items).into());
        if let Some(links) = self.links {
            response.headers_mut().insert(header::LINK, links);
        }
        response
    }
}
