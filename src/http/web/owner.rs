//! The first page of a server's life: its owner makes their account, by the link that the terminal printed.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::context;
use serde::{Deserialize, Serialize};

use super::settings::field_errors;
use super::{Cookies, Csrf, Form, Hidden, Page, redirect, session};
use crate::app::App;
use crate::error::{Error, Result, Validation};
use crate::http::extract::Params;
use crate::http::extract::params::text;
use crate::service::owner::{self, Owner};
use crypto::Secret;

/// The form's fields; the link has the first.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Fields {
    #[serde(deserialize_with = "text", skip_serializing)]
    token: Option<String>,
    #[serde(deserialize_with = "text")]
    site_title: Option<String>,
    #[serde(deserialize_with = "text")]
    username: Option<String>,
    #[serde(deserialize_with = "text")]
    email: Option<String>,
    #[serde(deserialize_with = "text", skip_serializing)]
    password: Option<String>,
}

/// `GET /auth/setup?token=…`
///
/// # Errors
/// When the database does.
pub async fn show(State(app): State<App>, csrf: Csrf, Params(form): Params<Fields>) -> Result<Page> {
    let typed = Fields { site_title: Some(app.settings().site_title.clone()), ..form };
    page(&app, &csrf, &typed, None).await
}

/// `POST /auth/setup`
///
/// # Errors
/// When the database does; a fault of the form is the form again, with 422.
pub async fn create(
    State(app): State<App>,
    cookies: Cookies,
    csrf: Csrf,
    Form(form): Form<Fields>,
) -> Result<Response> {
    match owner::set_up(&app, form.token.as_deref().unwrap_or_default(), form.owner()).await {
        Ok(Some(account)) => {
            session::start(&app, &cookies, account).await?;
            cookies.notice("Welcome! The server is yours. Choose an app and sign in with this address.");
            Ok(redirect("/settings"))
        }
        Ok(None) => Ok(page(&app, &csrf, &form, None).await?.into_response()),
        Err(Error::Validation(faults)) => {
            let page = page(&app, &csrf, &form, Some(&faults)).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error),
    }
}

async fn page(app: &App, csrf: &Csrf, form: &Fields, faults: Option<&Validation>) -> Result<Page> {
    let token = form.token.clone().unwrap_or_default();
    let valid = owner::may_set_up(app, &token).await?;
    let context = context! {
        page_title => "A new rookery",
        noindex => true,
        csrf => csrf.0,
        hidden => [Hidden { name: "token", value: token }],
        valid => valid,
        form => form,
        errors => faults.map(field_errors),
    };
    Ok(Page::render(app, "owner_setup.html", context)?.without_referrer())
}

impl Fields {
    fn owner(&self) -> Owner {
        let trimmed = |text: &Option<String>| text.as_deref().unwrap_or_default().trim().to_owned();
        Owner {
            site_title: trimmed(&self.site_title),
            username: trimmed(&self.username),
            email: trimmed(&self.email),
            password: Secret::from(self.password.clone().unwrap_or_default()),
        }
    }
}
