//! The page before one of another server: a link to this server leads nowhere else unnoticed.

use axum::response::{IntoResponse, Response};
use minijinja::context;
use url::Url;

use super::Page;
use crate::Cx;
use crate::error::{Error, Result};

/// The page of the account `acct` of another server, or of one of its statuses, that leads to `url` there. Not cached:
/// the account may change.
///
/// # Errors
/// [`Error::NotFound`] for a URL that leads nowhere.
pub(super) fn page(cx: &Cx, acct: &str, url: &str) -> Result<Response> {
    let target = Url::parse(url).map_err(|_| Error::NotFound)?;
    let host = target.host_str().ok_or(Error::NotFound)?;
    let context = context! {
        page_title => cx.language().say_with("elsewhere.page", &[("domain", &cx.urls.local_domain)]),
        noindex => true,
        acct => format!("@{acct}"),
        url, host,
    };
    Ok(Page::render(cx, "elsewhere.html", context)?.no_store().without_referrer().into_response())
}
