//! Extractors for handlers: authentication, paging, parameters and path segments.
//!
//! The context [`Cx`](crate::Cx) is an extractor too.

pub mod auth;
pub mod paging;
pub mod params;

use axum::extract::{FromRequestParts, rejection::PathRejection};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorResponse};

pub use auth::{AnyStateAppAuth, AnyStateAuth, AppAuth, Auth, MaybeAuth};
pub use paging::Paging;
pub use params::{Params, Upload, Uploads};

/// Path segments. One that does not parse, such as an invalid id, is answered as a missing record: 404.
#[derive(Debug)]
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorResponse> {
        let path: Result<axum::extract::Path<T>, PathRejection> =
            axum::extract::Path::from_request_parts(parts, state).await;
        let value = path.map_err(|_| Error::NotFound)?.0;
        Ok(Self(value))
    }
}
