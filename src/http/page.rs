//! A page of a collection, with its `Link` header (contract rules, section 4). No handler builds one itself.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::error::raw_json;
use super::extract::Paging;
use crate::entity::Fragment;

/// A page: rendered entities and the ids of the first and last record it was cut from.
#[derive(Debug)]
pub struct Page {
    items: Vec<Fragment>,
    links: Vec<String>,
    status: StatusCode,
}

/// How a collection links to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// `next` when the page is full, `prev` by `min_id`.
    MinId,
    /// `next` when the page is full, `prev` by `since_id`.
    SinceId,
    /// `next` and `prev` (by `min_id`) whenever there is an element: timelines and notifications.
    Always,
}

impl Page {
    /// `ids` are those of the paging records before anything was hidden, newest first; `items` what is shown of them.
    pub fn new<const D: i64, const M: i64>(
        paging: &Paging<D, M>,
        links: Links,
        ids: &[i64],
        items: Vec<Fragment>,
    ) -> Self {
        let mut page = Self { items, links: Vec::new(), status: StatusCode::OK };
        if let (Some(first), Some(last)) = (ids.first(), ids.last()) {
            let full = i64::try_from(ids.len()).is_ok_and(|count| count >= paging.cursor.limit);
            if full || links == Links::Always {
                page.link(paging, "max_id", *last, "next");
            }
            page.link(paging, if links == Links::SinceId { "since_id" } else { "min_id" }, *first, "prev");
        }
        page
    }

    /// Another status than 200: 206 while a feed is being built.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    fn link<const D: i64, const M: i64>(&mut self, paging: &Paging<D, M>, name: &str, id: i64, rel: &str) {
        let separator = if paging.kept.is_empty() { "" } else { "&" };
        self.links.push(format!("<{}?{}{separator}{name}={id}>; rel=\"{rel}\"", paging.url, paging.kept));
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let mut response = raw_json(self.status, Fragment::array(&self.items).into());
        if let Ok(value) = HeaderValue::from_str(&self.links.join(", "))
            && !self.links.is_empty()
        {
            response.headers_mut().insert(header::LINK, value);
        }
        response
    }
}
