//! HTML tokenizer: splits HTML into text, start tags and end tags.
//!
//! Follows the tokenization of the HTML standard closely enough that no tag is treated as text. Unlike a browser it
//! builds no tree, so its time and its output are linear in the input, whatever the nesting. Comments, doctypes and
//! elements that are never shown (scripts, styles, drawings, …) are skipped together with their content.
//!
//! Spec: <https://html.spec.whatwg.org/multipage/parsing.html#tokenization>

mod attributes;

use std::borrow::Cow;

use self::attributes::Attributes;

/// Raw text elements: their content ends only at their own end tag. Never shown.
const RAW: [&str; 9] = ["script", "style", "iframe", "noembed", "noframes", "title", "textarea", "xmp", "plaintext"];

/// Other elements that are dropped with their content.
const DROPPED: [&str; 9] = ["svg", "math", "object", "applet", "template", "noscript", "select", "canvas", "frameset"];

/// A token of HTML.
#[derive(Debug)]
pub(super) enum Token<'a> {
    /// Text as in the source, with entities not yet decoded.
    Text(&'a str),
    Start(Tag<'a>),
    /// The name of the element, in lower case.
    End(String),
    /// A raw text element and its content as in the source: a script, a title, a frame. Only from [`tokens_with_raw`].
    Raw(Tag<'a>, &'a str),
}

/// A start tag.
#[derive(Debug)]
pub(super) struct Tag<'a> {
    /// In lower case.
    pub(super) name: String,
    attributes: Attributes<'a>,
}

impl Tag<'_> {
    /// The decoded value of the first attribute called `name`; empty for an attribute without a value.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.attributes.clone();
        let (_, value) = attributes.find(|(found, _)| found.eq_ignore_ascii_case(name))?;
        Some(htmlize::unescape_attribute(value).into_owned())
    }

    fn is_self_closing(&self) -> bool {
        let mut attributes = self.attributes.clone();
        attributes.by_ref().for_each(drop);
        attributes.read().ends_with("/>")
    }
}

/// Decodes the entities of `text` between tags, and removes NUL characters.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    let text = htmlize::unescape(text);
    if text.contains('\0') { text.replace('\0', "").into() } else { text }
}

/// The tokens of `html` that may be shown, in order. An unclosed tag or comment swallows the rest of the input.
pub(super) fn tokens(html: &str) -> Tokens<'_> {
    Tokens { html, at: 0, dropping: None, raw: false }
}

/// As [`tokens`], with the raw text elements.
pub(super) fn tokens_with_raw(html: &str) -> Tokens<'_> {
    Tokens { raw: true, ..tokens(html) }
}

pub(super) struct Tokens<'a> {
    html: &'a str,
    at: usize,
    /// The element being dropped, and how many elements of that name are open.
    dropping: Option<(String, usize)>,
    /// Raw text elements are tokens too.
    raw: bool,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        while self.at < self.html.len() {
            let Some(token) = self.any() else { continue };
            if self.is_shown(&token) {
                return Some(token);
            }
        }
        None
    }
}

impl<'a> Tokens<'a> {
    /// The next token, which may belong to a dropped element; `None` after skipping a comment or the like.
    fn any(&mut self) -> Option<Token<'a>> {
        let rest = &self.html[self.at..];
        let mut after = rest.chars().skip(1);
        match (rest.starts_with('<'), after.next()) {
            (true, Some('a'..='z' | 'A'..='Z')) => self.start_tag(),
            (true, Some('/')) if after.next().is_some_and(|c| c.is_ascii_alphabetic()) => self.end_tag(),
            (true, Some('!' | '?' | '/')) => {
                self.at += comment(rest);
                None
            }
            _ => {
                let len = rest.bytes().skip(1).position(|b| b == b'<').map_or(rest.len(), |at| at + 1);
                self.at += len;
                Some(Token::Text(&rest[..len]))
            }
        }
    }

    fn start_tag(&mut self) -> Option<Token<'a>> {
        let tag = self.tag(1)?;
        if RAW.contains(&tag.name.as_str()) {
            let begin = self.at;
            self.skip_raw(&tag.name);
            return self.raw.then(|| Token::Raw(tag, &self.html[begin..self.at]));
        }
        Some(Token::Start(tag))
    }

    fn end_tag(&mut self) -> Option<Token<'a>> {
        self.tag(2).map(|tag| Token::End(tag.name))
    }

    /// Reads a tag whose name starts after `sign` bytes (`<` or `</`); `None` when the input ends inside it.
    fn tag(&mut self, sign: usize) -> Option<Tag<'a>> {
        let rest = &self.html[self.at + sign..];
        let end = rest.find(|c: char| is_space(c) || matches!(c, '/' | '>')).unwrap_or(rest.len());
        let mut attributes = Attributes::new(rest, end);
        let tag = Tag { name: rest[..end].to_ascii_lowercase(), attributes: attributes.clone() };
        attributes.by_ref().for_each(drop);
        self.at += sign + attributes.read().len();
        attributes.is_closed().then_some(tag)
    }

    /// Skips the content of a raw text element, up to its end tag or the end of the input.
    fn skip_raw(&mut self, name: &str) {
        let rest = self.html.as_bytes();
        let ends_at = |at: usize| {
            let tag = &rest[at..];
            tag.starts_with(b"</")
                && tag.get(2..2 + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
                && tag.get(2 + name.len()).is_none_or(|b| is_space(char::from(*b)) || matches!(b, b'/' | b'>'))
        };
        self.at = (self.at..rest.len()).find(|at| ends_at(*at)).unwrap_or(rest.len());
    }

    /// Whether `token` is outside every dropped element; keeps track of their nesting.
    fn is_shown(&mut self, token: &Token<'a>) -> bool {
        match (token, &mut self.dropping) {
            (Token::Start(tag), None) if DROPPED.contains(&tag.name.as_str()) => {
                let empty = matches!(tag.name.as_str(), "svg" | "math") && tag.is_self_closing();
                self.dropping = (!empty).then(|| (tag.name.clone(), 1));
                false
            }
            (Token::Start(tag), Some((name, open))) if tag.name == *name && !tag.is_self_closing() => {
                *open += 1;
                false
            }
            (Token::End(ended), Some((name, open))) if ended == name => {
                *open -= 1;
                if *open == 0 {
                    self.dropping = None;
                }
                false
            }
            (Token::Text(_) | Token::Start(_) | Token::End(_) | Token::Raw(..), dropping) => dropping.is_none(),
        }
    }
}

