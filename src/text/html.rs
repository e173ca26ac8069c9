//! Converts the plain text of local users to HTML.
//!
//! Statuses and profile notes become paragraphs; a profile field is one line. Mentions, hashtags and links become
//! anchors, everything else is escaped. Custom emoji stay as `:shortcode:`, which clients render.
//!
//! Spec: <https://docs.joinmastodon.org/spec/activitypub/#sanitization>; the classes are defined by
//! <https://microformats.org/wiki/h-card> or in common use in the fediverse.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::escape::push_escaped;
use super::scan::{Entity, EntityKind, Hashtag, Mention, scan};

/// The characters of a URL that stay visible after its scheme; the rest gets the class `invisible`.
const SHOWN_URL_CHARS: usize = 30;

/// Characters to percent-encode in a path segment: all but the unreserved characters of RFC 3986.
const PATH_SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'-').remove(b'.').remove(b'~');

/// The link targets for a text.
#[derive(Debug, Clone, Copy)]
pub struct Links<'a> {
    /// Scheme and host of this server's pages, without a trailing slash: `https://example.com`.
    pub web_origin: &'a str,
    /// The accounts to link; a mention of any other account stays plain text.
    pub mentions: &'a [MentionTarget],
}

/// An account mentioned in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MentionTarget {
    /// In the account's own spelling, which is displayed.
    pub username: String,
    /// `None` for an account of this server; otherwise lower case and ASCII, as in [`Mention::domain`].
    pub domain: Option<String>,
    /// The profile page.
    pub url: String,
}

/// The HTML of a status or announcement: a blank line starts a paragraph, a single newline is `<br />`.
///
/// A mention shows its domain only when two accounts of `links` have the same username.
/// Local accounts must be written `@user` already, see [`rewrite_local_mentions`](super::rewrite_local_mentions).
/// Returns an empty string when `text` contains only newlines.
#[must_use]
pub fn to_html(text: &str, links: &Links<'_>) -> String {
    let text = unix_newlines(text);
    let writer = Writer::new(links, Place::Body);
    let mut out = String::with_capacity(text.len() * 2);
    for paragraph in text.split("\n\n").map(|part| part.trim_matches('\n')).filter(|part| !part.is_empty()) {
        out.push_str("<p>");
        for (index, line) in paragraph.split('\n').enumerate() {
            if index > 0 {
                out.push_str("<br />");
            }
            writer.line(&mut out, line);
        }
        out.push_str("</p>");
    }
    out
}

/// The HTML of each of `entities` of the status `text`.
pub(super) fn entities_to_html(text: &str, entities: &[Entity], links: &Links<'_>) -> Vec<String> {
    let writer = Writer::new(links, Place::Body);
    let html = |entity: &Entity| {
        let mut out = String::new();
        writer.entity(&mut out, entity, &text[entity.range.clone()]);
        out
    };
    entities.iter().map(html).collect()
}

/// The HTML of a profile note: the same rules as for a status.
#[must_use]
pub fn note_to_html(text: &str, links: &Links<'_>) -> String {
    to_html(text, links)
}

/// The HTML of a profile field's value: one line, links carry `rel="me"`, remote mentions show their domain.
#[must_use]
pub fn field_to_html(value: &str, links: &Links<'_>) -> String {
    let line = unix_newlines(value).replace('\n', " ");
    let mut out = String::with_capacity(line.len() * 2);
    Writer::new(links, Place::Field).line(&mut out, &line);
    out
}

pub(super) fn unix_newlines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Body,
    Field,
}

/// The accounts to link, indexed by name, and how to show them.
struct Writer<'a> {
    web_origin: &'a str,
    place: Place,
    targets: HashMap<(String, Option<String>), &'a MentionTarget>,
    /// The lower-case usernames of more than one account.
    ambiguous: HashSet<String>,
}

