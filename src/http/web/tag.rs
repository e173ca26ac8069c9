//! The page of a hashtag, `/tags/rooks`, with its public statuses, and its feeds.

use axum::response::Response;
use minijinja::context;

use super::profile::{newer, older};
use super::{Page, Visitor, feed};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::{Paging, Path};
use entity::{server_pictures, web};
use model::settings::ServerFeed;
use service::feed_access::{self, Unreadable};
use service::session;
use service::timeline::{self, TimelineQuery};
use text::hashtag;

/// `GET /tags/{name}`: the page, or with the suffix `.atom` or `.rss` a feed.
///
/// # Errors
/// [`Error::NotFound`] for an invalid hashtag, [`Error::Unauthorized`] when timelines are closed to anonymous visitors.
pub async fn show(cx: Cx, visitor: Visitor, Path(name): Path<String>, paging: Paging) -> Result<Response> {
    let (name, format) =
        feed::Format::split(&name).map_or((name.as_str(), None), |(name, format)| (name, Some(format)));
    let name = hashtag::normalise(hashtag::bare(name)).ok_or(Error::NotFound)?;
    let query = TimelineQuery { unreadable: Unreadable::LeaveOut, ..TimelineQuery::default() };
    // Everyone sees the same page, unless not everyone may read it.
    let viewer = match &visitor.person {
        Some(person) if !feed_access::is_public(&cx, ServerFeed::Topic) => Some(session::actor(&cx, person).await?),
        Some(_) | None => None,
    };
    let slice = timeline::tag(&cx, viewer.as_ref(), &name, &query, &paging.cursor).await?;
    if let Some(format) = format {
        return feed::of_tag(&cx, &visitor, &name, format, (&slice, &paging.cursor)).await;
    }
    let statuses = web::statuses(&cx, &slice.shown).await?;
    let (title, page) = (format!("#{name}"), cx.urls.tag(&name));
    let context = context! {
        og => context! {
            type => "website", title, url => page, image => server_pictures::thumbnail(&cx),
            image_alt => cx.settings().thumbnail_description,
            description => cx.language().say_with("tag.hint", &[("domain", &cx.urls.local_domain)]),
        },
        feeds => context! { atom => format!("{page}.atom"), rss => format!("{page}.rss") },
        page_title => title,
        noindex => statuses.is_empty() || paging.cursor.max_id.is_some() || paging.cursor.ascending(),
        tag => context! { name },
        older_url => older(&paging, &slice.ids),
        newer_url => newer(&paging, &slice.ids),
        statuses,
    };
    Ok(visitor.answer(Page::render(&cx, "tag.html", context)?))
}
