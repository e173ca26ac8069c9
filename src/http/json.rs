//! JSON responses, whose type says their schema, and documents that are kept. Paginated lists are in
//! [`page`](crate::page).

use std::marker::PhantomData;
use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::compress::{MIN_BYTES, Precompressed};
use super::error::raw_json;
use crate::Cx;
use crate::error::Result;
use crate::operation::Respond;
use context::caches::Rendered;
use context::json::{Array, Fragment, Object};
use entity::document::PublicDocument;
use entity::{Either, Empty, Schema};

/// A response with JSON, with status 200 unless it says otherwise. On success it has the schema of `T`.
#[derive(Debug)]
pub struct Json<T>(Response, PhantomData<fn() -> T>);

impl<T> Json<T> {
    /// A rendered entity.
    #[must_use]
    pub fn new(entity: Fragment) -> Self {
        Self::from_body(axum::body::Bytes::from(entity).into())
    }

    /// A document that is kept.
    #[must_use]
    pub fn kept(document: Arc<Rendered>) -> Self {
        Self(rendered(document), PhantomData)
    }

    /// A document that is the same for everyone.
    ///
    /// # Errors
    /// When it cannot be read from the database.
    pub async fn document(cx: &Cx, document: PublicDocument) -> Result<Self> {
        Ok(Self::kept(document.render(cx).await?))
    }

    /// A failure without a body.
    #[must_use]
    pub fn without_body(status: StatusCode) -> Self {
        Self(status.into_response(), PhantomData)
    }

    /// As the first of two schemas.
    #[must_use]
    pub fn either<B>(self) -> Json<Either<T, B>> {
        Json(self.0, PhantomData)
    }

    /// As the second of two schemas.
    #[must_use]
    pub fn or<A>(self) -> Json<Either<A, T>> {
        Json(self.0, PhantomData)
    }

    /// Replaces the status.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        *self.0.status_mut() = status;
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers_mut().insert(name, value);
        self
    }

    fn from_body(body: axum::body::Body) -> Self {
        Self(raw_json(StatusCode::OK, body), PhantomData)
    }
}

impl<T: Serialize> Json<T> {
    /// Serialises `entity`.
    ///
    /// # Errors
    /// When serialisation fails, which is a bug.
    pub fn of(entity: &T) -> Result<Self> {
        Ok(Self::new(Fragment::of(entity)?))
    }
}

impl<T> Json<Vec<T>> {
    /// A list that is not paginated.
    #[must_use]
    pub fn list(items: impl Into<Array>) -> Self {
        Self::from_body(String::from(items.into()).into())
    }
}

impl Json<Empty> {
    /// `{}`, the response of a success without content.
    #[must_use]
    pub fn empty() -> Self {
        Self::new(Object::with_capacity(2).close())
    }
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

impl<T: Schema> Respond for Json<T> {
    fn schema() -> String {
        T::name()
    }
}

impl<T> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        self.0
    }
}
