//! Search in the browser: `/search`, and the description by which browsers offer it (OpenSearch).
//!
//! It finds what the API finds, for anyone or for the person who is signed in: people, hashtags and posts. A URL or an address of another server leads to
//! the page that looks it up, for people who are signed in.
//!
//! Spec: <https://github.com/dewitt/opensearch/blob/master/opensearch-1-1-draft-6.md>

use axum::http::header;
use axum::response::Response;
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::profile::look_up;
use super::{Page, Visitor, redirect};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Params;
use entity::web;
use model::Actor;
use model::filter::FilterContext;
use service::search::{self, Query, Results};

/// Most results of a kind.
const LIMIT: i64 = 20;

/// Query parameters of the page.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct SearchForm {
    /// The search text; without it the page shows the form alone.
    #[serde(default)]
    q: Option<String>,
}

/// `GET /search?q=…`
///
/// # Errors
/// [`Error::Invalid`] for an operator or value that makes no sense.
pub async fn show(cx: Cx, visitor: Visitor, Params(words): Params<SearchForm>) -> Result<Response> {
    let q = words.q.unwrap_or_default();
    let q = q.trim();
    if leads_elsewhere(&cx, q) {
        return Ok(redirect(&look_up(q)));
    }
    let viewer = visitor.viewer.as_ref();
    let found = if q.is_empty() { Results::default() } else { find(&cx, viewer, q).await? };
    let tags: Vec<_> =
        found.hashtags.iter().map(|tag| context! { name => tag.display_name, url => cx.urls.tag(&tag.name) }).collect();
    let context = context! {
        page_title => cx.language().say("search.title"),
        noindex => true,
        q, tags,
        accounts => web::authors(&cx, viewer, &found.accounts).await?,
        statuses => web::statuses(&cx, viewer, Some(FilterContext::Explore), &found.statuses).await?,
    };
    Ok(visitor.respond(visitor.page(&cx, "search.html", context)?))
}

/// True for a URL, and for an address of another server.
fn leads_elsewhere(cx: &Cx, q: &str) -> bool {
    let domain = q.strip_prefix("acct:").unwrap_or(q).trim_start_matches('@').split_once('@').map(|(_, domain)| domain);
    let is_url = q.starts_with("https://") || q.starts_with("http://");
    is_url || domain.is_some_and(|domain| !q.contains(' ') && !cx.config.is_local_domain(domain))
}

async fn find(cx: &Cx, viewer: Option<&Actor>, q: &str) -> Result<Results> {
    let query = Query { q: q.to_owned(), limit: LIMIT, ..Query::default() };
    match search::search(cx, viewer, &query).await {
        Err(Error::NotFound) => Ok(Results::default()),
        found => Ok(found?),
    }
}

/// `GET /opensearch.xml`
pub async fn description(cx: Cx) -> Result<Page> {
    let page = Page::render(&cx, "opensearch.xml", context! {})?;
    Ok(page.with_header(header::CONTENT_TYPE, "application/opensearchdescription+xml; charset=utf-8"))
}
