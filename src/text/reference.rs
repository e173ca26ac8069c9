//! Finds references to other statuses in a text.
//!
//! A reference is a mark, an optional `:` or `;`, and a link: `RE: https://example.com/@a/1`. The caller checks
//! whether the link leads to a status. Spec: docs/contract/rules.md#10-statuses and
//! docs/contract/extensions.md#10-extra-status-routes.

use super::scan::Scan;

/// The marks, and whether each one quotes.
const MARKS: [(&str, bool); 5] = [("RT", false), ("BT", false), ("QT", true), ("RN", true), ("RE", true)];

/// A link with a mark before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub url: String,
    /// Its mark requests a quote.
    pub quote: bool,
}

/// The references in `text`, from which `scan` was read, in order; duplicates included.
#[must_use]
pub fn references(text: &str, scan: &Scan) -> Vec<Reference> {
    let mut at = 0;
    let mut found = Vec::new();
    for entity in scan.entities() {
        if entity.kind == super::EntityKind::Url
            && let Some(quote) = mark(&text[at..entity.range.start])
        {
            found.push(Reference { url: text[entity.range.clone()].to_owned(), quote });
        }
        at = entity.range.end;
    }
    found
}

/// Whether the mark at the end of `before` quotes; `None` when there is no mark.
fn mark(before: &str) -> Option<bool> {
    let word = before.trim_end();
    let bare = word.strip_suffix([':', ';']).unwrap_or(word);
    if bare.len() == before.len() {
        return None;
    }
    let (rest, quote) = MARKS.iter().find_map(|(mark, quote)| Some((bare.strip_suffix(mark)?, *quote)))?;
    let inside_a_word = rest.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '#' | '@'));
    (!inside_a_word).then_some(quote)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan;

    fn found(text: &str) -> Vec<(String, bool)> {
        references(text, &scan(text)).into_iter().map(|reference| (reference.url, reference.quote)).collect()
    }

    #[test]
    fn mark_before_link_is_reference() {
        let url = "https://x.example/@a/1";
        for (mark, quote) in MARKS {
            for between in [" ", ": ", "; ", ":", ";", ":\n", "\u{3000}"] {
                assert_eq!(found(&format!("look\n{mark}{between}{url}")), [(url.to_owned(), quote)], "{mark}{between}");
            }
        }
    }

    #[test]
    fn other_links_are_none() {
        for text in [
            "https://x.example/1",
            "ART https://x.example/1",
            "re: https://x.example/1",
            "#QT https://x.example/1",
            "RT no https://x.example/1",
            "RT :: https://x.example/1",
            "RT",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn several_are_found_in_order() {
        let text = "(QT https://x.example/1) RT: https://x.example/2 https://x.example/3";
        assert_eq!(found(text), [("https://x.example/1".to_owned(), true), ("https://x.example/2".to_owned(), false)]);
    }
}
