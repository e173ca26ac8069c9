//! Finds keywords in texts: the matching of filters.
//!
//! Upper and lower case are the same (full Unicode mappings, so that `STRASSE` is found by `straße`), and so are composed
//! and decomposed letters (NFC). All keywords of a person are found in one pass over a text by one automaton. At one place
//! of a text no more keywords can end than the longest has bytes, so that the time is linear in the text.
//!
//! Whole words are told apart in scripts that are written without spaces, too.
//!
//! Spec: docs/contract/rules.md#15-filters.

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// A text that is searched for keywords: folded once, searched often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searchable {
    text: Box<str>,
    folded: Box<str>,
}

impl Searchable {
    /// Prepares `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text: String = text.nfc().collect();
        Self { folded: fold(&text).into(), text: text.into() }
    }

    /// About how much memory it takes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        size_of::<Self>() + self.text.len() + self.folded.len()
    }

    /// The part of the text from which `folded[start..end]` was made, in whole characters.
    fn original(&self, start: usize, end: usize) -> &str {
        let (mut at, mut first) = (0, None);
        for (index, c) in self.text.char_indices() {
            let length: usize = folded(c).map(char::len_utf8).sum();
            if first.is_none() && at + length > start {
                first = Some(index);
            }
            at += length;
            if let (Some(first), true) = (first, at >= end) {
                return &self.text[first..index + c.len_utf8()];
            }
        }
        ""
    }
}

/// A keyword of a group, such as a filter.
#[derive(Debug, Clone, Copy)]
pub struct Keyword<'a> {
    /// Found as a whole, with the spaces that it has.
    pub text: &'a str,
    /// It must not be part of a longer word, on each side on which it begins or ends with a character of words.
    pub whole_word: bool,
    /// Whose it is.
    pub group: usize,
}

/// Keywords, compiled.
#[derive(Debug)]
pub struct Keywords {
    automaton: AhoCorasick,
    /// By the pattern of the automaton.
    uses: Vec<Vec<Use>>,
}

/// For whom a pattern is searched.
#[derive(Debug, Clone, Copy)]
struct Use {
    group: usize,
    /// The place among the keywords: of two that begin at one place, the first is found.
    order: usize,
    whole_word: bool,
}

/// The first match of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match<'t> {
    pub group: usize,
    /// As the text has it.
    pub text: &'t str,
}

impl Keywords {
    /// Compiles `keywords`; empty ones are left out.
    ///
    /// # Errors
    /// When there are more than an automaton can hold: some two thousand million bytes.
    pub fn compile<'a>(keywords: impl IntoIterator<Item = Keyword<'a>>) -> Result<Self, BuildError> {
        let (mut patterns, mut uses): (Vec<String>, Vec<Vec<Use>>) = (Vec::new(), Vec::new());
        for (order, keyword) in keywords.into_iter().enumerate() {
            let folded = fold(&keyword.text.nfc().collect::<String>());
            if folded.is_empty() {
                continue;
            }
            let used = Use { group: keyword.group, order, whole_word: keyword.whole_word };
            match patterns.iter().position(|pattern| *pattern == folded) {
                Some(index) => uses[index].push(used),
                None => {
                    patterns.push(folded);
                    uses.push(vec![used]);
                }
            }
        }
        let automaton = AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(&patterns)?;
        Ok(Self { automaton, uses })
    }

    /// The first match of each group that has one, by group: the one that begins first in `text`, and of several that begin
    /// there the one of the first keyword.
    #[must_use]
    pub fn find<'t>(&self, text: &'t Searchable) -> Vec<Match<'t>> {
        let mut found: Vec<(Use, usize, usize)> = Vec::new();
        for hit in self.automaton.find_overlapping_iter(&*text.folded) {
            let (start, end) = (hit.start(), hit.end());
            for used in &self.uses[hit.pattern().as_usize()] {
                let best = found.iter_mut().find(|(best, ..)| best.group == used.group);
                let better = best.as_ref().is_none_or(|(best, from, _)| (start, used.order) < (*from, best.order));
                if !better || (used.whole_word && !is_whole(&text.folded, start, end)) {
                    continue;
                }
                match best {
                    Some(best) => *best = (*used, start, end),
                    None => found.push((*used, start, end)),
                }
            }
        }
        found.sort_unstable_by_key(|(used, ..)| used.group);
        let shown =
            |(used, start, end): (Use, usize, usize)| Match { group: used.group, text: text.original(start, end) };
        found.into_iter().map(shown).collect()
    }

    /// About how much memory it takes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let uses: usize = self.uses.iter().map(|uses| size_of::<Vec<Use>>() + uses.len() * size_of::<Use>()).sum();
        size_of::<Self>() + self.automaton.memory_usage() + uses
    }
}

