//! Full-text search: the terms of a text, which an index stores, and the search for words and phrases in it.
//!
//! A text is folded (NFKC, case, accents) and split into words where a script has spaces, and into characters and
//! pairs of characters where it has none (Japanese, Chinese, Thai) or where words take suffixes (Korean), so that a
//! word of two characters is found everywhere. An index needs only the terms: it returns candidates, in which
//! [`Text::contains`] then checks the searched words, in order. [`parse`] reads the syntax of queries.
//!
//! Spec: docs/contract/rules.md#16-search.

mod query;

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::keywords;
pub use query::{Clause, Kind, MAX_CLAUSES, TooLong, parse};

/// Most distinct terms of a text; the index does not find further ones.
const MAX_TERMS: usize = 2_000;
/// Separator of the parts of a text: phrases do not match across it.
const PART: char = '\n';

/// A text of one or more parts, prepared for search: folded, words between single spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(String);

/// Words in order, prepared for search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase(String);

impl Text {
    /// Prepares the parts of a text.
    pub fn new<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut text = String::new();
        for part in parts {
            prepare(part, &mut text);
            text.push(PART);
        }
        Self(text)
    }

    /// True when `phrase` is in one of the parts.
    #[must_use]
    pub fn contains(&self, phrase: &Phrase) -> bool {
        self.0.contains(&phrase.0)
    }

    /// The distinct terms of the text.
    #[must_use]
    pub fn terms(&self) -> BTreeSet<i64> {
        let mut found = BTreeSet::new();
        for word in words(&self.0) {
            if found.len() >= MAX_TERMS {
                break;
            }
            if is_spaced(word) {
                found.insert(term(word));
            } else {
                found.extend(grams(word, 1).chain(grams(word, 2)).map(term));
            }
        }
        found
    }
}

impl Phrase {
    /// Prepares words; `None` when `text` has none.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let mut phrase = String::new();
        prepare(text, &mut phrase);
        (!phrase.trim().is_empty()).then_some(Self(phrase))
    }

    /// The terms of any text that contains this phrase.
    #[must_use]
    pub fn terms(&self) -> BTreeSet<i64> {
        let mut found = BTreeSet::new();
        for word in words(&self.0) {
            let single = is_spaced(word) || word.chars().nth(1).is_none();
            if single {
                found.insert(term(word));
            } else {
                found.extend(grams(word, 2).map(term));
            }
        }
        found
    }
}

/// The number of `word` in an index: 32 bits of FNV-1a. Words may collide, so results of the index are checked again.
#[must_use]
pub fn term(word: &str) -> i64 {
    let hash = word
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    i64::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).unwrap_or_default()
}

/// Appends `text` folded: a word of a script with spaces has a space on both sides, other characters are adjacent,
/// with a space where the text had a separator between them.
fn prepare(text: &str, out: &mut String) {
    let start = out.len();
    let mut before = Class::Other;
    for c in fold(text).chars() {
        let class = Class::of(c, before);
        let gap = match (before, class) {
            (_, Class::Other) => before == Class::Spaced,
            (before, Class::Spaced) => before != Class::Spaced,
            (Class::Spaced, Class::Unspaced) => true,
            (Class::Other, Class::Unspaced) => out.len() > start,
            (Class::Unspaced, Class::Unspaced) => false,
        };
        if gap && !out[start..].ends_with(' ') {
            out.push(' ');
        }
        if class != Class::Other {
            out.push(c);
        }
        before = class;
    }
    if before == Class::Spaced {
        out.push(' ');
    }
}

/// Ignores case, width, and the accents of Latin, Greek and Cyrillic letters; marks of other scripts are significant.
fn fold(text: &str) -> String {
    let plain: String = text.nfkd().filter(|c| !matches!(c, '\u{300}'..='\u{36f}')).collect();
    keywords::fold(&plain.nfkc().collect::<String>())
}

/// The role of a character in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Part of a word that has spaces around it.
    Spaced,
    /// Part of a word without boundaries.
    Unspaced,
    /// Between words.
    Other,
}

impl Class {
    /// A mark has the class of the character before it.
    fn of(c: char, before: Self) -> Self {
        if !keywords::is_word(c) || (before == Self::Other && is_combining_mark(c)) {
            return Self::Other;
        }
        if is_combining_mark(c) {
            return before;
        }
        let hangul = matches!(u32::from(c), 0x1100..=0x11FF | 0x3130..=0x318F | 0xA960..=0xA97F | 0xAC00..=0xD7FF);
        if hangul || !keywords::has_spaces(c) { Self::Unspaced } else { Self::Spaced }
    }
}

fn words(prepared: &str) -> impl Iterator<Item = &str> {
    prepared.split([' ', PART]).filter(|word| !word.is_empty())
}

/// True for a word of a script with spaces; each word has only one class of characters.
fn is_spaced(word: &str) -> bool {
    word.chars().next().is_some_and(|c| Class::of(c, Class::Spaced) == Class::Spaced)
}

/// All runs of `length` characters.
fn grams(word: &str, length: usize) -> impl Iterator<Item = &str> {
    let ends = word.char_indices().map(|(at, _)| at).chain([word.len()]).skip(length);
    word.char_indices().zip(ends).map(|((start, _), end)| &word[start..end])
}

#[cfg(test)]
mod tests;
