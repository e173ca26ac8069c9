//! Timelines: home, local and federated, lists, bookmarks and favourites.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use minijinja::{Value, context};

use crate::error::Result;
use crate::extract::{Paging, Path};
use crate::web::Page;
use crate::web::settings::Frame;
use entity::web;
use model::filter::FilterContext;
use model::{Actor, RowId};
use service::timeline::{self, TimelinePage, TimelineQuery};
use service::{list, suggestion};

/// Most suggestions in an empty home.
const SUGGESTED: i64 = 5;

/// The heading of a timeline, and its message while it is empty.
struct Kind {
    /// Its entry in the navigation.
    section: &'static str,
    /// Its heading: a message, or a name.
    title: String,
    /// The message of an empty page.
    empty: &'static str,
    /// Whose filters apply.
    place: Option<FilterContext>,
    /// The stream of the API with new statuses.
    stream: Option<String>,
}

/// `GET /home`: 206 while the feed is being rebuilt after a long absence.
pub async fn home(frame: Frame, paging: Paging) -> Result<Response> {
    let viewer = frame.actor().await?;
    let (slice, rebuilding) = timeline::home(&frame.cx, &viewer, &paging.cursor).await?;
    let kind = Kind {
        section: "timeline",
        title: frame.say("timeline.home"),
        empty: "timeline.home_empty",
        place: Some(FilterContext::Home),
        stream: Some("user".to_owned()),
    };
    let suggested = if slice.ids.is_empty() && paging.is_first() {
        let found = suggestion::list(&frame.cx, &viewer, SUGGESTED, 0).await?;
        let ids: Vec<_> = found.iter().map(|suggestion| suggestion.account).collect();
        web::authors(&frame.cx, Some(&viewer), &ids).await?
    } else {
        Vec::new()
    };
    let page = show(
        &frame,
        &viewer,
        &paging,
        kind,
        slice,
        context! { rebuilding, suggested, idempotency_key => crypto::random_text(16) },
    )
    .await?;
    let status = if rebuilding { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
    Ok(page.with_status(status).into_response())
}

/// `GET /public`: statuses of all known servers.
pub async fn federated(frame: Frame, paging: Paging) -> Result<Page> {
    public(frame, paging, "public", TimelineQuery::default()).await
}

/// `GET /public/local`: statuses of this server.
pub async fn local(frame: Frame, paging: Paging) -> Result<Page> {
    public(frame, paging, "local", TimelineQuery { local: true, ..TimelineQuery::default() }).await
}

async fn public(frame: Frame, paging: Paging, section: &'static str, query: TimelineQuery) -> Result<Page> {
    let viewer = frame.actor().await?;
    let slice = timeline::public(&frame.cx, Some(&viewer), &query, &paging.cursor).await?;
    let kind = Kind {
        section,
        title: frame.say(&format!("timeline.{section}")),
        empty: "timeline.public_empty",
        place: Some(FilterContext::Public),
        stream: Some(if query.local { "public:local" } else { "public" }.to_owned()),
    };
    show(&frame, &viewer, &paging, kind, slice, context! {}).await
}

/// `GET /lists/{id}`
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when the list is missing or someone else's.
pub async fn list(frame: Frame, Path(id): Path<RowId>, paging: Paging) -> Result<Page> {
    let viewer = frame.actor().await?;
    let list = list::find(&frame.cx, &viewer, id).await?;
    let slice = timeline::list(&frame.cx, &viewer, id, &paging.cursor).await?;
    let kind = Kind {
        section: "lists",
        title: list.title,
        empty: "timeline.list_empty",
        place: Some(FilterContext::Home),
        stream: Some(format!("list&list={id}")),
    };
    show(&frame, &viewer, &paging, kind, slice, context! { list_id => id }).await
}

/// `GET /bookmarks`
pub async fn bookmarks(frame: Frame, paging: Paging) -> Result<Page> {
    let viewer = frame.actor().await?;
    let slice = timeline::bookmarks(&frame.cx, &viewer, &paging.cursor).await?;
    marked(&frame, &viewer, &paging, "bookmarks", slice).await
}

/// `GET /favourites`
pub async fn favourites(frame: Frame, paging: Paging) -> Result<Page> {
    let viewer = frame.actor().await?;
    let slice = timeline::favourites(&frame.cx, &viewer, &paging.cursor).await?;
    marked(&frame, &viewer, &paging, "favourites", slice).await
}

async fn marked(
    frame: &Frame,
    viewer: &Actor,
    paging: &Paging,
    section: &'static str,
    slice: TimelinePage,
) -> Result<Page> {
    let title = frame.say(&format!("timeline.{section}"));
    let empty = if section == "bookmarks" { "timeline.bookmarks_empty" } else { "timeline.favourites_empty" };
    let kind = Kind { section, title, empty, place: None, stream: None };
    show(frame, viewer, paging, kind, slice, context! {}).await
}

async fn show(
    frame: &Frame,
    viewer: &Actor,
    paging: &Paging,
    kind: Kind,
    slice: TimelinePage,
    more: Value,
) -> Result<Page> {
    let is_first = paging.is_first();
    let own = context! {
        title => kind.title,
        empty => frame.say(kind.empty),
        stream => kind.stream.filter(|_| is_first),
        newest => slice.ids.first().map(ToString::to_string),
        statuses => web::statuses(&frame.cx, Some(viewer), kind.place, &slice.shown).await?,
        older_url => paging.older(&slice.ids),
        newer_url => paging.newer(&slice.ids),
        is_first,
        ..more
    };
    frame.titled(kind.section, &kind.title, "client/timeline.html", own)
}
