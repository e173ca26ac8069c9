//! The form for visitors from other servers, who act on an account or status of this one: their own server names the page
//! to which it leads them.
//!
//! Profiles and pages of statuses have it. They are the same for everyone, so it has no token, and no cookie is set.
//!
//! Spec: docs/contract/federation.md#12-pages

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::settings::field_errors;
use super::{FormWithoutToken, Page, redirect};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Params;
use context::error::Validation;
use service::{public, webfinger};

/// Fields of the form; as query parameters, only `uri`.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct VisitorInteraction {
    /// The page or ActivityPub object of a local account or status.
    uri: Option<String>,
    /// The visitor's `user@domain`, or their domain.
    address: Option<String>,
}

/// `GET /remote_interaction?uri=…`: the form alone.
///
/// # Errors
/// [`Error::NotFound`] unless `uri` is of this server, and everyone may see it.
pub async fn show(cx: Cx, Params(form): Params<VisitorInteraction>) -> Result<Page> {
    public::interactive(&cx, form.uri.as_deref().unwrap_or_default()).await?;
    page(&cx, &form, None)
}

/// `POST /remote_interaction`: redirects to the page on the visitor's server.
///
/// # Errors
/// As [`show`]. An address that leads nowhere is the form again, with 422.
pub async fn create(cx: Cx, FormWithoutToken(form): FormWithoutToken<VisitorInteraction>) -> Result<Response> {
    let (uri, address) = (form.uri.as_deref().unwrap_or_default(), form.address.as_deref().unwrap_or_default());
    match webfinger::interaction_page(&cx, address, uri).await {
        Ok(page) => Ok(redirect(&page)),
        Err(Error::Validation(faults)) => {
            let page = page(&cx, &form, Some(&faults))?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

fn page(cx: &Cx, form: &VisitorInteraction, faults: Option<&Validation>) -> Result<Page> {
    let context = context! {
        page_title => cx.language().say("visitor.title"),
        noindex => true,
        uri => form.uri,
        address => form.address,
        errors => faults.map(|faults| field_errors(cx, faults)),
    };
    Ok(Page::render(cx, "visitor_interaction.html", context)?.allowing_external_redirect())
}
