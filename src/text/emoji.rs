//! Custom emoji shortcodes in text.
//!
//! Text and HTML keep the `:shortcode:`. API clients replace it with the image from the `emojis` of the entity; on the
//! server's own web pages [`emojify`] does.

use std::collections::HashSet;
use std::ops::Range;

use super::escape::escape;

/// The minimum length of a shortcode.
const MIN_SHORTCODE: usize = 2;

/// The shortcodes in `text` that could be custom emoji, without duplicates, in order of first use.
///
/// A shortcode is two or more of `A-Z a-z 0-9 _` between colons. Each colon must be at an end of the text or beside a
/// character that is neither letter, digit nor colon, so `12:30:45` and `a:b_c:d` contain none. The caller checks
/// whether an emoji with that shortcode exists.
#[must_use]
pub fn emoji_shortcodes(text: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(name) = next(text, at) {
        at = name.end + 1;
        if seen.insert(&text[name.clone()]) {
            found.push(&text[name]);
        }
    }
    found
}

/// Replaces each `:shortcode:` between the tags of `html` with an `<img>`, if `image` returns a URL for it.
///
/// `html` must be well-formed, as [`to_html`](super::to_html), [`sanitise()`](super::sanitise()) and
/// [`escape()`](super::escape()) produce it.
#[must_use]
pub fn emojify<'a>(html: &str, image: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while !rest.is_empty() {
        let end = if rest.starts_with('<') {
            let end = rest.find('>').map_or(rest.len(), |at| at + 1);
            out.push_str(&rest[..end]);
            end
        } else {
            let end = rest.find('<').unwrap_or(rest.len());
            push_drawn(&mut out, &rest[..end], &image);
            end
        };
        rest = &rest[end..];
    }
    out
}

/// Appends `text`, which contains no tags, with the known shortcodes replaced by images.
fn push_drawn<'a>(out: &mut String, text: &str, image: &impl Fn(&str) -> Option<&'a str>) {
    let (mut done, mut at) = (0, 0);
    while let Some(name) = next(text, at) {
        at = name.end + 1;
        if let Some(url) = image(&text[name.clone()]) {
            out.push_str(&text[done..name.start - 1]);
            let (url, name) = (escape(url), &text[name]);
            out.push_str(&format!(r#"<img class="custom-emoji" src="{url}" alt=":{name}:" title=":{name}:">"#));
            done = at;
        }
    }
    out.push_str(&text[done..]);
}

/// The range of the first shortcode at or after `at`, without its colons.
fn next(text: &str, mut at: usize) -> Option<Range<usize>> {
    while let Some(colon) = text[at..].find(':').map(|offset| at + offset) {
        let name = name_at(&text[colon + 1..]);
        at = colon + 1 + name.len();
        let bounded = name.len() >= MIN_SHORTCODE
            && is_boundary(text[..colon].chars().next_back())
            && text[at..].strip_prefix(':').is_some_and(|rest| is_boundary(rest.chars().next()));
        if bounded {
            return Some(colon + 1..at);
        }
    }
    None
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
    fn failed_candidate_gives_its_colon_to_next() {
        assert_eq!(emoji_shortcodes("x:ab :cd:"), ["cd"]);
        assert_eq!(emoji_shortcodes("note: :cd:"), ["cd"]);
    }

    #[test]
    fn draws_known_emojis_between_tags_only() {
        let image = |name: &str| (name == "rook").then_some("/r.png?a&b");
        let drawn = r#"<img class="custom-emoji" src="/r.png?a&amp;b" alt=":rook:" title=":rook:">"#;
        assert_eq!(emojify("<p>:rook: :no_such:</p>", image), format!("<p>{drawn} :no_such:</p>"));
        assert_eq!(
            emojify(r#"<a title=" :rook: ">x :rook:</a>"#, image),
            format!(r#"<a title=" :rook: ">x {drawn}</a>"#)
        );
        assert_eq!(emojify(":rook::rook: 1:rook:", image), ":rook::rook: 1:rook:");
        assert_eq!(emojify(":no:rook: :rook:", image), format!(":no:rook: {drawn}"));
        assert_eq!(emojify("", image), "");
    }
}
