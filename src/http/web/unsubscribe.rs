//! The page that ends mails about notifications, by the link in a mail and without signing in.
//!
//! A mail program posts to the link by itself when its user says so (RFC 8058). So no token of a form is asked for: the link
//! is the secret, and looking at it changes nothing.

use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Page;
use crate::Cx;
use crate::error::Result;
use crate::extract::Params;
use service::notification;

/// Query parameters of the link, and fields of the form.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct UnsubscribeLink {
    /// Whose letters.
    account: Option<String>,
    token: Option<String>,
}

/// `GET /auth/unsubscribe?account=…&token=…`
///
/// # Errors
/// [`Error::NotFound`](context::error::Error::NotFound) for a link that is not from a mail.
pub async fn show(cx: Cx, Params(link): Params<UnsubscribeLink>) -> Result<Page> {
    page(&cx, &link, false).await
}

/// `POST /auth/unsubscribe?account=…&token=…`
///
/// # Errors
/// As [`show`].
pub async fn create(cx: Cx, Params(link): Params<UnsubscribeLink>) -> Result<Page> {
    let (account, token) = link.parts();
    notification::stop_letters(&cx, account, token).await?;
    page(&cx, &link, true).await
}

async fn page(cx: &Cx, link: &UnsubscribeLink, done: bool) -> Result<Page> {
    let (account, token) = link.parts();
    let account = notification::receiver_of_letters(cx, account, token).await?;
    let context = context! {
        page_title => cx.language().say("unsubscribe.page"),
        noindex => true,
        done => done,
        acct => account.username,
        account => account.id.to_string(),
        token => token,
    };
    Ok(Page::render(cx, "unsubscribe.html", context)?.without_referrer())
}

impl UnsubscribeLink {
    fn parts(&self) -> (&str, &str) {
        (self.account.as_deref().unwrap_or_default(), self.token.as_deref().unwrap_or_default())
    }
}
