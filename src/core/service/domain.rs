//! Names of other servers: their one form, and searching those that are known.
//!
//! Reached from `GET /api/v1/peers/search` and from reports.

use crate::Cx;
use crate::error::Result;

/// Most servers found by [`search`] (contract: routes, peers).
const FOUND_MAX: i64 = 10;

/// A domain, or the beginning of one, in lower-case ASCII (IDNA); `None` for what is none.
#[must_use]
pub fn normalise(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('/');
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':');
    if text.is_empty() || text.len() > 253 {
        return None;
    }
    // The beginning of a name may look like an address, which is none of a host.
    if text.bytes().all(is_plain) {
        return Some(text.to_ascii_lowercase());
    }
    match url::Host::parse(text).ok()? {
        url::Host::Domain(domain) => Some(domain),
        url::Host::Ipv4(_) | url::Host::Ipv6(_) => None,
    }
}

/// The known servers without a domain block whose name begins with `q`, by name; none for what begins no name. `None` when
/// the setting disables it.
pub async fn search(cx: &Cx, q: &str) -> Result<Option<Vec<String>>> {
    if !cx.settings().peers_api_enabled {
        return Ok(None);
    }
    let Some(prefix) = normalise(q) else { return Ok(Some(Vec::new())) };
    Ok(Some(store::instance::search_peers(&cx.db, &prefix, FOUND_MAX).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_have_one_form() {
        assert_eq!(normalise(" Example.ORG ").as_deref(), Some("example.org"));
        assert_eq!(normalise("日本語.jp").as_deref(), Some("xn--wgv71a119e.jp"));
        assert_eq!(normalise("20").as_deref(), Some("20"));
        for text in ["", " ", "a b", "a/b", "user@host", "%zz", "<", "\0"] {
            assert_eq!(normalise(text), None, "{text:?}");
        }
    }
}
