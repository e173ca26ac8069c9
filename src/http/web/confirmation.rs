//! Where the link of a confirmation letter leads, and having the letter sent again.

use axum::extract::State;
use minijinja::context;
use serde::Deserialize;

use super::sign_up::check_inbox;
use super::{Csrf, Form, Page};
use crate::app::App;
use crate::error::Result;
use crate::http::extract::Params;
use crate::http::extract::params::text;
use crate::service::confirmation;

/// What the link says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Followed {
    #[serde(deserialize_with = "text")]
    token: Option<String>,
}

/// The form's fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Resend {
    #[serde(deserialize_with = "text")]
    email: Option<String>,
}

/// `GET /auth/confirmation?token=…`
///
/// # Errors
/// When the database does.
pub async fn show(State(app): State<App>, csrf: Csrf, Params(followed): Params<Followed>) -> Result<Page> {
    let confirmed = confirmation::confirm(&app, followed.token.as_deref().unwrap_or_default()).await?;
    let state = match &confirmed {
        None => "expired",
        Some((_, user)) if user.approved => "confirmed",
        Some(_) => "pending",
    };
    let context = context! {
        page_title => "Your address",
        noindex => true,
        csrf => csrf.0,
        state => state,
        acct => confirmed.map(|(account, _)| account.username),
    };
    Ok(Page::render(&app, "confirmed.html", context)?.without_referrer())
}

/// `POST /auth/confirmation`: the same answer whether or not anybody waits for a letter at that address.
///
/// # Errors
/// [`Error::RateLimited`](crate::error::Error::RateLimited), or when the database does.
pub async fn create(State(app): State<App>, csrf: Csrf, Form(form): Form<Resend>) -> Result<Page> {
    let email = form.email.as_deref().unwrap_or_default().trim();
    confirmation::resend_to(&app, email).await?;
    check_inbox(&app, &csrf, email, false)
}
