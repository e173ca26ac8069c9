//! The sign-up page. Apps sign up through [`api::registrations`](crate::api::registrations).

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::front;
use super::settings::field_errors;
use super::{Cookies, Csrf, Form, Page, WebSession, redirect};
use crate::Cx;
use crate::error::{Error, Result};
use config::MailTransport;
use context::error::Validation;
use crypto::Secret;
use service::registration::{self, SignUp};
use text::markdown;

/// Fields of the form.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct Fields {
    username: Option<String>,
    email: Option<String>,
    #[serde(skip_serializing)]
    password: Option<String>,
    agreement: Option<bool>,
    reason: Option<String>,
    /// `2000-12-31`
    date_of_birth: Option<String>,
    /// All other fields: plugins may know some of them.
    #[serde(flatten, skip_serializing)]
    rest: Map<String, Json>,
}

/// `GET /auth/sign_up`
pub async fn show(cx: Cx, WebSession(person): WebSession, cookies: Cookies, csrf: Csrf) -> Result<Response> {
    if person.is_some() {
        return Ok(redirect("/home"));
    }
    Ok(page(&cx, &cookies, &csrf, &Fields::default(), None).await?.into_response())
}

/// The sign-up page with `params`, which an extension declared: its form carries them. Signed-in users see it too. On a
/// single-user server it is 403.
///
/// # Errors
/// When an extension fails whose response is needed.
pub async fn show_with(cx: &Cx, cookies: &Cookies, csrf: &Csrf, params: Map<String, Json>) -> Result<Page> {
    let page = page(cx, cookies, csrf, &Fields { rest: params, ..Fields::default() }, None).await?;
    let refused = cx.config.access.single_user;
    Ok(if refused { page.with_status(StatusCode::FORBIDDEN) } else { page })
}

/// `POST /auth/sign_up`
///
/// # Errors
/// When registrations are closed. An invalid form is shown again, with 422.
pub async fn create(cx: Cx, cookies: Cookies, csrf: Csrf, Form(form): Form<Fields>) -> Result<Response> {
    match registration::register(&cx, form.sign_up(&cx)).await {
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
        page_title => cx.language().say("inbox.title"),
        noindex => true,
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
    let message = &cx.settings().registrations_message;
    let brought = form.brought(cx);
    let admission = registration::judge(cx, &brought).await?;
    let terms = match registration::terms(cx, admission.as_ref()).await {
        Ok(terms) => Some(terms),
        Err(Error::Forbidden(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let inviter = match admission.and_then(|admission| admission.invited_by) {
        Some(inviter) => registration::inviter(cx, inviter).await?,
        None => None,
    };
    let context = context! {
        page_title => cx.language().say("front.create"),
        noindex => true,
        flash => cookies.take_flash(),
        csrf => csrf.0,
        mode => match terms {
            Some(terms) if terms.needs_approval => "approval",
            Some(_) => "open",
            None => "closed",
        },
        hidden => brought.iter().filter_map(hidden).collect::<Vec<_>>(),
        invite_invalid => !brought.is_empty() && admission.is_none(),
        invited_by => inviter.map(|account| account.acct()),
        closed_message_html => (!message.is_empty()).then(|| markdown(message)),
        rules => front::rules(cx, &registration::rules(cx).await?),
        reason_required => terms.is_some_and(|terms| terms.needs_reason),
        min_age => Some(cx.settings().min_age).filter(|age| *age > 0),
        form => form,
        errors => faults.map(|faults| field_errors(cx, faults)),
    };
    Page::render(cx, "sign_up.html", context)
}

/// A parameter of an extension's, as a hidden field.
fn hidden((name, value): (&String, &Json)) -> Option<Value> {
    Some(context! { name => name, value => value.as_str()? })
}

impl Fields {
    /// The sent parameters that extensions declared, as far as they are text.
    fn brought(&self, cx: &Cx) -> Map<String, Json> {
        if self.rest.is_empty() {
            return Map::new();
        }
        let known = cx.extensions().sign_up_params();
        let given = |value: &Json| value.as_str().is_some_and(|text| !text.trim().is_empty());
        let brought = self.rest.iter().filter(|(name, value)| known.contains(name) && given(value));
        brought.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn sign_up(&self, cx: &Cx) -> SignUp {
        let trimmed = |text: &Option<String>| text.as_deref().unwrap_or_default().trim().to_owned();
        SignUp {
            username: trimmed(&self.username),
            email: trimmed(&self.email),
            password: Secret::from(self.password.clone().unwrap_or_default()),
            agreement: self.agreement.unwrap_or_default(),
            reason: self.reason.clone(),
            date_of_birth: self.date_of_birth.clone(),
            locale: Some(cx.language().code().to_owned()),
            time_zone: None,
            params: self.brought(cx),
        }
    }
}
