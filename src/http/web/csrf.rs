//! Forms that only our own pages can send.
//!
//! Every form carries a token derived from the server's secret and a cookie of the browser: its session, or before
//! sign-in the visit cookie that the form's page set. [`Form`] checks it, so a handler cannot forget to; what fails is a 403 page.

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::cookies::{Cookies, Name};
use crate::app::App;
use crate::error::{Error, Result};
use crate::http::extract::params::{Params, parse};

/// What tokens are derived for.
const PURPOSE: &str = "csrf";

/// The token for the forms of a page. Asking for it sets the visit cookie when the browser has none.
#[derive(Clone, Debug)]
pub struct Csrf(pub String);

/// A form that one of our pages sent: its fields, with the token checked.
#[derive(Debug)]
pub struct Form<T>(pub T);

impl FromRequestParts<App> for Csrf {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let cookies = Cookies::from_request_parts(parts, app).await?;
        Ok(Self::of(app, &cookies))
    }
}

impl Csrf {
    /// The token for the browser of `cookies`.
    #[must_use]
    pub fn of(app: &App, cookies: &Cookies) -> Self {
        let token = |base: &str| Self(app.keys.derive(PURPOSE, base).expose().to_owned());
        base(cookies).map_or_else(
            || {
                let visit = crypto::random_text(16);
                cookies.set(Name::Visit, &visit, None);
                token(&visit)
            },
            token,
        )
    }
}

/// The cookie that ties a form to its browser.
fn base(cookies: &Cookies) -> Option<&str> {
    cookies.get(Name::Session).or_else(|| cookies.get(Name::Visit)).filter(|value| !value.is_empty())
}

impl<T: DeserializeOwned> FromRequest<App> for Form<T> {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        let (mut parts, body) = request.into_parts();
        let cookies = Cookies::from_request_parts(&mut parts, app).await?;
        let Params(tree) = Params::<Value>::from_request(Request::from_parts(parts, body), app).await?;
        let sent = tree.get("csrf").and_then(Value::as_str).unwrap_or_default();
        if !base(&cookies).is_some_and(|base| app.keys.verify(PURPOSE, base, sent)) {
            return Err(Error::forbidden(
                "This form is too old, or did not come from our own page. Go back, reload the page and try again",
            ));
        }
        Ok(Self(parse(tree)?))
    }
}
