//! Voting in a poll.

use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{back_to, status_acts};
use crate::error::Result;
use crate::extract::Path;
use crate::web::settings::Frame;
use crate::web::{Form, redirect};
use model::PollId;
use model::params::ints;
use service::poll;

/// Fields of the form of a poll.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Vote {
    /// The indexes of the options, from 0.
    #[serde(default, deserialize_with = "ints")]
    choices: Option<Vec<i64>>,
    /// The page to return to.
    back: Option<String>,
    /// Whether the response is the status alone, as on the page, instead of a redirect.
    part: Option<bool>,
}

/// `POST /web/polls/{id}`
///
/// # Errors
/// The errors of a vote.
pub async fn create(frame: Frame, Path(id): Path<PollId>, Form(form): Form<Vote>) -> Result<Response> {
    let actor = frame.actor().await?;
    // HTML cannot require one of several check boxes.
    let Some(choices) = form.choices.filter(|choices| !choices.is_empty()) else {
        return Ok(frame.done("poll.choose", &back_to(form.back.as_deref(), None)));
    };
    let seen = poll::vote(&frame.cx, &actor, id, &choices).await?;
    let status = seen.proper().id;
    if form.part.unwrap_or_default() {
        return status_acts::part(&frame, &actor, status, form.back.as_deref()).await;
    }
    Ok(redirect(&back_to(form.back.as_deref(), Some(&format!("status-{status}")))))
}
