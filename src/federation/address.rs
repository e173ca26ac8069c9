//! Comparing the hosts of URLs: a document is believed only about its own host.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use context::{Cx, Result};
use model::urls::{Owner, Urls};
use outbound::Target;

/// Longest URL that is kept, in bytes.
pub(crate) const URL_MAX: usize = 2_048;

/// The host of a URL, with its port unless it is the usual one; `None` when it is no `http` or `https` URL, when it is too
/// long to be kept, or when other readers could find another host in it.
#[must_use]
pub fn host_of(url: &str) -> Option<String> {
    if url.len() > URL_MAX {
        return None;
    }
    let target = Target::parse(url).ok()?;
    is_plain(url, &target.host()).then(|| target.authority())
}

/// True for a URL that names `host` as it is: without encoded characters, numbers in the place of an address, and
/// characters that some readers remove or take for a slash. Letters may be in upper case or Unicode.
fn is_plain(url: &str, host: &str) -> bool {
    if url.bytes().any(|byte| byte <= b' ' || byte == b'\\' || byte == 0x7f) {
        return false;
    }
    let Some((_, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let written = match authority.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => name,
        _ => authority,
    };
    !written.contains('%') && (!written.is_ascii() || written.eq_ignore_ascii_case(host))
}

/// The URIs of accounts of this server that documents name otherwise: people write the address of a profile, `/@name`, and
/// software that knew an account by its name `/users/name`.
#[derive(Debug, Default)]
pub(crate) struct WrittenNames(HashMap<String, String>);

impl WrittenNames {
    /// The accounts that `ids` name; without a statement when there are none.
    pub(crate) async fn find<'a>(cx: &Cx, ids: impl Iterator<Item = &'a str>) -> Result<Self> {
        let names: BTreeSet<String> = ids.filter_map(|id| written_name(&cx.urls, id)).collect();
        if names.is_empty() {
            return Ok(Self::default());
        }
        let found = service::remote::relevance::named(cx, &Vec::from_iter(names)).await?;
        Ok(Self(found.into_iter().collect()))
    }

    /// The URI of the account of this server that `id` names; any other `id` as it is.
    pub(crate) fn actor<'a>(&self, urls: &Urls, id: &'a str) -> Cow<'a, str> {
        let found = if self.0.is_empty() { None } else { self.0.get(&written_name(urls, id).unwrap_or_default()) };
        found.map_or(id.into(), |uri| uri.clone().into())
    }
}

/// The user name in an address of an account of this server, in lower case.
fn written_name(urls: &Urls, id: &str) -> Option<String> {
    match urls.owner(id) {
        Some((Owner::Page(name) | Owner::Name(name), "")) => Some(name.to_lowercase()),
        Some(_) | None => None,
    }
}

/// True for a URL that may be stored.
pub(crate) fn is_usable(url: &str) -> bool {
    host_of(url).is_some()
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

    #[test]
    fn host_has_one_reading() {
        for (url, host) in [
            ("https://A.Test/", "a.test"),
            ("https://a.test:443", "a.test"),
            ("https://a.test?x", "a.test"),
            ("https://a.test#x", "a.test"),
            ("https://b\u{fc}cher.test/", "xn--bcher-kva.test"),
            ("http://127.0.0.1:3000/", "127.0.0.1:3000"),
            ("http://[::1]/", "[::1]"),
            ("http://[::1]:3000/", "[::1]:3000"),
        ] {
            assert_eq!(host_of(url).as_deref(), Some(host), "{url}");
        }
        for url in [
            "https://a.test@evil.test/",
            "https://a.test./",
            "https://a%2etest/",
            "https://a.test\\@evil.test/",
            "https:\\\\a.test/",
            "https:/a.test/",
            "https:a.test",
            "https://a.test\t/",
            "ht\ntps://a.test/",
            " https://a.test/",
            "https://a.test/ x",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://[0:0:0:0:0:0:0:1]/",
        ] {
            assert_eq!(host_of(url), None, "{url:?}");
        }
    }
}
