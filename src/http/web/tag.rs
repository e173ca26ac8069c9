//! The page of a hashtag, `/tags/rooks`, with its public statuses.

use axum::response::Response;
use minijinja::context;

use super::profile::{newer, older};
use super::{Page, Visitor};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::{Paging, Path};
use entity::web;
use service::timeline::{self, TimelineQuery};
use text::hashtag;

/// `GET /tags/{name}`
///
/// # Errors
/// [`Error::NotFound`] for an invalid hashtag, [`Error::Invalid`] when timelines are closed to anonymous visitors.
pub async fn show(cx: Cx, visitor: Visitor, Path(name): Path<String>, paging: Paging) -> Result<Response> {
    let name = hashtag::normalise(hashtag::bare(&name)).ok_or(Error::NotFound)?;
    let slice = timeline::tag(&cx, None, &name, &TimelineQuery::default(), &paging.cursor).await?;
    let statuses = web::statuses(&cx, &slice.shown).await?;
    let context = context! {
        page_title => format!("#{name}"),
        noindex => statuses.is_empty() || paging.cursor.max_id.is_some() || paging.cursor.ascending(),
        tag => context! { name },
        older_url => older(&paging, &slice.ids),
        newer_url => newer(&paging, &slice.ids),
        statuses,
    };
    Ok(visitor.answer(Page::render(&cx, "tag.html", context)?))
}
