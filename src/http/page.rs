//! A page of a collection with its `Link` header, by keyset pagination or by offset (docs/contract/rules.md#4-pagination).
//!
//! Handlers return [`Page`] and never build the header themselves.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::extract::{OffsetPaging, Paging};
use super::json::Json;
use crate::error::Result;
use crate::operation::Respond;
use context::json::{Array, Fragment};
use entity::Schema;
use serde::Serialize;

/// A list of rendered entities, with the links to the neighbouring pages.
#[derive(Debug)]
pub struct Page<T>(Json<Vec<T>>);

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

impl<T> Page<T> {
    /// `ids` are the keys of the rows that were read, newest first, before filtering; `items` are the rendered rows
    /// after it.
    pub fn new<const D: i64, const M: i64>(
        paging: &Paging<D, M>,
        links: Links,
        ids: &[i64],
        items: impl Into<Array>,
    ) -> Self {
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Self::linked(items, None) };
        let full = i64::try_from(ids.len()).is_ok_and(|count| count >= paging.cursor.limit);
        let next = (full || links == Links::Always).then_some(*last);
        let prev = if links == Links::SinceId { "since_id" } else { "min_id" };
        Self::linked(items, link_header(paging, next, Some((prev, *first))))
    }

    /// A page of entities that are serialised, each with the key of its row, newest first.
    ///
    /// # Errors
    /// [`Error::Internal`](crate::error::Error) when an entity cannot be serialised.
    pub fn of_entities<const D: i64, const M: i64>(paging: &Paging<D, M>, items: Vec<(i64, T)>) -> Result<Self>
    where
        T: Serialize,
    {
        let (ids, items): (Vec<i64>, Vec<T>) = items.into_iter().unzip();
        let items: Vec<Fragment> = items.iter().map(Fragment::of).collect::<Result<_, _>>()?;
        Ok(Self::new(paging, Links::MinId, &ids, items))
    }

    /// A page by offset: `count` results were read, before filtering; `items` are the rendered results after it.
    pub fn by_offset<const D: i64, const M: i64>(
        paging: &OffsetPaging<D, M>,
        count: usize,
        items: impl Into<Array>,
    ) -> Self {
        Self::linked(items, paging.links(count).and_then(|links| HeaderValue::from_str(&links).ok()))
    }

    /// Replaces the status, as with 206 while a feed is being built.
    #[must_use]
    pub fn with_status(self, status: StatusCode) -> Self {
        Self(self.0.with_status(status))
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self(self.0.with_header(name, value))
    }

    fn linked(items: impl Into<Array>, links: Option<HeaderValue>) -> Self {
        let list = Json::list(items);
        Self(match links {
            Some(links) => list.with_header(header::LINK, links),
            None => list,
        })
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

impl<T: Schema> Respond for Page<T> {
    fn schema() -> String {
        Vec::<T>::name()
    }
}

impl<T> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}
