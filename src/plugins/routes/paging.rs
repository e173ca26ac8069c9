//! Pagination of plugin routes: the manifest's rule applied to core's parameters and links.

use axum::http::{HeaderValue, Uri};
use rookery_plugin_host::exports::routes::Cursor as Ends;
use rookery_plugin_host::imports::types::Page;

use crate::Cx;
use context::error::Result;
use plugin_package::manifest::PageRule;
use rookery_http::extract::Paging;
use rookery_http::page::link_header;

/// The page that a request asks for.
#[derive(Debug)]
pub(super) struct PageRequest {
    pub(super) paging: Paging,
    /// `limit=0` on a route where that means everything.
    pub(super) all: bool,
    prev: String,
}

impl PageRequest {
    /// Parses the query.
    ///
    /// # Errors
    /// 400, naming the parameter.
    pub(super) fn read(cx: &Cx, uri: &Uri, rule: &PageRule) -> Result<Self> {
        let paging = Paging::read(cx, uri, rule.default.into(), rule.max.into())?;
        let all = rule.all && paging.cursor.limit == 0;
        Ok(Self { paging, all, prev: rule.prev.clone().unwrap_or_else(|| "min_id".to_owned()) })
    }

    /// True for `limit=0` where that does not mean everything: the page is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.paging.cursor.limit == 0 && !self.all
    }

    /// The page as the contract's record.
    pub(super) fn page(&self) -> Page {
        let cursor = &self.paging.cursor;
        Page {
            max_id: cursor.max_id,
            since_id: cursor.since_id,
            min_id: cursor.min_id,
            limit: u16::try_from(cursor.limit).unwrap_or(u16::MAX),
        }
    }

    /// The `Link` header; none for a page of everything.
    pub(super) fn links(&self, ends: Ends) -> Option<HeaderValue> {
        if self.all {
            return None;
        }
        link_header(&self.paging, ends.next_max, ends.prev_min.map(|id| (self.prev.as_str(), id)))
    }
}
