//! Outgoing HTTP requests, through the server's client: only to hosts that the manifest names and the admin granted.

use super::imports::http_client as host;
pub use crate::contract::http_client::{HttpError, Request, Response};

/// Sends requests concurrently; responses are in their order. Redirects are not followed.
#[must_use]
pub fn fetch(requests: &[Request]) -> Vec<Result<Response, HttpError>> {
    host::fetch(requests)
}

/// A `GET` request with a timeout of five seconds.
#[must_use]
pub fn get(url: &str) -> Request {
    Request { method: "GET".into(), url: url.into(), headers: Vec::new(), body: None, timeout_ms: 5_000 }
}
