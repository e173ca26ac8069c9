//! The frame of the signed-in pages, as an extractor: the signed-in user, and the parts of every page.

use std::collections::BTreeMap;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};

use crate::Cx;
use crate::error::{Error, Result};
use crate::operation::{Describe, Operation};
use crate::web::csrf::PageOwner;
use crate::web::visitor::here;
use crate::web::{Cookies, Csrf, Page, SignedIn, avatar_url, display_name_html, redirect};
use context::error::Validation;
use model::{Actor, Permissions};
use service::session::{self, Person};

/// The signed-in user, and the cookies of their browser; anyone else is redirected to the sign-in page.
#[derive(Debug)]
pub struct Frame {
    pub cx: Cx,
    pub person: Person,
    pub cookies: Cookies,
    csrf: Csrf,
    /// The path and query of the request.
    here: String,
}

impl FromRequestParts<()> for Frame {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &()) -> Result<Self, Response> {
        let SignedIn(person) = SignedIn::from_request_parts(parts, state).await?;
        let cookies = Cookies::from_request_parts(parts, state).await.map_err(IntoResponse::into_response)?;
        let csrf = Csrf::from_request_parts(parts, state).await.map_err(IntoResponse::into_response)?;
        let cx = Cx::of(&parts.extensions).map_err(IntoResponse::into_response)?;
        parts.extensions.insert(PageOwner(person.account.id));
        let here = here(parts);
        Ok(Self { cx, person, cookies, csrf, here })
    }
}

impl Describe for Frame {
    fn describe(operation: &mut Operation) {
        SignedIn::describe(operation);
    }
}

impl Frame {
    /// The page of the `template` with the context `own`; `section` is its entry in the navigation, `title` a message.
    ///
    /// # Errors
    /// When rendering fails, which is a bug.
    pub fn page(&self, section: &str, title: &str, template: &str, own: Value) -> Result<Page> {
        self.titled(section, &self.say(title), template, own)
    }

    /// As [`Frame::page`], with a title that is not a message.
    ///
    /// # Errors
    /// When rendering fails, which is a bug.
    pub fn titled(&self, section: &str, title: &str, template: &str, own: Value) -> Result<Page> {
        let context = context! {
            page_title => title,
            noindex => true,
            flash => self.cookies.take_flash(),
            csrf => self.csrf.0,
            here => self.here,
            section => section,
            viewer => viewer(&self.cx, &self.person),
            ..own
        };
        Page::render(&self.cx, template, context)
    }

    /// A redirect to the page at `path`, which says the message `notice`.
    #[must_use]
    pub fn done(&self, notice: &str, path: &str) -> Response {
        self.cookies.notice(&self.say(notice));
        redirect(path)
    }

    /// The message `key`, in the language of the page.
    #[must_use]
    pub fn say(&self, key: &str) -> String {
        self.cx.language().say(key)
    }

    /// The signed-in user as the actor of a service.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the account was suspended meanwhile.
    pub async fn actor(&self) -> Result<Actor> {
        Ok(session::actor(&self.cx, &self.person).await?)
    }

    /// The errors of a form by field, to show it again with them; every other error fails the request.
    ///
    /// # Errors
    /// Every error but [`Error::Validation`].
    pub fn faults(&self, error: Error) -> Result<BTreeMap<&'static str, String>> {
        match error {
            Error::Validation(faults) => Ok(field_errors(&self.cx, &faults)),
            other => Err(other.into()),
        }
    }
}

/// Validation errors of a form as one sentence per field, for the `errors` of a template.
#[must_use]
pub fn field_errors(cx: &Cx, faults: &Validation) -> BTreeMap<&'static str, String> {
    faults.iter().filter_map(|(field, faults)| Some((field, sentence(cx, &faults.first()?.description)))).collect()
}

/// The error of a field as a sentence; `words` are the service's message without the name of the attribute.
pub(super) fn sentence(cx: &Cx, words: &str) -> String {
    cx.language().say_error(words).unwrap_or_else(|| format!("It {words}."))
}

/// The signed-in user, for the layout of the pages.
#[must_use]
pub fn viewer(cx: &Cx, person: &Person) -> Value {
    let account = &person.account;
    context! {
        display_name_html => display_name_html(account),
        acct => account.acct(),
        avatar => avatar_url(cx, account),
        url => account.url,
        email => person.user.email,
        audits => person.permissions.has(Permissions::VIEW_AUDIT_LOG),
    }
}
