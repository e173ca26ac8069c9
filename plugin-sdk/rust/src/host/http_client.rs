//! HTTP to the outside, through the server's one outgoing client.

use super::imports::http_client as host;
pub use crate::contract::http_client::{HttpError, Request, Response};

/// Sends requests at once; answers in their order.
#[must_use]
pub fn fetch(requests: &[Request]) -> Vec<Result<Response, HttpError>> {
    host::fetch(requests)
}

/// A `GET` of five seconds at most.
#[must_use]
pub fn get(url: &str) -> Request {
    Request { method: "GET".into(), url: url.into(), headers: Vec::new(), body: None, timeout_ms: 5_000 }
}
