//! Metadata of an HTML page: title, metadata, links, structured data.
//!
//! Reached from link previews and from the verification of links in profiles. One pass over the tokens of the page,
//! with values as written: the caller decides which of them to use, and whether a URL may be followed.
//!
//! Spec: <https://ogp.me/>, <https://oembed.com/#section4>, <https://json-ld.org/>,
//! <https://microformats.org/wiki/rel-me>

use std::collections::HashMap;

use super::tokens::{Tag, Token, decode, tokens_with_raw};

/// Names of the collected metadata.
const METAS: [&str; 22] = [
    "article:published_time",
    "description",
    "fediverse:creator",
    "og:author",
    "og:description",
    "og:image",
    "og:image:alt",
    "og:image:secure_url",
    "og:image:url",
    "og:locale",
    "og:site",
    "og:site_name",
    "og:title",
    "og:url",
    "twitter:description",
    "twitter:image",
    "twitter:image:alt",
    "twitter:player",
    "twitter:player:height",
    "twitter:player:stream",
    "twitter:player:width",
    "twitter:title",
];

/// Most scripts of structured data.
const MAX_SCRIPTS: usize = 8;

/// Most links to other pages of the same person.
const MAX_ME: usize = 1_000;

/// The metadata of a page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The content of `<title>`.
    pub title: String,
    /// The language of the whole page.
    pub language: Option<String>,
    /// The canonical URL.
    pub canonical: Option<String>,
    /// The URL of its oEmbed document in JSON.
    pub oembed: Option<String>,
    /// The URL of its ActivityStreams document.
    pub activity: Option<String>,
    /// Structured data: JSON-LD.
    pub linked_data: Vec<String>,
    /// Links to other pages of the same person (`rel="me"`).
    pub me: Vec<String>,
    metas: HashMap<&'static str, String>,
}

/// The template of `rel="lrdd"` in the XML of a host's descriptor (RFC 6415).
#[must_use]
pub fn resource_template(xrd: &str) -> Option<String> {
    tokens_with_raw(xrd).find_map(|token| match token {
        Token::Start(tag) if tag.name == "link" && is_related(&tag, "lrdd") => tag.attribute("template"),
        _ => None,
    })
}

impl Page {
    /// Reads `html`.
    #[must_use]
    pub fn read(html: &str) -> Self {
        let mut page = Self::default();
        for token in tokens_with_raw(html) {
            match token {
                Token::Start(tag) => page.element(&tag),
                Token::Raw(tag, content) => page.raw(&tag, content),
                Token::Text(_) | Token::End(_) => {}
            }
        }
        page
    }

    /// The first of these metadata that exists and is not blank.
    #[must_use]
    pub fn meta(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.metas.get(*name)).map(String::as_str)
    }

    fn element(&mut self, tag: &Tag<'_>) {
        match tag.name.as_str() {
            "html" if self.language.is_none() => self.language = tag.attribute("lang"),
            "meta" => self.add_meta(tag),
            "link" => self.add_link(tag),
            "a" if is_related(tag, "me") => self.add_me(tag.attribute("href")),
            _ => {}
        }
    }

    fn add_meta(&mut self, tag: &Tag<'_>) {
        let named = |attribute: &str| {
            let name = tag.attribute(attribute)?.trim().to_ascii_lowercase();
            METAS.into_iter().find(|known| *known == name)
        };
        let Some(name) = named("property").or_else(|| named("name")) else { return };
        if let Some(value) = tag.attribute("content").filter(|value| !value.trim().is_empty()) {
            self.metas.entry(name).or_insert(value);
        }
    }

    fn add_link(&mut self, tag: &Tag<'_>) {
        let Some(href) = tag.attribute("href") else { return };
        if is_related(tag, "me") {
            self.add_me(Some(href));
        } else if self.canonical.is_none() && is_related(tag, "canonical") {
            self.canonical = Some(href);
        } else if self.oembed.is_none() && is_related(tag, "alternate") && is_typed(tag, "application/json+oembed") {
            self.oembed = Some(href);
        } else if self.activity.is_none() && is_related(tag, "alternate") && is_activity_streams(tag) {
            self.activity = Some(href);
        }
    }

    fn add_me(&mut self, href: Option<String>) {
        if self.me.len() < MAX_ME {
            self.me.extend(href);
        }
    }

    fn raw(&mut self, tag: &Tag<'_>, content: &str) {
        match tag.name.as_str() {
            "title" if self.title.is_empty() => self.title = decode(content).into_owned(),
            "script" if self.linked_data.len() < MAX_SCRIPTS && is_typed(tag, "application/ld+json") => {
                self.linked_data.push(content.to_owned());
            }
            _ => {}
        }
    }
}

/// True when the attribute `rel` of `tag` has the word `relation`.
fn is_related(tag: &Tag<'_>, relation: &str) -> bool {
    let relations = tag.attribute("rel").unwrap_or_default();
    relations.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(relation))
}

/// True for a link to an ActivityStreams document.
fn is_activity_streams(tag: &Tag<'_>) -> bool {
    let kind = tag.attribute("type").unwrap_or_default().to_ascii_lowercase();
    let profiled = kind.contains("https://www.w3.org/ns/activitystreams");
    is_typed(tag, "application/activity+json") || (profiled && is_typed(tag, "application/ld+json"))
}

fn is_typed(tag: &Tag<'_>, wanted: &str) -> bool {
    let kind = tag.attribute("type").unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_template_is_read_from_a_descriptor() {
        let xrd = r#"<?xml version="1.0" encoding="UTF-8"?><XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0">
            <Link rel="other" template="https://a.test/no"/>
            <Link rel="lrdd" type="application/json" template="https://a.test/finger?of={uri}&amp;x=1"/></XRD>"#;
        assert_eq!(resource_template(xrd).as_deref(), Some("https://a.test/finger?of={uri}&x=1"));
        assert_eq!(resource_template("<p>no"), None);
    }

    #[test]
    fn page_is_read() {
        let page = Page::read(
            r#"<!doctype html><HTML lang=de><head><title>Kr&auml;hen
            </title><meta property="og:title" content=" "><meta name="OG:Title" content="Crows &amp; rooks">
            <meta property="og:title" content="second"><meta name=robots content=x><meta name=description>
            <link rel="Canonical nofollow" href="/a"><link rel=alternate type="application/json+oembed" href="/o?a=1&amp;b=2">
            <link rel=alternate type="application/rss+xml" href=/rss><link rel=me href="https://one.test">
            <script type="application/ld+json">{"a": "</p>"}</script><script>{"b": 1}</script></head>
            <body><title>no</title><a rel="nofollow ME" href="https://two.test/@a">me</a><a href=x>y</a>"#,
        );
        assert_eq!((page.title.trim(), page.language.as_deref()), ("Krähen", Some("de")));
        assert_eq!(page.meta(&["twitter:title", "og:title"]), Some("Crows & rooks"));
        assert_eq!((page.meta(&["robots"]), page.meta(&["description"])), (None, None));
        assert_eq!((page.canonical.as_deref(), page.oembed.as_deref()), (Some("/a"), Some("/o?a=1&b=2")));
        assert_eq!(page.linked_data, [r#"{"a": "</p>"}"#]);
        assert_eq!(page.me, ["https://one.test", "https://two.test/@a"]);
    }

    #[test]
    fn any_text_is_read() {
        for odd in ["", "<", "<title>", "<meta", "<meta property=og:title content=", "<a rel=me>", "\0<svg><title>x"] {
            let page = Page::read(odd);
            assert!(page.me.is_empty() && page.meta(&["og:title"]).is_none(), "{odd:?}");
        }
    }
}
