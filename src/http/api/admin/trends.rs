//! Trends with their reviews. Lists show to everyone else what the public routes show.
//!
//! Spec: <https://docs.joinmastodon.org/methods/admin/trends/>, docs/contract/extensions.md#13-admin-api

use axum::http::HeaderMap;

use crate::Cx;
use crate::api::timelines::accept_language;
use crate::error::Result;
use crate::extract::auth::{AdminRead, AdminWrite, ManageTaxonomies, MaybeStaff, StaffAuth};
use crate::extract::{OffsetPaging, Paging, Path};
use crate::json::Json;
use crate::page::{Links, Page};
use entity::Either;
use entity::admin::{publisher, tag, trend as entities};
use model::{RowId, Staff, StatusId, TagId};
use service::locale;
use service::trend::{self, Query, publisher as publishers, unreviewed};

/// A handler's caller: staff who reviews trends, or anyone.
type Caller = MaybeStaff<AdminRead, ManageTaxonomies>;

/// `GET /api/v1/admin/trends/tags`
pub async fn tags(
    cx: Cx,
    caller: Caller,
    paging: OffsetPaging<10, 20>,
) -> Result<Page<Either<entity::AdminTag, entity::Tag>>> {
    let viewer = caller.actor.as_deref();
    let query = Query { languages: Vec::new(), limit: paging.limit, offset: paging.offset };
    if caller.staff.is_none() {
        let page = trend::tags(&cx, viewer, &query).await?;
        let items = entity::tag::render(&cx, &page.shown, viewer.is_some()).await?;
        return Ok(Page::by_offset(&paging, page.count, items));
    }
    let page = unreviewed::tags(&cx, viewer.map(|actor| actor.id), &query).await?;
    let items = tag::render(&cx, &page.shown, viewer.is_some()).await?;
    Ok(Page::by_offset(&paging, page.count, items))
}

/// `GET /api/v1/admin/trends/links`: those in the languages that the user or the browser prefers come first.
pub async fn links(
    cx: Cx,
    caller: Caller,
    paging: OffsetPaging<10, 20>,
    headers: HeaderMap,
) -> Result<Page<Either<entity::AdminTrendsLink, entity::TrendsLink>>> {
    let languages = locale::languages(caller.actor.as_deref(), None, accept_language(&headers).as_deref());
    let query = Query { languages, limit: paging.limit, offset: paging.offset };
    if caller.staff.is_none() {
        let page = trend::links(&cx, &query).await?;
        let items = entity::preview_card::render_trends(&cx, page.shown).await?;
        return Ok(Page::by_offset(&paging, page.count, items));
    }
    let page = unreviewed::links(&cx, &query).await?;
    Ok(Page::by_offset(&paging, page.count, entities::render_links(&cx, page.shown).await?))
}

/// `GET /api/v1/admin/trends/statuses`: those in the languages that the user or the browser prefers come first.
pub async fn statuses(
    cx: Cx,
    caller: Caller,
    paging: OffsetPaging<20, 40>,
    headers: HeaderMap,
) -> Result<Page<Either<entity::AdminTrendsStatus, entity::Status>>> {
    let viewer = caller.actor.as_deref();
    let languages = locale::languages(viewer, None, accept_language(&headers).as_deref());
    let query = Query { languages, limit: paging.limit, offset: paging.offset };
    let (Some(_), Some(viewer)) = (&caller.staff, viewer) else {
        let page = trend::statuses(&cx, viewer, &query).await?;
        let items = entity::status::render(&cx, viewer, &page.shown).await?;
        return Ok(Page::by_offset(&paging, page.count, items));
    };
    let page = unreviewed::statuses(&cx, viewer, &query).await?;
    let items = entities::render_statuses(&cx, Some(viewer), &page.shown).await?;
    Ok(Page::by_offset(&paging, page.count, items))
}

/// `GET /api/v1/admin/trends/links/publishers`
pub async fn publishers_index(
    cx: Cx,
    _: StaffAuth<AdminRead, ManageTaxonomies>,
    paging: Paging<100, 200>,
) -> Result<Page<entity::AdminPublisher>> {
    let rows = publishers::list(&cx, &paging.cursor).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.id.into()).collect();
    Ok(Page::new(&paging, Links::MinId, &ids, publisher::render(&rows)?))
}

