//! Hashtags, following them, and featuring them on one's profile; their timelines are in [`timelines`](super::timelines).
//!
//! Spec: <https://docs.joinmastodon.org/methods/tags/>, <https://docs.joinmastodon.org/methods/followed_tags/>

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AnyScope, ReadFollowRequests, WriteAccounts, WriteFollows};
use crate::extract::{AppAuth, Auth, Paging, Path};
use crate::json::Json;
use crate::page::{Links, Page};

use service::tag::FoundTag;

/// `GET /api/v1/tags/{name}`: includes for a signed-in user whether they follow it.
pub async fn show(cx: Cx, auth: Option<AppAuth<AnyScope>>, Path(name): Path<String>) -> Result<Json<entity::Tag>> {
    let viewer = auth.as_ref().and_then(|AppAuth(grant, ..)| grant.actor.as_deref());
    let tag = service::tag::find(&cx, viewer, &name).await?;
    render_tag(&cx, tag, viewer.is_some()).await
}

/// `POST /api/v1/tags/{name}/follow`
pub async fn follow(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFollows>,
    Path(name): Path<String>,
) -> Result<Json<entity::Tag>> {
    let tag = service::tag::follow(&cx, &actor, &name).await?;
    render_tag(&cx, tag, true).await
}

/// `POST /api/v1/tags/{name}/unfollow`
pub async fn unfollow(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFollows>,
    Path(name): Path<String>,
) -> Result<Json<entity::Tag>> {
    let tag = service::tag::unfollow(&cx, &actor, &name).await?;
    render_tag(&cx, tag, true).await
}

/// `POST /api/v1/tags/{name}/feature`
pub async fn feature(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(name): Path<String>,
) -> Result<Json<entity::Tag>> {
    let tag = service::featured_tag::feature(&cx, &actor, &name).await?;
    render_tag(&cx, tag, true).await
}

/// `POST /api/v1/tags/{name}/unfeature`
pub async fn unfeature(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(name): Path<String>,
) -> Result<Json<entity::Tag>> {
    let tag = service::featured_tag::unfeature(&cx, &actor, &name).await?;
    render_tag(&cx, tag, true).await
}

async fn render_tag(cx: &Cx, tag: FoundTag, signed_in: bool) -> Result<Json<entity::Tag>> {
    Ok(Json::new(entity::tag::render_one(cx, tag, signed_in).await?))
}

/// `GET /api/v1/followed_tags`
pub async fn followed(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadFollowRequests>,
    paging: Paging<100, 200>,
) -> Result<Page<entity::Tag>> {
    let rows = service::tag::followed(&cx, &viewer, &paging.cursor).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.row_id.into()).collect();
    let tags: Vec<FoundTag> = rows.into_iter().map(|row| row.tag).collect();
    Ok(Page::new(&paging, Links::SinceId, &ids, entity::tag::render(&cx, &tags, true).await?))
}
