//! Routes that Mastodon deprecates, with the date: the header `Deprecation` (RFC 9745) of their responses.
//!
//! The routes are served as before. Spec: docs/contract/rules.md#6-caching-cors-headers

use axum::http::{HeaderName, HeaderValue};

/// The header with the date.
pub(crate) const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");

/// The release dates of versions of Mastodon, as the header writes them: seconds since the epoch.
const V3_1_3: &str = "@1586044800";
const V3_4: &str = "@1621123200";
const V3_5: &str = "@1648598400";
const V4_0: &str = "@1668384000";
const V4_4: &str = "@1751932800";

/// The routes, with the release that deprecated them.
const ROUTES: &[(&str, &str)] = &[
    ("/api/v1/accounts/{id}/identity_proofs", V3_5),
    ("/api/v1/accounts/{id}/pin", V4_4),
    ("/api/v1/accounts/{id}/unpin", V4_4),
    ("/api/v1/filters", V4_0),
    ("/api/v1/filters/{id}", V4_0),
    ("/api/v1/instance", V4_0),
    ("/api/v1/media", V3_1_3),
    ("/api/v1/suggestions", V3_4),
    ("/api/v1/trends", V3_5),
];

/// When the route `path` was deprecated; `None` for the others.
pub(crate) fn since(path: &str) -> Option<HeaderValue> {
    ROUTES.iter().find(|(route, _)| *route == path).map(|(_, date)| HeaderValue::from_static(date))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router;

    #[test]
    fn deprecated_routes_exist() {
        let all = router::operations();
        let missing: Vec<&str> =
            ROUTES.iter().map(|(path, _)| *path).filter(|path| !all.iter().any(|one| one.path == *path)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
