//! The page where people delete their account.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Frame;
use crate::error::Result;
use crate::web::{Form, Page};
use crypto::Secret;
use service::removal;

/// Fields of the form.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Fields {
    current_password: Option<String>,
}

/// `GET /settings/delete`
pub async fn show(frame: Frame) -> Result<Page> {
    page(&frame, None)
}

/// `POST /settings/delete`
///
/// # Errors
/// None for a wrong password: the form is shown again, with 422.
pub async fn delete(frame: Frame, Form(form): Form<Fields>) -> Result<Response> {
    let password = Secret::from(form.current_password.unwrap_or_default());
    match removal::leave(&frame.cx, &frame.person, password).await {
        Ok(()) => Ok(frame.done("leaving.done", "/auth/sign_in")),
        Err(error) => {
            let page = page(&frame, Some(&frame.faults(error)?))?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
    }
}

fn page(frame: &Frame, errors: Option<&BTreeMap<&'static str, String>>) -> Result<Page> {
    frame.page("leaving", "settings.leaving", "settings/leaving.html", context! { errors })
}
