//! Other targets for links in HTML that is already safe.

use std::borrow::Cow;

use super::escape::push_escaped;

/// A link, as far as a new target depends on it.
#[derive(Debug)]
pub struct Link<'a> {
    /// Its target, decoded.
    pub href: Cow<'a, str>,
    /// It is marked as a hashtag.
    pub is_hashtag: bool,
}

/// How links to other sites open.
const NEW_TAB: &str = " target=\"_blank\"";

/// `html` with another target for each link for which `target` returns one, and in the same tab.
///
/// `html` must be well-formed with quoted attributes, as [`to_html`](super::to_html) and
/// [`sanitise()`](super::sanitise()) produce it.
#[must_use]
pub fn relink(html: &str, target: impl Fn(&Link<'_>) -> Option<String>) -> String {
    const HREF: &str = " href=\"";
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find("<a ") {
        let Some(end) = rest[start..].find('>').map(|at| start + at) else { break };
        let tag = &rest[start..end];
        let value = tag.find(HREF).map(|at| start + at + HREF.len());
        let value = value.and_then(|from| Some(from..from + rest[from..end].find('"')?));
        let link = value.clone().map(|value| Link {
            href: htmlize::unescape_attribute(&rest[value]),
            is_hashtag: [" class=\"", " rel=\""].iter().any(|name| has_word(tag, name, &["hashtag", "tag"])),
        });
        match (value, link.and_then(|link| target(&link))) {
            (Some(value), Some(href)) => {
                out.push_str(&rest[..start]);
                out.push_str(&rest[start..value.start].replace(NEW_TAB, ""));
                push_escaped(&mut out, &href);
                out.push_str(&rest[value.end..end].replace(NEW_TAB, ""));
            }
            _ => out.push_str(&rest[..end]),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// True when the attribute of `tag` that begins with `name` contains one of `words`.
fn has_word(tag: &str, name: &str, words: &[&str]) -> bool {
    let value = tag.split_once(name).and_then(|(_, rest)| rest.split_once('"'));
    value.is_some_and(|(value, _)| value.split_ascii_whitespace().any(|word| words.contains(&word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_links_lead_elsewhere_and_the_rest_stays() {
        let html = r#"<p><a href="https://a.test/@bob?x=1&amp;y=2" class="u-url mention">@<span>bob</span></a> <a class="mention hashtag" href="https://a.test/tags/x" rel="tag" target="_blank">#x</a> <a href="https://b.test/" target="_blank">b</a></p>"#;
        let moved = relink(html, |link| match link.href.as_ref() {
            "https://a.test/@bob?x=1&y=2" => Some("/@bob@a.test".to_owned()),
            _ if link.is_hashtag => Some("/tags/\"x\"".to_owned()),
            _ => None,
        });
        assert_eq!(
            moved,
            r#"<p><a href="/@bob@a.test" class="u-url mention">@<span>bob</span></a> <a class="mention hashtag" href="/tags/&quot;x&quot;" rel="tag">#x</a> <a href="https://b.test/" target="_blank">b</a></p>"#
        );
        for broken in ["<a href=\"x", "<a >", "<a href=\"x>", "text <a", ""] {
            assert_eq!(relink(broken, |_| Some("y".to_owned())), broken);
        }
    }
}
