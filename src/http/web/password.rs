//! Password reset: requesting a link by e-mail, and choosing a new password through it.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::settings::field_errors;
use super::sign_up::mail_dir;
use super::{Cookies, Csrf, Form, Hidden, Page, redirect};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Params;
use context::error::Validation;
use crypto::Secret;
use service::password;

/// Fields of the form that requests a link.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Forgot {
    email: Option<String>,
}

/// Fields of the form that sets a new password; the link carries the first one.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Reset {
    token: Option<String>,
    password: Option<String>,
    password_confirmation: Option<String>,
}

/// `GET /auth/password/new`
pub async fn new(cx: Cx, csrf: Csrf) -> Result<Page> {
    let context = context! { page_title => cx.language().say("forgot.title"), noindex => true, csrf => csrf.0 };
    Page::render(&cx, "password_forgot.html", context)
}

/// `POST /auth/password/new`: the response does not reveal whether the address is known.
///
/// # Errors
/// [`Error::RateLimited`]
pub async fn create(cx: Cx, _: Csrf, Form(form): Form<Forgot>) -> Result<Page> {
    let email = form.email.as_deref().unwrap_or_default().trim();
    password::forgot(&cx, email).await?;
    let context = context! {
        page_title => cx.language().say("inbox.title"),
        noindex => true,
        email => email,
        mail_dir => mail_dir(&cx),
    };
    Page::render(&cx, "password_forgot_done.html", context)
}

/// `GET /auth/password/edit?token=…`
pub async fn edit(cx: Cx, csrf: Csrf, Params(form): Params<Reset>) -> Result<Page> {
    page(&cx, &csrf, form.token.as_deref().unwrap_or_default(), None).await
}

/// `POST /auth/password/edit`
///
/// # Errors
/// None for an invalid form: that is shown again, with 422.
pub async fn update(cx: Cx, cookies: Cookies, csrf: Csrf, Form(form): Form<Reset>) -> Result<Response> {
    let secret = |field: Option<String>| Secret::from(field.unwrap_or_default());
    let token = form.token.unwrap_or_default();
    let (new, confirmation) = (secret(form.password), secret(form.password_confirmation));
    match password::reset(&cx, &token, new, &confirmation).await {
        Ok(true) => {
            cookies.notice(&cx.language().say("reset.saved"));
            Ok(redirect("/auth/sign_in"))
        }
        Ok(false) => Ok(page(&cx, &csrf, &token, None).await?.into_response()),
        Err(Error::Validation(faults)) => {
            let page = page(&cx, &csrf, &token, Some(&faults)).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

async fn page(cx: &Cx, csrf: &Csrf, token: &str, faults: Option<&Validation>) -> Result<Page> {
    let account = password::whose(cx, token).await?;
    let context = context! {
        page_title => cx.language().say("reset.title"),
        noindex => true,
        csrf => csrf.0,
        hidden => [Hidden { name: "token", value: token.to_owned() }],
        valid => account.is_some(),
        acct => account.map(|account| account.username),
        errors => faults.map(|faults| field_errors(cx, faults)),
    };
    Ok(Page::render(cx, "password_reset.html", context)?.without_referrer())
}
