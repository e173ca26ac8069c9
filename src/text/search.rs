//! Full-text search: the terms of a text, which an index keeps, and the search for words and phrases in it.
//!
//! A text is folded (NFKC, case, accents) and cut into words where a script has spaces, and into characters and pairs of
//! characters where it has none (Japanese, Chinese, Thai) or where endings stick to words (Korean), so that a word of two
//! characters is found everywhere. An index needs the terms alone: it names candidates, in which [`Text::contains`] then
//! looks for what was searched, in order. [`parse`] reads the syntax of queries.
//!
//! Spec: docs/contract/rules.md#16-search.

mod query;

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::keywords;
pub use query::{Clause, Kind, MAX_CLAUSES, TooLong, parse};

/// Most distinct terms of a text; what comes after them is not found by the index.
const MAX_TERMS: usize = 2_000;
/// Between the parts of a text: no phrase reaches across.
const PART: char = '\n';

/// A text of one or more parts, prepared for search: folded, words between single spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(String);

/// Words in order, as they are searched.
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

    /// The terms that a text with this phrase has.
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

/// The number that stands for `word` in an index: 32 bits of FNV-1a. Two words may share one, so what an index finds is
/// looked at again.
#[must_use]
pub fn term(word: &str) -> i64 {
    let hash = word
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    i64::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).unwrap_or_default()
}

/// Appends `text` folded: a word of a script with spaces has a space on both sides, other characters stand as they are, with
/// a space where the text had something else between them.
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

/// Case, width, and the accents of Latin, Greek and Cyrillic letters do not matter; the marks of other scripts do.
fn fold(text: &str) -> String {
    let plain: String = text.nfkd().filter(|c| !matches!(c, '\u{300}'..='\u{36f}')).collect();
    keywords::fold(&plain.nfkc().collect::<String>())
}

/// What a character is to words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Part of a word that has spaces around it.
    Spaced,
    /// Part of a word whose ends are not told apart.
    Unspaced,
    /// Between words.
    Other,
}

impl Class {
    /// A mark belongs to the character before.
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

/// True for a word of a script with spaces; words are of one kind.
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
