//! Response compression, at the fastest level, for text larger than one packet.
//!
//! A page that is not cacheable may contain a CSRF token next to text the visitor typed, so compressing it would leak
//! the token through the length (the BREACH attack): such pages are sent uncompressed.

use axum::http::{Extensions, HeaderMap, StatusCode, Version, header};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};

/// Responses that fit in one packet gain nothing from compression.
const MIN_BYTES: u64 = 1400;

/// The compression layer.
#[must_use]
pub fn layer() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(
        SizeAbove::new(MIN_BYTES).and(is_worth_compressing as fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool),
    )
}

fn is_worth_compressing(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let value = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let content_type = value(header::CONTENT_TYPE);
    let text = ["application/json", "application/activity+json", "application/atom+xml", "application/rss+xml"]
        .iter()
        .any(|kind| content_type.starts_with(kind));
    let page = content_type.starts_with("text/") || content_type.starts_with("image/svg+xml");
    text || (page && !value(header::CACHE_CONTROL).contains("no-store"))
}
