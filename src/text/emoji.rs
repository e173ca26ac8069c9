//! Custom emoji in text.
//!
//! Text and HTML keep the `:shortcode:`; clients draw the picture from the `emojis` of the entity.

use std::collections::HashSet;

/// The shortest custom emoji name.
const MIN_SHORTCODE: usize = 2;

/// The names between colons that could be custom emoji, each once, in order of first use.
///
/// A name is two or more of `A-Z a-z 0-9 _`. Its colons stand at an end of the text or beside a character that is
/// neither letter, digit nor colon, so `12:30:45` and `a:b_c:d` have none. Which names exist is the caller's question.
#[must_use]
pub fn emoji_shortcodes(text: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(colon) = text[at..].find(':').map(|offset| at + offset) {
        let name = name_at(&text[colon + 1..]);
        at = colon + 1 + name.len();
        let bounded = name.len() >= MIN_SHORTCODE
            && is_boundary(text[..colon].chars().next_back())
            && text[at..].strip_prefix(':').is_some_and(|rest| is_boundary(rest.chars().next()));
        if bounded {
            at += 1;
            if seen.insert(name) {
                found.push(name);
            }
        }
    }
    found
}

fn name_at(text: &str) -> &str {
    let end = text.bytes().position(|b| !(b.is_ascii_alphanumeric() || b == b'_'));
    &text[..end.unwrap_or(text.len())]
}

fn is_boundary(neighbour: Option<char>) -> bool {
    neighbour.is_none_or(|c| !c.is_alphanumeric() && c != ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_shortcode_once() {
        assert_eq!(emoji_shortcodes(":blob_cat: hi :ok: :blob_cat:"), ["blob_cat", "ok"]);
        assert_eq!(emoji_shortcodes("(:ok:)\n:No1:"), ["ok", "No1"]);
    }

    #[test]
    fn leaves_times_words_and_short_names() {
        for text in
            ["12:30:45", "a:bc:d", ":x:", "::", ":no way:", ":ab", "ab:", "日本:ab:", ":ab:語", ":ab::cd:", ":a-b:"]
        {
            assert_eq!(emoji_shortcodes(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_failed_candidate_gives_its_colon_to_the_next() {
        assert_eq!(emoji_shortcodes("x:ab :cd:"), ["cd"]);
        assert_eq!(emoji_shortcodes("note: :cd:"), ["cd"]);
    }
}
