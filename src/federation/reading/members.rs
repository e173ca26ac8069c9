//! The members of a note that need no other: its words, its page, its hashtags and references.

use super::converted;
use crate::address::{is_usable, same_host};
use crate::vocabulary::{Note, Tag};

/// Most references that are looked up (docs/contract/federation.md#7-accepting-activities).
const REFERENCES_MAX: usize = 8;

/// The text as HTML; `page`: for documents of other types, which are converted.
pub(super) fn content(note: &Note, page: &str) -> String {
    if note.is_converted() {
        return converted::content(note, page);
    }
    note.content.0.clone().or_else(|| first(note.content_map.0.as_ref())).unwrap_or_default()
}

fn first(map: Option<&std::collections::BTreeMap<String, String>>) -> Option<String> {
    map?.values().next().cloned()
}

/// The content warning.
pub(super) fn spoiler(note: &Note) -> String {
    if note.is_converted() {
        return converted::warning(note).unwrap_or_default().to_owned();
    }
    note.summary.0.clone().or_else(|| first(note.summary_map.0.as_ref())).unwrap_or_default()
}

/// The language of the text: of the map that states it, the one whose text is the content, title or summary.
pub(super) fn language(note: &Note) -> Option<String> {
    let maps = [(&note.content, &note.content_map), (&note.name, &note.name_map), (&note.summary, &note.summary_map)];
    let tag = maps.into_iter().find_map(|(text, map)| {
        let map = map.as_ref()?;
        let of_text = map.iter().find(|(_, one)| text.as_ref() == Some(*one));
        of_text.or_else(|| map.iter().next()).map(|(tag, _)| tag)
    });
    let tag = tag.or_else(|| note.language.as_ref().map(|language| &language.identifier))?;
    text::language::resolve(tag).map(str::to_owned)
}

/// The page of the note, on its own host; its id when there is none.
pub(super) fn page(note: &Note) -> String {
    let fits = |href: &str| same_host(href, &note.id);
    let is_page = |kind: Option<&str>| kind.is_none_or(|kind| kind == "text/html");
    let page = note.url.iter().find(|link| is_page(link.media_type.as_deref()) && fits(&link.href));
    page.map_or_else(|| note.id.clone(), |link| link.href.clone())
}

pub(super) fn hashtags(note: &Note) -> Vec<(String, String)> {
    let mut tags: Vec<(String, String)> = Vec::new();
    for tag in note.tag.iter().filter(|tag| tag.is("Hashtag")) {
        let written = text::hashtag::bare(tag.name.as_deref().unwrap_or_default());
        let Some(name) = text::hashtag::normalise(written) else { continue };
        if !tags.iter().any(|(known, _)| *known == name) {
            tags.push((name, written.to_owned()));
        }
    }
    tags
}

/// The statuses that the note refers to, of which the first may be its quote.
pub(super) fn references(note: &Note) -> Vec<text::Reference> {
    let named = [&note.quote, &note.quote_url, &note.quote_url_in_capitals, &note.misskey_quote];
    let named = named.into_iter().find_map(|id| Some(id.as_ref()?.0.as_str()));
    let quote = note.tag.iter().find_map(Tag::object).or(named);
    let quote = quote.map(|url| text::Reference { url: url.to_owned(), quote: true });
    let listed =
        note.references.iter().flat_map(|all| all.items.iter().chain(all.first.iter().flat_map(|page| &*page.items)));
    let listed = listed.take(REFERENCES_MAX).map(|id| text::Reference { url: id.0.clone(), quote: false });
    let usable = |one: &text::Reference| one.url != note.id && is_usable(&one.url);
    quote.into_iter().chain(listed).filter(usable).collect()
}
