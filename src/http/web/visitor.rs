//! The visitor of a public page, and whether the page may be cached for others.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};

use super::{Cookies, Csrf, Page, SignedIn, WebSession};
use crate::Cx;
use crate::error::{Error, Result};
use crate::operation::Describe;
use model::Actor;
use service::session;

/// Anyone; in limited federation, signed-in users only (docs/contract/rules.md#7-access-modes).
#[derive(Debug)]
pub struct Visitor {
    /// The user of the browser's session. The page is private to the browser if there is one.
    pub viewer: Option<Actor>,
    cookies: Cookies,
    /// The path and query of the request.
    here: String,
    asked: HeaderMap,
}

impl FromRequestParts<()> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &()) -> Result<Self, Response> {
        let cx = Cx::of(&parts.extensions).map_err(IntoResponse::into_response)?;
        let person = if cx.config.access.limited_federation {
            Some(SignedIn::from_request_parts(parts, state).await?.0)
        } else {
            WebSession::from_request_parts(parts, state).await.map_err(IntoResponse::into_response)?.0
        };
        let cookies = Cookies::from_request_parts(parts, state).await.map_err(IntoResponse::into_response)?;
        let viewer = match person {
            Some(person) => match session::actor(&cx, &person).await {
                Err(Error::NotFound) => None,
                actor => Some(actor.map_err(|error| crate::error::ErrorResponse::from(error).into_response())?),
            },
            None => None,
        };
        let sent = [header::IF_NONE_MATCH].into_iter();
        let asked = sent.filter_map(|name| Some((name.clone(), parts.headers.get(&name)?.clone()))).collect();
        Ok(Self { viewer, cookies, here: here(parts), asked })
    }
}

/// The path and query of a request: where its forms lead back to.
pub(super) fn here(parts: &Parts) -> String {
    parts.uri.path_and_query().map_or("/", |url| url.as_str()).to_owned()
}

impl Describe for Visitor {}

impl Visitor {
    /// The page of the `template` with the context `own`, to which a viewer's forms belong.
    ///
    /// # Errors
    /// When rendering fails, which is a bug.
    pub fn page(&self, cx: &Cx, template: &str, own: Value) -> Result<Page> {
        if self.viewer.is_none() {
            return Page::render(cx, template, own);
        }
        let forms = context! {
            csrf => Csrf::of(cx, &self.cookies).0,
            here => self.here,
            flash => self.cookies.take_flash(),
            ..own
        };
        Page::render(cx, template, forms)
    }

    /// Responds with `page`: cacheable by anyone, unless the visitor is signed in.
    #[must_use]
    pub fn respond(&self, page: Page) -> Response {
        if self.viewer.is_some() { page.into_response() } else { page.shared(&self.asked) }
    }
}