/// Staff who decides about trends.
type Reviewer = StaffAuth<AdminWrite, ManageTaxonomies>;

/// `POST /api/v1/admin/trends/tags/{id}/approve`
pub async fn approve_tag(
    cx: Cx,
    StaffAuth(staff, ..): Reviewer,
    Path(id): Path<TagId>,
) -> Result<Json<entity::AdminTag>> {
    review_tag(&cx, &staff, id, true).await
}

/// `POST /api/v1/admin/trends/tags/{id}/reject`
pub async fn reject_tag(
    cx: Cx,
    StaffAuth(staff, ..): Reviewer,
    Path(id): Path<TagId>,
) -> Result<Json<entity::AdminTag>> {
    review_tag(&cx, &staff, id, false).await
}

async fn review_tag(cx: &Cx, staff: &Staff, id: TagId, allowed: bool) -> Result<Json<entity::AdminTag>> {
    let reviewed = unreviewed::review_tag(cx, staff, id, allowed).await?;
    Ok(Json::new(tag::render_one(cx, reviewed, staff.account.is_some()).await?))
}

/// `POST /api/v1/admin/trends/links/{id}/approve`
pub async fn approve_link(
    cx: Cx,
    StaffAuth(staff, ..): Reviewer,
    Path(id): Path<RowId>,
) -> Result<Json<entity::AdminTrendsLink>> {
    review_link(&cx, &staff, id, true).await
}

/// `POST /api/v1/admin/trends/links/{id}/reject`
pub async fn reject_link(
    cx: Cx,
    StaffAuth(staff, ..): Reviewer,
    Path(id): Path<RowId>,
) -> Result<Json<entity::AdminTrendsLink>> {
    review_link(&cx, &staff, id, false).await
}

async fn review_link(cx: &Cx, staff: &Staff, id: RowId, allowed: bool) -> Result<Json<entity::AdminTrendsLink>> {
    let link = unreviewed::review_link(cx, staff, id, allowed).await?;
    Ok(Json::new(entities::render_link(cx, link).await?))
}

/// `POST /api/v1/admin/trends/links/publishers/{id}/approve`
pub async fn approve_publisher(
    cx: Cx,
    StaffAuth(staff, ..): Reviewer,
    Path(id): Path<RowId>,
) -> Result<Json<entity::AdminPublisher>> {
    review_publisher(&cx, &staff, id, true).await
}

/// `POST /api/v1/admin/trends/links/publishers/{id}/reject`
pub async fn reject_publisher(
    cx: Cx,
    StaffAuth(staff, ..): Reviewer,
    Path(id): Path<RowId>,
) -> Result<Json<entity::AdminPublisher>> {
    review_publisher(&cx, &staff, id, false).await
}

async fn review_publisher(cx: &Cx, staff: &Staff, id: RowId, allowed: bool) -> Result<Json<entity::AdminPublisher>> {
    let reviewed = publishers::review(cx, staff, id, allowed).await?;
    Ok(Json::new(publisher::render_one(&reviewed)?))
}

/// `POST /api/v1/admin/trends/statuses/{id}/approve`
pub async fn approve_status(
    cx: Cx,
    StaffAuth(staff, ..): Reviewer,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::AdminTrendsStatus>> {
    review_status(&cx, &staff, id, true).await
}

/// `POST /api/v1/admin/trends/statuses/{id}/reject`
pub async fn reject_status(
    cx: Cx,
    StaffAuth(staff, ..): Reviewer,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::AdminTrendsStatus>> {
    review_status(&cx, &staff, id, false).await
}

async fn review_status(cx: &Cx, staff: &Staff, id: StatusId, allowed: bool) -> Result<Json<entity::AdminTrendsStatus>> {
    let (viewer, found) = unreviewed::review_status(cx, staff, id, allowed).await?;
    Ok(Json::new(entities::render_status(cx, viewer.as_deref(), found).await?))
}
