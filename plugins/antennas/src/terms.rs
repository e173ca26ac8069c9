//! The conditions and exclusions of an antenna besides accounts: words, domains and hashtags.
//!
//! Plain lists with their limits, stored as one JSON text in the antenna's row. Independent of the host: texts arrive
//! normalised.

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// The longest entry, in bytes.
pub const ENTRY_MAX: usize = 256;
/// The longest stored text of the lists of one antenna, in bytes: the size of a read of many antennas, and the memory
/// of their index, follow from it.
pub const KEPT_MAX: usize = 16 << 10;

/// Six lists, in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Terms {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude_keywords: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude_domains: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude_tags: Vec<String>,
}

/// One of the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Keywords,
    Domains,
    Tags,
    ExcludeKeywords,
    ExcludeDomains,
    ExcludeTags,
}

impl Kind {
    /// How many entries fit.
    #[must_use]
    pub const fn most(self) -> usize {
        match self {
            Self::Keywords | Self::ExcludeKeywords | Self::ExcludeDomains => 100,
            Self::Domains => 20,
            Self::Tags | Self::ExcludeTags => 50,
        }
    }

    /// The shortest entry, in characters.
    #[must_use]
    pub const fn shortest(self) -> usize {
        match self {
            Self::Keywords => 2,
            Self::Domains | Self::Tags | Self::ExcludeKeywords | Self::ExcludeDomains | Self::ExcludeTags => 1,
        }
    }

    /// The parameter with the entries, and the kind of normalisation by the host.
    #[must_use]
    pub const fn parameter(self) -> &'static str {
        match self {
            Self::Keywords | Self::ExcludeKeywords => "keywords",
            Self::Domains | Self::ExcludeDomains => "domains",
            Self::Tags | Self::ExcludeTags => "tags",
        }
    }
}

impl Terms {
    /// The entries of one list.
    #[must_use]
    pub fn of(&self, kind: Kind) -> &[String] {
        match kind {
            Kind::Keywords => &self.keywords,
            Kind::Domains => &self.domains,
            Kind::Tags => &self.tags,
            Kind::ExcludeKeywords => &self.exclude_keywords,
            Kind::ExcludeDomains => &self.exclude_domains,
            Kind::ExcludeTags => &self.exclude_tags,
        }
    }

    fn list(&mut self, kind: Kind) -> &mut Vec<String> {
        match kind {
            Kind::Keywords => &mut self.keywords,
            Kind::Domains => &mut self.domains,
            Kind::Tags => &mut self.tags,
            Kind::ExcludeKeywords => &mut self.exclude_keywords,
            Kind::ExcludeDomains => &mut self.exclude_domains,
            Kind::ExcludeTags => &mut self.exclude_tags,
        }
    }

    /// Appends entries.
    ///
    /// # Errors
    /// The first fault; `self` is then incomplete.
    pub fn add(&mut self, kind: Kind, entries: Vec<String>) -> Result<(), Fault> {
        let list = self.list(kind);
        for entry in entries {
            let length = entry.chars().count();
            if length < kind.shortest() {
                return Err(Fault::Short(kind));
            }
            if entry.len() > ENTRY_MAX {
                return Err(Fault::Long(kind));
            }
            if list.contains(&entry) {
                return Err(Fault::Twice(kind, entry));
            }
            list.push(entry);
        }
        if list.len() > kind.most() {
            return Err(Fault::Many(kind));
        }
        if self.kept().len() > KEPT_MAX {
            return Err(Fault::Full);
        }
        Ok(())
    }

    /// Empties a list.
    pub fn clear(&mut self, kind: Kind) {
        self.list(kind).clear();
    }

    /// Has these entries instead, each once.
    ///
    /// # Errors
    /// The first fault; `self` is then incomplete.
    pub fn set(&mut self, kind: Kind, entries: Vec<String>) -> Result<(), Fault> {
        self.clear(kind);
        let mut once: Vec<String> = Vec::with_capacity(entries.len());
        for entry in entries {
            if !once.contains(&entry) {
                once.push(entry);
            }
        }
        self.add(kind, once)
    }

    /// As it is kept.
    #[must_use]
    pub fn kept(&self) -> String {
        serde_json::to_string(self).expect("lists of texts are JSON")
    }

    /// The entries of all lists but the keywords that are listened for.
    pub fn others(&self) -> impl Iterator<Item = &String> {
        let lists = [&self.domains, &self.tags, &self.exclude_keywords, &self.exclude_domains, &self.exclude_tags];
        lists.into_iter().flatten()
    }

