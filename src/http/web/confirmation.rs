//! E-mail confirmation: the page that the link in the message opens, and sending the message again.

use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::sign_up::check_inbox;
use super::{Csrf, Form, Page};
use crate::Cx;
use crate::error::Result;
use crate::extract::Params;
use service::confirmation;

/// Query parameters of the link.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ConfirmationLink {
    token: Option<String>,
}

/// The form's fields.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Resend {
    email: Option<String>,
}

/// `GET /auth/confirmation?token=…`
pub async fn show(cx: Cx, csrf: Csrf, Params(followed): Params<ConfirmationLink>) -> Result<Page> {
    let confirmed = confirmation::confirm(&cx, followed.token.as_deref().unwrap_or_default()).await?;
    let state = match &confirmed {
        None => "expired",
        Some((_, user)) if user.approved => "confirmed",
        Some(_) => "pending",
    };
    let context = context! {
        page_title => cx.language().say("confirmed.page"),
        noindex => true,
        csrf => csrf.0,
        state => state,
        acct => confirmed.map(|(account, _)| account.username),
    };
    Ok(Page::render(&cx, "confirmed.html", context)?.without_referrer())
}

/// `POST /auth/confirmation`: the response does not reveal whether an account with that address awaits confirmation.
///
/// # Errors
/// [`Error::RateLimited`](context::error::Error::RateLimited)
pub async fn create(cx: Cx, csrf: Csrf, Form(form): Form<Resend>) -> Result<Page> {
    let email = form.email.as_deref().unwrap_or_default().trim();
    confirmation::resend_to(&cx, email).await?;
    check_inbox(&cx, &csrf, email, false)
}
