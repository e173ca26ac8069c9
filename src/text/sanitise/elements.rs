//! The element allow-list of the sanitiser.

/// An allowed element: its names in the input, its role, and the tags written for it.
pub(super) struct Element {
    names: &'static [&'static str],
    pub(super) role: Role,
    /// The start tag, up to its attributes.
    pub(super) start: &'static str,
    pub(super) end: &'static str,
}

/// Decides an element's allowed attributes, and which open elements its start tag closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Inline,
    Span,
    Link,
    /// Contains only inline elements.
    Paragraph,
    Block,
    List,
    OrderedList,
    Item,
    Ruby,
    RubyText,
}

impl Role {
    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::List | Self::OrderedList)
    }
}

/// The index in [`ELEMENTS`] of the element called `name` (in lower case).
pub(super) fn find(name: &str) -> Option<usize> {
    ELEMENTS.iter().position(|element| element.names.contains(&name))
}

/// Every allowed element except `br`, which has no content and so is never open.
pub(super) const ELEMENTS: [Element; 20] = [
    new(&["p"], Role::Paragraph, "<p", "</p>"),
    new(&["h1", "h2", "h3", "h4", "h5", "h6"], Role::Paragraph, "<p><strong", "</strong></p>"),
    new(&["span"], Role::Span, "<span", "</span>"),
    new(&["a"], Role::Link, "<a", "</a>"),
    new(&["del"], Role::Inline, "<del", "</del>"),
    new(&["s"], Role::Inline, "<s", "</s>"),
    new(&["code"], Role::Inline, "<code", "</code>"),
    new(&["b"], Role::Inline, "<b", "</b>"),
    new(&["strong"], Role::Inline, "<strong", "</strong>"),
    new(&["u"], Role::Inline, "<u", "</u>"),
    new(&["i"], Role::Inline, "<i", "</i>"),
    new(&["em"], Role::Inline, "<em", "</em>"),
    new(&["pre"], Role::Block, "<pre", "</pre>"),
    new(&["blockquote"], Role::Block, "<blockquote", "</blockquote>"),
    new(&["ul"], Role::List, "<ul", "</ul>"),
    new(&["ol"], Role::OrderedList, "<ol", "</ol>"),
    new(&["li"], Role::Item, "<li", "</li>"),
    new(&["ruby"], Role::Ruby, "<ruby", "</ruby>"),
    new(&["rt"], Role::RubyText, "<rt", "</rt>"),
    new(&["rp"], Role::RubyText, "<rp", "</rp>"),
];

const fn new(names: &'static [&'static str], role: Role, start: &'static str, end: &'static str) -> Element {
    Element { names, role, start, end }
}
