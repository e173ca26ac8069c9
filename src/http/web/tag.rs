//! The page of a hashtag, `/tags/rooks`: what everyone may see with it.

use axum::extract::State;
use axum::response::Response;
use minijinja::context;

use super::profile::{newer, older};
use super::{Page, Visitor};
use crate::app::App;
use crate::entity::web;
use crate::error::{Error, Result};
use crate::http::extract::{Paging, Path};
use crate::service::timeline::{self, Wanted};
use text::hashtag;

/// `GET /tags/{name}`
///
/// # Errors
/// [`Error::NotFound`] when there cannot be such a hashtag, [`Error::Invalid`] when strangers see no timelines here.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
    paging: Paging,
) -> Result<Response> {
    let name = hashtag::normalise(hashtag::bare(&name)).ok_or(Error::NotFound)?;
    let slice = timeline::tag(&app, None, &name, &Wanted::default(), &paging.cursor).await?;
    let statuses = web::statuses(&app, &slice.shown).await?;
    let context = context! {
        page_title => format!("#{name}"),
        noindex => statuses.is_empty() || paging.cursor.max_id.is_some() || paging.cursor.ascending(),
        tag => context! { name },
        older_url => older(&paging, &slice.ids),
        newer_url => newer(&paging, &slice.ids),
        statuses,
    };
    Ok(visitor.answer(Page::render(&app, "tag.html", context)?))
}
