//! Forgotten passwords: asking for a link, and choosing another password by it.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::context;
use serde::Deserialize;

use super::settings::field_errors;
use super::sign_up::mail_dir;
use super::{Cookies, Csrf, Form, Hidden, Page, redirect};
use crate::app::App;
use crate::error::{Error, Result, Validation};
use crate::http::extract::Params;
use crate::http::extract::params::text;
use crate::service::password;
use crypto::Secret;

/// The fields of the form that asks for a link.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Forgot {
    #[serde(deserialize_with = "text")]
    email: Option<String>,
}

/// The fields of the form that chooses a password; the link has the first.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Reset {
    #[serde(deserialize_with = "text")]
    token: Option<String>,
    #[serde(deserialize_with = "text")]
    password: Option<String>,
    #[serde(deserialize_with = "text")]
    password_confirmation: Option<String>,
}

/// `GET /auth/password/new`
///
/// # Errors
/// Never, but for a bug.
pub async fn new(State(app): State<App>, csrf: Csrf) -> Result<Page> {
    let context = context! { page_title => "Forgot your password?", noindex => true, csrf => csrf.0 };
    Page::render(&app, "password_forgot.html", context)
}

/// `POST /auth/password/new`: the same answer whether or not the address is known.
///
/// # Errors
/// [`Error::RateLimited`], or when the database does.
pub async fn create(State(app): State<App>, _: Csrf, Form(form): Form<Forgot>) -> Result<Page> {
    let email = form.email.as_deref().unwrap_or_default().trim();
    password::forgot(&app, email).await?;
    let context = context! {
        page_title => "Check your inbox",
        noindex => true,
        email => email,
        mail_dir => mail_dir(&app),
    };
    Page::render(&app, "password_forgot_done.html", context)
}

/// `GET /auth/password/edit?token=…`
///
/// # Errors
/// When the database does.
pub async fn edit(State(app): State<App>, csrf: Csrf, Params(form): Params<Reset>) -> Result<Page> {
    page(&app, &csrf, form.token.as_deref().unwrap_or_default(), None).await
}

/// `POST /auth/password/edit`
///
/// # Errors
/// When the database does; a fault of the form is the form again, with 422.
pub async fn update(State(app): State<App>, cookies: Cookies, csrf: Csrf, Form(form): Form<Reset>) -> Result<Response> {
    let secret = |field: Option<String>| Secret::from(field.unwrap_or_default());
    let token = form.token.unwrap_or_default();
    let (new, confirmation) = (secret(form.password), secret(form.password_confirmation));
    match password::reset(&app, &token, new, &confirmation).await {
        Ok(true) => {
            cookies.notice("Your new password is saved. Sign in with it.");
            Ok(redirect("/auth/sign_in"))
        }
        Ok(false) => Ok(page(&app, &csrf, &token, None).await?.into_response()),
        Err(Error::Validation(faults)) => {
            let page = page(&app, &csrf, &token, Some(&faults)).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error),
    }
}

async fn page(app: &App, csrf: &Csrf, token: &str, faults: Option<&Validation>) -> Result<Page> {
    let account = password::whose(app, token).await?;
    let context = context! {
        page_title => "Choose a new password",
        noindex => true,
        csrf => csrf.0,
        hidden => [Hidden { name: "token", value: token.to_owned() }],
        valid => account.is_some(),
        acct => account.map(|account| account.username),
        errors => faults.map(field_errors),
    };
    Ok(Page::render(app, "password_reset.html", context)?.without_referrer())
}
