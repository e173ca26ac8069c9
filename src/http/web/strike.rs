//! The page of one strike with the form of an appeal, by the link in a mail and without signing in: for people who cannot.
//!
//! The link is the secret; looking at it changes nothing.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::settings::field_errors;
use super::settings::strikes::shown;
use super::{Csrf, Form, Page};
use crate::Cx;
use crate::error::Result;
use crate::extract::Params;
use context::error::Error;
use service::moderation::appeal::{self, TEXT_MAX};

/// Query parameters of the link.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct StrikeLink {
    id: Option<String>,
    token: Option<String>,
}

/// Fields of the form; the first two are from the link.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct StrikeForm {
    id: Option<String>,
    token: Option<String>,
    text: Option<String>,
}

/// What the page shows besides the strike.
#[derive(Default)]
struct Sent<'a> {
    /// As typed.
    text: &'a str,
    errors: Option<BTreeMap<&'static str, String>>,
    done: bool,
}

/// `GET /auth/strike?id=…&token=…`
///
/// # Errors
/// [`Error::NotFound`] for a link that is not from a mail.
pub async fn show(cx: Cx, csrf: Csrf, Params(link): Params<StrikeLink>) -> Result<Page> {
    let (id, token) = (link.id.unwrap_or_default(), link.token.unwrap_or_default());
    page(&cx, &csrf, &id, &token, Sent::default()).await
}

/// `POST /auth/strike`: appeals.
///
/// # Errors
/// As [`show`]; none for an invalid text: the form is shown again, with 422.
pub async fn create(cx: Cx, csrf: Csrf, Form(form): Form<StrikeForm>) -> Result<Response> {
    let (id, token) = (form.id.unwrap_or_default(), form.token.unwrap_or_default());
    let text = form.text.unwrap_or_default();
    let strike = appeal::strike_of_link(&cx, &id, &token).await?;
    match appeal::create(&cx, &strike, &text).await {
        Ok(_) => {
            let sent = Sent { done: true, ..Sent::default() };
            Ok(page(&cx, &csrf, &id, &token, sent).await?.into_response())
        }
        Err(Error::Validation(faults)) => {
            let sent = Sent { text: &text, errors: Some(field_errors(&cx, &faults)), done: false };
            let page = page(&cx, &csrf, &id, &token, sent).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(other) => Err(other.into()),
    }
}

async fn page(cx: &Cx, csrf: &Csrf, id: &str, token: &str, sent: Sent<'_>) -> Result<Page> {
    let strike = appeal::strike_of_link(cx, id, token).await?;
    let context = context! {
        page_title => cx.language().say("settings.strikes"),
        noindex => true,
        csrf => csrf.0,
        strike => shown(cx, &strike),
        token => token,
        text => sent.text,
        errors => sent.errors,
        done => sent.done,
        most => TEXT_MAX,
    };
    Ok(Page::render(cx, "strike.html", context)?.without_referrer())
}
