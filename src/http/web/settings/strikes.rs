//! The pages of strikes: what moderators decided about the account, and the form of an appeal.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Frame;
use crate::Cx;
use crate::error::Result;
use crate::extract::{Paging, Path};
use crate::web::{Form, Page};
use model::RowId;
use service::moderation::appeal::{self, Strike, TEXT_MAX};

/// Where these pages are.
const PATH: &str = "/settings/strikes";

/// Fields of the form.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct AppealFields {
    text: Option<String>,
}

/// `GET /settings/strikes`
pub async fn index(frame: Frame, paging: Paging) -> Result<Page> {
    let strikes = appeal::strikes(&frame.cx, frame.person.account.id, &paging.cursor).await?;
    let ids: Vec<i64> = strikes.iter().map(|strike| strike.warning.id.into()).collect();
    let shown: Vec<Value> = strikes.iter().map(|strike| shown(&frame.cx, strike)).collect();
    let own = context! { strikes => shown, older_url => paging.older(&ids), newer_url => paging.newer(&ids) };
    frame.page("strikes", "settings.strikes", "settings/strikes.html", own)
}

/// `GET /settings/strikes/{id}`
pub async fn show(frame: Frame, Path(id): Path<RowId>) -> Result<Page> {
    let strike = appeal::strike(&frame.cx, frame.person.account.id, id).await?;
    page(&frame, &strike, "", None)
}

/// `POST /settings/strikes/{id}`: appeals.
///
/// # Errors
/// None for an invalid text: the form is shown again, with 422.
pub async fn create(frame: Frame, Path(id): Path<RowId>, Form(form): Form<AppealFields>) -> Result<Response> {
    let strike = appeal::strike(&frame.cx, frame.person.account.id, id).await?;
    let text = form.text.unwrap_or_default();
    match appeal::create(&frame.cx, &strike, &text).await {
        Ok(_) => Ok(frame.done("strikes.sent", &format!("{PATH}/{id}"))),
        Err(error) => {
            let page = page(&frame, &strike, &text, Some(&frame.faults(error)?))?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
    }
}

fn page(frame: &Frame, strike: &Strike, text: &str, errors: Option<&BTreeMap<&'static str, String>>) -> Result<Page> {
    let action = format!("{PATH}/{}", strike.warning.id);
    let own = context! { strike => shown(&frame.cx, strike), action, text, errors, most => TEXT_MAX };
    frame.page("strikes", "settings.strikes", "settings/strike.html", own)
}

/// A strike, for templates.
pub(in crate::web) fn shown(cx: &Cx, strike: &Strike) -> Value {
    let (language, warning) = (cx.language(), &strike.warning);
    context! {
        id => warning.id.to_string(),
        action => warning.action.as_str(),
        text => warning.text,
        day => language.day(&warning.created_at),
        overruled => warning.overruled_at.is_some(),
        state => strike.appeal.as_ref().map(|appeal| appeal.state().as_str()),
        appeal => strike.appeal.as_ref().map(|appeal| appeal.text.as_str()),
        open_until => strike.open_until(cx.clock.now()).map(|until| language.day(&until)),
    }
}
