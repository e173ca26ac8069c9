//! Account settings in the browser: changing the password and the e-mail address; a module for every other page.

pub mod archives;
pub mod audit_log;
pub mod cleanup;
mod filter_form;
pub mod filters;
pub mod followed_tags;
mod frame;
pub mod leaving;
pub mod moving;
pub(super) mod policy_fields;
pub mod preferences;
pub mod profile;
pub mod requests;
pub mod sessions;
pub mod strikes;
pub mod transfers;

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Form, Page};
use crate::error::Result;
use crypto::Secret;
use service::confirmation;
use service::session::{self, Applications};

pub use frame::{Frame, field_errors, viewer};

/// Where this page is.
const PATH: &str = "/settings";

/// Fields of the form for the password.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ChangePassword {
    current_password: Option<String>,
    password: Option<String>,
    password_confirmation: Option<String>,
    /// Applications stay signed in.
    keep_applications: Option<bool>,
}

/// Fields of the form for the e-mail address.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ChangeEmail {
    email: Option<String>,
    /// The current password.
    email_password: Option<String>,
}

/// A form that was refused.
#[derive(Default)]
struct Refused<'a> {
    /// Which: `password` or `email`.
    form: &'a str,
    /// As typed.
    email: &'a str,
    errors: Option<BTreeMap<&'static str, String>>,
}

/// `GET /settings`
pub async fn show(frame: Frame) -> Result<Page> {
    page(&frame, &Refused::default())
}

/// `POST /settings/password`
///
/// # Errors
/// None for an invalid form: that is shown again, with 422.
pub async fn change_password(frame: Frame, Form(form): Form<ChangePassword>) -> Result<Response> {
    let secret = |field: Option<String>| Secret::from(field.unwrap_or_default());
    let (current, new) = (secret(form.current_password), secret(form.password));
    let confirmation = secret(form.password_confirmation);
    let (applications, done) = match form.keep_applications {
        Some(true) => (Applications::Keep, "password.changed_browsers"),
        Some(false) | None => (Applications::SignOut, "password.changed"),
    };
    match session::change_password(&frame.cx, &frame.person, current, new, &confirmation, applications).await {
        Ok(()) => Ok(frame.done(done, PATH)),
        Err(error) => {
            refuse(&frame, &Refused { form: "password", errors: Some(frame.faults(error)?), ..Refused::default() })
        }
    }
}

/// `POST /settings/email`
///
/// # Errors
/// None for an invalid form: that is shown again, with 422.
pub async fn change_email(frame: Frame, Form(form): Form<ChangeEmail>) -> Result<Response> {
    let email = form.email.as_deref().unwrap_or_default().trim();
    let password = Secret::from(form.email_password.unwrap_or_default());
    match confirmation::change_by(&frame.cx, &frame.person, password, email).await {
        Ok(()) => Ok(frame.done("email.sent", PATH)),
        Err(error) => refuse(&frame, &Refused { form: "email", email, errors: Some(frame.faults(error)?) }),
    }
}

fn refuse(frame: &Frame, refused: &Refused<'_>) -> Result<Response> {
    Ok(page(frame, refused)?.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
}

fn page(frame: &Frame, refused: &Refused<'_>) -> Result<Page> {
    let own = context! {
        form => refused.form,
        email => refused.email,
        errors => refused.errors,
        unconfirmed_email => frame.person.user.unconfirmed_email,
    };
    frame.page("home", "common.your_account", "settings/home.html", own)
}