    /// Removes entries; missing ones are not an error.
    pub fn remove(&mut self, kind: Kind, entries: &[String]) {
        self.list(kind).retain(|known| !entries.contains(known));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("entry {number}")).collect()
    }

    #[test]
    fn each_list_has_its_own_limit() {
        let limits = [
            (Kind::Keywords, 100),
            (Kind::Domains, 20),
            (Kind::Tags, 50),
            (Kind::ExcludeKeywords, 100),
            (Kind::ExcludeDomains, 100),
            (Kind::ExcludeTags, 50),
        ];
        for (kind, most) in limits {
            assert_eq!(Terms::default().add(kind, texts(most)), Ok(()), "{kind:?}");
            assert!(Terms::default().add(kind, texts(most + 1)).is_err(), "{kind:?}");
        }
    }

    #[test]
    fn limit_counts_existing_entries() {
        let mut terms = Terms::default();
        terms.add(Kind::Domains, texts(20)).unwrap();
        assert_eq!(terms.add(Kind::Domains, vec!["more".into()]), Err(Fault::Many(Kind::Domains)));
    }

    #[test]
    fn entry_is_listed_once() {
        let mut terms = Terms::default();
        assert!(terms.clone().add(Kind::Tags, vec!["rook".into(), "rook".into()]).is_err());
        terms.add(Kind::Tags, vec!["rook".into()]).unwrap();
        assert_eq!(terms.clone().add(Kind::Tags, vec!["rook".into()]), Err(Fault::Twice(Kind::Tags, "rook".into())));
        assert_eq!(terms.add(Kind::ExcludeTags, vec!["rook".into()]), Ok(()), "the other side is another list");
    }

    #[test]
    fn only_included_keywords_need_two_characters() {
        assert!(Terms::default().add(Kind::Keywords, vec!["猫".into()]).is_err());
        assert!(Terms::default().add(Kind::Keywords, vec!["小猫".into()]).is_ok());
        assert!(Terms::default().add(Kind::ExcludeKeywords, vec!["猫".into()]).is_ok());
        assert!(Terms::default().add(Kind::ExcludeKeywords, vec![String::new()]).is_err());
    }

    #[test]
    fn an_entry_has_256_bytes_at_most() {
        assert_eq!(Terms::default().add(Kind::Keywords, vec!["猫".repeat(85)]), Ok(()));
        let wrong = Terms::default().add(Kind::Keywords, vec!["猫".repeat(86)]);
        assert_eq!(wrong, Err(Fault::Long(Kind::Keywords)));
    }

    #[test]
    fn all_lists_together_are_bounded_as_they_are_kept() {
        let words = |from: usize, count: usize| (from..from + count).map(|n| format!("{n:\"<250}")).collect::<Vec<_>>();
        let mut terms = Terms::default();
        assert_eq!(terms.add(Kind::Keywords, words(100, 30)), Ok(()), "a quotation mark takes two bytes");
        let full = terms.clone().add(Kind::ExcludeKeywords, words(200, 30));
        assert_eq!(full, Err(Fault::Full));
        assert!(terms.kept().len() <= KEPT_MAX);
    }

    #[test]
    fn list_is_replaced_by_other_entries_each_once() {
        let mut terms = Terms::default();
        terms.add(Kind::Tags, vec!["rook".into(), "crow".into()]).unwrap();
        assert_eq!(terms.set(Kind::Tags, vec!["jay".into(), "rook".into(), "jay".into()]), Ok(()));
        assert_eq!(terms.of(Kind::Tags), ["jay", "rook"]);
        assert_eq!(terms.set(Kind::Tags, Vec::new()), Ok(()));
        assert_eq!(terms, Terms::default());
        assert_eq!(terms.set(Kind::Domains, texts(21)), Err(Fault::Many(Kind::Domains)));
    }

    #[test]
    fn removing_leaves_the_rest_in_order() {
        let mut terms = Terms::default();
        terms.add(Kind::Keywords, vec!["one".into(), "two".into(), "three".into()]).unwrap();
        terms.remove(Kind::Keywords, &["two".into(), "never".into()]);
        assert_eq!(terms.keywords, ["one", "three"]);
    }

    #[test]
    fn empty_lists_take_no_room() {
        let mut terms = Terms::default();
        terms.add(Kind::Tags, vec!["rook".into()]).unwrap();
        let json = serde_json::to_string(&terms).unwrap();
        assert_eq!(json, r#"{"tags":["rook"]}"#);
        assert_eq!(serde_json::from_str::<Terms>(&json).unwrap(), terms);
    }
}
