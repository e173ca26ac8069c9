//! Conversations: direct statuses by thread and participants.
//!
//! Spec: <https://docs.joinmastodon.org/methods/conversations/>

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadStatuses, WriteConversations};
use crate::extract::{Auth, Paging, Path};
use crate::json::Json;
use crate::page::{Links, Page};
use model::RowId;

/// `GET /api/v1/conversations`: paged by the ids of the last statuses.
pub async fn index(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadStatuses>,
    paging: Paging<20, 40>,
) -> Result<Page<entity::Conversation>> {
    let (ids, page) = service::conversation::list(&cx, &viewer, &paging.cursor).await?;
    let items = entity::conversation::render(&cx, &viewer, &page).await?;
    Ok(Page::new(&paging, Links::MinId, &ids, items))
}

/// `DELETE /api/v1/conversations/{id}`
pub async fn delete(
    cx: Cx,
    Auth(actor, ..): Auth<WriteConversations>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    service::conversation::hide(&cx, &actor, id).await?;
    Ok(Json::empty())
}

/// `POST /api/v1/conversations/{id}/read`
pub async fn read(
    cx: Cx,
    Auth(actor, ..): Auth<WriteConversations>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Conversation>> {
    let shown = service::conversation::set_unread(&cx, &actor, id, false).await?;
    Ok(Json::new(entity::conversation::render_one(&cx, &actor, &shown).await?))
}

/// `POST /api/v1/conversations/{id}/unread`
pub async fn unread(
    cx: Cx,
    Auth(actor, ..): Auth<WriteConversations>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Conversation>> {
    let shown = service::conversation::set_unread(&cx, &actor, id, true).await?;
    Ok(Json::new(entity::conversation::render_one(&cx, &actor, &shown).await?))
}
