//! The visitor of a public page, and whether the page may be cached for others.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::{Page, SignedIn, WebSession};
use crate::Cx;
use crate::operation::Describe;
use service::session::Person;

/// Anyone; in limited federation, signed-in users only (docs/contract/rules.md#7-access-modes).
#[derive(Debug)]
pub struct Visitor {
    /// The user of the browser's session. The page is private to the browser if there is one.
    pub person: Option<Person>,
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
        let sent = [header::IF_NONE_MATCH].into_iter();
        let asked = sent.filter_map(|name| Some((name.clone(), parts.headers.get(&name)?.clone()))).collect();
        Ok(Self { person, asked })
    }
}

impl Describe for Visitor {}

impl Visitor {
    /// Responds with `page`: cacheable by anyone, unless the visitor is signed in.
    #[must_use]
    pub fn answer(&self, page: Page) -> Response {
        if self.person.is_some() { page.into_response() } else { page.shared(&self.asked) }
    }
}
