//! Which answers others may keep (contract rules, section 6).
//!
//! Nothing may be kept unless a route says so in the router, with [`while_anonymous`] or [`for_everyone`]. `headers`
//! takes that back where it does not hold: for failures, in limited federation, and for an answer that depends on a
//! header which the request carries.

use axum::http::{HeaderValue, header};
use tower_http::set_header::SetResponseHeaderLayer;

/// What nobody may keep: every answer of which nothing else is said.
pub const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-store");

/// What others may keep for a moment: an answer for nobody in particular.
pub const WHILE_ANONYMOUS: HeaderValue =
    HeaderValue::from_static("max-age=15, public, stale-while-revalidate=30, stale-if-error=86400");
const FOR_EVERYONE: HeaderValue =
    HeaderValue::from_static("max-age=300, public, stale-while-revalidate=30, stale-if-error=86400");

/// The layer of a route whose answer may be kept for 15 seconds when nobody is signed in.
#[must_use]
pub fn while_anonymous() -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(header::CACHE_CONTROL, WHILE_ANONYMOUS)
}

/// The layer of a route whose answer is the same for everyone and may be kept for 5 minutes.
#[must_use]
pub fn for_everyone() -> (SetResponseHeaderLayer<HeaderValue>, SetResponseHeaderLayer<HeaderValue>) {
    (
        SetResponseHeaderLayer::if_not_present(header::CACHE_CONTROL, FOR_EVERYONE),
        // Present and empty: it depends on nothing.
        SetResponseHeaderLayer::if_not_present(header::VARY, HeaderValue::from_static("")),
    )
}
