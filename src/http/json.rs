//! A rendered entity as an answer.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::error::raw_json;
use crate::entity::Fragment;
use crate::error::Result;

/// 200 with one entity.
#[derive(Debug)]
pub struct Json(pub Fragment);

impl Json {
    /// Serialises `entity`.
    ///
    /// # Errors
    /// When it does not serialise, which is a bug.
    pub fn of<T: Serialize>(entity: &T) -> Result<Self> {
        Fragment::of(entity).map(Self)
    }

    /// `{}`: what a success without content answers.
    ///
    /// # Errors
    /// Never.
    pub fn empty() -> Result<Self> {
        Ok(Self(crate::entity::Object::with_capacity(2).close()))
    }

    /// A list that is not paginated.
    #[must_use]
    pub fn list(items: &[Fragment]) -> Response {
        raw_json(StatusCode::OK, Fragment::array(items).into())
    }
}

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        raw_json(StatusCode::OK, axum::body::Bytes::from(self.0).into())
    }
}
