//! OAuth scopes and their hierarchy (contract rules, section 2).

use std::fmt;

/// All scopes, in the order of the server's OAuth metadata.
pub const ALL: &[&str] = &[
    "profile",
    "read",
    "read:accounts",
    "read:blocks",
    "read:bookmarks",
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

/// A set of scopes, in the order given, without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(Vec<&'static str>);

impl Scopes {
    /// Parses a list separated by spaces (or by `+`, `,` or newlines, as some clients send).
    ///
    /// # Errors
    /// The first word that is not a scope.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut scopes = Self::default();
        for word in text.split([' ', '+', ',', '\n']).filter(|word| !word.is_empty()) {
            let known = ALL.iter().find(|scope| **scope == word).ok_or_else(|| word.to_owned())?;
            if !scopes.0.contains(known) {
                scopes.0.push(known);
            }
        }
        Ok(scopes)
    }

    /// Parses the list stored in the database, keeping its order; a scope that a later version removed is dropped.
    #[must_use]
    pub fn from_stored(text: &str) -> Self {
        let mut scopes = Self::default();
        for known in text.split(' ').filter_map(|word| ALL.iter().find(|scope| **scope == word)) {
            if !scopes.0.contains(known) {
                scopes.0.push(known);
            }
        }
        scopes
    }

    /// True when one of `wanted` is held, directly or through a parent scope. Also true when `wanted` is empty.
    #[must_use]
    pub fn allows(&self, wanted: &[&str]) -> bool {
        wanted.is_empty() || wanted.iter().any(|scope| self.covers(scope))
    }

    /// True when every scope of `other` is held; checks a request's scopes against those of the application.
    #[must_use]
    pub fn contains_all(&self, other: &Self) -> bool {
        other.0.iter().all(|scope| self.covers(scope))
    }

    /// True when both hold the same scopes, in any order.
    #[must_use]
    pub fn is_same_set(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|scope| other.0.contains(scope))
    }

    /// True when the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The scopes, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().copied()
    }

    fn covers(&self, wanted: &str) -> bool {
        self.0.iter().any(|held| wanted == *held || wanted.strip_prefix(held).is_some_and(|rest| rest.starts_with(':')))
    }
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
    fn a_scope_covers_its_children_and_nothing_else() {
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
}
