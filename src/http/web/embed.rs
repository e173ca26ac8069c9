//! The page of a status that other sites show in a frame, `/@alice/1/embed`: without cookies, scripts or forms.
//!
//! It is what [`oembed`](crate::api::oembed) points to, and the one page that may be framed.

use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;

use super::Page;
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Path;
use entity::web;
use model::StatusId;
use service::public;

/// `GET /@{name}/{id}/embed`
///
/// # Errors
/// [`Error::NotFound`] unless it is a public or unlisted status of the account.
pub async fn show(cx: Cx, asked: HeaderMap, Path((name, id)): Path<(String, StatusId)>) -> Result<Response> {
    let (_, seen) = public::embeddable(&cx, &cx.urls.status(&name, id)).await?;
    let status = web::statuses(&cx, None, None, &[seen]).await?.pop().ok_or(Error::NotFound)?;
    let page = Page::render(&cx, "embed.html", context! { noindex => true, status })?;
    Ok(page.in_frames(&cx)?.shared(&asked))
}
