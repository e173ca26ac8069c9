//! Counts the characters of a text against the length limits.
//!
//! Spec: <https://docs.joinmastodon.org/user/posting/#text>

use unicode_segmentation::UnicodeSegmentation;

use super::scan::{EntityKind, scan};

/// The characters that an `http` or `https` link counts as, whatever its length.
///
/// Reported to clients as `configuration.statuses.characters_reserved_per_url`.
pub const URL_LENGTH: usize = 23;

/// The length of `text` as counted against a limit.
///
/// Counts grapheme clusters, except that a web link counts [`URL_LENGTH`] and `@user@domain` counts as `@user`.
#[must_use]
pub fn length(text: &str) -> usize {
    graphemes(&countable(text))
}

/// The number of grapheme clusters of `text`, including links and mentions.
#[must_use]
pub fn graphemes(text: &str) -> usize {
    text.graphemes(true).count()
}

/// `text` with each web link replaced by [`URL_LENGTH`] letters, and mentions without their domain.
fn countable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for entity in scan(text) {
        let written = &text[entity.range.clone()];
        out.push_str(&text[at..entity.range.start]);
        at = entity.range.end;
        match &entity.kind {
            EntityKind::Mention(mention) => {
                out.push('@');
                out.push_str(&mention.username);
            }
            EntityKind::Url if is_web(written) => out.push_str(&"x".repeat(URL_LENGTH)),
            EntityKind::Url | EntityKind::Hashtag(_) => out.push_str(written),
        }
    }
    out.push_str(&text[at..]);
    out
}

fn is_web(url: &str) -> bool {
    url.split_once(':')
        .is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_graphemes() {
        assert_eq!(length(""), 0);
        assert_eq!(length("héllo"), 5);
        assert_eq!(length("e\u{301}"), 1);
        assert_eq!(length("👨‍👩‍👧‍👦🇫🇷"), 2);
        assert_eq!(length("日本語"), 3);
    }

    #[test]
    fn web_links_count_twenty_three() {
        assert_eq!(length("https://a.jp"), 23);
        assert_eq!(length(&format!("see https://example.com/{} ok", "a".repeat(500))), 4 + 23 + 3);
        assert_eq!(length("example.com"), 11);
        assert_eq!(length("gemini://example.com"), 20);
    }

    #[test]
    fn domains_of_mentions_are_free() {
        assert_eq!(length("@alice@very.long.example.com hi"), 9);
        assert_eq!(length("@alice hi"), 9);
    }
}
