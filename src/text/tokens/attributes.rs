//! Parses the attributes of a start tag.
//!
//! Spec: <https://html.spec.whatwg.org/multipage/parsing.html#before-attribute-name-state> and the states after it

use super::is_space;

/// Iterates over the attributes of a tag, names and values as written; once exhausted, `at` is just after the tag.
#[derive(Debug, Clone)]
pub(super) struct Attributes<'a> {
    html: &'a str,
    at: usize,
    /// Whether the `>` was reached, rather than the end of the input.
    closed: bool,
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        if self.closed {
            return None;
        }
        self.take_while(|c| is_space(c) || c == '/');
        if self.html[self.at..].starts_with('>') {
            self.at += 1;
            self.closed = true;
            return None;
        }
        let start = self.at;
        self.at += self.html[start..].chars().next()?.len_utf8();
        self.take_while(|c| !is_space(c) && !matches!(c, '/' | '>' | '='));
        let name = &self.html[start..self.at];
        self.take_while(is_space);
        Some((name, self.value()))
    }
}

impl<'a> Attributes<'a> {
    /// The attributes of the tag in `html` whose name ends at `at`.
    pub(super) fn new(html: &'a str, at: usize) -> Self {
        Self { html, at, closed: false }
    }

    /// The source read so far, from the start of the tag's name.
    pub(super) fn read(&self) -> &'a str {
        &self.html[..self.at]
    }

    /// Whether the end of the tag was reached.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    fn value(&mut self) -> &'a str {
        if !self.html[self.at..].starts_with('=') {
            return "";
        }
        self.at += 1;
        self.take_while(is_space);
        match self.html[self.at..].chars().next() {
            Some(quote @ ('"' | '\'')) => {
                self.at += 1;
                let value = self.take_while(|c| c != quote);
                self.at = self.html.len().min(self.at + 1);
                value
            }
            _ => self.take_while(|c| !is_space(c) && c != '>'),
        }
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.html[self.at..];
        let taken = &rest[..rest.find(|c| !keep(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }
}
