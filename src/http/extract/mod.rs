//! Extractors for handlers: authentication, paging, parameters and path segments.
//!
//! The context [`Cx`](crate::Cx) is an extractor too. Each declares its requirements on a request ([`Describe`]) for
//! the documentation of the API.

pub mod auth;
pub mod paging;
pub mod params;
mod path;
pub(crate) mod uploads;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::error::ErrorResponse;
use crate::operation::{Describe, Operation, Parameter, Place, schema_of};

pub use auth::{AnyStateAppAuth, AnyStateAuth, AppAuth, Auth, MaybeAuth};
pub use paging::{Limit, OffsetPaging, Paging};
pub use params::Params;
pub use path::Path;
pub(crate) use path::Segments;
pub use uploads::{Upload, Uploads};

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
