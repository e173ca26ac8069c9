//! Account settings in the browser: changing the password. Everything else is done in apps.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Cookies, Csrf, Form, Page, SignedIn, redirect};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::params::text;
use crypto::Secret;
use rookery_core::error::Validation;
use rookery_core::service::session::{self, Person};

/// Fields of the form.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ChangePassword {
    #[serde(deserialize_with = "text")]
    current_password: Option<String>,
    #[serde(deserialize_with = "text")]
    password: Option<String>,
    #[serde(deserialize_with = "text")]
    password_confirmation: Option<String>,
}

/// `GET /settings`
pub async fn show(cx: Cx, SignedIn(person): SignedIn, cookies: Cookies, csrf: Csrf) -> Result<Page> {
    page(&cx, &person, &cookies, &csrf, None)
}

/// `POST /settings/password`
///
/// # Errors
/// None for an invalid form: that is shown again, with 422.
pub async fn change_password(
    cx: Cx,
    SignedIn(person): SignedIn,
    cookies: Cookies,
    csrf: Csrf,
    Form(form): Form<ChangePassword>,
) -> Result<Response> {
    let secret = |field: Option<String>| Secret::from(field.unwrap_or_default());
    let (current, new) = (secret(form.current_password), secret(form.password));
    let confirmation = secret(form.password_confirmation);
    match session::change_password(&cx, &person, current, new, &confirmation).await {
        Ok(()) => {
            cookies.notice("Your password is changed. Other browsers are signed out.");
            Ok(redirect("/settings"))
        }
        Err(Error::Validation(faults)) => {
            let page = page(&cx, &person, &cookies, &csrf, Some(&faults))?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

fn page(cx: &Cx, person: &Person, cookies: &Cookies, csrf: &Csrf, faults: Option<&Validation>) -> Result<Page> {
    let context = context! {
        page_title => "Your account",
        noindex => true,
        flash => cookies.take_flash(),
        csrf => csrf.0,
        section => "home",
        viewer => viewer(cx, person),
        errors => faults.map(field_errors),
    };
    Page::render(cx, "settings/home.html", context)
}

/// Validation errors of a form as one sentence per field, for the `errors` of a template.
#[must_use]
pub fn field_errors(faults: &Validation) -> BTreeMap<&'static str, String> {
    let sentence = |words: &str| {
        let mut letters = words.chars();
        letters.next().map_or_else(String::new, |first| format!("It {first}{}.", letters.as_str()))
    };
    faults.iter().filter_map(|(field, faults)| Some((field, sentence(&faults.first()?.description)))).collect()
}

/// The signed-in user, for the layout of the pages.
#[must_use]
pub fn viewer(cx: &Cx, person: &Person) -> Value {
    let account = &person.account;
    context! {
        display_name_html => super::display_name_html(account),
        acct => account.acct(),
        avatar => super::avatar_url(cx, account),
        url => account.url,
        email => person.user.email,
    }
}
