//! Signing in and out with a browser.
//!
//! Reached from `/auth/sign_in` and `/auth/sign_out`. A page that needs a session sends people here with the address to go on to.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::context;
use serde::Deserialize;

use super::{Cookies, Csrf, Form, Hidden, Page, WebSession, redirect, session};
use crate::app::App;
use crate::error::Result;
use crate::http::extract::Params;
use crate::http::extract::params::text;
use crate::service;
use crate::service::limits::{self, Key};
use crypto::Secret;
use model::settings::RegistrationsMode;
use text::contains_nul;

/// Where a person goes who came for nothing in particular.
const HOME: &str = "/settings";

/// The form's fields, and before it is sent the address to go on to.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct SignIn {
    #[serde(deserialize_with = "text")]
    email: Option<String>,
    #[serde(deserialize_with = "text")]
    password: Option<String>,
    #[serde(deserialize_with = "text")]
    next: Option<String>,
}

/// `GET /auth/sign_in`
///
/// # Errors
/// When the database does.
pub async fn show(
    State(app): State<App>,
    WebSession(person): WebSession,
    cookies: Cookies,
    csrf: Csrf,
    Params(form): Params<SignIn>,
) -> Result<Response> {
    if person.is_some() {
        return Ok(redirect(&destination(&app, form.next.as_deref())));
    }
    Ok(page(&app, &cookies, &csrf, &form, None).await?.into_response())
}

/// `POST /auth/sign_in`
///
/// # Errors
/// When the database does; a wrong password is the form again, with 422.
pub async fn create(
    State(app): State<App>,
    cookies: Cookies,
    csrf: Csrf,
    Form(form): Form<SignIn>,
) -> Result<Response> {
    limits::require(&app, &limits::SIGN_IN, &Key::email(form.email.as_deref().unwrap_or_default()))?;
    let password = Secret::from(form.password.clone().unwrap_or_default());
    match service::session::authenticate(&app, form.email.as_deref().unwrap_or_default(), password).await? {
        Ok(account) => {
            session::start(&app, &cookies, account.id).await?;
            Ok(redirect(&destination(&app, form.next.as_deref())))
        }
        Err(refusal) => {
            let page = page(&app, &cookies, &csrf, &form, Some(&refusal.message())).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
    }
}

/// `POST /auth/sign_out`
///
/// # Errors
/// When the database does.
pub async fn delete(State(app): State<App>, cookies: Cookies, Form(form): Form<SignIn>) -> Result<Response> {
    session::end(&app, &cookies).await?;
    cookies.notice("You are signed out.");
    let next = form.next.map(|next| destination(&app, Some(&next)));
    Ok(redirect(&next.map_or_else(|| "/auth/sign_in".to_owned(), |next| session::sign_in_url(&next))))
}

async fn page(app: &App, cookies: &Cookies, csrf: &Csrf, form: &SignIn, error: Option<&str>) -> Result<Page> {
    let next = destination(app, form.next.as_deref());
    let registrations = match app.settings().registrations_mode {
        RegistrationsMode::Open => "open",
        RegistrationsMode::Approved => "approval",
        RegistrationsMode::None => "closed",
    };
    let context = context! {
        page_title => "Sign in",
        noindex => true,
        flash => cookies.take_flash(),
        csrf => csrf.0,
        hidden => [Hidden { name: "next", value: next.clone() }],
        email => form.email,
        error => error,
        app_name => asking_app(app, &next).await?,
        registrations => registrations,
    };
    Ok(Page::render(app, "sign_in.html", context)?.leading_elsewhere())
}

/// The name of the application whose request `next` is.
async fn asking_app(app: &App, next: &str) -> Result<Option<String>> {
    let Some(query) = next.strip_prefix("/oauth/authorize?") else { return Ok(None) };
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let Some((_, client_id)) = pairs.find(|(name, _)| name == "client_id") else { return Ok(None) };
    if contains_nul(&client_id) { Ok(None) } else { service::application::name(app, &client_id).await }
}

/// The address to go on to: one of this server, or else the settings. Whatever a browser could read as another host is refused.
fn destination(app: &App, next: Option<&str>) -> String {
    let Some(next) = next.filter(|next| next.starts_with('/')) else { return HOME.to_owned() };
    let Ok(origin) = url::Url::parse(&app.urls.origin) else { return HOME.to_owned() };
    match origin.join(next) {
        Ok(url) if url.origin() == origin.origin() => match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        },
        _ => HOME.to_owned(),
    }
}
