//! The account in the browser: changing the password. Everything else is looked after in apps.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use serde::Deserialize;

use super::{Cookies, Csrf, Form, Page, SignedIn, redirect};
use crate::app::App;
use crate::error::{Error, Result, Validation};
use crate::http::extract::params::text;
use crate::service::session::{self, Person};
use crypto::Secret;

/// The form's fields.
#[derive(Debug, Default, Deserialize)]
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
///
/// # Errors
/// When the database does.
pub async fn show(State(app): State<App>, SignedIn(person): SignedIn, cookies: Cookies, csrf: Csrf) -> Result<Page> {
    page(&app, &person, &cookies, &csrf, None)
}

/// `POST /settings/password`
///
/// # Errors
/// When the database does; a fault of the form is the form again, with 422.
pub async fn change_password(
    State(app): State<App>,
    SignedIn(person): SignedIn,
    cookies: Cookies,
    csrf: Csrf,
    Form(form): Form<ChangePassword>,
) -> Result<Response> {
    let secret = |field: Option<String>| Secret::from(field.unwrap_or_default());
    let (current, new) = (secret(form.current_password), secret(form.password));
    let confirmation = secret(form.password_confirmation);
    match session::change_password(&app, &person, current, new, &confirmation).await {
        Ok(()) => {
            cookies.notice("Your password is changed. Other browsers are signed out.");
            Ok(redirect("/settings"))
        }
        Err(Error::Validation(faults)) => {
            let page = page(&app, &person, &cookies, &csrf, Some(&faults))?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error),
    }
}

fn page(app: &App, person: &Person, cookies: &Cookies, csrf: &Csrf, faults: Option<&Validation>) -> Result<Page> {
    let context = context! {
        page_title => "Your account",
        noindex => true,
        flash => cookies.take_flash(),
        csrf => csrf.0,
        section => "home",
        viewer => viewer(app, person),
        errors => faults.map(field_errors),
    };
    Page::render(app, "settings/home.html", context)
}

/// The faults of a form, a sentence for each field, for the `errors` of a template.
#[must_use]
pub fn field_errors(faults: &Validation) -> BTreeMap<&'static str, String> {
    let sentence = |words: &str| {
        let mut letters = words.chars();
        letters.next().map_or_else(String::new, |first| format!("It {first}{}.", letters.as_str()))
    };
    faults.iter().filter_map(|(field, faults)| Some((field, sentence(&faults.first()?.description)))).collect()
}

/// The person, for the frame of the signed-in pages.
#[must_use]
pub fn viewer(app: &App, person: &Person) -> Value {
    let account = &person.account;
    context! {
        display_name_html => super::display_name_html(account),
        acct => account.acct(),
        avatar => super::avatar_url(app, account),
        url => account.url,
        email => person.user.email,
    }
}
