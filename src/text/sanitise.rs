//! HTML sanitiser: makes HTML from other servers safe to show.
//!
//! Has an allow-list of elements and attributes. The output is written from tokens, so it is always well-formed and
//! contains only allowed tags, checked attributes and escaped text, which every HTML parser reads alike.
//!
//! Builds no tree as a browser does: re-opening the formatting elements in every paragraph turns 35 KB of input into
//! 56 MB (measured with ammonia 4.2). Instead, an element ends with the element that contains it.
//!
//! Spec: <https://docs.joinmastodon.org/spec/activitypub/#sanitization>

mod attributes;
mod elements;

use self::elements::{ELEMENTS, Element, Role};
use super::escape::push_escaped_text;
use super::tokens::{Tag, Token, decode, tokens};

/// The maximum nesting depth of the output; deeper elements lose their tags and keep their content.
const MAX_DEPTH: usize = 32;

/// `html` reduced to the allowed elements and attributes.
///
/// - Headings become bold paragraphs. Other unknown elements lose their tags and keep their content, except elements
///   that are never shown (scripts, styles, drawings, frames, …), which are removed with their content.
/// - A link keeps its tag only if its URL is absolute and of a known scheme; it gets a fixed `rel` and `target`.
/// - Classes are kept only if they are microformats, or mark mentions, hashtags and shortened links.
#[must_use]
pub fn sanitise(html: &str) -> String {
    reduce(html, |_| false)
}

/// As [`sanitise`], without the line that links to the quoted status for software that shows no quotes: elements of the
/// class `quote-inline`, with their content. Empty when nothing else is left.
#[must_use]
pub fn sanitise_quoting(html: &str) -> String {
    let is_line = |tag: &Tag<'_>| {
        let class = tag.attribute("class").unwrap_or_default();
        ["p", "span", "div"].contains(&tag.name.as_str()) && class.split_whitespace().any(|one| one == "quote-inline")
    };
    let reduced = reduce(html, is_line);
    if super::plain(&reduced).is_empty() { String::new() } else { reduced }
}

/// Writes the allowed part of `html`, without the elements that `is_left_out` selects.
fn reduce(html: &str, is_left_out: impl Fn(&Tag<'_>) -> bool) -> String {
    let mut writer = Writer::new(html.len());
    // The name of the element that is left out, and how many of that name are open.
    let mut left_out: Option<(String, usize)> = None;
    for token in tokens(html) {
        if let Some((name, open)) = &mut left_out {
            match &token {
                Token::Start(tag) if tag.name == *name => *open += 1,
                Token::End(end) if end == name => *open -= 1,
                Token::Start(_) | Token::End(_) | Token::Text(_) | Token::Raw(..) => {}
            }
            if *open == 0 {
                left_out = None;
            }
            continue;
        }
        match token {
            Token::Start(tag) if is_left_out(&tag) => left_out = Some((tag.name, 1)),
            Token::Text(text) => push_escaped_text(&mut writer.out, &decode(text)),
            Token::Start(tag) if tag.name == "br" => writer.out.push_str("<br />"),
            Token::Start(tag) => {
                if let Some(element) = elements::find(&tag.name) {
                    writer.open(element, &tag);
                }
            }
            Token::End(name) => {
                if let Some(element) = elements::find(&name) {
                    writer.close(element);
                }
            }
            Token::Raw(..) => {}
        }
    }
    writer.finish()
}

/// An open element; `shown` when its start tag was written.
struct Open {
    element: usize,
    shown: bool,
}

struct Writer {
    out: String,
    stack: Vec<Open>,
    /// The number of open elements by index in [`ELEMENTS`], so that a stray end tag needs no search of the stack.
    open: [usize; ELEMENTS.len()],
    depth: usize,
}

impl Writer {
    fn new(capacity: usize) -> Self {
        Self { out: String::with_capacity(capacity), stack: Vec::new(), open: [0; ELEMENTS.len()], depth: 0 }
    }

    fn open(&mut self, element: usize, tag: &Tag<'_>) {
        let Element { role, start, .. } = &ELEMENTS[element];
        self.close_implied(*role);
        let attributes = attributes::of(*role, tag);
        let shown = self.depth < MAX_DEPTH && attributes.is_some();
        if let Some(attributes) = attributes.filter(|_| shown) {
            self.out.push_str(start);
            self.out.push_str(&attributes);
            self.out.push('>');
            self.depth += 1;
        }
        self.open[element] += 1;
        self.stack.push(Open { element, shown });
    }

    /// Closes the open elements that cannot contain an element of `role`: HTML lets authors omit their end tags.
    fn close_implied(&mut self, role: Role) {
        match role {
            Role::Inline | Role::Span | Role::Ruby => {}
            Role::Link => self.close_through(|open| open == Role::Link),
            Role::Paragraph | Role::Block | Role::List | Role::OrderedList => {
                self.close_through(|open| open == Role::Paragraph);
            }
            Role::Item if self.has(Role::is_list) => {
                self.close_until(Role::is_list);
            }
            Role::Item => self.close_through(|open| open == Role::Paragraph || open == Role::Item),
            Role::RubyText => {
                if self.has(|open| open == Role::Ruby) {
                    self.close_until(|open| open == Role::Ruby);
                }
            }
        }
    }

    fn has(&self, is: impl Fn(Role) -> bool) -> bool {
        ELEMENTS.iter().zip(self.open).any(|(element, open)| open > 0 && is(element.role))
    }

    /// Closes elements up to and including the innermost one whose role matches `is`, if there is one.
    fn close_through(&mut self, is: impl Fn(Role) -> bool) {
        if self.has(&is) {
            self.close_until(is);
            self.pop();
        }
    }

    /// Closes the elements inside the innermost one whose role matches `is`.
    fn close_until(&mut self, is: impl Fn(Role) -> bool) {
        while self.stack.last().is_some_and(|open| !is(ELEMENTS[open.element].role)) {
            self.pop();
        }
    }

    fn close(&mut self, element: usize) {
        while self.open[element] > 0 {
            if self.pop() == Some(element) {
                return;
            }
        }
    }

    fn pop(&mut self) -> Option<usize> {
        let Open { element, shown } = self.stack.pop()?;
        self.open[element] -= 1;
        if shown {
            self.out.push_str(ELEMENTS[element].end);
            self.depth -= 1;
        }
        Some(element)
    }

    fn finish(mut self) -> String {
        while self.pop().is_some() {}
        self.out
    }
}

#[cfg(test)]
mod tests;
