//! Comparing the hosts of URLs: a document is believed only about its own host.

use outbound::Target;

/// Longest URL that is kept, in bytes.
pub(crate) const URL_MAX: usize = 2_048;

/// The host of a URL, with its port unless it is the usual one; `None` when it is no `http` or `https` URL.
#[must_use]
pub fn host_of(url: &str) -> Option<String> {
    Target::parse(url).ok().map(|target| target.authority())
}

/// True for a URL that may be stored: `http` or `https`, and not too long.
pub(crate) fn is_usable(url: &str) -> bool {
    url.len() <= URL_MAX && host_of(url).is_some()
}

/// True when both URLs are on the same host.
#[must_use]
pub fn same_host(one: &str, other: &str) -> bool {
    host_of(one).is_some_and(|host| host_of(other) == Some(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_with_their_ports() {
        assert!(same_host("https://A.test/x", "https://a.test:443/y"));
        assert!(!same_host("https://a.test/x", "https://a.test:444/x"));
        assert!(!same_host("https://a.test.evil.test/x", "https://a.test/x"));
        assert_eq!(host_of("mailto:a@b.test"), None);
    }
}
