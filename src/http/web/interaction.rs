//! The page on which people of this server act on an account or status that they saw on another server.
//!
//! Other servers send their visitors to `/authorize_interaction?uri=…`, which WebFinger names. Looking at the page changes
//! nothing for anyone; its forms follow, favourite and reblog.
//!
//! Spec: docs/contract/federation.md#12-pages

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use super::profile::look_up;
use super::settings::Frame;
use super::{Form, Page, redirect};
use crate::error::{Error, Result};
use crate::extract::Params;
use entity::web;
use model::{AccountId, Actor};
use service::follow::{self, FollowParams, FollowState};
use service::search::{self, Named};
use service::visibility::Seen;
use service::{interaction, reblog};

/// Query parameters of the page, and fields of its forms.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Interaction {
    /// A URL, or `user@domain` with or without `acct:` before it.
    uri: Option<String>,
    /// `follow`, `unfollow`, `favourite` or `reblog`.
    act: Option<String>,
}

/// `GET /authorize_interaction?uri=…`: what it names, with buttons. The page with the status 404 when that cannot be found;
/// a redirect to the profile for one's own account.
///
/// # Errors
/// [`Error::BadRequest`] without a `uri`.
pub async fn show(frame: Frame, Params(asked): Params<Interaction>) -> Result<Response> {
    let (actor, uri) = (frame.actor().await?, asked.uri()?);
    match search::resolve(&frame.cx, &actor, uri).await? {
        Some(Named::Account(id)) if id == actor.id => Ok(redirect(&frame.cx.urls.profile(&actor.username))),
        Some(Named::Account(id)) => account(&frame, &actor, id, uri).await,
        Some(Named::Status(seen)) => status(&frame, &actor, *seen, uri).await,
        None => missing(&frame, uri),
    }
}

/// `POST /authorize_interaction`: does it, and shows the page again with what happened.
///
/// # Errors
/// [`Error::BadRequest`] for an act that does not fit, and the errors of the act.
pub async fn create(frame: Frame, Form(form): Form<Interaction>) -> Result<Response> {
    let (cx, actor, uri) = (&frame.cx, frame.actor().await?, form.uri()?);
    let Some(named) = search::resolve(cx, &actor, uri).await? else { return missing(&frame, uri) };
    let notice = match (form.act.as_deref(), named) {
        (Some("follow"), Named::Account(id)) => {
            follow::follow(cx, &actor, id, FollowParams::default()).await?;
            match follow::state(cx, &actor, id).await? {
                FollowState::Requested => "interaction.requested",
                FollowState::Following | FollowState::Absent => "interaction.following",
            }
        }
        (Some("unfollow"), Named::Account(id)) => {
            follow::unfollow(cx, &actor, id).await?;
            "interaction.unfollowed"
        }
        (Some("favourite"), Named::Status(seen)) => {
            interaction::favourite(cx, &actor, seen.proper().id).await?;
            "interaction.favourited"
        }
        (Some("reblog"), Named::Status(seen)) => {
            reblog::reblog(cx, &actor, seen.proper().id, None).await?;
            "interaction.reblogged"
        }
        _ => return Err(Error::bad_request("act does not fit what uri names").into()),
    };
    Ok(frame.done(notice, &look_up(uri)))
}

async fn account(frame: &Frame, actor: &Actor, id: AccountId, uri: &str) -> Result<Response> {
    // A suspended account is not shown.
    let Some(account) = web::authors(&frame.cx, Some(actor), &[id]).await?.pop() else { return missing(frame, uri) };
    let state = match follow::state(&frame.cx, actor, id).await? {
        FollowState::Absent => "absent",
        FollowState::Requested => "requested",
        FollowState::Following => "following",
    };
    page(frame, context! { uri, account, state })
}

async fn status(frame: &Frame, actor: &Actor, seen: Seen, uri: &str) -> Result<Response> {
    let marked = seen.marked();
    let Some(status) = web::statuses(&frame.cx, Some(actor), None, &[seen]).await?.pop() else {
        return missing(frame, uri);
    };
    let may_reblog = status.marks.as_ref().is_some_and(|marks| marks.may_reblog);
    let (favourited, reblogged) = (marked.favourited, marked.reblogged);
    page(frame, context! { uri, status, favourited, reblogged, may_reblog => may_reblog && !reblogged })
}

fn page(frame: &Frame, own: Value) -> Result<Response> {
    let page = frame.page("interaction", "interaction.page", "interaction.html", own)?;
    Ok(page.into_response())
}

fn missing(frame: &Frame, uri: &str) -> Result<Response> {
    let page: Page = frame.page("interaction", "interaction.page", "interaction.html", context! { uri })?;
    Ok(page.with_status(StatusCode::NOT_FOUND).into_response())
}

impl Interaction {
    fn uri(&self) -> Result<&str> {
        let uri = self.uri.as_deref().unwrap_or_default().trim();
        if uri.is_empty() { Err(Error::missing("uri").into()) } else { Ok(uri) }
    }
}
