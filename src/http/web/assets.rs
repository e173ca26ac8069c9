//! Style sheet and pictures, part of the binary, at `/assets/{name}`.
//!
//! An address with the content's hash (`?v=…`, as pages use it for the style sheet) is kept by browsers for ever, a plain one
//! for a day and then asked about by its `ETag`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::extract::RawQuery;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::error::Error;
use crate::http::extract::Path;

/// A file: its content, and the hash that names it.
#[derive(Debug)]
struct Asset {
    bytes: &'static [u8],
    mime: &'static str,
    hash: String,
}

macro_rules! embed {
    ($($name:literal => $mime:literal),+ $(,)?) => {
        [$(($name, $mime, include_bytes!(concat!("assets/", $name)).as_slice())),+]
    };
}

static ASSETS: LazyLock<BTreeMap<&'static str, Asset>> = LazyLock::new(|| {
    let files = embed![
        "avatar.png" => "image/png",
        "avatar.svg" => "image/svg+xml",
        "favicon.svg" => "image/svg+xml",
        "header.png" => "image/png",
        "header.svg" => "image/svg+xml",
        "icon-180.png" => "image/png",
        "icon-32.png" => "image/png",
        "icon-512.png" => "image/png",
        "logo.svg" => "image/svg+xml",
        "rook-dark.svg" => "image/svg+xml",
        "rook.svg" => "image/svg+xml",
        "speckle.svg" => "image/svg+xml",
        "style.css" => "text/css; charset=utf-8",
        "thumbnail.png" => "image/png",
        "treeline-dark.svg" => "image/svg+xml",
        "treeline.svg" => "image/svg+xml",
        "treetops.svg" => "image/svg+xml",
    ];
    let hashed = |bytes| crypto::sha256_hex(bytes)[..16].to_owned();
    files.into_iter().map(|(name, mime, bytes)| (name, Asset { bytes, mime, hash: hashed(bytes) })).collect()
});

static CSS_URL: LazyLock<String> =
    LazyLock::new(|| format!("/assets/style.css?v={}", ASSETS.get("style.css").map_or("", |asset| &asset.hash)));

/// Where the style sheet of this version is.
pub fn css_url() -> &'static str {
    &CSS_URL
}

/// `GET /assets/{name}`
///
/// # Errors
/// [`Error::NotFound`] for any other name.
pub async fn show(Path(name): Path<String>, RawQuery(query): RawQuery, headers: HeaderMap) -> Result<Response, Error> {
    let asset = ASSETS.get(name.as_str()).ok_or(Error::NotFound)?;
    let etag = format!("\"{}\"", asset.hash);
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|value| value.as_bytes() == etag.as_bytes());
    let mut response = if known { StatusCode::NOT_MODIFIED.into_response() } else { asset.bytes.into_response() };
    let pinned = query.as_deref().and_then(|query| query.strip_prefix("v=")) == Some(asset.hash.as_str());
    let cached = if pinned { "public, max-age=31536000, immutable" } else { "public, max-age=86400" };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.mime));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cached));
    headers.insert(header::ETAG, HeaderValue::from_str(&etag).map_err(Error::internal)?);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // A picture opened by itself runs nothing: SVG could.
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'"),
    );
    Ok(response)
}
