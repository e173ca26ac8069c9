//! Static assets (style sheet, scripts and images), embedded in the binary, at `/assets/{name}`.
//!
//! A URL with the content hash (`?v=…`, as pages use for the style sheet) is cacheable for ever, a plain one for a day,
//! after which browsers revalidate it by `ETag`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::extract::RawQuery;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::error::{Error, Result};
use crate::extract::Path;

/// An embedded file and the hash of its content.
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
        "client.js" => "text/javascript; charset=utf-8",
        "favicon.svg" => "image/svg+xml",
        "header.png" => "image/png",
        "header.svg" => "image/svg+xml",
        "icon-180.png" => "image/png",
        "icon-32.png" => "image/png",
        "icon-512.png" => "image/png",
        "logo.svg" => "image/svg+xml",
        "missing.png" => "image/png",
        "rook-dark.svg" => "image/svg+xml",
        "rook.svg" => "image/svg+xml",
        "speckle.svg" => "image/svg+xml",
        "style.css" => "text/css; charset=utf-8",
        "sw.js" => "text/javascript; charset=utf-8",
        "thumbnail.png" => "image/png",
        "treeline-dark.svg" => "image/svg+xml",
        "treeline.svg" => "image/svg+xml",
        "treetops.svg" => "image/svg+xml",
    ];
    let hashed = |bytes| crypto::sha256_hex(bytes)[..16].to_owned();
    files.into_iter().map(|(name, mime, bytes)| (name, Asset { bytes, mime, hash: hashed(bytes) })).collect()
});

static CSS_URL: LazyLock<String> = LazyLock::new(|| pinned("style.css"));
static SCRIPT_URL: LazyLock<String> = LazyLock::new(|| pinned("client.js"));

/// The URL of an asset with its content hash.
fn pinned(name: &str) -> String {
    format!("/assets/{name}?v={}", ASSETS.get(name).map_or("", |asset| &asset.hash))
}

/// URL of the style sheet, with its content hash.
pub fn css_url() -> &'static str {
    &CSS_URL
}

/// URL of the script of people who are signed in, with its content hash.
pub fn script_url() -> &'static str {
    &SCRIPT_URL
}

/// The content of an asset; empty for an unknown name.
pub fn bytes(name: &str) -> &'static [u8] {
    ASSETS.get(name).map_or(&[], |asset| asset.bytes)
}

/// `GET /assets/{name}`
///
/// # Errors
/// [`Error::NotFound`] for an unknown name.
pub async fn show(Path(name): Path<String>, RawQuery(query): RawQuery, headers: HeaderMap) -> Result<Response> {
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
    // An SVG opened on its own could run scripts.
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'"),
    );
    Ok(response)
}
