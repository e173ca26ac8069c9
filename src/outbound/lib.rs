//! The server's only outgoing HTTP client, hardened against server-side request forgery (SSRF).
//!
//! Every outgoing request goes through [`Client::send`]: the host name is resolved once, all its addresses must be
//! public ([`address`]), and the connection goes only to those addresses, which rules out DNS rebinding. Proxies from
//! the environment are ignored; time, headers and body are limited. Redirects are followed only by [`Client::fetch`],
//! each as a separate request. The caller decides which hosts may be contacted, by inspecting the [`Target`].
//!
//! HTTP/1.1 (RFC 9112) over TLS 1.2 or 1.3 with the system's root certificates. Each request has a separate
//! connection, except for [`Client::send_reusing`].

pub mod address;
mod api;
mod client;
mod connect;
mod error;
pub mod fetch;
mod idle;
pub mod stream;
mod target;

pub use api::{ApiAnswer, ApiCall};
pub use client::{Beyond, Client, Request, Resolve, Response};
pub use error::Error;
pub use fetch::{Document, Fetch, FetchError, PlainHttp};
pub use hyper::{HeaderMap, Method, StatusCode, header};
pub use stream::{Pass, Streaming};
pub use target::Target;

#[cfg(test)]
mod tests;
