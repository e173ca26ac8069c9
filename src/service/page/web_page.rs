//! Fetches pages of other sites, and related documents, through the server's only HTTP client.
//!
//! Reached from link previews, from the verification of links in profiles, and from subscriptions to lists of domains,
//! all of which are jobs. The accounts
//! that link to a page are public, but the requests contain no name or address of a person.

use std::time::Duration;

use outbound::{Beyond, Document, Error, Fetch, FetchError, PlainHttp, Target};

use context::Cx;
use text::charset;
use text::page::Page;

/// The content types of HTML.
const HTML: &[&str] = &["text/html", "application/xhtml+xml"];

/// A fetched page.
#[derive(Debug)]
pub struct WebPage {
    /// Its URL after redirects.
    pub target: Target,
    /// Its parsed content.
    pub page: Page,
    /// The values of its `Link` headers.
    pub links: Vec<String>,
}

/// Fetches a page, or its beginning up to the configured size.
///
/// # Errors
/// [`FetchError`] with the reason.
pub async fn fetch(cx: &Cx, target: Target, https_only: bool) -> Result<WebPage, FetchError> {
    let fetch = Fetch {
        target,
        agent: &agent(cx),
        timeout: timeout(cx),
        limit: cx.config.previews.page_limit_bytes,
        beyond: Beyond::Cut,
        kinds: HTML,
        plain: if https_only { PlainHttp::Never } else { PlainHttp::Any },
        etag: None,
    };
    let document = cx.outbound.fetch(fetch).await?;
    let read = move || {
        let links = document.links().map(str::to_owned).collect();
        let page = Page::read(&charset::decode(&document.body, document.content_type()));
        WebPage { target: document.target, page, links }
    };
    // Parsing a page of megabytes takes some milliseconds.
    tokio::task::spawn_blocking(read).await.map_err(|error| FetchError::Request(Error::Other(error.to_string())))
}

/// Fetches a whole document of one of `kinds`, of at most `limit` bytes.
///
/// # Errors
/// As [`fetch`], and when the document is larger.
pub async fn document(cx: &Cx, target: Target, kinds: &[&str], limit: usize) -> Result<Document, FetchError> {
    let fetch = Fetch {
        target,
        agent: &agent(cx),
        timeout: timeout(cx),
        limit,
        beyond: Beyond::Refuse,
        kinds,
        plain: PlainHttp::Any,
        etag: None,
    };
    cx.outbound.fetch(fetch).await
}

/// Fetches a file of at most `limit` bytes, over TLS unless its host is allowed in addition to public ones; `None` when
/// the file still has the validator `etag`.
///
/// # Errors
/// As [`document`].
pub async fn file(
    cx: &Cx,
    target: Target,
    etag: Option<&str>,
    limit: usize,
    timeout: Duration,
) -> Result<Option<Document>, FetchError> {
    let fetch = Fetch {
        target,
        agent: &agent(cx),
        timeout,
        limit,
        beyond: Beyond::Refuse,
        kinds: &[],
        plain: PlainHttp::Allowed,
        etag,
    };
    match cx.outbound.fetch(fetch).await {
        Ok(document) => Ok(Some(document)),
        Err(FetchError::Status(304)) if etag.is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

fn timeout(cx: &Cx) -> Duration {
    Duration::from_secs(cx.config.previews.timeout_seconds)
}

/// The header `User-Agent`.
pub(crate) fn agent(cx: &Cx) -> String {
    format!("Rookery/{} (+{}/)", env!("CARGO_PKG_VERSION"), cx.urls.origin)
}
