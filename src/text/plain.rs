//! The words of HTML, for search, filters, notifications and link previews.

use super::tokens::{Token, decode, tokens};

/// Elements that stand on lines of their own.
const BLOCKS: [&str; 14] = [
    "div",
    "pre",
    "blockquote",
    "ul",
    "ol",
    "li",
    "tr",
    "table",
    "section",
    "article",
    "header",
    "footer",
    "figure",
    "hr",
];

/// `html` as text: tags dropped, entities decoded, `<br>` a newline, paragraphs parted by a blank line.
///
/// Gives back what was typed when applied to [`to_html`](super::to_html). White space around the whole is dropped.
#[must_use]
pub fn plain(html: &str) -> String {
    let mut lines = Lines { out: String::with_capacity(html.len()), breaks: 0 };
    for token in tokens(html) {
        match token {
            Token::Text(text) => lines.push(&decode(text)),
            Token::Start(tag) if tag.name == "br" => lines.breaks += 1,
            Token::Start(tag) => lines.part(&tag.name),
            Token::End(name) => lines.part(&name),
        }
    }
    lines.out.trim().to_owned()
}

/// Text so far and the newlines due before more of it.
struct Lines {
    out: String,
    breaks: usize,
}

impl Lines {
    fn push(&mut self, text: &str) {
        let breaks = std::mem::take(&mut self.breaks);
        if !self.out.is_empty() {
            self.out.extend(std::iter::repeat_n('\n', breaks));
        }
        self.out.push_str(text);
    }

    /// A tag of the element `name` begins or ends something.
    fn part(&mut self, name: &str) {
        let wanted = match name {
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => 2,
            _ => usize::from(BLOCKS.contains(&name)),
        };
        self.breaks = self.breaks.max(wanted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_breaks_become_newlines() {
        assert_eq!(plain("<p>a<br>b<br /><br/>c</p><p>d</p>"), "a\nb\n\nc\n\nd");
        assert_eq!(plain("<ul><li>a</li><li>b</li></ul><div>c</div>d"), "a\nb\nc\nd");
        assert_eq!(plain("<h1>a</h1>b"), "a\n\nb");
    }

    #[test]
    fn tags_go_and_entities_are_decoded() {
        assert_eq!(plain("a <b>&lt;c&gt;</b> &amp;amp; &#39;d&#x27;"), "a <c> &amp; 'd'");
        assert_eq!(plain("<a href=x>https://<span class=invisible>www.</span>a.b</a>"), "https://www.a.b");
        assert_eq!(plain("a<script>b</script><!-- c -->d"), "ad");
    }

    #[test]
    fn surrounding_space_is_dropped() {
        assert_eq!(plain("<p> a </p><p></p><br>"), "a");
        assert_eq!(plain(""), "");
        assert_eq!(plain("<p></p>"), "");
    }
}
