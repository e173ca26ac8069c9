//! `Cache-Control` policies of routes (contract rules, section 6).
//!
//! Nothing is cacheable unless its route in the router has [`while_anonymous`] or [`for_everyone`]. `headers` makes a
//! response private again where caching would be wrong: for errors of the API, in limited federation, and when the
//! response varies by a header that the request carries.

use axum::http::{HeaderValue, header};
use tower_http::set_header::SetResponseHeaderLayer;

/// Not cacheable: the default of every response.
pub const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-store");

/// Cacheable for 15 seconds by anyone: a response to an anonymous request.
pub const WHILE_ANONYMOUS: HeaderValue =
    HeaderValue::from_static("max-age=15, public, stale-while-revalidate=30, stale-if-error=86400");
const FOR_EVERYONE: HeaderValue =
    HeaderValue::from_static("max-age=300, public, stale-while-revalidate=30, stale-if-error=86400");

/// Layer for a route whose anonymous responses may be cached for 15 seconds.
#[must_use]
pub fn while_anonymous() -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(header::CACHE_CONTROL, WHILE_ANONYMOUS)
}

/// Layer for a route whose response is the same for everyone and may be cached for 5 minutes.
#[must_use]
pub fn for_everyone() -> (SetResponseHeaderLayer<HeaderValue>, SetResponseHeaderLayer<HeaderValue>) {
    (
        SetResponseHeaderLayer::if_not_present(header::CACHE_CONTROL, FOR_EVERYONE),
        // Present and empty, so that `headers` does not add its default `Vary: Authorization`.
        SetResponseHeaderLayer::if_not_present(header::VARY, HeaderValue::from_static("")),
    )
}
