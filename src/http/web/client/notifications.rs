//! Notifications in groups, and requests of senders whose notifications wait.

use axum::response::Response;
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::extract::{Paging, Params};
use crate::web::settings::Frame;
use crate::web::{Form, NoFields, Page, redirect};
use entity::web;
use model::RowId;
use model::marker::MarkedTimeline;
use service::marker;
use service::notification::groups::{self, GroupFilter};
use service::notification::{self, NotificationFilter, requests};

/// Where this page is.
const PATH: &str = "/notifications";
/// Where requests are.
const REQUESTS: &str = "/notifications/requests";

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct IndexParams {
    /// `mentions`: only mentions. Default: all kinds.
    kind: Option<String>,
}

/// `GET /notifications`: newest first. The first page marks its notifications as read.
///
/// # Errors
/// [`Error::BadRequest`] for another kind.
pub async fn index(frame: Frame, paging: Paging, Params(params): Params<IndexParams>) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let mentions = match params.kind.as_deref() {
        None | Some("") => false,
        Some("mentions") => true,
        Some(_) => return Err(Error::bad_request("kind is mentions, or left out").into()),
    };
    let types = notification::types(cx).into_iter();
    let types = types.filter(|kind| !mentions || kind.as_str() == "mention");
    let filter = GroupFilter {
        notifications: NotificationFilter { types: types.collect(), from: None, filtered: false },
        grouped: groups::groupable_types(cx),
    };
    let (ids, page) = groups::page(cx, &viewer, &filter, &paging.cursor).await?;
    let is_first = paging.is_first();
    let read = marker::list(cx, &viewer, &[MarkedTimeline::Notifications]).await?;
    let read = read.first().map_or(0, |marker| marker.last_read_id);
    if let Some(newest) = ids.first().copied().filter(|newest| is_first && !mentions && *newest > read) {
        marker::save(cx, &viewer, &[(MarkedTimeline::Notifications, newest)]).await?;
    }
    let own = context! {
        mentions,
        read,
        waiting => !requests::list(cx, &viewer, &model::Cursor::first(1)).await?.is_empty(),
        push_key => cx.vapid.as_ref().map(|vapid| vapid.public_key().to_owned()),
        stream => is_first.then_some("user:notification"),
        notifications => web::notifications(cx, &viewer, &page).await?,
        older_url => paging.older(&ids),
        newer_url => paging.newer(&ids),
    };
    frame.page("notifications", "notices.title", "client/notifications.html", own)
}

/// `POST /notifications/clear`: deletes all of them.
pub async fn clear(frame: Frame, Form(NoFields {}): Form<NoFields>) -> Result<Response> {
    notification::clear(&frame.cx, &frame.actor().await?).await?;
    Ok(frame.done("notices.cleared", PATH))
}

/// `GET /notifications/requests`: senders whose notifications wait, newest first.
pub async fn requests(frame: Frame, paging: Paging) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let page = requests::list(cx, &viewer, &paging.cursor).await?;
    let ids: Vec<i64> = page.iter().map(|request| request.row.id.into()).collect();
    let own = context! {
        senders => web::senders(cx, &viewer, &page).await?,
        older_url => paging.older(&ids),
        newer_url => paging.newer(&ids),
    };
    frame.page("notifications", "notices.requests", "client/notification_requests.html", own)
}

/// Fields of the forms of requests.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Decision {
    /// The request.
    id: Option<RowId>,
    /// `accept` or `dismiss`.
    act: Option<String>,
}

/// `POST /notifications/requests`: permits a sender, or drops the waiting notifications.
///
/// # Errors
/// [`Error::BadRequest`] for another act.
pub async fn decide(frame: Frame, Form(form): Form<Decision>) -> Result<Response> {
    let id = form.id.ok_or_else(|| Error::missing("id"))?;
    let (cx, actor) = (&frame.cx, frame.actor().await?);
    match form.act.as_deref() {
        Some("accept") => requests::accept(cx, &actor, &[id]).await?,
        Some("dismiss") => requests::dismiss(cx, &actor, &[id]).await?,
        _ => return Err(Error::bad_request("act is accept or dismiss").into()),
    };
    Ok(redirect(REQUESTS))
}
