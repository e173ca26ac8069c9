//! Scanner for mentions, hashtags and links in text.
//!
//! One pass from left to right. Entities never overlap, so a `@name` or `#fragment` inside a link is part of the link.

mod mention;
mod url;

use std::ops::Range;

use super::hashtag;

/// A mention, hashtag or link found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// The bytes of the text it covers, including the `@`, `#` or scheme.
    pub range: Range<usize>,
    /// The kind of entity, with the data needed to resolve it.
    pub kind: EntityKind,
}

/// The kind of an [`Entity`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntityKind {
    /// A mention of an account, which need not exist.
    Mention(Mention),
    /// A valid hashtag with its normalised name.
    Hashtag(Hashtag),
    /// A link; the URL is the text in the entity's range.
    Url,
}

/// `@username` or `@username@domain`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mention {
    /// As written; compare ASCII case-insensitively.
    pub username: String,
    /// Lower case, international names in Punycode (`xn--…`); `None` when only `@username` was written.
    pub domain: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hashtag {
    /// As written, without the `#`.
    pub display: String,
    /// The name it is stored under, see [`hashtag::normalise`].
    pub name: String,
}

/// The entities found in a text, in order of appearance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan(Vec<Entity>);

impl Scan {
    /// Creates a scan from entities in order.
    pub(super) fn of(entities: Vec<Entity>) -> Self {
        Self(entities)
    }

    #[must_use]
    pub fn entities(&self) -> &[Entity] {
        &self.0
    }

    /// The mentions, duplicates included.
    pub fn mentions(&self) -> impl Iterator<Item = &Mention> {
        self.0.iter().filter_map(|entity| match &entity.kind {
            EntityKind::Mention(mention) => Some(mention),
            EntityKind::Hashtag(_) | EntityKind::Url => None,
        })
    }

    /// The hashtags, duplicates included.
    pub fn hashtags(&self) -> impl Iterator<Item = &Hashtag> {
        self.0.iter().filter_map(|entity| match &entity.kind {
            EntityKind::Hashtag(tag) => Some(tag),
            EntityKind::Mention(_) | EntityKind::Url => None,
        })
    }

    /// The byte ranges of the links.
    pub fn urls(&self) -> impl Iterator<Item = Range<usize>> {
        self.0.iter().filter(|entity| entity.kind == EntityKind::Url).map(|entity| entity.range.clone())
    }
}

impl IntoIterator for Scan {
    type Item = Entity;
    type IntoIter = std::vec::IntoIter<Entity>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Finds the mentions, hashtags and links of `text`.
///
/// - A mention does not follow a word character, `/` or `=`.
/// - A hashtag (`#` or `＃`) does not follow a word character, `/`, `)` or `=`.
/// - A link starts with `http://`, `https://` or one of the rarer schemes in use (`gemini://`, `magnet:`, …),
///   and excludes trailing punctuation and unmatched brackets.
#[must_use]
pub fn scan(text: &str) -> Scan {
    let mut found = Vec::new();
    let mut before = None;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if let Some((len, kind)) = entity_at(&text[at..], c, before) {
            if kind != EntityKind::Url || len <= url::MAX_LENGTH {
                found.push(Entity { range: at..at + len, kind });
            }
            before = text[at..at + len].chars().next_back();
            at += len;
        } else {
            before = Some(c);
            at += c.len_utf8();
        }
    }
    Scan(found)
}

/// The entity at the start of `rest`, whose first character is `first`, with its length in bytes.
fn entity_at(rest: &str, first: char, before: Option<char>) -> Option<(usize, EntityKind)> {
    match first {
        '@' => mention::prefix(rest, before).map(|(len, mention)| (len, EntityKind::Mention(mention))),
        '#' | '＃' => tag(&rest[first.len_utf8()..], before)
            .map(|tag| (first.len_utf8() + tag.display.len(), EntityKind::Hashtag(tag))),
        'A'..='Z' | 'a'..='z' => url::prefix(rest, before).map(|len| (len, EntityKind::Url)),
        _ => None,
    }
}

fn tag(after_sign: &str, before: Option<char>) -> Option<Hashtag> {
    if !hashtag::may_follow(before) {
        return None;
    }
    let display = hashtag::prefix(after_sign)?;
    Some(Hashtag { name: hashtag::normalise(display)?, display: display.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(text: &str) -> Vec<String> {
        scan(text).hashtags().map(|tag| tag.display.clone()).collect()
    }

    #[test]
    fn entities_come_in_order_and_do_not_overlap() {
        let text = "@a see https://x.org/@b#c about #Caf\u{e9}, @d@e.org";
        let found: Vec<_> = scan(text).into_iter().map(|entity| text[entity.range].to_owned()).collect();
        assert_eq!(found, ["@a", "https://x.org/@b#c", "#Café", "@d@e.org"]);
    }

    #[test]
    fn hashtag_keeps_its_spelling_beside_its_name() {
        let found: Vec<_> = scan("＃Été!").into_iter().collect();
        let tag = Hashtag { display: "Été".into(), name: "ete".into() };
        assert_eq!(found, [Entity { range: 0..8, kind: EntityKind::Hashtag(tag) }]);
    }

    #[test]
    fn hashtags_start_after_a_gap() {
        assert_eq!(tags("#a(#b)「#c」##d\n#e,#f"), ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(tags("x#a /#b )#c =#d 語#e x.org/#f 1#g _#h"), [""; 0]);
    }

    #[test]
    fn hashtags_end_at_the_last_word_character() {
        assert_eq!(tags("#rust-lang #a·b· #a... #日本語、です #1 #100% #c++"), ["rust", "a·b", "a", "日本語", "c"]);
    }

    #[test]
    fn escaped_apostrophe_is_not_a_hashtag() {
        assert_eq!(tags("it&#39;s"), [""; 0]);
    }
}
