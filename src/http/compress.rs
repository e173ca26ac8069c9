//! Response compression, at the fastest level, for text larger than one packet.
//!
//! A page that is not cacheable may contain a CSRF token next to text the visitor typed, so compressing it would leak
//! the token through the length (the BREACH attack): such pages are sent uncompressed. The body of an uncompressed
//! response is not wrapped. A cached document ([`Precompressed`]) is compressed once.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::http::{Extensions, HeaderMap, HeaderValue, Request, StatusCode, Version, header};
use axum::response::Response;
use tower::{Service as _, service_fn};
use tower_http::CompressionLevel;
use tower_http::compression::Compression;

use context::caches::Rendered;

/// Responses that fit in one packet gain nothing from compression.
pub(crate) const MIN_BYTES: u64 = 1400;

const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// A document that may be kept compressed as well; in the extensions of the response that it is the body of.
#[derive(Clone, Debug)]
pub(crate) struct Precompressed(pub Arc<Rendered>);

/// `response`, compressed when that is worth it and the client accepts it by `encodings`.
pub(crate) async fn compress(encodings: Option<&HeaderValue>, mut response: Response) -> Response {
    if !is_worth_compressing(&response) {
        return response;
    }
    let Some(encodings) = encodings else {
        response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
        return response;
    };
    match response.extensions_mut().remove::<Precompressed>() {
        Some(Precompressed(document)) if names_gzip(encodings) => precompressed(response, &document).await,
        Some(_) | None => encode(encodings, response).await,
    }
}

/// True when gzip is accepted without a weight, as nearly every client sends it: none is preferred to it then.
fn names_gzip(encodings: &HeaderValue) -> bool {
    let mut names = encodings.to_str().unwrap_or_default().split(',');
    names.any(|name| name.trim().eq_ignore_ascii_case("gzip"))
}

/// `response` with the compressed form of its `document`, which is made when it is first asked for.
async fn precompressed(mut response: Response, document: &Rendered) -> Response {
    let gzip = match document.gzip.get() {
        Some(gzip) => gzip.clone(),
        None => match compressed(document.body.clone()).await {
            Some(gzip) => document.gzip.get_or_init(|| gzip).clone(),
            None => return response,
        },
    };
    *response.body_mut() = gzip.into();
    response.headers_mut().insert(header::CONTENT_ENCODING, GZIP);
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

async fn compressed(bytes: Bytes) -> Option<Bytes> {
    let compressed = encode(&GZIP, Response::new(bytes.into())).await;
    to_bytes(compressed.into_body(), usize::MAX).await.ok()
}

/// `response` in the encoding of `encodings` that the client prefers, compressed while it is sent.
async fn encode(encodings: &HeaderValue, response: Response) -> Response {
    let mut request = Request::new(());
    request.headers_mut().insert(header::ACCEPT_ENCODING, encodings.clone());
    let mut response = Some(response);
    let answer = service_fn(|_: Request<()>| ready(Ok::<_, Infallible>(response.take().unwrap_or_default())));
    let always: fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool = |_, _, _, _| true;
    let mut compression = Compression::new(answer).quality(CompressionLevel::Fastest).compress_when(always);
    let Ok(response) = compression.call(request).await;
    response.map(Body::new)
}

fn is_worth_compressing(response: &Response) -> bool {
    let headers = response.headers();
    is_large(response)
        && is_text(headers)
        && !headers.contains_key(header::CONTENT_ENCODING)
        && !headers.contains_key(header::CONTENT_RANGE)
}

/// True when the body may be larger than a packet, so also when its size is unknown.
fn is_large(response: &Response) -> bool {
    let declared = || response.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
    response.body().size_hint().exact().or_else(declared).is_none_or(|size| size >= MIN_BYTES)
}

fn is_text(headers: &HeaderMap) -> bool {
    let value = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let content_type = value(header::CONTENT_TYPE);
    let text = ["application/json", "application/activity+json", "application/atom+xml", "application/rss+xml"]
        .iter()
        .any(|kind| content_type.starts_with(kind));
    let page = content_type.starts_with("text/") || content_type.starts_with("image/svg+xml");
    text || (page && !value(header::CACHE_CONTROL).contains("no-store"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::OnceLock;

    async fn answer(
        encodings: Option<&'static str>,
        kind: &'static str,
        control: &'static str,
        size: usize,
    ) -> Response {
        let mut response = Response::new(Body::from(vec![b'a'; size]));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(control));
        compress(encodings.map(HeaderValue::from_static).as_ref(), response).await
    }

    #[tokio::test]
    async fn large_text_is_compressed_where_it_is_accepted() {
        let compressed = answer(Some("br, gzip"), "application/json; charset=utf-8", "private, no-store", 9000).await;
        assert_eq!(compressed.headers()[header::CONTENT_ENCODING], "gzip");
        assert_eq!(compressed.headers()[header::VARY], "accept-encoding");
        let bytes = to_bytes(compressed.into_body(), usize::MAX).await.expect("a body");
        assert!(bytes.starts_with(&[0x1f, 0x8b]) && bytes.len() < 200);

        for encodings in [None, Some("br"), Some("gzip;q=0")] {
            let plain = answer(encodings, "application/json", "public", 9000).await;
            assert!(!plain.headers().contains_key(header::CONTENT_ENCODING));
            assert_eq!(plain.headers()[header::VARY], "accept-encoding");
            assert_eq!(plain.body().size_hint().exact(), Some(9000));
        }
    }

    #[tokio::test]
    async fn small_answers_images_and_secrets_stay_as_they_are() {
        let kinds =
            [("application/json", "public", 1399), ("image/png", "public", 9000), ("text/html", "no-store", 9000)];
        for (kind, control, size) in kinds {
            let response = answer(Some("gzip"), kind, control, size).await;
            assert!(!response.headers().contains_key(header::CONTENT_ENCODING), "{kind}");
            assert!(!response.headers().contains_key(header::VARY), "{kind}");
        }
    }

    #[tokio::test]
    async fn kept_document_is_compressed_once() {
        let body = Bytes::from(vec![b'a'; 9000]);
        let document = Arc::new(Rendered { body: body.clone(), gzip: OnceLock::new() });
        let ask = async |encodings| {
            let mut response = Response::new(body.clone().into());
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response.extensions_mut().insert(Precompressed(Arc::clone(&document)));
            let response = compress(Some(&HeaderValue::from_static(encodings)), response).await;
            let encoding = response.headers().get(header::CONTENT_ENCODING).cloned();
            (encoding, to_bytes(response.into_body(), usize::MAX).await.expect("a body"))
        };
        assert_eq!(ask("identity").await, (None, body.clone()));
        let (encoding, first) = ask("gzip, deflate, br").await;
        assert!(encoding.is_some() && first.len() < 200);
        let again = ask("br, gzip").await.1;
        assert_eq!(first.as_ptr(), again.as_ptr());
    }
}
