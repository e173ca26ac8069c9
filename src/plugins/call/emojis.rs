//! Resolves the names of emojis, and normalises stored names (contract: interface `core`).

use std::collections::{BTreeSet, HashMap};

use rookery_plugin_host::imports::core::Emoji;
use rookery_plugin_host::imports::types::Failure;

use super::Call;
use crate::failure::{OrFailure as _, at_most, failure};
use entity::emoji::CustomEmoji;
use service::status::compose;

/// Most names of one call.
const ITEMS: usize = 1_000;
/// Longest name, in bytes: a domain and a shortcode.
const LENGTH: usize = 512;

/// A parsed name.
enum Named<'a> {
    Unicode(&'static str),
    Local(&'a str),
    Remote(&'a str, String),
}

impl Call {
    pub(super) async fn read_emojis(&self, names: Vec<String>) -> Result<Vec<Option<Emoji>>, Failure> {
        self.need_core("read")?;
        at_most(names.len(), ITEMS, "names")?;
        let named: Vec<Option<Named<'_>>> = names.iter().map(|name| self.named(name)).collect();
        let remote = self.remote_emojis(&named).await?;
        let local = self.cx.emojis();
        let find = |named: &Option<Named<'_>>| match named.as_ref()? {
            Named::Unicode(emoji) => Some(unicode(emoji)),
            Named::Local(shortcode) => local.by_shortcode.get(*shortcode).map(|emoji| self.custom(emoji)),
            Named::Remote(shortcode, domain) => {
                remote.get(&((*shortcode).to_owned(), domain.clone())).map(|emoji| self.custom(emoji))
            }
        };
        Ok(named.iter().map(find).collect())
    }

    fn named<'a>(&self, name: &'a str) -> Option<Named<'a>> {
        if name.len() > LENGTH {
            return None;
        }
        let name = name.strip_prefix(':').and_then(|name| name.strip_suffix(':')).unwrap_or(name);
        if let Some(emoji) = emojis::get(name) {
            return Some(Named::Unicode(emoji.as_str()));
        }
        let Some((shortcode, domain)) = name.split_once('@') else { return Some(Named::Local(name)) };
        let domain = domain_form(domain)?;
        let own = compose::local_domains(&self.cx).contains(&domain.as_str());
        Some(if own { Named::Local(shortcode) } else { Named::Remote(shortcode, domain) })
    }

    /// Custom emojis of other servers, in one query at most.
    async fn remote_emojis(
        &self,
        named: &[Option<Named<'_>>],
    ) -> Result<HashMap<(String, String), model::Emoji>, Failure> {
        let (mut shortcodes, mut domains) = (BTreeSet::new(), BTreeSet::new());
        for named in named.iter().flatten() {
            if let Named::Remote(shortcode, domain) = named {
                shortcodes.insert((*shortcode).to_owned());
                domains.insert(domain.clone());
            }
        }
        if shortcodes.is_empty() {
            return Ok(HashMap::new());
        }
        let (shortcodes, domains): (Vec<_>, Vec<_>) = (shortcodes.into_iter().collect(), domains.into_iter().collect());
        let rows = store::emoji::list_remote(&self.cx.db, &shortcodes, &domains).await.or_failure()?;
        let key = |emoji: &model::Emoji| (emoji.shortcode.clone(), emoji.domain.clone().unwrap_or_default());
        Ok(rows.into_iter().map(|emoji| (key(&emoji), emoji)).collect())
    }

    fn custom(&self, emoji: &model::Emoji) -> Emoji {
        let shown = CustomEmoji::short(emoji, &self.cx.urls);
        let pixels = |side: Option<i64>| side.and_then(|side| u32::try_from(side).ok());
        Emoji {
            name: shown.shortcode,
            domain: emoji.domain.clone(),
            custom: Some(emoji.id.into()),
            url: Some(shown.url),
            static_url: Some(shown.static_url),
            width: pixels(emoji.width),
            height: pixels(emoji.height),
        }
    }

    pub(super) fn normal_forms(&self, kind: &str, texts: &[String]) -> Result<Vec<Option<String>>, Failure> {
        self.need_core("read")?;
        at_most(texts.len(), ITEMS, "texts")?;
        let form: &dyn Fn(&str) -> Option<String> = match kind {
            "hashtag" => &|text| text::hashtag::normalise(text::hashtag::bare(text.trim())),
            "domain" => &domain_form,
            "acct" => &|text| self.normal_acct(text),
            _ => {
                return Err(failure(404, "core.unknown-kind", "Hashtags, domains and accts have a form, nothing else"));
            }
        };
        let mut room = self.room();
        let one = |text: &String| {
            let normal = form(text);
            room.take(&normal).map(|()| normal)
        };
        texts.iter().map(one).collect()
    }

    /// `name` or `name@domain` in lower case, without this server's own domain.
    pub(super) fn normal_acct(&self, acct: &str) -> Option<String> {
        let acct = acct.trim();
        let acct = acct.strip_prefix('@').unwrap_or(acct);
        let (name, domain) = match acct.split_once('@') {
            None => (acct, None),
            Some((name, domain)) => (name, Some(domain_form(domain)?)),
        };
        let inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        if name.is_empty() || name.len() > LENGTH || !name.bytes().all(inside) {
            return None;
        }
        let name = name.to_ascii_lowercase();
        match domain.filter(|domain| !compose::local_domains(&self.cx).contains(&domain.as_str())) {
            None => Some(name),
            Some(domain) => Some(format!("{name}@{domain}")),
        }
    }
}

/// A Unicode emoji, which has no image.
fn unicode(emoji: &str) -> Emoji {
    Emoji { name: emoji.to_owned(), domain: None, custom: None, url: None, static_url: None, width: None, height: None }
}

/// A domain in lower-case ASCII (IDNA); a port is kept.
fn domain_form(domain: &str) -> Option<String> {
    let domain = domain.trim();
    let (host, port) = match domain.rsplit_once(':') {
        None => (domain, None),
        Some((host, port)) => (host, Some(port.parse::<u16>().ok().filter(|port| *port > 0)?)),
    };
    let host = idna::domain_to_ascii(host.strip_suffix('.').unwrap_or(host)).ok()?;
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let fits = host.len() <= 253 && host.split('.').all(label);
    fits.then(|| port.map_or(host.clone(), |port| format!("{host}:{port}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_have_one_form() {
        let form = |text: &str| domain_form(text);
        assert_eq!(form(" Example.ORG. ").as_deref(), Some("example.org"));
        assert_eq!(form("日本語.jp").as_deref(), Some("xn--wgv71a119e.jp"));
        assert_eq!(form("example.org:8443").as_deref(), Some("example.org:8443"));
        for text in ["", ".", "a..b", "-a.org", "a b", "a/b", "user@host", "host:0", "host:x", "%zz", "_a.org"] {
            assert_eq!(form(text), None, "{text}");
        }
    }
}
