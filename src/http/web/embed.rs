//! The page of a status that other sites show in a frame, `/@alice/1/embed`: without cookies, scripts or forms.
//!
//! It is what [`oembed`](crate::api::oembed) points to, and the one page that may be framed.

use axum::http::{HeaderMap, header};
use axum::response::Response;
use minijinja::context;

use super::Page;
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Path;
use entity::web;
use model::StatusId;
use service::public;

/// Content security policy: as on other pages, but in a frame of any site and without forms.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; media-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors *";

/// `GET /@{name}/{id}/embed`
///
/// # Errors
/// [`Error::NotFound`] unless it is a public or unlisted status of the account.
pub async fn show(cx: Cx, asked: HeaderMap, Path((name, id)): Path<(String, StatusId)>) -> Result<Response> {
    let (_, seen) = public::embeddable(&cx, &cx.urls.status(&name, id)).await?;
    let status = web::statuses(&cx, &[seen]).await?.pop().ok_or(Error::NotFound)?;
    let page = Page::render(&cx, "embed.html", context! { noindex => true, status })?;
    // An empty value is not sent: the policy says who may frame it.
    let page = page.with_header(header::CONTENT_SECURITY_POLICY, POLICY).with_header(header::X_FRAME_OPTIONS, "");
    Ok(page.shared(&asked))
}
