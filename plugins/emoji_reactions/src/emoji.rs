//! What a client names when it means an emoji.

/// A name as written: a Unicode emoji or a shortcode, and what stands behind an `@`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) name: String,
    /// Empty when no server is named.
    pub(crate) domain: String,
}

impl Name {
    /// Reads `👍`, `rook`, `:rook:`, `rook@far.test` and `:rook@far.test:`. `None` when nothing is named.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bare = text.trim().replace(':', "");
        let (name, domain) = bare.split_once('@').unwrap_or((&bare, ""));
        (!name.is_empty()).then(|| Self { name: name.to_owned(), domain: domain.to_ascii_lowercase() })
    }

    /// As the host is asked for it.
    pub(crate) fn key(&self) -> String {
        if self.domain.is_empty() { self.name.clone() } else { format!("{}@{}", self.name, self.domain) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<(String, String)> {
        Name::parse(text).map(|name| (name.name, name.domain))
    }

    fn pair(name: &str, domain: &str) -> Option<(String, String)> {
        Some((name.to_owned(), domain.to_owned()))
    }

    #[test]
    fn colons_do_not_matter() {
        for text in ["rook", ":rook:", " :rook: "] {
            assert_eq!(parse(text), pair("rook", ""), "{text}");
        }
        assert_eq!(parse("👍"), pair("👍", ""));
        assert_eq!(parse(":rook@Far.test:"), pair("rook", "far.test"));
        assert_eq!(Name::parse(":rook@Far.test:").unwrap().key(), "rook@far.test");
    }

    #[test]
    fn nothing_is_named() {
        assert_eq!([parse(""), parse("::"), parse("@far.test"), parse("  ")], [None, None, None, None]);
    }
}
