//! The sign-up page.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use serde::{Deserialize, Serialize};

use super::settings::field_errors;
use super::{Cookies, Csrf, Form, Page, WebSession, redirect};
use crate::app::App;
use crate::error::{Error, Result, Validation};
use crate::http::extract::params::{flag, text};
use crate::service::registration::{self, SignUp};
use config::MailTransport;
use crypto::Secret;
use model::settings::RegistrationsMode;
use text::markdown;

/// The form's fields.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Fields {
    #[serde(deserialize_with = "text")]
    username: Option<String>,
    #[serde(deserialize_with = "text")]
    email: Option<String>,
    #[serde(deserialize_with = "text", skip_serializing)]
    password: Option<String>,
    #[serde(deserialize_with = "flag")]
    agreement: Option<bool>,
    #[serde(deserialize_with = "text")]
    reason: Option<String>,
}

/// `GET /auth/sign_up`
///
/// # Errors
/// When the database does.
pub async fn show(
    State(app): State<App>,
    WebSession(person): WebSession,
    cookies: Cookies,
    csrf: Csrf,
) -> Result<Response> {
    if person.is_some() {
        return Ok(redirect("/settings"));
    }
    Ok(page(&app, &cookies, &csrf, &Fields::default(), None).await?.into_response())
}

/// `POST /auth/sign_up`
///
/// # Errors
/// When the database does, or registrations are closed; a fault of the form is the form again, with 422.
pub async fn create(
    State(app): State<App>,
    cookies: Cookies,
    csrf: Csrf,
    Form(form): Form<Fields>,
) -> Result<Response> {
    match registration::register(&app, form.sign_up()).await {
        Ok(registered) => {
            let email = form.email.as_deref().unwrap_or_default().trim();
            Ok(check_inbox(&app, &csrf, email, registered.needs_approval)?.into_response())
        }
        Err(Error::Validation(faults)) => {
            let page = page(&app, &cookies, &csrf, &form, Some(&faults)).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error),
    }
}

/// The page that says that a letter is under way to `email`.
///
/// # Errors
/// When the template does not render, which is a bug.
pub fn check_inbox(app: &App, csrf: &Csrf, email: &str, needs_approval: bool) -> Result<Page> {
    let context = context! {
        page_title => "Check your inbox",
        noindex => true,
        state => "check_inbox",
        email => email,
        needs_approval => needs_approval,
        csrf => csrf.0,
        mail_dir => mail_dir(app),
    };
    Page::render(app, "sign_up_done.html", context)
}

/// Where someone who tries the server out finds its mail.
#[must_use]
pub fn mail_dir(app: &App) -> Option<String> {
    let written = app.config.mail.transport == MailTransport::Directory && app.config.server.development;
    written.then(|| app.config.mail.directory.display().to_string())
}

async fn page(app: &App, cookies: &Cookies, csrf: &Csrf, form: &Fields, faults: Option<&Validation>) -> Result<Page> {
    let mode = registration::mode(app);
    let message = &app.settings().registrations_message;
    let context = context! {
        page_title => "Create an account",
        noindex => true,
        flash => cookies.take_flash(),
        csrf => csrf.0,
        mode => match mode {
            RegistrationsMode::Open => "open",
            RegistrationsMode::Approved => "approval",
            RegistrationsMode::None => "closed",
        },
        closed_message_html => (!message.is_empty()).then(|| markdown(message)),
        rules => rules(app).await?,
        reason_required => registration::reason_required(app, mode),
        form => form,
        errors => faults.map(field_errors),
    };
    Page::render(app, "sign_up.html", context)
}

/// The house rules, as the template wants them.
async fn rules(app: &App) -> Result<Vec<Value>> {
    let rules = registration::rules(app).await?;
    Ok(rules.into_iter().map(|rule| context! { text => rule.text, hint => rule.hint }).collect())
}

impl Fields {
    fn sign_up(&self) -> SignUp {
        let trimmed = |text: &Option<String>| text.as_deref().unwrap_or_default().trim().to_owned();
        SignUp {
            username: trimmed(&self.username),
            email: trimmed(&self.email),
            password: Secret::from(self.password.clone().unwrap_or_default()),
            agreement: self.agreement.unwrap_or_default(),
            reason: self.reason.clone(),
            locale: None,
            time_zone: None,
        }
    }
}
