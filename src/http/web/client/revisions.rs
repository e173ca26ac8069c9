//! The revisions of a status, and the statuses that quote it.

use minijinja::{Value, context};
use serde::Deserialize;

use crate::error::Result;
use crate::extract::{Paging, Path};
use crate::web::Page;
use crate::web::settings::Frame;
use entity::web;
use model::{StatusId, Time};
use service::status;

/// A revision in JSON, as far as the page shows it.
#[derive(Debug, Deserialize)]
struct Revision {
    content: String,
    spoiler_text: String,
    created_at: String,
}

/// `GET /@{name}/{id}/history`: newest first.
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when the status is missing or hidden.
pub async fn history(frame: Frame, Path((_, id)): Path<(String, StatusId)>) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let history = status::history(cx, Some(&viewer), id).await?;
    let mut revisions: Vec<Value> = Vec::new();
    for json in entity::status_edit::render(cx, Some(&viewer), &history).await? {
        let revision: Revision = serde_json::from_str(json.as_str()).map_err(crate::error::Error::internal)?;
        let at = Time::parse_rfc3339(&revision.created_at).map(|at| cx.language().minute(&at));
        revisions.push(context! {
            content_html => revision.content,
            spoiler_text => revision.spoiler_text,
            at,
            at_iso => revision.created_at,
        });
    }
    revisions.reverse();
    frame.page("status", "history.title", "client/history.html", context! { revisions })
}

/// `GET /@{name}/{id}/quotes`: newest first.
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when the status is missing or hidden.
pub async fn quotes(frame: Frame, Path((_, id)): Path<(String, StatusId)>, paging: Paging) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let slice = status::list_quoting(cx, &viewer, id, &paging.cursor).await?;
    let own = context! {
        title => frame.say("history.quotes"),
        empty => frame.say("history.no_quotes"),
        statuses => web::statuses(cx, Some(&viewer), None, &slice.shown).await?,
        older_url => paging.older(&slice.ids),
        newer_url => paging.newer(&slice.ids),
        is_first => paging.is_first(),
    };
    frame.page("status", "history.quotes", "client/timeline.html", own)
}
