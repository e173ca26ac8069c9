//! Hashtag names: validation, and normalisation to the form in which spellings are compared.
//!
//! Reached from [`scan`](super::scan()) for text, and from tag endpoints and remote `Hashtag` objects for bare names.
//!
//! Spec: <https://docs.joinmastodon.org/user/posting/#hashtags>

use unicode_normalization::UnicodeNormalization;

use super::chars::{is_alphanumeric, is_word};

/// Whether all of `name` (without the `#`) is one hashtag.
///
/// Allowed are letters, marks, digits, underscores and, except at the ends, middle dots (`·`, `・`) and ZWNJ.
/// At least one letter is required, or a separator (underscores included) that is neither first nor last.
#[must_use]
pub fn is_valid(name: &str) -> bool {
    !name.is_empty() && prefix(name) == Some(name)
}

/// The form in which `name` (without the `#`) is stored and compared; `None` when it is not a valid name.
///
/// Applies NFKC and lower case, removes the accents of European Latin letters (`É` becomes `e`; Vietnamese keeps its
/// own letters), then drops all but letters, digits, separators and the Thai marks U+0E47..U+0E4E. The result is
/// normalised to NFC, so that a normal form is its own normal form.
#[must_use]
pub fn normalise(name: &str) -> Option<String> {
    if !is_valid(name) {
        return None;
    }
    let kept = name.nfkc().flat_map(char::to_lowercase).nfkc().map(fold).filter(|c| is_kept(*c));
    let folded: String = kept.nfc().collect();
    (!folded.is_empty()).then_some(folded)
}

/// `name` without one leading `#` or `＃`, as some clients and servers send it.
#[must_use]
pub fn bare(name: &str) -> &str {
    name.strip_prefix(['#', '＃']).unwrap_or(name)
}

/// The longest hashtag name at the start of `text`.
pub(super) fn prefix(text: &str) -> Option<&str> {
    if !text.starts_with(is_word) {
        return None;
    }
    let run = text.find(|c| !is_word(c) && !is_separator(c)).map_or(text, |end| &text[..end]);
    let name = run.trim_end_matches(|c| !is_word(c));
    has_substance(name).then_some(name)
}

/// Whether a `#` after the character `before` may start a hashtag; inside a path, a query or a word it may not.
pub(super) fn may_follow(before: Option<char>) -> bool {
    before.is_none_or(|c| !is_word(c) && !matches!(c, '/' | ')' | '='))
}

fn has_substance(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next_back();
    name.chars().any(char::is_alphabetic) || chars.skip(1).any(is_separator)
}

fn is_separator(c: char) -> bool {
    matches!(c, '_' | '·' | '・' | '\u{200C}')
}

fn is_kept(c: char) -> bool {
    is_alphanumeric(c) || is_separator(c) || matches!(c, '\u{0E47}'..='\u{0E4E}')
}

/// Removes the accent of a letter in Latin-1 or Latin Extended-A; other characters are unchanged.
///
/// Only those blocks, as other servers do, so that a tag has the same name on every server.
fn fold(c: char) -> char {
    match c {
        'ð' | 'đ' => 'd',
        'ħ' => 'h',
        'ı' => 'i',
        'ĸ' => 'k',
        'ł' => 'l',
        'ŋ' => 'n',
        'ø' => 'o',
        'ŧ' => 't',
        '\u{C0}'..='\u{17F}' => std::iter::once(c).nfd().next().filter(char::is_ascii).unwrap_or(c),
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_needs_letter_or_inner_separator() {
        for name in
            ["rust", "Été", "日本語", "2024年", "1a", "1_2", "a·b", "1・2", "می\u{200C}خواهم", "__1", "_a", "สวัสดี"]
        {
            assert!(is_valid(name), "{name}");
        }
        for name in ["", "1234", "_1", "1_", "·a", "a·", "a b", "a-b", "a#b", "#a", "①", "🎉", "\u{200C}"] {
            assert!(!is_valid(name), "{name}");
        }
    }

    #[test]
    fn spellings_of_one_tag_share_a_normal_form() {
        assert_eq!(normalise("Rust").as_deref(), Some("rust"));
        assert_eq!(normalise("ＲＵＳＴ").as_deref(), Some("rust"));
        assert_eq!(normalise("CaféÑandúŁódź").as_deref(), Some("cafenandulodz"));
        assert_eq!(normalise("cafe\u{301}").as_deref(), Some("cafe"));
        assert_eq!(normalise("ｶﾞｷﾞ").as_deref(), Some("ガギ"));
        assert_eq!(normalise("ΟΔΟΣ").as_deref(), Some("οδοσ"));
        assert_eq!(normalise("İstanbul").as_deref(), Some("istanbul"));
    }

    #[test]
    fn other_letters_and_separators_stay() {
        assert_eq!(normalise("tiếng_việt").as_deref(), Some("tiếng_việt"));
        assert_eq!(normalise("a·b・c").as_deref(), Some("a·b・c"));
        assert_eq!(normalise("ß").as_deref(), Some("ß"));
        assert_eq!(normalise("เก้า").as_deref(), Some("เก้า"));
    }

    #[test]
    fn adjacent_marks_are_reordered() {
        // The compatibility form of U+FE72 is a space, which is dropped, and a mark that goes before U+10EAB.
        let normal = normalise("\u{10EAB}\u{FE72}");
        assert_eq!(normal.as_deref(), Some("\u{64C}\u{10EAB}"));
    }

    #[test]
    fn invalid_name_has_no_normal_form() {
        assert_eq!(normalise("1234"), None);
        assert_eq!(normalise("two words"), None);
        assert_eq!(normalise("#rust"), None);
        assert_eq!(normalise(bare("#rust")).as_deref(), Some("rust"));
        assert_eq!(normalise(bare("＃rust")).as_deref(), Some("rust"));
    }
}
