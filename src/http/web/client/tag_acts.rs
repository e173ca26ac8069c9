//! Acts on a hashtag: follow it, and feature it on their profile.

use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;

use super::back_to;
use crate::error::{Error, Result};
use crate::extract::Path;
use crate::web::settings::Frame;
use crate::web::{Form, redirect};
use service::{featured_tag, tag};

/// Fields of the forms of a hashtag.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Act {
    /// `follow`, `unfollow`, `feature` or `unfeature`.
    act: Option<String>,
    /// The page to return to.
    back: Option<String>,
}

/// `POST /web/tags/{name}`: does it, and leads back to the page.
///
/// # Errors
/// [`Error::BadRequest`] for another act, and the errors of the act.
pub async fn create(frame: Frame, Path(name): Path<String>, Form(form): Form<Act>) -> Result<Response> {
    let (cx, actor) = (&frame.cx, frame.actor().await?);
    let _ = match form.act.as_deref() {
        Some("follow") => tag::follow(cx, &actor, &name).await?,
        Some("unfollow") => tag::unfollow(cx, &actor, &name).await?,
        Some("feature") => featured_tag::feature(cx, &actor, &name).await?,
        Some("unfeature") => featured_tag::unfeature(cx, &actor, &name).await?,
        _ => return Err(Error::bad_request("act is none of the acts").into()),
    };
    Ok(redirect(&back_to(form.back.as_deref(), None)))
}
