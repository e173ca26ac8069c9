//! OAuth scopes and their hierarchy (docs/contract/rules.md#2-authentication).
//!
//! The server's own scopes are a fixed table. Extensions declare further scopes in separate families
//! ([`is_extension`]); the caller of [`Scopes::parse_with`] supplies the currently declared ones.

use std::borrow::Cow;
use std::fmt;

/// The server's own scopes, in the order of its OAuth metadata.
pub const ALL: &[&str] = &[
    "profile",
    "read",
    "read:accounts",
    "read:blocks",
    "read:bookmarks",
    "read:collections",
    "read:favourites",
    "read:filters",
    "read:follows",
    "read:lists",
    "read:mutes",
    "read:notifications",
    "read:search",
    "read:statuses",
    "write",
    "write:accounts",
    "write:blocks",
    "write:bookmarks",
    "write:collections",
    "write:conversations",
    "write:favourites",
    "write:filters",
    "write:follows",
    "write:lists",
    "write:media",
    "write:mutes",
    "write:notifications",
    "write:reports",
    "write:statuses",
    "follow",
    "push",
    "admin:read",
    "admin:read:accounts",
    "admin:read:media_attachments",
    "admin:read:reports",
    "admin:read:domain_allows",
    "admin:read:domain_blocks",
    "admin:read:ip_blocks",
    "admin:read:email_domain_blocks",
    "admin:read:canonical_email_blocks",
    "admin:write",
    "admin:write:accounts",
    "admin:write:media_attachments",
    "admin:write:reports",
    "admin:write:domain_allows",
    "admin:write:domain_blocks",
    "admin:write:ip_blocks",
    "admin:write:email_domain_blocks",
    "admin:write:canonical_email_blocks",
];

/// Longest name of a scope that an extension declares, in bytes.
const EXTENSION_MAX: usize = 64;

/// True for a name that an extension may declare: words of lower-case letters, digits and `_`, separated by `:`, at
/// most 64 bytes. The first word is not one of the server's own, so that no scope already granted by a user covers it
/// implicitly.
#[must_use]
pub fn is_extension(name: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_lowercase())
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let family = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
    name.len() <= EXTENSION_MAX
        && name.split(':').all(is_word)
        && !ALL.iter().any(|known| family(known) == family(name))
}

/// A set of scopes, in the order given, without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(Vec<Cow<'static, str>>);

impl Scopes {
    /// Parses a list of the server's own scopes, separated by spaces (or by `+`, `,` or newlines, as some clients send).
    ///
    /// # Errors
    /// The first word that is not a scope.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_with(text, |_| false)
    }

    /// As [`Scopes::parse`], also accepting scopes of extensions for which `is_declared` is true.
    ///
    /// # Errors
    /// The first word that is not a scope.
    pub fn parse_with(text: &str, is_declared: impl Fn(&str) -> bool) -> Result<Self, String> {
        let mut scopes = Self::default();
        for word in text.split([' ', '+', ',', '\n']).filter(|word| !word.is_empty()) {
            let known = own(word).map(Cow::Borrowed);
            let declared = || is_declared(word).then(|| Cow::Owned(word.to_owned()));
            scopes.add(known.or_else(declared).ok_or_else(|| word.to_owned())?);
        }
        Ok(scopes)
    }

    /// Parses the list stored in the database, keeping its order. A scope of a disabled extension is kept, since the
    /// extension may be enabled again; until then nothing requires it. A scope of the server that a later version
    /// removed is dropped.
    #[must_use]
    pub fn from_stored(text: &str) -> Self {
        let mut scopes = Self::default();
        for word in text.split(' ') {
            let kept = || is_extension(word).then(|| Cow::Owned(word.to_owned()));
            if let Some(scope) = own(word).map(Cow::Borrowed).or_else(kept) {
                scopes.add(scope);
            }
        }
        scopes
    }

    fn add(&mut self, scope: Cow<'static, str>) {
        if !self.0.contains(&scope) {
            self.0.push(scope);
        }
    }

    /// True when one of `wanted` is in the set, directly or through a parent scope. Also true when `wanted` is empty.
    #[must_use]
    pub fn allows(&self, wanted: &[&str]) -> bool {
        wanted.is_empty() || wanted.iter().any(|scope| self.covers(scope))
    }

    /// True when every scope of `other` is in the set; compares a request's scopes with the application's scopes.
    #[must_use]
    pub fn contains_all(&self, other: &Self) -> bool {
        other.0.iter().all(|scope| self.covers(scope))
    }

    /// True when both contain the same scopes, in any order.
    #[must_use]
    pub fn is_same_set(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|scope| other.0.contains(scope))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> + '_ {
        self.0.iter().map(AsRef::as_ref)
    }

    fn covers(&self, wanted: &str) -> bool {
        let is_below = |held: &str| wanted.strip_prefix(held).is_some_and(|rest| rest.starts_with(':'));
        self.iter().any(|held| wanted == held || is_below(held))
    }
}

/// The server's own scope with this name.
fn own(word: &str) -> Option<&'static str> {
    ALL.iter().find(|scope| **scope == word).copied()
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_covers_only_its_children() {
        let read = Scopes::parse("read").expect("known");
        assert!(read.allows(&["read:accounts"]));
        assert!(!read.allows(&["write:accounts"]));
        assert!(!read.allows(&["admin:read"]));
        assert!(!read.allows(&["profile"]));
        let admin = Scopes::parse("admin:read").expect("known");
        assert!(admin.allows(&["admin:read:accounts"]));
        assert!(!admin.allows(&["read"]));
    }

    #[test]
    fn unknown_words_are_named() {
        assert_eq!(Scopes::parse("read nonsense"), Err("nonsense".to_owned()));
    }

    #[test]
    fn extensions_declare_scopes_of_families_of_their_own() {
        for name in ["crypto", "crypto:read", "my_notes:write:all", "readers"] {
            assert!(is_extension(name), "{name}");
        }
        let long = "a".repeat(65);
        for name in
            ["", "read", "read:crypto", "admin:crypto", "push:x", "Crypto", "a b", "a:", ":a", "1a", "a+b", &long]
        {
            assert!(!is_extension(name), "{name}");
        }
    }

    #[test]
    fn declared_scopes_are_known_where_they_are_declared_and_kept_where_they_are_stored() {
        assert_eq!(Scopes::parse("read crypto"), Err("crypto".to_owned()));
        let scopes = Scopes::parse_with("read crypto crypto", |word| word == "crypto").expect("declared");
        assert_eq!(scopes.to_string(), "read crypto");
        assert!(scopes.allows(&["crypto"]) && scopes.allows(&["crypto:claim"]) && !scopes.allows(&["cryptography"]));
        assert!(!Scopes::parse("read write").expect("known").allows(&["crypto"]));
        assert_eq!(Scopes::from_stored("read crypto read:gone 1").to_string(), "read crypto");
    }
}
