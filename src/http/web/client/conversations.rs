//! Conversations: direct statuses, by the people who take part.

use axum::response::Response;
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::extract::{Paging, Path};
use crate::web::settings::Frame;
use crate::web::{Form, Page, redirect};
use entity::web;
use model::RowId;
use service::conversation;

/// Where this page is.
const PATH: &str = "/conversations";

/// `GET /conversations`: the one with the newest status first.
pub async fn index(frame: Frame, paging: Paging) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let (ids, page) = conversation::list(cx, &viewer, &paging.cursor).await?;
    let own = context! {
        conversations => web::conversations(cx, &viewer, &page).await?,
        older_url => paging.older(&ids),
        newer_url => paging.newer(&ids),
    };
    frame.page("conversations", "conversations.title", "client/conversations.html", own)
}

/// Fields of the forms of a conversation.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Act {
    /// `read`, `unread`, or `hide` until the next status.
    act: Option<String>,
}

/// `GET /conversations/{id}`: marks it as read and leads to its last status.
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when it is missing or someone else's.
pub async fn open(frame: Frame, Path(id): Path<RowId>) -> Result<Response> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let shown = conversation::show(cx, &viewer, id).await?;
    let page = web::conversations(cx, &viewer, std::slice::from_ref(&shown)).await?.pop();
    let url = page.and_then(|shown| shown.last_status).map(|status| status.url);
    Ok(redirect(url.as_deref().unwrap_or(PATH)))
}

/// `POST /conversations/{id}`
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when it is missing or someone else's; [`Error::BadRequest`] for another act.
pub async fn update(frame: Frame, Path(id): Path<RowId>, Form(form): Form<Act>) -> Result<Response> {
    let (cx, actor) = (&frame.cx, frame.actor().await?);
    match form.act.as_deref() {
        Some("read") => conversation::set_unread(cx, &actor, id, false).await.map(drop)?,
        Some("unread") => conversation::set_unread(cx, &actor, id, true).await.map(drop)?,
        Some("hide") => conversation::hide(cx, &actor, id).await?,
        _ => return Err(Error::bad_request("act is read, unread or hide").into()),
    }
    Ok(redirect(PATH))
}
