//! Pages of plugin routes: the manifest's rule for core's own parameters and links.

use axum::http::{HeaderValue, Uri};
use rookery_plugin_host::exports::routes::Cursor as Ends;
use rookery_plugin_host::imports::types::Page;

use crate::app::App;
use crate::error::Result;
use crate::http::extract::Paging;
use crate::http::page::link_header;
use crate::plugins::manifest::PageRule;

/// Which page is wanted, of a route that pages.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) paging: Paging,
    /// Everything was asked for, and may be.
    pub(super) all: bool,
    prev: String,
}

impl Wanted {
    /// What the query asks for.
    ///
    /// # Errors
    /// 400 that names the parameter.
    pub(super) fn read(app: &App, uri: &Uri, rule: &PageRule) -> Result<Self> {
        let paging = Paging::read(app, uri, rule.default.into(), rule.max.into())?;
        let all = rule.all && paging.cursor.limit == 0;
        Ok(Self { paging, all, prev: rule.prev.clone().unwrap_or_else(|| "min_id".to_owned()) })
    }

    /// True when nothing was asked for: 0, where that does not mean everything.
    pub(super) fn is_empty(&self) -> bool {
        self.paging.cursor.limit == 0 && !self.all
    }

    /// As the plugin is told.
    pub(super) fn page(&self) -> Page {
        let cursor = &self.paging.cursor;
        Page {
            max_id: cursor.max_id,
            since_id: cursor.since_id,
            min_id: cursor.min_id,
            limit: u16::try_from(cursor.limit).unwrap_or(u16::MAX),
        }
    }

    /// The header that leads on; none from a page of everything.
    pub(super) fn links(&self, ends: Ends) -> Option<HeaderValue> {
        if self.all {
            return None;
        }
        link_header(&self.paging, ends.next_max, ends.prev_min.map(|id| (self.prev.as_str(), id)))
    }
}
