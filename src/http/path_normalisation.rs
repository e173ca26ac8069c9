//! The normal form of a path (RFC 3986, section 6.2.2): every other spelling is 404.
//!
//! Checked before anything else reads the path, so that the router, the policies, the routes of plugins and a reverse
//! proxy never read one text as two paths. Redirects to a path from a request follow it too
//! ([`web::next`](crate::web::next)). Parameters may hold any character in percent-encoding, a slash as well.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use percent_encoding::percent_decode;

use super::operation::Describe;

/// Encoded punctuation that needs no encoding: careful client libraries encode it all the same.
const PUNCTUATION: [(&str, &str); 8] =
    [("%2D", "-"), ("%2d", "-"), ("%2E", "."), ("%2e", "."), ("%5F", "_"), ("%5f", "_"), ("%7E", "~"), ("%7e", "~")];

/// True when the path of the request ended with a slash, which its normal form leaves out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TrailingSlash(pub bool);

impl<S: Send + Sync> FromRequestParts<S> for TrailingSlash {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or_default())
    }
}

impl Describe for TrailingSlash {}

/// Brings the path into normal form where client libraries differ: a slash at its end, and encoded punctuation. False
/// when it is not in normal form then, and answered by nothing.
pub(crate) fn normalise(uri: &mut Uri) -> bool {
    let path = uri.path();
    if path == "/" || (!path.ends_with('/') && !path.contains('%')) {
        return is_normal(path);
    }
    let mut normal = path.strip_suffix('/').unwrap_or(path).to_owned();
    for (encoded, plain) in PUNCTUATION {
        if normal.contains(encoded) {
            normal = normal.replace(encoded, plain);
        }
    }
    if normal == "/" || !is_normal(&normal) {
        return false;
    }
    normal == path || replace_path(uri, &normal).is_some()
}

fn replace_path(uri: &mut Uri, path: &str) -> Option<()> {
    let target = uri.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    let mut parts = std::mem::take(uri).into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(target).ok()?);
    *uri = Uri::from_parts(parts).ok()?;
    Some(())
}

/// True when `path` begins with a slash, none of its segments is empty, `.` or `..`, and each is spelt in the one way.
pub(crate) fn is_normal(path: &str) -> bool {
    path.strip_prefix('/').is_some_and(|rest| rest.is_empty() || rest.split('/').all(is_segment))
}

fn is_segment(segment: &str) -> bool {
    let is_plain = |byte: u8| !byte.is_ascii_control() && !matches!(byte, b' ' | b'\\' | b'?' | b'#' | b'%');
    match segment {
        "" | "." | ".." => false,
        _ if segment.bytes().all(is_plain) => true,
        _ => segment.bytes().all(|byte| byte == b'%' || is_plain(byte)) && is_encoded_once(segment),
    }
}

/// True when every `%` begins the encoding of a byte that needs one, and the decoded bytes are text without control
/// characters.
fn is_encoded_once(segment: &str) -> bool {
    let needs_encoding = |byte: u8| !byte.is_ascii_alphanumeric() && !b"-._~".contains(&byte);
    let mut encoded = segment.split('%').skip(1).map(|rest| {
        let digits = rest.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        u8::from_str_radix(digits, 16).ok()
    });
    let text = percent_decode(segment.as_bytes()).decode_utf8();
    encoded.all(|byte| byte.is_some_and(needs_encoding))
        && text.is_ok_and(|text| !text.bytes().any(|byte| byte.is_ascii_control()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_has_one_normal_form() {
        for normal in [
            "/",
            "/api/v1/statuses/1",
            "/@alice",
            "/.well-known/webfinger",
            "/api/v1/timelines/tag/caf%C3%A9",
            "/api/v1/timelines/tag/caf%c3%a9",
            "/api/v1/timelines/tag/café",
            "/r/name%40domain",
            "/r/a%2Fb",
            "/r/%252F",
            "/r/...",
            "/r/a%20b",
        ] {
            assert!(is_normal(normal), "{normal}");
        }
        for other in [
            "",
            "*",
            "api",
            "//api",
            "/api//v1",
            "/api/",
            "/./api",
            "/api/..",
            "/%61pi/v1",
            "/api/%7Ealice",
            "/api/%2e%2E/v1",
            "/api/%5Fx",
            "/api/%",
            "/api/%4",
            "/api/%zz",
            "/api/%+1",
            "/api/%00",
            "/api/a%0Ab",
            "/api/%7F",
            "/api/%FF",
            "/api\\v1",
            "/api/a b",
            "/api/a\tb",
            "/api?x",
            "/api#x",
        ] {
            assert!(!is_normal(other), "{other}");
        }
    }

    #[test]
    fn additions_of_client_libraries_are_removed() {
        let normal = |text: &str| {
            let mut uri: Uri = text.parse().expect("an address");
            normalise(&mut uri).then(|| uri.to_string())
        };
        assert_eq!(normal("/api/v1/x/?a=1").as_deref(), Some("/api/v1/x?a=1"));
        assert_eq!(normal("http://example.test/api/").as_deref(), Some("http://example.test/api"));
        assert_eq!(normal("/").as_deref(), Some("/"));
        assert_eq!(normal("/r/rook%40far%2Etest?a=%2E").as_deref(), Some("/r/rook%40far.test?a=%2E"));
        assert_eq!(normal("/r/no%5fsuch%2D%7e/").as_deref(), Some("/r/no_such-~"));
        assert_eq!(normal("/r/%252E").as_deref(), Some("/r/%252E"));
        for other in ["/api//", "//", "//api/v1/x", "/%61pi/", "*", "/a/%2e%2E/b", "/%2e/a", "/%%2E5", "/%2%2D"] {
            assert_eq!(normal(other), None, "{other}");
        }
    }
}
