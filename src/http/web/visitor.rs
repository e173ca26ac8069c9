//! The visitor of a public page, and whether the page may be cached for others.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::{Page, SignedIn};
use crate::Cx;
use crate::operation::Describe;

/// Anyone; in limited federation, signed-in users only (docs/contract/rules.md#7-access-modes).
#[derive(Debug)]
pub struct Visitor {
    /// The page must not be cached for others.
    private: bool,
    asked: HeaderMap,
}

impl FromRequestParts<()> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &()) -> Result<Self, Response> {
        let cx = Cx::of(&parts.extensions).map_err(IntoResponse::into_response)?;
        let private = cx.config.access.limited_federation;
        if private {
            SignedIn::from_request_parts(parts, state).await?;
        }
        let sent = [header::IF_NONE_MATCH].into_iter();
        let asked = sent.filter_map(|name| Some((name.clone(), parts.headers.get(&name)?.clone()))).collect();
        Ok(Self { private, asked })
    }
}

impl Describe for Visitor {}

impl Visitor {
    /// Responds with `page`, which must not depend on the visitor: cacheable by anyone, except in limited federation.
    #[must_use]
    pub fn answer(&self, page: Page) -> Response {
        if self.private { page.into_response() } else { page.shared(&self.asked) }
    }
}
