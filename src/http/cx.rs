//! The context of a request, as an extractor: made by the [`stages`](crate::stages), and read from the request's extensions.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;

use crate::error::{Error, ErrorResponse, Result};
use crate::operation::Describe;

/// The core's context of this request. Stages and handlers name it in their argument lists.
#[derive(Clone, Debug)]
pub struct Cx(pub context::Cx);

impl Deref for Cx {
    type Target = context::Cx;
    fn deref(&self) -> &context::Cx {
        &self.0
    }
}

impl Cx {
    /// The context in the extensions of a request.
    ///
    /// # Errors
    /// 500 for a request that did not come through it, which is a bug.
    pub fn of(extensions: &Extensions) -> Result<Self> {
        Ok(extensions.get::<Self>().cloned().ok_or_else(|| Error::internal("a request without a context"))?)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Cx {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        Self::of(&parts.extensions)
    }
}

impl Describe for Cx {}
