//! The sign-up page. Apps sign up through [`api::registrations`](crate::api::registrations).

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settings::field_errors;
use super::{Cookies, Csrf, Form, Page, WebSession, redirect};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::params::{flag, text};
use config::MailTransport;
use crypto::Secret;
use model::settings::RegistrationsMode;
use rookery_core::error::Validation;
use rookery_core::service::registration::{self, SignUp};
use text::markdown;

/// Fields of the form.
#[derive(Debug, Default, Deserialize, JsonSchema, Serialize)]
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
pub async fn show(cx: Cx, WebSession(person): WebSession, cookies: Cookies, csrf: Csrf) -> Result<Response> {
    if person.is_some() {
        return Ok(redirect("/settings"));
    }
    Ok(page(&cx, &cookies, &csrf, &Fields::default(), None).await?.into_response())
}

/// `POST /auth/sign_up`
///
/// # Errors
/// When registrations are closed. An invalid form is shown again, with 422.
pub async fn create(cx: Cx, cookies: Cookies, csrf: Csrf, Form(form): Form<Fields>) -> Result<Response> {
    match registration::register(&cx, form.sign_up()).await {
        Ok(registered) => {
            let email = form.email.as_deref().unwrap_or_default().trim();
            Ok(check_inbox(&cx, &csrf, email, registered.needs_approval)?.into_response())
        }
        Err(Error::Validation(faults)) => {
            let page = page(&cx, &cookies, &csrf, &form, Some(&faults)).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// The page that says that a confirmation message was sent to `email`.
///
/// # Errors
/// When rendering fails, which is a bug.
pub fn check_inbox(cx: &Cx, csrf: &Csrf, email: &str, needs_approval: bool) -> Result<Page> {
    let context = context! {
        page_title => "Check your inbox",
        noindex => true,
        state => "check_inbox",
        email => email,
        needs_approval => needs_approval,
        csrf => csrf.0,
        mail_dir => mail_dir(cx),
    };
    Page::render(cx, "sign_up_done.html", context)
}

/// In development, the folder that mail is written to, to be shown on the page.
#[must_use]
pub fn mail_dir(cx: &Cx) -> Option<String> {
    let written = cx.config.mail.transport == MailTransport::Directory && cx.config.server.development;
    written.then(|| cx.config.mail.directory.display().to_string())
}

async fn page(cx: &Cx, cookies: &Cookies, csrf: &Csrf, form: &Fields, faults: Option<&Validation>) -> Result<Page> {
    let mode = registration::mode(cx);
    let message = &cx.settings().registrations_message;
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
        rules => rules(cx).await?,
        reason_required => registration::reason_required(cx, mode),
        form => form,
        errors => faults.map(field_errors),
    };
    Page::render(cx, "sign_up.html", context)
}

/// The server rules, for the template.
async fn rules(cx: &Cx) -> Result<Vec<Value>> {
    let rules = registration::rules(cx).await?;
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
