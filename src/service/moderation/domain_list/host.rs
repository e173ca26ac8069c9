//! The domain of an entry: an address or a wildcard is taken as its domain, and a domain that a list must not have is a
//! fault.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use psl::Type;
use url::{Host, Url};

use super::bounds::ListPolicy;
use crate::domain;
use config::Config;
use model::domain_policy::{covering, without_port};

/// Why a domain is not taken.
pub(super) type Reason = Cow<'static, str>;

/// Domains, and those above them.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: HashSet<String>,
    /// Each domain above one of `names`, with the latter.
    above: HashMap<String, String>,
}

impl FromIterator<String> for Names {
    fn from_iter<T: IntoIterator<Item = String>>(names: T) -> Self {
        let mut all = Self::default();
        for name in names {
            for above in covering(without_port(&name)).skip(1) {
                all.above.entry(above.to_owned()).or_insert_with(|| name.clone());
            }
            all.names.insert(name);
        }
        all
    }
}

impl Names {
    /// True when `domain` is one of the names, or below one.
    pub(super) fn cover(&self, domain: &str) -> bool {
        covering(domain).any(|domain| self.names.contains(domain))
    }

    /// The name that is below `domain`.
    pub(super) fn below(&self, domain: &str) -> Option<&str> {
        self.above.get(domain).map(String::as_str)
    }

    fn has(&self, domain: &str) -> bool {
        self.names.contains(domain) || self.names.contains(without_port(domain))
    }
}

/// The domains that a list may have.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) policy: ListPolicy,
    /// The domains of this server.
    pub(super) own: Names,
    /// The domains that no list may block.
    pub(super) excluded: Names,
}

impl Rules {
    /// The rules of this server; `excluded` are the domains that no list may block.
    pub(super) fn new(config: &Config, policy: ListPolicy, excluded: Vec<String>) -> Self {
        let server = &config.server;
        let own = [&server.local_domain, &server.web_domain].into_iter().chain(&server.alternate_domains);
        let own = own.map(|domain| domain.as_str().to_ascii_lowercase()).collect();
        let excluded = match policy {
            ListPolicy::Block => excluded.into_iter().collect(),
            ListPolicy::Allow => Names::default(),
        };
        Self { policy, own, excluded }
    }

    /// The domain that `text` names, in lower-case ASCII.
    ///
    /// # Errors
    /// The reason.
    pub(super) fn read(&self, text: &str) -> Result<String, Reason> {
        let domain = self.parse(text.trim())?;
        let name = without_port(&domain);
        let suffix = psl::suffix(name.as_bytes()).filter(|suffix| suffix.as_bytes() == name.as_bytes());
        // Subdomains of private suffixes belong to different people, but one service has them all.
        if suffix.is_some_and(|suffix| suffix.typ() != Some(Type::Private)) {
            return Err("is a public suffix, below which unrelated sites are".into());
        }
        self.check(&domain)?;
        Ok(domain)
    }

    /// Checks a domain against the domains of this server and the excluded ones.
    ///
    /// # Errors
    /// The reason why a list must not have it.
    pub(super) fn check(&self, domain: &str) -> Result<(), Reason> {
        if self.own.has(domain) {
            return Err("is a domain of this server".into());
        }
        if self.policy == ListPolicy::Allow {
            return Ok(());
        }
        if let Some(own) = self.own.below(domain) {
            return Err(format!("covers {own}, a domain of this server").into());
        }
        if self.excluded.cover(domain) {
            return Err("is excluded from lists".into());
        }
        match self.excluded.below(domain) {
            Some(excluded) => Err(format!("covers {excluded}, which is excluded from lists").into()),
            None => Ok(()),
        }
    }

    fn parse(&self, text: &str) -> Result<String, Reason> {
        let not_a_domain = || Reason::from("is not a domain");
        let host = match text.contains("://") {
            true => Cow::Owned(host_of(text).ok_or("is not the address of a site")?),
            false => Cow::Borrowed(text.trim_end_matches('/')),
        };
        let host = match host.strip_prefix("*.").or(host.strip_prefix('.')) {
            Some(_) if self.policy == ListPolicy::Allow => {
                return Err("is a wildcard: an allow has no subdomains".into());
            }
            Some(domain) => domain,
            None => &host,
        };
        if host.contains('*') {
            return Err("is hidden in part".into());
        }
        if is_address(host) {
            return Err("is an IP address: IP addresses are blocked separately".into());
        }
        let host = host.strip_suffix('.').unwrap_or(host);
        let domain = domain::parse(host).ok_or_else(not_a_domain)?;
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
        match Host::parse(without_port(&domain)) {
            Ok(Host::Domain(_)) if domain.bytes().all(fits) => Ok(domain),
            Ok(Host::Ipv4(_) | Host::Ipv6(_)) => Err("is an IP address: IP addresses are blocked separately".into()),
            Ok(Host::Domain(_)) | Err(_) => Err(not_a_domain()),
        }
    }
}

fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok()
}

/// The host of an address, with a port that is not the usual one.
fn host_of(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    // A wildcard is no host of an address.
    let (wildcard, rest) = rest.strip_prefix("*.").map_or(("", rest), |rest| ("*.", rest));
    let url = Url::parse(&format!("{scheme}://{rest}")).ok()?;
    let plain = matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    let host = url.host_str().filter(|_| plain)?;
    Some(match url.port() {
        Some(port) => format!("{wildcard}{host}:{port}"),
        None => format!("{wildcard}{host}"),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn rules(policy: ListPolicy) -> Rules {
        let excluded: &[&str] = if policy == ListPolicy::Block { &["friend.test", "a.ally.test"] } else { &[] };
        Rules {
            policy,
            own: ["social.home.example".to_owned()].into_iter().collect(),
            excluded: excluded.iter().map(|domain| (*domain).to_owned()).collect(),
        }
    }

    #[test]
    fn addresses_wildcards_and_unicode_are_taken_as_domains() {
        let rules = rules(ListPolicy::Block);
        for (text, domain) in [
            (" Evil.TEST ", "evil.test"),
            ("https://Evil.test/", "evil.test"),
            ("http://evil.test:80/users/x?y#z", "evil.test"),
            ("https://evil.test:8443", "evil.test:8443"),
            ("https://*.evil.test/", "evil.test"),
            ("*.evil.test", "evil.test"),
            (".evil.test", "evil.test"),
            ("evil.test.", "evil.test"),
            ("evil.test/", "evil.test"),
            ("evil.test:3000", "evil.test:3000"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("https://BÜCHER.example/", "xn--bcher-kva.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("under_score.example.org", "under_score.example.org"),
            ("someone.github.io", "someone.github.io"),
            ("github.io", "github.io"),
            ("b.ally.test", "b.ally.test"),
        ] {
            assert_eq!(rules.read(text).as_deref(), Ok(domain), "{text}");
        }
    }

    #[test]
    fn unfit_domains_are_named_with_a_reason() {
        let blocks = rules(ListPolicy::Block);
        for (text, reason) in [
            ("", "not a domain"),
            ("no domain", "not a domain"),
            ("user@evil.test", "not a domain"),
            ("a..test", "not a domain"),
            ("evil.test:99999", "not a domain"),
            ("evil\0.test", "not a domain"),
            ("0.0.0.0 evil.test", "not a domain"),
            ("https://", "address"),
            ("ftp://evil.test/", "address"),
            ("https://user:pass@evil.test/", "address"),
            ("203.0.113.7", "IP address"),
            ("127.1", "IP address"),
            ("[2001:db8::1]", "IP address"),
            ("2001:db8::1", "IP address"),
            ("https://203.0.113.7/", "IP address"),
            ("com", "public suffix"),
            (".com", "public suffix"),
            ("*.co.uk", "public suffix"),
            ("localhost", "public suffix"),
            ("ev**.test", "hidden"),
            ("social.home.example", "of this server"),
            ("https://Social.Home.example:443/", "of this server"),
            ("home.example", "covers social.home.example"),
            ("friend.test", "excluded"),
            ("sub.friend.test", "excluded"),
            ("ally.test", "covers a.ally.test"),
        ] {
            let found = blocks.read(text).expect_err(text);
            assert!(found.contains(reason), "{text}: {found}");
        }
        let allows = rules(ListPolicy::Allow);
        assert!(allows.read("*.good.test").expect_err("a wildcard").contains("wildcard"));
        assert!(allows.read("social.home.example").is_err() && allows.read("com").is_err());
        assert_eq!(allows.read("home.example").as_deref(), Ok("home.example"));
    }
}
