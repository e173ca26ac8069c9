//! Signing in and out in the browser.
//!
//! Reached from `/auth/sign_in` and `/auth/sign_out`, or by redirect from a page that needs a session, with the path to
//! return to in `next`.

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::next::is_own_path;
use super::{Cookies, Csrf, Form, Hidden, Page, WebSession, redirect, session};
use crate::Cx;
use crate::error::Result;
use crate::extract::Params;
use crypto::Secret;
use model::settings::RegistrationsMode;

use service::registration;
use service::session::Refusal;
use text::contains_nul;

/// Where sign-in leads without a `next`.
const HOME: &str = "/home";

/// Fields of the form; as query parameters, only `next`.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct SignIn {
    email: Option<String>,
    password: Option<String>,
    next: Option<String>,
}

/// `GET /auth/sign_in`
pub async fn show(
    cx: Cx,
    WebSession(person): WebSession,
    cookies: Cookies,
    csrf: Csrf,
    Params(form): Params<SignIn>,
) -> Result<Response> {
    if person.is_some() {
        return Ok(redirect(&destination(form.next.as_deref())));
    }
    Ok(page(&cx, &cookies, &csrf, &form, None).await?.into_response())
}

/// `POST /auth/sign_in`
///
/// # Errors
/// [`Error::RateLimited`](context::Error::RateLimited). A wrong password is the form again, with 422.
pub async fn create(
    cx: Cx,
    cookies: Cookies,
    csrf: Csrf,
    headers: HeaderMap,
    Form(form): Form<SignIn>,
) -> Result<Response> {
    let password = Secret::from(form.password.clone().unwrap_or_default());
    match service::session::authenticate(&cx, form.email.as_deref().unwrap_or_default(), password).await? {
        Ok(account) => {
            session::start(&cx, &cookies, &headers, account.id).await?;
            Ok(redirect(&destination(form.next.as_deref())))
        }
        Err(refusal) => {
            let page = page(&cx, &cookies, &csrf, &form, Some(&sentence(&cx, refusal))).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
    }
}

/// `POST /auth/sign_out`
pub async fn delete(cx: Cx, cookies: Cookies, Form(form): Form<SignIn>) -> Result<Response> {
    session::end(&cx, &cookies).await?;
    cookies.notice(&cx.language().say("sign_in.signed_out"));
    let next = form.next.map(|next| destination(Some(&next)));
    Ok(redirect(&next.map_or_else(|| "/auth/sign_in".to_owned(), |next| session::sign_in_url(&next))))
}

/// Why sign-in was refused, in the language of the page.
fn sentence(cx: &Cx, refusal: Refusal) -> String {
    let message = refusal.message();
    cx.language().say_error(&message).unwrap_or_else(|| message.into_owned())
}

async fn page(cx: &Cx, cookies: &Cookies, csrf: &Csrf, form: &SignIn, error: Option<&str>) -> Result<Page> {
    let next = destination(form.next.as_deref());
    let registrations = match registration::mode(cx).await? {
        RegistrationsMode::Open => "open",
        RegistrationsMode::Approved => "approval",
        RegistrationsMode::None => "closed",
    };
    let context = context! {
        page_title => cx.language().say("common.sign_in"),
        noindex => true,
        flash => cookies.take_flash(),
        csrf => csrf.0,
        hidden => [Hidden { name: "next", value: next.clone() }],
        email => form.email,
        error => error,
        app_name => requesting_app(cx, &next).await?,
        registrations => registrations,
    };
    Ok(Page::render(cx, "sign_in.html", context)?.allowing_external_redirect())
}

/// The name of the application whose authorization request `next` is.
async fn requesting_app(cx: &Cx, next: &str) -> Result<Option<String>> {
    let Some(query) = next.strip_prefix("/oauth/authorize?") else { return Ok(None) };
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let Some((_, client_id)) = pairs.find(|(name, _)| name == "client_id") else { return Ok(None) };
    if contains_nul(&client_id) { Ok(None) } else { Ok(service::application::name(cx, &client_id).await?) }
}

/// The path to continue to: `next` when it is on this server, otherwise home.
fn destination(next: Option<&str>) -> String {
    next.filter(|next| is_own_path(next)).unwrap_or(HOME).to_owned()
}
