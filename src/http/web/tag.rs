//! The page of a hashtag, `/tags/rooks`, with its public statuses, and its feeds.

use axum::response::Response;
use minijinja::context;

use super::{Visitor, feed};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::{Paging, Path};
use entity::{server_pictures, web};
use model::filter::FilterContext;
use model::settings::ServerFeed;
use service::feed_access::{self, Unreadable};
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
    // A feed reader gets the same feed whoever is signed in, unless not everyone may read it.
    let viewer = visitor.viewer.as_ref();
    let viewer = viewer.filter(|_| format.is_none() || !feed_access::is_public(&cx, ServerFeed::Topic));
    let slice = timeline::tag(&cx, viewer, &name, &query, &paging.cursor).await?;
    if let Some(format) = format {
        return feed::of_tag(&cx, &visitor, &name, format, (&slice, &paging.cursor)).await;
    }
    let statuses = web::statuses(&cx, viewer, Some(FilterContext::Public), &slice.shown).await?;
    let found = match viewer {
        Some(viewer) => Some(service::tag::find(&cx, Some(viewer), &name).await?),
        None => None,
    };
    let (followed, featured) = found.map(|tag| (tag.following, tag.featuring)).unzip();
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
        tag => context! { name, followed, featured },
        older_url => paging.older(&slice.ids),
        newer_url => paging.newer(&slice.ids),
        statuses,
    };
    Ok(visitor.respond(visitor.page(&cx, "tag.html", context)?))
}
