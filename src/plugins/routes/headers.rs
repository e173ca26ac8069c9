//! Which headers a plugin sees, and which it may set.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use rookery_http::web::next::is_own_path;

/// Headers that a plugin may set. All others belong to the server: cookies, lengths, connection, CORS and browser
/// security.
const SETTABLE: [HeaderName; 7] = [
    header::CACHE_CONTROL,
    header::CONTENT_DISPOSITION,
    header::CONTENT_LANGUAGE,
    header::ETAG,
    header::LAST_MODIFIED,
    header::LOCATION,
    header::RETRY_AFTER,
];

/// Largest header value, in bytes.
const MAX_VALUE_BYTES: usize = 2 << 10;

/// Headers that a plugin never sees, whatever its manifest lists: credentials, and the client's address.
const SECRET: [HeaderName; 7] = [
    header::AUTHORIZATION,
    header::COOKIE,
    header::PROXY_AUTHORIZATION,
    header::FORWARDED,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-real-ip"),
    HeaderName::from_static("signature"),
];

/// Content types of binary responses: none that a browser executes.
const TYPES: [(&str, &str); 11] = [
    ("application/json", "application/json; charset=utf-8"),
    ("application/octet-stream", "application/octet-stream"),
    ("image/avif", "image/avif"),
    ("image/gif", "image/gif"),
    ("image/jpeg", "image/jpeg"),
    ("image/png", "image/png"),
    ("image/webp", "image/webp"),
    ("text/calendar", "text/calendar; charset=utf-8"),
    ("text/csv", "text/csv; charset=utf-8"),
    ("text/plain", "text/plain; charset=utf-8"),
    ("text/vcard", "text/vcard; charset=utf-8"),
];

/// The headers that the manifest lists in `wanted`, with lower-case names.
pub(super) fn shown(headers: &HeaderMap, wanted: &[String]) -> Vec<(String, String)> {
    let names = wanted.iter().filter_map(|name| HeaderName::try_from(name.as_str()).ok());
    let mut shown = Vec::new();
    for name in names.filter(|name| !SECRET.contains(name)) {
        let values = headers.get_all(&name).iter().filter_map(|value| value.to_str().ok());
        shown.extend(values.map(|value| (name.as_str().to_owned(), value.to_owned())));
    }
    shown
}

/// Copies the permitted ones of `sent` to `headers`, and returns the names of the others.
pub(super) fn set(headers: &mut HeaderMap, sent: &[(String, String)]) -> Vec<String> {
    let mut refused = Vec::new();
    for (name, value) in sent {
        let known = HeaderName::try_from(name.as_str()).ok().filter(|name| SETTABLE.contains(name));
        let fits = |name: &HeaderName| match *name {
            header::LOCATION => is_own_path(value),
            header::CACHE_CONTROL => is_restrictive(value),
            _ => true,
        };
        let known = known.filter(fits);
        let value = HeaderValue::try_from(value.as_str()).ok().filter(|value| value.len() <= MAX_VALUE_BYTES);
        match (known, value) {
            (Some(name), Some(value)) => {
                headers.insert(name, value);
            }
            (None, _) | (_, None) => refused.push(name.escape_debug().take(64).collect()),
        }
    }
    refused
}

/// True for a `Cache-Control` that restricts caching; allowing it is for the manifest.
fn is_restrictive(caching: &str) -> bool {
    caching.split(',').all(|word| matches!(word.trim(), "no-store" | "no-cache" | "private" | "must-revalidate"))
}

/// The content type as it is sent; none for one that is not permitted.
pub(super) fn content_type(asked: &str) -> Option<HeaderValue> {
    let essence = asked.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    TYPES.iter().find(|(name, _)| *name == essence).map(|(_, sent)| HeaderValue::from_static(sent))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Which paths are this server's is tested where it is decided, in http.
    #[test]
    fn redirect_stays_on_this_server() {
        let mut headers = HeaderMap::new();
        for (location, refused) in [("/a/b?c=//d", 0), ("//other.example", 1), ("/\t/other.example", 1)] {
            assert_eq!(set(&mut headers, &pairs(&[("location", location)])).len(), refused, "{location:?}");
        }
        assert_eq!(headers[header::LOCATION], "/a/b?c=//d");
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn plugin_sets_only_harmless_headers() {
        let mut headers = HeaderMap::new();
        let refused = set(
            &mut headers,
            &pairs(&[
                ("ETag", "\"1\""),
                ("Set-Cookie", "a=b"),
                ("Host", "evil.test"),
                ("Content-Length", "0"),
                ("Transfer-Encoding", "chunked"),
                ("Connection", "close"),
                ("Access-Control-Allow-Origin", "https://evil.test"),
                ("Content-Security-Policy", "default-src *"),
                ("Content-Type", "text/html"),
                ("X-Accel-Redirect", "/etc/passwd"),
                ("X-Plugin", "core"),
                ("Link", "</x>; rel=next"),
                ("Location", "/x\r\nSet-Cookie: a=b"),
                ("E\r\nTag", "x"),
                ("Retry-After", &"1".repeat(MAX_VALUE_BYTES + 1)),
                ("Location", "https://evil.test/"),
                ("Location", "//evil.test/"),
                ("Location", "/\\evil.test/"),
                ("Location", "/.//evil.test/"),
                ("Cache-Control", "public, max-age=31536000"),
                ("Expires", "Thu, 01 Dec 2033 16:00:00 GMT"),
                ("Cache-Control", "private, no-cache"),
            ]),
        );
        assert_eq!(headers.len(), 2);
        assert_eq!(headers[header::ETAG], "\"1\"");
        assert_eq!(refused.len(), 20);
        assert!(refused.contains(&"E\\r\\nTag".to_owned()), "{refused:?}");
    }

    #[test]
    fn plugin_sees_only_listed_headers() {
        let mut headers = HeaderMap::new();
        for (name, value) in
            [("authorization", "Bearer canary"), ("cookie", "a=canary"), ("accept-language", "de"), ("accept", "*/*")]
        {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let wanted = ["Authorization", "Cookie", "Accept-Language", "no header"].map(str::to_owned);
        assert_eq!(shown(&headers, &wanted), pairs(&[("accept-language", "de")]));
        assert_eq!(shown(&headers, &[]), []);
    }

    #[test]
    fn bytes_are_of_a_type_that_no_browser_runs() {
        assert_eq!(content_type("Text/CSV; charset=utf-16; x=\"a\r\nb\"").expect("allowed"), "text/csv; charset=utf-8");
        assert_eq!(content_type("image/png").expect("allowed"), "image/png");
        for bad in ["text/html", "image/svg+xml", "application/xhtml+xml", "text/javascript", "text/xml", "", "*/*"] {
            assert_eq!(content_type(bad), None, "{bad}");
        }
    }
}