/// `text` without case.
pub(super) fn fold(text: &str) -> String {
    text.chars().flat_map(folded).collect()
}

/// The characters that stand for `c` in every case: lower case of upper case, so that `ß`, `ẞ` and `SS` are one, and so are
/// the forms of sigma. The dotless i of Turkish stays what it is.
fn folded(c: char) -> impl Iterator<Item = char> {
    let kept = c.is_ascii() || c == 'ı';
    let one = kept.then(|| c.to_ascii_lowercase());
    let full = (!kept).then(|| c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase));
    one.into_iter().chain(full.into_iter().flatten())
}

/// True when `text[start..end]` stands alone, on each side on which it begins or ends with a character of words.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    let (first, last) = (text[start..end].chars().next(), text[start..end].chars().next_back());
    let emoji = text[start..end].chars().nth(1).is_some_and(makes_emoji);
    let open =
        |one: Option<char>, other: Option<char>| one.zip(other).is_none_or(|(one, other)| is_boundary(one, other));
    let emoji_after = text[end..].chars().nth(1).is_some_and(makes_emoji);
    (emoji || open(before, first) || !first.is_some_and(is_letter))
        && (emoji_after || open(last, after) || !last.is_some_and(is_letter))
}

/// True when a word may end between two characters that stand side by side: one of them is no character of words, they are
/// of scripts that differ in how words are told apart, or their script does not tell them apart.
fn is_boundary(before: char, after: char) -> bool {
    if !is_letter(before) || !is_letter(after) {
        return true;
    }
    if is_combining_mark(after) {
        return false;
    }
    let (one, other) = (Spacing::of(before), Spacing::of(after));
    one != other || one == Spacing::None
}

/// A character of words that is no emoji and no part of one, as letters in boxes and circles are.
fn is_letter(c: char) -> bool {
    let boxed = matches!(c, '\u{24B6}'..='\u{24E9}' | '\u{1F100}'..='\u{1F2FF}');
    is_word(c) && !boxed && !makes_emoji(c)
}

/// True for what follows a character to make it an emoji: a variation selector, or the cap of a key.
fn makes_emoji(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{20E3}')
}

/// Letters, digits, marks and the underscore.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

/// True when the script of `c` has spaces between words.
pub(super) fn has_spaces(c: char) -> bool {
    Spacing::of(c) == Spacing::Spaces
}

/// How a script tells words apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spacing {
    /// By spaces.
    Spaces,
    /// A word of katakana stands between characters that are none.
    Katakana,
    /// Not at all: a word may begin and end anywhere.
    None,
}

impl Spacing {
    fn of(c: char) -> Self {
        match u32::from(c) {
            0x30A0..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F => Self::Katakana,
            // Thai, Lao; Myanmar; Khmer; Tai Tham and the further letters of Myanmar.
            0x0E00..=0x0EFF
            | 0x1000..=0x109F
            | 0x1780..=0x17FF
            | 0x1A20..=0x1AAF
            | 0xA9E0..=0xA9FF
            | 0xAA60..=0xAA7F => Self::None,
            // Ideographs and hiragana.
            0x3005..=0x3007 | 0x3040..=0x309F | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF => Self::None,
            0x2_0000..=0x3_FFFF => Self::None,
            _ => Self::Spaces,
        }
    }
}

#[cfg(test)]
mod tests;
