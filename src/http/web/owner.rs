//! First-run setup: the owner creates their account through the link that `rookery serve` printed on the terminal.

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use minijinja::context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settings::field_errors;
use super::{Cookies, Csrf, Form, Hidden, Page, redirect, session};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Params;
use context::error::Validation;
use crypto::Secret;
use service::owner::{self, Owner};
use service::ownership;

/// Fields of the form; the link carries the first one.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct Fields {
    #[serde(skip_serializing)]
    token: Option<String>,
    site_title: Option<String>,
    username: Option<String>,
    email: Option<String>,
    #[serde(skip_serializing)]
    password: Option<String>,
}

/// `GET /auth/setup?token=…`
pub async fn show(cx: Cx, csrf: Csrf, Params(form): Params<Fields>) -> Result<Page> {
    let typed = Fields { site_title: Some(cx.settings().site_title.clone()), ..form };
    page(&cx, &csrf, &typed, None).await
}

/// `POST /auth/setup`
///
/// # Errors
/// None for an invalid form: that is shown again, with 422.
pub async fn create(
    cx: Cx,
    cookies: Cookies,
    csrf: Csrf,
    headers: HeaderMap,
    Form(form): Form<Fields>,
) -> Result<Response> {
    match owner::set_up(&cx, form.token.as_deref().unwrap_or_default(), form.owner()).await {
        Ok(Some(account)) => {
            session::start(&cx, &cookies, &headers, account).await?;
            cookies.notice(&cx.language().say("owner.welcome"));
            Ok(redirect("/home"))
        }
        Ok(None) => Ok(page(&cx, &csrf, &form, None).await?.into_response()),
        Err(Error::Validation(faults)) => {
            let page = page(&cx, &csrf, &form, Some(&faults)).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

async fn page(cx: &Cx, csrf: &Csrf, form: &Fields, faults: Option<&Validation>) -> Result<Page> {
    let token = form.token.clone().unwrap_or_default();
    let valid = owner::may_set_up(cx, &token).await?;
    let context = context! {
        page_title => cx.language().say("owner.title"),
        noindex => true,
        csrf => csrf.0,
        hidden => [Hidden { name: "token", value: token }],
        valid => valid,
        owned => !valid && ownership::exists(&cx.db).await?,
        form => form,
        errors => faults.map(|faults| field_errors(cx, faults)),
    };
    Ok(Page::render(cx, "owner_setup.html", context)?.without_referrer())
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
