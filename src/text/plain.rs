//! Converts HTML to plain text, for search, filters, notifications and link previews.

use super::tokens::{Token, decode, tokens};

/// Block elements: a line break before and after each.
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

/// Converts `html` to text: tags removed, entities decoded, `<br>` a newline, a blank line between paragraphs.
///
/// Applied to the output of [`to_html`](super::to_html), it returns the text as typed. The result is trimmed.
#[must_use]
pub fn plain(html: &str) -> String {
    let mut lines = Lines { out: String::with_capacity(html.len()), breaks: 0 };
    for token in tokens(html) {
        match token {
            Token::Text(text) => lines.push(&decode(text)),
            Token::Start(tag) if tag.name == "br" => lines.breaks += 1,
            Token::Start(tag) => lines.part(&tag.name),
            Token::End(name) => lines.part(&name),
            Token::Raw(..) => {}
        }
    }
    lines.out.trim().to_owned()
}

/// The output so far, and the newlines to write before any further text.
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

    /// Records the line breaks caused by a start or end tag of the element `name`.
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
