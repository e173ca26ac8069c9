//! Renders the admins' Markdown texts: extended description, privacy policy, terms, closed-registrations message.
//!
//! A safe subset of `CommonMark`: raw HTML is shown as typed, images are replaced by their description, and only web,
//! mail and relative links are kept. Statuses have a separate format ([`markup_to_html`](super::markup_to_html));
//! profiles are not Markdown.
//!
//! Spec: <https://spec.commonmark.org/>, with strikethrough and tables of <https://github.github.com/gfm/>

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// Renders the Markdown `text` as HTML; empty for empty text.
#[must_use]
pub fn markdown(text: &str) -> String {
    let mut links = Links::default();
    let events = Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES);
    let mut out = String::with_capacity(text.len() * 2);
    html::push_html(&mut out, events.filter_map(|event| links.safe(event)));
    out
}

/// For each open link, innermost last, whether its tags are written.
#[derive(Default)]
struct Links(Vec<bool>);

impl Links {
    /// The safe form of `event`; `None` when it must be dropped.
    fn safe<'a>(&mut self, event: Event<'a>) -> Option<Event<'a>> {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => Some(Event::Text(html)),
            Event::Start(Tag::Image { .. } | Tag::HtmlBlock) | Event::End(TagEnd::Image | TagEnd::HtmlBlock) => None,
            Event::Start(Tag::Link { ref dest_url, .. }) => {
                self.0.push(is_linkable(dest_url));
                self.0.last().is_some_and(|shown| *shown).then_some(event)
            }
            Event::End(TagEnd::Link) => self.0.pop().is_some_and(|shown| shown).then_some(event),
            other => Some(other),
        }
    }
}

/// Whether `address` is a web, mail or relative URL. A colon after the first `/`, `?` or `#` does not end a scheme.
fn is_linkable(address: &str) -> bool {
    match address.split_once(':') {
        Some((scheme, _)) if !scheme.contains(['/', '?', '#']) => {
            ["http", "https", "mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
        }
        _ => !address.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_works() {
        assert_eq!(
            markdown("# A\n\nb *c* **d** ~~e~~ `f`\n\n- g\n- h\n"),
            "<h1>A</h1>\n<p>b <em>c</em> <strong>d</strong> <del>e</del> <code>f</code></p>\n<ul>\n<li>g</li>\n<li>h</li>\n</ul>\n"
        );
        assert_eq!(markdown(""), "");
    }

    #[test]
    fn html_shows_as_typed() {
        assert_eq!(markdown("a <b onclick=x>c</b>"), "<p>a &lt;b onclick=x&gt;c&lt;/b&gt;</p>\n");
        let block = markdown("<script>\nalert(1)\n</script>\n");
        assert!(!block.contains("<script") && block.contains("&lt;script&gt;"), "{block}");
    }

    #[test]
    fn pictures_leave_their_description() {
        assert_eq!(markdown("![a *b*](https://x.example/y.png)"), "<p>a <em>b</em></p>\n");
    }

    #[test]
    fn links_lead_to_pages_and_mail() {
        assert_eq!(markdown("[a](https://x.example)"), "<p><a href=\"https://x.example\">a</a></p>\n");
        assert_eq!(markdown("[a](/about)"), "<p><a href=\"/about\">a</a></p>\n");
        assert_eq!(markdown("<me@x.example>"), "<p><a href=\"mailto:me@x.example\">me@x.example</a></p>\n");
        assert_eq!(markdown("[a](javascript:alert(1)) [b](data:x,y@z) [c](<java&#x73;cript:x>)"), "<p>a b c</p>\n");
    }
}
