//! Finds keywords in texts: the matching of filters.
//!
//! Matching ignores case (full Unicode mappings, so that `straße` matches `STRASSE`), and composed and decomposed
//! letters are equal (NFC). One automaton finds all keywords of a person in one pass over a text. At each position at
//! most as many keywords can end as the longest has bytes, so that the time is linear in the text.
//!
//! Whole words are also recognised in scripts without spaces.
//!
//! Spec: docs/contract/rules.md#15-filters.

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// A text prepared for keyword search: folded once, searched often.
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

    /// The approximate size in memory, in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        size_of::<Self>() + self.text.len() + self.folded.len()
    }

    /// The part of the original text that was folded to `folded[start..end]`, in whole characters.
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

/// A keyword in a group, such as a filter.
#[derive(Debug, Clone, Copy)]
pub struct Keyword<'a> {
    /// Matched as a whole, including its spaces.
    pub text: &'a str,
    /// It must not be part of a longer word, on each side where it begins or ends with a word character.
    pub whole_word: bool,
    /// The group that it belongs to.
    pub group: usize,
}

/// Keywords, compiled.
#[derive(Debug)]
pub struct Keywords {
    automaton: AhoCorasick,
    /// Indexed by the pattern of the automaton.
    uses: Vec<Vec<Use>>,
}

/// A keyword that uses a pattern.
#[derive(Debug, Clone, Copy)]
struct Use {
    group: usize,
    /// The index of the keyword: the lower one wins if two begin at the same position.
    order: usize,
    whole_word: bool,
}

/// The first match of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match<'t> {
    pub group: usize,
    /// The matched text in its original spelling.
    pub text: &'t str,
}

impl Keywords {
    /// Compiles `keywords`; empty ones are left out.
    ///
    /// # Errors
    /// When the keywords exceed the capacity of an automaton: some two thousand million bytes.
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

    /// The first match of each group that has one, by group: the match that begins first in `text`, and of several
    /// that begin there the match of the first keyword.
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

    /// The approximate size in memory, in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let uses: usize = self.uses.iter().map(|uses| size_of::<Vec<Use>>() + uses.len() * size_of::<Use>()).sum();
        size_of::<Self>() + self.automaton.memory_usage() + uses
    }
}

/// `text` folded to one case.
pub(super) fn fold(text: &str) -> String {
    text.chars().flat_map(folded).collect()
}

/// The characters that represent `c` in every case: lower case of upper case, so that `ß`, `ẞ` and `SS` are equal,
/// and so are the forms of sigma. The dotless i of Turkish is unchanged.
fn folded(c: char) -> impl Iterator<Item = char> {
    let kept = c.is_ascii() || c == 'ı';
    let one = kept.then(|| c.to_ascii_lowercase());
    let full = (!kept).then(|| c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase));
    one.into_iter().chain(full.into_iter().flatten())
}

/// True when `text[start..end]` is a whole word, on each side where it begins or ends with a word character.
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

/// True when a word may end between two adjacent characters: one of them is not a word character, their scripts
/// separate words in different ways, or their script does not separate words.
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

/// A word character that is not an emoji or part of one, such as letters in boxes and circles.
fn is_letter(c: char) -> bool {
    let boxed = matches!(c, '\u{24B6}'..='\u{24E9}' | '\u{1F100}'..='\u{1F2FF}');
    is_word(c) && !boxed && !makes_emoji(c)
}

/// True for a character that turns the previous one into an emoji: a variation selector, or a keycap.
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

/// How a script separates words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spacing {
    /// By spaces.
    Spaces,
    /// A word of katakana ends at any other character.
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
