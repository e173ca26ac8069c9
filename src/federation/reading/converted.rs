//! Articles, pages, events, videos, sounds and pictures as text for readers of short statuses.
//!
//! The title, then when and where an event takes place, then the summary or the beginning of the text, then the links.
//! Titles and places are plain text, and escaped here; other HTML stays as received.
//!
//! Spec: docs/contract/federation.md#7-accepting-activities

use chrono::{DateTime, FixedOffset};
use text::escape;

use super::media;
use crate::address::is_usable;
use crate::vocabulary::{Address, Note, Place, Reference};

/// The longest text that is shown whole, and the length of an excerpt of a longer one, in characters.
const EXCERPT: usize = 500;
/// Longest title, and longest line about an event, in characters.
const LINE: usize = 500;
/// Most places of an event that are named, and most links of a page.
const FEW: usize = 4;

/// The content warning of a converted object: its summary if it is sensitive, otherwise the summary is text.
pub(super) fn warning(note: &Note) -> Option<&str> {
    note.summary.as_deref().filter(|_| note.sensitive.unwrap_or_default())
}

/// The text of `note`, whose page is `page`, in HTML.
pub(super) fn content(note: &Note, page: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let title = note.name.0.as_deref().or_else(|| note.name_map.as_ref()?.values().next().map(String::as_str));
    if let Some(title) = title.and_then(line) {
        parts.push(format!("<p><strong>{title}</strong></p>"));
    }
    parts.extend(event(note));
    parts.extend(body(note));
    let links = media::links(note).filter(|link| *link != page).take(FEW).chain([page]);
    parts.extend(links.filter(|link| is_usable(link)).map(|link| {
        let link = escape(link);
        format!(r#"<p><a href="{link}">{link}</a></p>"#)
    }));
    parts.concat()
}

/// A line of plain text, escaped; `None` when it is empty.
fn line(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(LINE).collect();
    (!line.is_empty()).then(|| escape(&line))
}

/// The summary, or the beginning of the text.
fn body(note: &Note) -> Option<String> {
    let summary = note.summary.as_deref().map(str::trim).filter(|_| warning(note).is_none());
    if let Some(summary) = summary.filter(|summary| !summary.is_empty()) {
        return Some(if summary.starts_with('<') { summary.to_owned() } else { format!("<p>{summary}</p>") });
    }
    let content =
        note.content.0.as_deref().or_else(|| note.content_map.as_ref()?.values().next().map(String::as_str))?;
    let is_html = note.media_type.as_deref().is_none_or(|kind| kind.starts_with("text/html"));
    let plain = if is_html { text::plain(content) } else { content.trim().to_owned() };
    let is_short = plain.chars().nth(EXCERPT).is_none();
    let html = if is_short && is_html { content.to_owned() } else { paragraphs(&excerpt(&plain)) };
    Some(html).filter(|html| !html.is_empty())
}

/// The first words of `text`, with an ellipsis unless they are all.
fn excerpt(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(EXCERPT) else { return text.to_owned() };
    let cut = &text[..end];
    let words = cut.rsplit_once(char::is_whitespace).map_or(cut, |(words, _)| words);
    format!("{}…", words.trim_end())
}

/// Plain text as HTML.
fn paragraphs(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    paragraphs.map(|paragraph| format!("<p>{}</p>", escape(paragraph).replace('\n', "<br />"))).collect()
}

/// When and where an event takes place.
fn event(note: &Note) -> Option<String> {
    let time = |stated: &Option<String>| DateTime::parse_from_rfc3339(stated.as_deref()?).ok();
    let mut lines: Vec<String> = Vec::new();
    if let Some(start) = time(&note.start_time).filter(|_| note.kind.iter().any(|kind| kind == "Event")) {
        lines.push(dates(start, time(&note.end_time).filter(|end| *end > start)));
        lines.extend(note.location.iter().take(FEW).filter_map(place));
    }
    (!lines.is_empty()).then(|| format!("<p>{}</p>", lines.join("<br />")))
}

/// A time span as the place of the event reads its clocks.
fn dates(start: DateTime<FixedOffset>, end: Option<DateTime<FixedOffset>>) -> String {
    let zone =
        if start.offset().local_minus_utc() == 0 { "UTC".to_owned() } else { start.format("UTC%:z").to_string() };
    let end = end.map(|end| end.with_timezone(start.offset())).map(|end| {
        let form = if end.date_naive() == start.date_naive() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
        format!(" – {}", end.format(form))
    });
    format!("{}{} ({zone})", start.format("%Y-%m-%d %H:%M"), end.unwrap_or_default())
}

/// The name and the address of a place.
fn place(place: &Place) -> Option<String> {
    let mut parts: Vec<&str> = place.name.as_deref().into_iter().collect();
    match place.address.as_ref() {
        Some(Reference::Id(text)) => parts.push(text),
        Some(Reference::Inline(address)) => {
            let Address { street_address, postal_code, address_locality, address_country } = &**address;
            let lines = [street_address, postal_code, address_locality, address_country];
            parts.extend(lines.into_iter().filter_map(|line| line.as_deref()));
        }
        None => {}
    }
    // The street is often the name, too.
    parts.dedup();
    line(&parts.into_iter().filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn note(members: &Value) -> Note {
        let mut note = json!({ "id": "https://a.test/1", "type": "Article" });
        note.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        serde_json::from_value::<Box<serde_json::value::RawValue>>(note)
            .map(|raw| serde_json::from_str(raw.get()).unwrap())
            .unwrap()
    }

    fn of(members: &Value) -> String {
        content(&note(members), "https://a.test/p")
    }

    const LINK: &str = r#"<p><a href="https://a.test/p">https://a.test/p</a></p>"#;

    #[test]
    fn title_is_escaped_and_summary_comes_before_text() {
        let html = of(&json!({ "name": "a <b>\n & c", "summary": "<p>short</p>", "content": "long" }));
        assert_eq!(html, format!("<p><strong>a &lt;b&gt; &amp; c</strong></p><p>short</p>{LINK}"));
        let html = of(&json!({ "summary": "boo", "content": "<p>text</p>", "sensitive": true }));
        assert_eq!(html, format!("<p>text</p>{LINK}"), "the summary is a warning");
        assert_eq!(of(&json!({ "name": " ", "content": "" })), LINK);
    }

    #[test]
    fn long_text_is_cut_between_words() {
        let html = of(&json!({ "content": format!("<p>{}</p><p>end</p>", "word ".repeat(200)) }));
        assert!(html.starts_with("<p>word word") && html.ends_with(&format!("word…</p>{LINK}")), "{html}");
        assert!(html.len() < 600);
        let html = of(&json!({ "content": "a *b*\n<c>\n\nd", "mediaType": "text/markdown" }));
        assert_eq!(html, format!("<p>a *b*<br />&lt;c&gt;</p><p>d</p>{LINK}"));
    }

    #[test]
    fn event_says_when_and_where() {
        let html = of(&json!({
            "type": "Event", "name": "Chess", "startTime": "2026-03-01T19:00:00+01:00", "endTime": "2026-03-01T20:30:00Z",
            "location": { "type": "Place", "name": "Café <x>", "address": { "addressLocality": "Graz" } },
        }));
        let when = "<p>2026-03-01 19:00 – 21:30 (UTC+01:00)<br />Café &lt;x&gt;, Graz</p>";
        assert_eq!(html, format!("<p><strong>Chess</strong></p>{when}{LINK}"));
        let html =
            of(&json!({ "type": "Event", "startTime": "2026-03-01T23:00:00Z", "endTime": "2026-03-02T01:00:00Z" }));
        assert!(html.starts_with("<p>2026-03-01 23:00 – 2026-03-02 01:00 (UTC)</p>"), "{html}");
        assert_eq!(of(&json!({ "type": "Event", "startTime": "tomorrow", "location": 7 })), LINK);
    }
}