impl<'a> Writer<'a> {
    fn new(links: &Links<'a>, place: Place) -> Self {
        let mut targets = HashMap::new();
        let mut seen = HashSet::new();
        let mut ambiguous = HashSet::new();
        for target in links.mentions {
            let username = target.username.to_ascii_lowercase();
            let known = targets.insert((username.clone(), target.domain.as_deref().map(str::to_lowercase)), target);
            if known.is_none() && !seen.insert(username.clone()) {
                ambiguous.insert(username);
            }
        }
        Self { web_origin: links.web_origin.trim_end_matches('/'), place, targets, ambiguous }
    }

    /// Appends the HTML of one line, which contains no newlines.
    fn line(&self, out: &mut String, line: &str) {
        let mut at = 0;
        for entity in scan(line) {
            push_escaped(out, &line[at..entity.range.start]);
            self.entity(out, &entity, &line[entity.range.clone()]);
            at = entity.range.end;
        }
        push_escaped(out, &line[at..]);
    }

    fn entity(&self, out: &mut String, entity: &Entity, written: &str) {
        match &entity.kind {
            EntityKind::Mention(mention) => self.mention(out, mention, written),
            EntityKind::Hashtag(tag) => self.hashtag(out, tag),
            EntityKind::Url => self.url(out, written),
        }
    }

    fn mention(&self, out: &mut String, mention: &Mention, written: &str) {
        let username = mention.username.to_ascii_lowercase();
        let show_domain = self.place == Place::Field || self.ambiguous.contains(&username);
        let Some(target) = self.targets.get(&(username, mention.domain.clone())) else {
            return push_escaped(out, written);
        };
        out.push_str(r#"<span class="h-card" translate="no"><a href=""#);
        push_escaped(out, &target.url);
        out.push_str(r#"" class="u-url mention">@<span>"#);
        push_escaped(out, &target.username);
        if let Some(domain) = target.domain.as_deref().filter(|_| show_domain) {
            out.push('@');
            push_escaped(out, domain);
        }
        out.push_str("</span></a></span>");
    }

    fn hashtag(&self, out: &mut String, tag: &Hashtag) {
        out.push_str(r#"<a href=""#);
        push_escaped(out, self.web_origin);
        out.push_str("/tags/");
        out.extend(utf8_percent_encode(&tag.name, PATH_SEGMENT));
        out.push_str(r#"" class="mention hashtag" rel="tag">#<span>"#);
        push_escaped(out, &tag.display);
        out.push_str("</span></a>");
    }

    fn url(&self, out: &mut String, url: &str) {
        let me = if self.place == Place::Field { " me" } else { "" };
        let (scheme, rest) = url.split_at(hidden_prefix(url));
        let cut = rest.char_indices().nth(SHOWN_URL_CHARS).map(|(at, _)| at);
        let (shown, hidden) = rest.split_at(cut.unwrap_or(rest.len()));
        out.push_str(r#"<a href=""#);
        push_escaped(out, url);
        out.push_str(r#"" target="_blank" rel="nofollow noopener noreferrer"#);
        out.push_str(me);
        out.push_str(r#"" translate="no">"#);
        push_span(out, "invisible", scheme);
        push_span(out, if cut.is_some() { "ellipsis" } else { "" }, shown);
        push_span(out, "invisible", hidden);
        out.push_str("</a>");
    }
}

fn push_span(out: &mut String, class: &str, text: &str) {
    out.push_str(r#"<span class=""#);
    out.push_str(class);
    out.push_str(r#"">"#);
    push_escaped(out, text);
    out.push_str("</span>");
}

/// The length of the prefix of `url` to hide: a web scheme with any `www.`, or `xmpp:`. Rarer schemes stay visible.
fn hidden_prefix(url: &str) -> usize {
    let is = |len: usize, prefix: &str| url.get(..len).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let scheme =
        ["https://", "http://", "xmpp:"].into_iter().find(|scheme| is(scheme.len(), scheme)).map_or(0, str::len);
    let www = url.get(scheme..scheme + 4).is_some_and(|start| start.eq_ignore_ascii_case("www."));
    if scheme >= "http://".len() && www { scheme + 4 } else { scheme }
}

#[cfg(test)]
mod tests;
