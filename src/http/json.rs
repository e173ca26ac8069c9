//! Rendered entities as JSON responses, and documents that are kept. Paginated lists are in [`page`](crate::page).

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::compress::{MIN_BYTES, Precompressed};
use super::error::raw_json;
use crate::Cx;
use crate::error::Result;
use context::caches::Rendered;
use context::json::{Array, Fragment};
use entity::document::PublicDocument;

/// A 200 response with one entity.
#[derive(Debug)]
pub struct Json(pub Fragment);

impl Json {
    /// Serialises `entity`.
    ///
    /// # Errors
    /// When serialisation fails, which is a bug.
    pub fn of<T: Serialize>(entity: &T) -> Result<Self> {
        Ok(Fragment::of(entity).map(Self)?)
    }

    /// `{}`, the response of a success without content.
    pub fn empty() -> Result<Self> {
        Ok(Self(context::json::Object::with_capacity(2).close()))
    }

    /// A list that is not paginated.
    #[must_use]
    pub fn list(items: impl Into<Array>) -> Response {
        raw_json(StatusCode::OK, String::from(items.into()).into())
    }
}

/// A 200 response with a document that is the same for everyone, as JSON.
///
/// # Errors
/// When it cannot be read from the database.
pub async fn document(cx: &Cx, document: PublicDocument) -> Result<Response> {
    Ok(rendered(document.render(cx).await?))
}

/// A 200 response with a JSON document that is kept.
#[must_use]
pub fn rendered(rendered: Arc<Rendered>) -> Response {
    let mut response = raw_json(StatusCode::OK, rendered.body.clone().into());
    if rendered.body.len() as u64 >= MIN_BYTES {
        response.extensions_mut().insert(Precompressed(rendered));
    }
    response
}

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        raw_json(StatusCode::OK, axum::body::Bytes::from(self.0).into())
    }
}
