//! The page of requests to interact with one's statuses: the ones that wait for a decision, and, as `?state=revoked`, replies
//! that were taken out of threads and can be put back.
//!
//! Spec: docs/contract/federation.md#12-pages; docs/contract/rules.md#10-statuses, Interaction policies

use axum::response::Response;
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Frame;
use crate::error::{Error, Result};
use crate::extract::{Paging, Params};
use crate::web::{Form, Page};
use entity::web;
use model::RowId;
use model::interaction::RequestState;
use service::status::{decision, thread};

/// Where this page is.
const PATH: &str = "/settings/requests";
/// The second list of this page.
const REVOKED: &str = "/settings/requests?state=revoked";

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct IndexParams {
    /// `pending`, the default, or `revoked`.
    state: Option<String>,
}

/// Fields of the forms of this page.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Decision {
    /// The request.
    id: Option<RowId>,
    /// `accept`, `reject`, or `restore`: puts a reply back into its thread.
    act: Option<String>,
}

/// `GET /settings/requests`: newest first.
///
/// # Errors
/// [`Error::BadRequest`] for another state.
pub async fn index(frame: Frame, paging: Paging, Params(params): Params<IndexParams>) -> Result<Page> {
    let state = match params.state.as_deref() {
        None | Some("" | "pending") => RequestState::Pending,
        Some("revoked") => RequestState::Revoked,
        Some(_) => return Err(Error::bad_request("state is pending or revoked").into()),
    };
    let actor = frame.actor().await?;
    let page = decision::list(&frame.cx, &actor, state, &paging.cursor).await?;
    let ids: Vec<i64> = page.iter().map(|one| one.request.id.into()).collect();
    let own = context! {
        requests => web::requests(&frame.cx, &actor, &page).await?,
        revoked => state == RequestState::Revoked,
        older_url => paging.older(&ids),
        newer_url => paging.newer(&ids),
    };
    frame.page("requests", "settings.requests", "settings/requests.html", own)
}

/// `POST /settings/requests`: decides about a request, or puts a reply back.
///
/// # Errors
/// [`Error::NotFound`] for a request that is someone else's, or was decided before; [`Error::BadRequest`] for another act.
pub async fn decide(frame: Frame, Form(form): Form<Decision>) -> Result<Response> {
    let id = form.id.ok_or_else(|| Error::missing("id"))?;
    let (cx, actor) = (&frame.cx, frame.actor().await?);
    match form.act.as_deref() {
        Some("accept") => {
            decision::decide(cx, &actor, id, true).await?;
            Ok(frame.done("requests.accepted", PATH))
        }
        Some("reject") => {
            decision::decide(cx, &actor, id, false).await?;
            Ok(frame.done("requests.rejected", PATH))
        }
        Some("restore") => {
            let reply = decision::show(cx, &actor, id).await?.status.ok_or(Error::NotFound)?;
            thread::restore_reply(cx, &actor, reply).await?;
            Ok(frame.done("requests.restored", REVOKED))
        }
        _ => Err(Error::bad_request("act is accept, reject or restore").into()),
    }
}
