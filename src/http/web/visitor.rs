//! Whoever looks at a public page.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::{Page, SignedIn};
use crate::app::App;

/// Anyone; on a server in limited federation, whoever is signed in (contract rules, section 7).
#[derive(Debug)]
pub struct Visitor {
    /// The page is for this visitor's eyes only.
    private: bool,
    asked: HeaderMap,
}

impl FromRequestParts<App> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let private = app.config.access.limited_federation;
        if private {
            SignedIn::from_request_parts(parts, app).await?;
        }
        let sent = [header::IF_NONE_MATCH].into_iter();
        let asked = sent.filter_map(|name| Some((name.clone(), parts.headers.get(&name)?.clone()))).collect();
        Ok(Self { private, asked })
    }
}

impl Visitor {
    /// `page`, which does not depend on who looks: kept by others for a moment, unless strangers must not see it.
    #[must_use]
    pub fn answer(&self, page: Page) -> Response {
        if self.private { page.into_response() } else { page.shared(&self.asked) }
    }
}
