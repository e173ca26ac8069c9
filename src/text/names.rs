//! The search names of an account: a query may be a prefix of its user name, or of its display name starting at any word.

use super::keywords::{has_spaces, is_word};

/// Most search names of a display name: a long one contributes its first words.
const MOST: usize = 8;
/// Longest text, in characters.
const LONGEST: usize = 100;

/// The user name and the suffixes of the display name at each word, in lower case, without duplicates. In scripts
/// without spaces each character begins a word.
#[must_use]
pub fn names(username: &str, display_name: &str) -> Vec<String> {
    let display = display_name.trim().to_lowercase();
    let mut names = vec![username.to_lowercase()];
    let mut before = None;
    for (at, c) in display.char_indices() {
        let begins = is_word(c) && (before.is_none_or(|before| !is_word(before)) || !has_spaces(c));
        if (at == 0 || begins) && names.len() <= MOST {
            names.push(display[at..].chars().take(LONGEST).collect());
        }
        before = Some(c);
    }
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_name_is_found_from_each_of_its_words_on() {
        assert_eq!(names("Yuki", " Yuki TANAKA-Meier "), ["meier", "tanaka-meier", "yuki", "yuki tanaka-meier"]);
        assert_eq!(names("bob", ""), ["bob"]);
        assert_eq!(names("bob", "Bob"), ["bob"]);
        assert_eq!(names("t", "田中ゆき"), ["t", "き", "ゆき", "中ゆき", "田中ゆき"]);
        assert_eq!(names("r", ":rook: Ann"), [":rook: ann", "ann", "r", "rook: ann"]);
    }

    #[test]
    fn long_names_are_cut() {
        let long = names("a", &"word ".repeat(100));
        assert!(long.len() <= MOST + 1 && long.iter().all(|name| name.chars().count() <= LONGEST), "{long:?}");
    }
}
