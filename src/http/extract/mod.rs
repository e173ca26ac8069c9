//! Extractors for handlers: authentication, paging, parameters and path segments.
//!
//! The context [`Cx`](crate::Cx) is an extractor too. Each says what it asks of a request
//! ([`Describe`]), for the documentation of the API.

pub mod auth;
pub mod paging;
pub mod params;
mod uploads;

use axum::extract::{FromRequestParts, rejection::PathRejection};
use axum::http::request::Parts;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorResponse};
use crate::operation::{Describe, Operation, Parameter, Place, schema_of};

pub use auth::{AnyStateAppAuth, AnyStateAuth, AppAuth, Auth, MaybeAuth};
pub use paging::{Limit, Paging};
pub use params::Params;
pub use uploads::{Upload, Uploads};

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

impl<T: JsonSchema> Describe for Path<T> {
    fn describe(operation: &mut Operation) {
        operation.path_is::<T>();
    }
}

/// The client's name for a request, by which it may send it again: the header `Idempotency-Key`.
#[derive(Debug)]
pub struct IdempotencyKey(pub Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorResponse> {
        let sent = parts.headers.get(IDEMPOTENCY_KEY).filter(|key| !key.is_empty());
        Ok(Self(sent.map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned())))
    }
}

impl Describe for IdempotencyKey {
    fn describe(operation: &mut Operation) {
        operation.parameters.push(Parameter::optional(IDEMPOTENCY_KEY, Place::Header, schema_of::<String>()));
    }
}

const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
