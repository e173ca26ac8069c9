//! Timelines, an account's statuses, favourites and bookmarks: paginated lists of statuses.
//!
//! Spec: <https://docs.joinmastodon.org/methods/timelines/>

use axum::http::{HeaderMap, StatusCode, header};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadBookmarks, ReadFavourites, ReadLists, ReadStatuses};
use crate::extract::{Auth, MaybeAuth, Paging, Params, Path};
use crate::page::{Links, Page};
use model::params::language;
use model::params::required;
use model::{AccountId, Actor, RowId};

use service::timeline::{self, ProfileQuery, TimelinePage, TimelineQuery};

/// Renders a slice of statuses with its `Link` header.
async fn page<const D: i64, const M: i64>(
    cx: &Cx,
    viewer: Option<&Actor>,
    paging: &Paging<D, M>,
    links: Links,
    slice: TimelinePage,
) -> Result<Page<entity::Status>> {
    let items = entity::status::render(cx, viewer, &slice.shown).await?;
    Ok(Page::new(paging, links, &slice.ids, items))
}

/// `GET /api/v1/timelines/home`: 206 while the feed is being rebuilt after a long absence.
pub async fn home(cx: Cx, Auth(viewer, ..): Auth<ReadStatuses>, paging: Paging) -> Result<Page<entity::Status>> {
    let (slice, rebuilding) = timeline::home(&cx, &viewer, &paging.cursor).await?;
    let page = page(&cx, Some(&viewer), &paging, Links::Always, slice).await?;
    Ok(if rebuilding { page.with_status(StatusCode::PARTIAL_CONTENT) } else { page })
}

/// `GET /api/v1/timelines/list/{id}`
pub async fn list(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadLists>,
    Path(id): Path<RowId>,
    paging: Paging,
) -> Result<Page<entity::Status>> {
    let slice = timeline::list(&cx, &viewer, id, &paging.cursor).await?;
    page(&cx, Some(&viewer), &paging, Links::Always, slice).await
}

/// Query parameters of [`public`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct PublicParams {
    /// Only statuses of this server.
    local: Option<bool>,
    /// Only statuses of other servers.
    remote: Option<bool>,
    only_media: Option<bool>,
    /// The visitor's language, instead of the header `Accept-Language`.
    #[serde(deserialize_with = "language")]
    lang: Option<String>,
}

/// Query parameters of [`tag`]: at most 4 hashtags in each list.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct TagParams {
    /// Statuses with one of these hashtags as well.
    any: Option<Vec<String>>,
    /// Only statuses that have all of these hashtags too.
    all: Option<Vec<String>>,
    /// No statuses with one of these hashtags.
    none: Option<Vec<String>>,
    /// Only statuses of this server.
    local: Option<bool>,
    /// Only statuses of other servers.
    remote: Option<bool>,
    only_media: Option<bool>,
    /// The visitor's language, instead of the header `Accept-Language`.
    #[serde(deserialize_with = "language")]
    lang: Option<String>,
}

/// The header `Accept-Language` of a request.
pub(super) fn accept_language(headers: &HeaderMap) -> Option<String> {
    headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// `GET /api/v1/timelines/public`
pub async fn public(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    paging: Paging,
    headers: HeaderMap,
    Params(params): Params<PublicParams>,
) -> Result<Page<entity::Status>> {
    let query = TimelineQuery {
        local: params.local.unwrap_or_default(),
        remote: params.remote.unwrap_or_default(),
        only_media: params.only_media.unwrap_or_default(),
        lang: params.lang,
        accept_language: accept_language(&headers),
        ..TimelineQuery::default()
    };
    let slice = timeline::public(&cx, viewer.as_deref(), &query, &paging.cursor).await?;
    page(&cx, viewer.as_deref(), &paging, Links::Always, slice).await
}

/// `GET /api/v1/timelines/tag/{hashtag}`
pub async fn tag(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    Path(name): Path<String>,
    paging: Paging,
    headers: HeaderMap,
    Params(params): Params<TagParams>,
) -> Result<Page<entity::Status>> {
    let query = TimelineQuery {
        any: params.any.unwrap_or_default(),
        all: params.all.unwrap_or_default(),
        none: params.none.unwrap_or_default(),
        local: params.local.unwrap_or_default(),
        remote: params.remote.unwrap_or_default(),
        only_media: params.only_media.unwrap_or_default(),
        lang: params.lang,
        accept_language: accept_language(&headers),
        ..TimelineQuery::default()
    };
    let slice = timeline::tag(&cx, viewer.as_deref(), &name, &query, &paging.cursor).await?;
    page(&cx, viewer.as_deref(), &paging, Links::Always, slice).await
}

/// Query parameters of [`link`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct LinkParams {
    /// The address that a card shows.
    #[schemars(transform = required)]
    url: Option<String>,
}

/// `GET /api/v1/timelines/link`
pub async fn link(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    paging: Paging,
    Params(params): Params<LinkParams>,
) -> Result<Page<entity::Status>> {
    let slice = timeline::link(&cx, viewer.as_deref(), &params.url.unwrap_or_default(), &paging.cursor).await?;
    page(&cx, viewer.as_deref(), &paging, Links::Always, slice).await
}

/// Query parameters of [`profile`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ProfileParams {
    /// Only the statuses that the account pinned.
    pinned: Option<bool>,
    only_media: Option<bool>,
    /// No replies to others.
    exclude_replies: Option<bool>,
    exclude_reblogs: Option<bool>,
    /// No direct statuses (Mastodon 4.6).
    exclude_direct: Option<bool>,
    /// Only statuses with this hashtag.
    tagged: Option<String>,
}

/// `GET /api/v1/accounts/{id}/statuses`
pub async fn profile(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    Path(id): Path<AccountId>,
    paging: Paging,
    Params(params): Params<ProfileParams>,
) -> Result<Page<entity::Status>> {
    let wanted = ProfileQuery {
        pinned: params.pinned.unwrap_or_default(),
        only_media: params.only_media.unwrap_or_default(),
        exclude_replies: params.exclude_replies.unwrap_or_default(),
        exclude_reblogs: params.exclude_reblogs.unwrap_or_default(),
        exclude_direct: params.exclude_direct.unwrap_or_default(),
        tagged: params.tagged,
    };
    let slice = timeline::profile(&cx, viewer.as_deref(), id, &wanted, &paging.cursor).await?;
    page(&cx, viewer.as_deref(), &paging, Links::MinId, slice).await
}

/// `GET /api/v1/favourites`
pub async fn favourites(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadFavourites>,
    paging: Paging,
) -> Result<Page<entity::Status>> {
    let slice = timeline::favourites(&cx, &viewer, &paging.cursor).await?;
    page(&cx, Some(&viewer), &paging, Links::MinId, slice).await
}

/// `GET /api/v1/bookmarks`
pub async fn bookmarks(cx: Cx, Auth(viewer, ..): Auth<ReadBookmarks>, paging: Paging) -> Result<Page<entity::Status>> {
    let slice = timeline::bookmarks(&cx, &viewer, &paging.cursor).await?;
    page(&cx, Some(&viewer), &paging, Links::MinId, slice).await
}
