//! Domains of other servers: their canonical form, and a search of known ones.
//!
//! Reached from `GET /api/v1/peers/search`, from reports and from domain blocks.

use context::Cx;
use context::error::Result;

/// Most servers found by [`search`] (contract: routes, peers).
const FOUND_MAX: i64 = 10;
/// Longest domain, in characters (docs/contract/rules.md#20-blocks-and-requests).
const DOMAIN_MAX: usize = 256;
/// Longest part of a domain between its dots (docs/contract/rules.md#20-blocks-and-requests).
const LABEL_MAX: usize = 63;

/// A domain, or the beginning of one, in lower-case ASCII (IDNA); `None` when it is invalid.
#[must_use]
pub fn normalise(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('/');
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':');
    if text.is_empty() || text.chars().count() > DOMAIN_MAX {
        return None;
    }
    // The beginning of a domain may look like an IP address, but is not one of a host.
    if text.bytes().all(is_plain) {
        return Some(text.to_ascii_lowercase());
    }
    match url::Host::parse(text).ok()? {
        url::Host::Domain(domain) => Some(domain),
        url::Host::Ipv4(_) | url::Host::Ipv6(_) => None,
    }
}

/// A complete domain in lower-case ASCII, with its port if it has one; `None` when it is invalid.
#[must_use]
pub fn parse(text: &str) -> Option<String> {
    let domain = normalise(text).filter(|domain| domain.len() <= DOMAIN_MAX)?;
    let (name, port) = domain.split_once(':').unwrap_or((&domain, "0"));
    let is_domain = name.split('.').all(|label| (1..=LABEL_MAX).contains(&label.len()));
    (is_domain && port.parse::<u16>().is_ok()).then_some(domain)
}

/// The known servers without a domain block whose domain begins with `q`, by name; empty when `q` cannot begin a
/// domain. `None` when the setting disables it.
#[model::use_case]
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
    fn domains_are_normalised() {
        assert_eq!(normalise(" Example.ORG ").as_deref(), Some("example.org"));
        assert_eq!(normalise("日本語.jp").as_deref(), Some("xn--wgv71a119e.jp"));
        assert_eq!(normalise("20").as_deref(), Some("20"));
        for text in ["", " ", "a b", "a/b", "user@host", "%zz", "<", "\0"] {
            assert_eq!(normalise(text), None, "{text:?}");
        }
    }

    #[test]
    fn labels_and_length_of_domains_are_bounded() {
        let label = "a".repeat(LABEL_MAX);
        assert_eq!(parse("Bücher.Example:3000"), None, "a port is ASCII's");
        assert_eq!(parse("Bücher.Example").as_deref(), Some("xn--bcher-kva.example"));
        assert_eq!(parse("Example.org:3000").as_deref(), Some("example.org:3000"));
        assert_eq!(parse(&format!("{label}.test")), Some(format!("{label}.test")));
        assert_eq!(parse(&[label.as_str(); 4].join(".")).map(|domain| domain.len()), Some(255));
        let long = [label.as_str(), &label, &label, &label, "a"].join(".");
        for text in ["", ".", "a..test", ".test", "a.test.", "a:b", "a.test:", &format!("a{label}.test"), &long] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
