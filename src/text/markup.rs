//! Converts the Markdown of a status to HTML.
//!
//! Emphasis, strikethrough, code, quotes, lists and headings; a single underscore underlines. Links, images and raw
//! HTML are shown as typed, so that a link always shows its target. Mentions, hashtags and links are recognised as in
//! plain text ([`scan`]), except in code. They are removed before the Markdown is parsed, so that `_` in an address
//! is not emphasis, and inserted into the sanitised output.
//!
//! Time is linear in the text, and the nesting of the result is limited by the sanitiser. Spec:
//! docs/contract/rules.md#11-html; <https://spec.commonmark.org/>.

use std::borrow::Cow;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::escape::push_escaped_text;
use super::html::{Links, entities_to_html};
use super::sanitise::sanitise;
use super::scan::{Entity, Scan, scan};

/// The first character that may represent an entity: the last plane, for private use.
const FIRST_MARK: u32 = 0x10_0000;

/// The HTML of the Markdown `text` of a status. Mentions are linked as [`to_html`](super::to_html) does.
#[must_use]
pub fn markup_to_html(text: &str, links: &Links<'_>) -> String {
    let text = super::html::unix_newlines(text);
    let source = Source::new(&text);
    let skeleton = sanitise(&source.render().0);
    let html = entities_to_html(&text, &source.entities, links);
    source.fill(&skeleton, |index| html[index].as_str())
}

/// The mentions, hashtags and links of the Markdown `text`: as [`scan`], except for entities in code. Their ranges
/// refer to `text`.
#[must_use]
pub fn scan_markup(text: &str) -> Scan {
    // A newline more or less shifts ranges, so they must be ranges of the text itself.
    let source = Source::new(text);
    let mut used = source.render().1;
    used.sort_unstable();
    used.dedup();
    Scan::of(used.into_iter().filter_map(|index| source.entities.get(index).cloned()).collect())
}

/// A text whose entities are replaced by a mark, their number and the mark again.
struct Source<'a> {
    text: &'a str,
    entities: Vec<Entity>,
    mark: char,
    replaced: String,
}

impl<'a> Source<'a> {
    fn new(text: &'a str) -> Self {
        let entities: Vec<Entity> = scan(text).into_iter().collect();
        let mark = unused(text);
        let mut replaced = String::with_capacity(text.len() + 4 * entities.len());
        let mut at = 0;
        for (index, entity) in entities.iter().enumerate() {
            push_gap(&mut replaced, &text[at..entity.range.start], mark);
            replaced.extend([mark]);
            replaced.push_str(&index.to_string());
            replaced.extend([mark]);
            at = entity.range.end;
        }
        push_gap(&mut replaced, &text[at..], mark);
        Self { text, entities, mark, replaced }
    }

    /// The HTML with marks, not sanitised, and the indexes of its entities.
    fn render(&self) -> (String, Vec<usize>) {
        let out = String::with_capacity(2 * self.replaced.len());
        let mut writer = Writer { source: self, out, used: Vec::new(), code: false, emphases: Vec::new() };
        let mut skipping = 0_usize;
        let events = Parser::new_ext(&self.replaced, Options::ENABLE_STRIKETHROUGH).into_offset_iter();
        for (event, range) in events {
            match (&event, skipping) {
                (Event::Start(Tag::Link { .. } | Tag::Image { .. }), 0) => {
                    writer.text(&self.replaced[range]);
                    skipping = 1;
                }
                (Event::Start(_), 1..) => skipping += 1,
                (Event::End(_), 1..) => skipping -= 1,
                (_, 1..) => {}
                (_, 0) => writer.event(event, &self.replaced[range]),
            }
        }
        (writer.out, writer.used)
    }

    /// Splits `text` at its marks into pieces: plain text, and the index of an entity.
    fn pieces<'t>(&self, text: &'t str) -> impl Iterator<Item = (&'t str, Option<usize>)> + use<'t> {
        let mut parts = text.split(self.mark);
        std::iter::from_fn(move || Some((parts.next()?, parts.next().and_then(|index| index.parse().ok()))))
    }

    /// `text` with its original entities restored.
    fn restore<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains(self.mark) {
            return text.into();
        }
        let mut out = String::with_capacity(text.len());
        for (plain, index) in self.pieces(text) {
            out.push_str(plain);
            if let Some(entity) = index.and_then(|index| self.entities.get(index)) {
                out.push_str(&self.text[entity.range.clone()]);
            }
        }
        out.into()
    }

    fn fill<'h>(&self, skeleton: &str, html: impl Fn(usize) -> &'h str) -> String {
        let mut out = String::with_capacity(2 * skeleton.len());
        for (plain, index) in self.pieces(skeleton) {
            out.push_str(plain);
            if let Some(index) = index.filter(|index| *index < self.entities.len()) {
                out.push_str(html(index));
            }
        }
        out
    }
}

