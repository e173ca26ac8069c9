//! The name of an emoji in a request, and the emoji of a reaction.

use rookery_plugin::prelude::*;

/// A Unicode emoji or a shortcode, and its server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    pub(crate) name: String,
    /// Empty for an emoji of this server, and for a Unicode one.
    pub(crate) domain: String,
}

impl Name {
    /// Reads `👍`, `rook`, `:rook:`, `rook@far.test` and `:rook@far.test:`; this server's own domain is as good as none.
    /// `None` when nothing is named.
    ///
    /// # Errors
    /// The host's.
    pub(crate) fn read(text: &str) -> Result<Option<Self>> {
        let bare = text.trim().replace(':', "");
        let (name, domain) = bare.split_once('@').unwrap_or((&bare, ""));
        if name.is_empty() {
            return Ok(None);
        }
        Ok(form(domain)?.map(|domain| Self { name: name.to_owned(), domain }))
    }

    /// As the host is asked for it: `rook`, `rook@far.test`.
    pub(crate) fn key(&self) -> String {
        if self.domain.is_empty() { self.name.clone() } else { format!("{}@{}", self.name, self.domain) }
    }
}

/// A domain as the server compares it, empty for its own; `None` for invalid text. It is normalised as part of an
/// account's name, because this drops all names of the server itself.
fn form(domain: &str) -> Result<Option<String>> {
    if domain.is_empty() {
        return Ok(Some(String::new()));
    }
    let acct = core::normalise("acct", &[format!("x@{domain}")])?.pop().flatten();
    Ok(acct.map(|acct| acct.split_once('@').map_or_else(String::new, |(_, domain)| domain.to_owned())))
}

/// What someone reacted with, as far as it tells one emoji from another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Emoji {
    pub(crate) name: Name,
    pub(crate) custom: bool,
}

impl Emoji {
    /// From the columns of a row.
    pub(crate) fn new(name: String, domain: String, custom: bool) -> Self {
        Self { name: Name { name, domain }, custom }
    }
}

#[cfg(test)]
mod tests {
    use rookery_plugin::test::Fake;

    use super::*;

    fn read(text: &str) -> Option<(String, String)> {
        let _fake = Fake::bare();
        Name::read(text).unwrap().map(|name| (name.name, name.domain))
    }

    fn pair(name: &str, domain: &str) -> Option<(String, String)> {
        Some((name.to_owned(), domain.to_owned()))
    }

    #[test]
    fn colons_do_not_matter() {
        for text in ["rook", ":rook:", " :rook: "] {
            assert_eq!(read(text), pair("rook", ""), "{text}");
        }
        assert_eq!(read("👍"), pair("👍", ""));
        assert_eq!(read(":rook@Far.test:"), pair("rook", "far.test"));
        assert_eq!(Name { name: "rook".into(), domain: "far.test".into() }.key(), "rook@far.test");
    }

    #[test]
    fn this_servers_own_domain_is_none() {
        assert_eq!(read("rook@Rookery.example"), pair("rook", ""));
        assert_eq!(read("rook@"), pair("rook", ""));
    }

    #[test]
    fn nothing_is_named() {
        assert_eq!([read(""), read("::"), read("@far.test"), read("  ")], [None, None, None, None]);
        assert_eq!(read("rook@no domain"), None);
    }
}
