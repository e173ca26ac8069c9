//! Drafts that the server keeps, so that every device of a person has them.

use axum::response::Response;
use minijinja::{Value, context};

use crate::error::Result;
use crate::extract::{Paging, Path};
use crate::web::settings::Frame;
use crate::web::{Form, NoFields, Page};
use model::SavedDraftId;
use service::saved_draft;

/// `GET /drafts`: newest first.
pub async fn index(frame: Frame, paging: Paging) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let page = saved_draft::list(cx, viewer.id, &paging.cursor).await?;
    let ids: Vec<i64> = page.iter().map(|one| one.draft.id.into()).collect();
    let shown = |one: &saved_draft::WithMedia| -> Value {
        let at = one.draft.updated_at;
        context! {
            id => one.draft.id,
            text => one.parameters.text,
            spoiler_text => one.parameters.spoiler_text,
            media => one.media.len(),
            at => cx.language().minute(&at),
            at_iso => at.to_api_seconds(),
        }
    };
    let drafts: Vec<Value> = page.iter().map(shown).collect();
    let own = context! { drafts, older_url => paging.older(&ids), newer_url => paging.newer(&ids) };
    frame.page("drafts", "drafts.title", "client/drafts.html", own)
}

/// `POST /drafts/{id}`: deletes it.
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when it is missing or someone else's.
pub async fn delete(frame: Frame, Path(id): Path<SavedDraftId>, Form(NoFields {}): Form<NoFields>) -> Result<Response> {
    saved_draft::delete(&frame.cx, &frame.actor().await?, id).await?;
    Ok(frame.done("drafts.deleted", "/drafts"))
}