/// Appends text between entities. Two marks separate `]` from `:`, which together would define a link and not be
/// displayed.
fn push_gap(out: &mut String, gap: &str, mark: char) {
    for c in gap.chars() {
        if c == ':' && out.ends_with(']') {
            out.extend([mark, mark]);
        }
        out.push(c);
    }
}

/// A private-use character that `text` does not contain.
fn unused(text: &str) -> char {
    let mut used: Vec<char> = text.chars().filter(|c| u32::from(*c) >= FIRST_MARK).collect();
    used.sort_unstable();
    used.dedup();
    let free =
        (FIRST_MARK..).zip(used.iter().map(|c| u32::from(*c)).chain([u32::MAX])).find(|(free, used)| free != used);
    free.and_then(|(free, _)| char::from_u32(free)).unwrap_or('\u{F8FF}')
}

struct Writer<'a> {
    source: &'a Source<'a>,
    out: String,
    used: Vec<usize>,
    /// Inside a code block.
    code: bool,
    /// The elements of the open emphases.
    emphases: Vec<&'static str>,
}

impl Writer<'_> {
    fn event(&mut self, event: Event<'_>, typed: &str) {
        match event {
            Event::Start(tag) => self.start(&tag, typed),
            Event::End(tag) => self.end(tag),
            // A mark that was typed as a character reference.
            Event::Text(text) if text.contains(self.source.mark) && !typed.contains(self.source.mark) => {}
            Event::Text(text) if self.code => self.code(&text),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) => {
                self.out.push_str("<code>");
                self.code(&text);
                self.out.push_str("</code>");
            }
            Event::SoftBreak | Event::HardBreak => self.out.push_str("<br />"),
            Event::Rule => {
                self.out.push_str("<p>");
                self.text(typed.trim());
                self.out.push_str("</p>");
            }
            // Not enabled.
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
            Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, typed: &str) {
        let start: Cow<'static, str> = match tag {
            Tag::Paragraph | Tag::HtmlBlock => "<p>".into(),
            Tag::Heading { .. } => "<h1>".into(),
            Tag::BlockQuote(_) => "<blockquote>".into(),
            Tag::CodeBlock(_) => {
                self.code = true;
                "<pre><code>".into()
            }
            Tag::List(None) => "<ul>".into(),
            Tag::List(Some(first)) => format!("<ol start=\"{first}\">").into(),
            Tag::Item => "<li>".into(),
            Tag::Emphasis => {
                let element = if typed.starts_with('_') { "u>" } else { "em>" };
                self.emphases.push(element);
                format!("<{element}").into()
            }
            Tag::Strong => "<strong>".into(),
            Tag::Strikethrough => "<del>".into(),
            _ => "".into(),
        };
        self.out.push_str(&start);
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.out.push_str("</p>"),
            TagEnd::HtmlBlock => self.close_lines("</p>"),
            TagEnd::Heading(_) => self.out.push_str("</h1>"),
            TagEnd::BlockQuote(_) => self.out.push_str("</blockquote>"),
            TagEnd::CodeBlock => {
                self.code = false;
                self.close_lines("</code></pre>");
            }
            TagEnd::List(false) => self.out.push_str("</ul>"),
            TagEnd::List(true) => self.out.push_str("</ol>"),
            TagEnd::Item => self.out.push_str("</li>"),
            TagEnd::Emphasis => {
                self.out.push_str("</");
                self.out.push_str(self.emphases.pop().unwrap_or("em>"));
            }
            TagEnd::Strong => self.out.push_str("</strong>"),
            TagEnd::Strikethrough => self.out.push_str("</del>"),
            _ => {}
        }
    }

    /// Ends an element of whole lines, whose last line also has a newline.
    fn close_lines(&mut self, end: &str) {
        if self.out.ends_with("<br />") {
            self.out.truncate(self.out.len() - "<br />".len());
        }
        self.out.push_str(end);
    }

    /// Appends text with its entities.
    fn text(&mut self, text: &str) {
        self.used.extend(self.source.pieces(text).filter_map(|(_, index)| index));
        self.lines(text);
    }

    /// Appends text in which entities are not linked.
    fn code(&mut self, text: &str) {
        let text = self.source.restore(text);
        self.lines(&text);
    }

    fn lines(&mut self, text: &str) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.out.push_str("<br />");
            }
            push_escaped_text(&mut self.out, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MentionTarget, plain};

    fn html(text: &str) -> String {
        let mentions =
            [MentionTarget { username: "a_b_c".into(), domain: None, url: "https://example.com/@a_b_c".into() }];
        markup_to_html(text, &Links { web_origin: "https://example.com", mentions: &mentions })
    }

    #[test]
    fn formatting_works() {
        assert_eq!(
            html("**a** *b* _c_ ~~d~~ `e`\nf\n\ng"),
            "<p><strong>a</strong> <em>b</em> <u>c</u> <del>d</del> <code>e</code><br />f</p><p>g</p>"
        );
        assert_eq!(
            html("# A\n> b\n\n- c\n- d"),
            "<p><strong>A</strong></p><blockquote><p>b</p></blockquote><ul><li>c</li><li>d</li></ul>"
        );
        assert_eq!(html("2. a\n3. b"), "<ol start=\"2\"><li>a</li><li>b</li></ol>");
        assert_eq!(html("```rust\na < b\n  c\n```"), "<pre><code>a &lt; b<br />  c</code></pre>");
        assert_eq!(html(""), "");
    }

    #[test]
    fn links_images_and_html_show_as_typed() {
        assert_eq!(plain(&html("[a](https://x.example/) ![b](c)")), "[a](https://x.example/) ![b](c)");
        assert_eq!(plain(&html("a\n\n[b]: https://x.example/")), "a\n\n[b]: https://x.example/");
        assert_eq!(html("<b>a</b> <script>x</script>"), "<p>&lt;b&gt;a&lt;/b&gt; &lt;script&gt;x&lt;/script&gt;</p>");
        assert_eq!(html("<div onclick=x>\na\n</div>"), "<p>&lt;div onclick=x&gt;<br />a<br />&lt;/div&gt;</p>");
    }

    #[test]
    fn entities_match_plain_text() {
        for text in ["@a_b_c see #x_y_ at https://x.example/_a_/*b*?c=[d](e)", "https://x.example/__a__"] {
            let plainly = crate::to_html(text, &Links { web_origin: "https://example.com", mentions: &[] });
            assert_eq!(plain(&html(text)), plain(&plainly), "{text}");
        }
        let bold = html("**@a_b_c**");
        assert!(
            bold.starts_with("<p><strong><span class=\"h-card\"") && bold.contains("class=\"u-url mention\""),
            "{bold}"
        );
        assert!(html("#x_y").contains("rel=\"tag\""));
    }

    #[test]
    fn code_contains_no_mentions() {
        let text = "`@a_b_c` #b\n\n    #c https://x.example/\n\n@d";
        let found: Vec<String> = scan_markup(text).into_iter().map(|entity| text[entity.range].to_owned()).collect();
        assert_eq!(found, ["#b", "@d"]);
        assert!(html(text).starts_with("<p><code>@a_b_c</code> "));
        assert!(html(text).contains("<pre><code>#c https://x.example/</code></pre>"));
    }

    #[test]
    fn marks_of_others_are_text() {
        assert_eq!(plain(&html("\u{100000}0\u{100000} #a")), "\u{100000}0\u{100000} #a");
        assert_eq!(plain(&html("&#1048576;0&#1048576; #a")), "0 #a");
        assert_eq!(plain(&html("& #a &amp; @b")), "& #a & @b");
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for piece in ["> ", "- ", "*a _b ", "[", "![](", "`", "<a ", "&#1048576;", "]: ", "@a ", "1. ", "~~", "\\"] {
            let text = piece.repeat(10_000);
            let begun = std::time::Instant::now();
            let html = html(&text);
            assert!(begun.elapsed().as_secs() < 60, "{piece}");
            assert!(html.len() < 40 * text.len() + 100, "{piece}");
        }
    }
}
