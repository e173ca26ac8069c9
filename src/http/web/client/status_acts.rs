//! Acts on a status: favourite, reblog, bookmark, pin, mute its conversation, delete, and the like.

use axum::response::{IntoResponse as _, Response};
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::back_to;
use crate::error::{Error, Result};
use crate::extract::Path;
use crate::web::settings::Frame;
use crate::web::{Form, Page, redirect};
use entity::web;
use model::{Actor, StatusId};
use service::status::thread;
use service::status::{self, MediaOfDeleted};
use service::visibility;
use service::{interaction, reblog};

/// Fields of the forms of a status.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Act {
    /// `favourite`, `reblog`, `bookmark`, `pin`, `mute`, each with `un` before it to take it back; `delete`; of the author of
    /// a thread `remove_reply`, `restore_reply`, `close` and `reopen`.
    act: Option<String>,
    /// The visibility of a reblog.
    visibility: Option<String>,
    /// The status that quotes this one, for `revoke`.
    quoting: Option<StatusId>,
    /// The page to return to.
    back: Option<String>,
    /// Whether the response is the status alone, as on the page, instead of a redirect.
    part: Option<bool>,
}

/// `POST /web/statuses/{id}`: does it, and leads back to the page.
///
/// # Errors
/// [`Error::BadRequest`] for another act, and the errors of the act.
pub async fn create(frame: Frame, Path(id): Path<StatusId>, Form(form): Form<Act>) -> Result<Response> {
    let actor = frame.actor().await?;
    let notice = act(&frame, &actor, id, &form).await?;
    if form.part.unwrap_or_default() {
        return part(&frame, &actor, id, form.back.as_deref()).await;
    }
    if let Some(notice) = notice {
        frame.cookies.notice(&frame.say(notice));
    }
    let gone = form.act.as_deref() == Some("delete");
    let place = format!("status-{id}");
    let back = form.back.as_deref();
    // The page of a deleted status is gone.
    let back = back.filter(|back| !(gone && back.trim_end_matches('/').ends_with(&format!("/{id}"))));
    Ok(redirect(&back_to(back, (!gone).then_some(place.as_str()))))
}

/// Performs the act of the form; returns the message to show.
async fn act(frame: &Frame, actor: &Actor, id: StatusId, form: &Act) -> Result<Option<&'static str>> {
    let cx = &frame.cx;
    let notice = match form.act.as_deref() {
        Some("favourite") => interaction::favourite(cx, actor, id).await.map(|()| None)?,
        Some("unfavourite") => interaction::unfavourite(cx, actor, id).await.map(|_| None)?,
        Some("reblog") => {
            let visibility = form.visibility.as_deref().filter(|word| !word.is_empty());
            reblog::reblog(cx, actor, id, visibility).await.map(|_| Some("acts.reblogged"))?
        }
        Some("unreblog") => reblog::unreblog(cx, actor, id).await.map(|_| None)?,
        Some("bookmark") => interaction::bookmark(cx, actor, id).await.map(|()| None)?,
        Some("unbookmark") => interaction::unbookmark(cx, actor, id).await.map(|_| None)?,
        Some("pin") => interaction::pin(cx, actor, id).await.map(|()| Some("acts.pinned"))?,
        Some("unpin") => interaction::unpin(cx, actor, id).await.map(|()| Some("acts.unpinned"))?,
        Some("mute") => interaction::mute_conversation(cx, actor, id, true).await.map(|()| Some("acts.muted"))?,
        Some("unmute") => interaction::mute_conversation(cx, actor, id, false).await.map(|()| Some("acts.unmuted"))?,
        Some("delete") => {
            status::delete(cx, actor, id, MediaOfDeleted::Deleted).await.map(|()| Some("acts.deleted"))?
        }
        Some("remove_reply") => thread::remove_reply(cx, actor, id).await.map(|()| Some("acts.removed"))?,
        Some("restore_reply") => thread::restore_reply(cx, actor, id).await.map(|()| Some("acts.restored"))?,
        Some("close") => thread::close(cx, actor, id, true).await.map(|()| Some("acts.closed"))?,
        Some("reopen") => thread::close(cx, actor, id, false).await.map(|()| Some("acts.reopened"))?,
        Some("revoke") => {
            let quoting = form.quoting.ok_or_else(|| Error::missing("quoting"))?;
            status::revoke_quote(cx, actor, id, quoting).await.map(|()| Some("acts.revoked"))?
        }
        _ => return Err(Error::bad_request("act is none of the acts").into()),
    };
    Ok(notice)
}

/// The status as HTML; its forms lead back to the page `back`.
pub(super) async fn part(frame: &Frame, viewer: &Actor, id: StatusId, back: Option<&str>) -> Result<Response> {
    let seen = match visibility::status(&frame.cx, Some(viewer), id).await {
        Err(Error::NotFound) => None,
        seen => Some(seen?),
    };
    let status = match seen {
        Some(seen) => web::statuses(&frame.cx, Some(viewer), None, &[seen]).await?.pop(),
        None => None,
    };
    let page: Page = frame.titled("", "", "client/part.html", context! { status, back => back_to(back, None) })?;
    Ok(page.into_response())
}