/// The length of the comment, doctype or processing instruction at the start of `rest`.
fn comment(rest: &str) -> usize {
    let Some(body) = rest.strip_prefix("<!--") else {
        return rest.find('>').map_or(rest.len(), |at| at + 1);
    };
    if let Some(empty) = [">", "->"].into_iter().find(|end| body.starts_with(end)) {
        return "<!--".len() + empty.len();
    }
    let bytes = body.as_bytes();
    let end = |at: usize| ["-->", "--!>"].into_iter().find(|end| bytes[at..].starts_with(end.as_bytes()));
    let closed = (0..bytes.len()).find_map(|at| end(at).map(|end| at + end.len()));
    closed.map_or(rest.len(), |len| "<!--".len() + len)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{C}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of `html`, tags written `<name>` and `</name>`.
    fn cut(html: &str) -> Vec<String> {
        written(tokens(html))
    }

    fn written(tokens: Tokens<'_>) -> Vec<String> {
        tokens
            .map(|token| match token {
                Token::Text(text) => text.to_owned(),
                Token::Start(tag) => format!("<{}>", tag.name),
                Token::End(name) => format!("</{name}>"),
                Token::Raw(tag, content) => format!("<{}>{content}", tag.name),
            })
            .collect()
    }

    fn attribute(html: &str, name: &str) -> Option<String> {
        match tokens(html).next() {
            Some(Token::Start(tag)) => tag.attribute(name),
            other => panic!("no start tag but {other:?}"),
        }
    }

    #[test]
    fn text_and_tags_alternate() {
        assert_eq!(cut("a<P class=x>b</p >c<br/>"), ["a", "<p>", "b", "</p>", "c", "<br>"]);
        assert_eq!(cut("1 < 2 <3 <"), ["1 ", "< 2 ", "<3 ", "<"]);
    }

    #[test]
    fn quotes_hide_angle_brackets() {
        assert_eq!(cut("<a title='>' href=\">\">x"), ["<a>", "x"]);
        assert_eq!(cut("<a title=x\">y"), ["<a>", "y"]);
    }

    #[test]
    fn comments_are_passed_over() {
        assert_eq!(
            cut("a<!-- <b> -- > -->b<!-->c<!--->d<!--x--!>e<!---->f<!--a--->g"),
            ["a", "b", "c", "d", "e", "f", "g"]
        );
        assert_eq!(cut("<!DOCTYPE html>a<?x y?>b</ c>d</>e<![CDATA[x]]>f"), ["a", "b", "d", "e", "f"]);
    }

    #[test]
    fn unclosed_tag_swallows_the_rest() {
        for html in ["a<!-- b", "a<a href=\"b>", "a<a b", "a</a", "a<script>b</scrip", "a<svg>b", "a<?b"] {
            assert_eq!(cut(html), ["a"], "{html}");
        }
    }

    #[test]
    fn scripts_and_drawings_go_with_their_content() {
        assert_eq!(cut("a<script>if (a<b) '</p></scripts>'</SCRIPT >b"), ["a", "</script>", "b"]);
        assert_eq!(cut("a<svg><svg/><svg><p>x</p></svg>y</svg>b<math/>c"), ["a", "b", "c"]);
        assert_eq!(cut("<object>a<object>b</object>c</object>d"), ["d"]);
    }

    #[test]
    fn raw_text_is_there_when_wanted() {
        let html = "<title>a<b></title>c<svg><script>d</script></svg><script type=x>e</script";
        assert_eq!(written(tokens_with_raw(html)), ["<title>a<b>", "</title>", "c", "<script>e"]);
    }

    #[test]
    fn attributes_are_found_and_decoded() {
        assert_eq!(attribute("<a b=1 HREF = 'x&amp;y' href=z>", "href").as_deref(), Some("x&y"));
        assert_eq!(attribute("<ol reversed start=3>", "reversed").as_deref(), Some(""));
        assert_eq!(attribute("<ol reversed/start=3>", "start").as_deref(), Some("3"));
        assert_eq!(attribute("<a href=>", "href").as_deref(), Some(""));
        assert_eq!(attribute("<a =href=x>", "href"), None);
    }

    #[test]
    fn text_is_decoded_without_nul() {
        assert_eq!(decode("a &lt;&eacute;&#x1F600;&nosuch; \0b"), "a <é😀&nosuch; b");
    }
}
