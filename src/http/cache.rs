//! `Cache-Control` policies of routes (docs/contract/rules.md#6-caching-cors-headers).
//!
//! Nothing is cacheable unless the policy of its route says so ([`Keep`]). `headers` makes a response private again
//! where caching would be wrong: for errors of the API, in limited federation, and when the response varies by a header
//! that the request carries.

use axum::http::HeaderValue;

use super::policy::Keep;

/// Not cacheable: the default of every response.
pub const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-store");

/// Cacheable for 15 seconds by anyone: a response to an anonymous request.
pub const WHILE_ANONYMOUS: HeaderValue =
    HeaderValue::from_static("max-age=15, public, stale-while-revalidate=30, stale-if-error=86400");
const FOR_EVERYONE: HeaderValue =
    HeaderValue::from_static("max-age=300, public, stale-while-revalidate=30, stale-if-error=86400");

/// The `Cache-Control` of responses, by the route's policy.
pub(crate) fn control(keep: Keep) -> HeaderValue {
    match keep {
        Keep::Nobody => PRIVATE,
        Keep::WhileAnonymous => WHILE_ANONYMOUS,
        Keep::ForEveryone => FOR_EVERYONE,
    }
}
