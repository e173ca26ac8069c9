//! Builds a card from the metadata of a page, in the order of trust.
//!
//! Structured data takes precedence over OpenGraph, OpenGraph over Twitter's names, and these over general metadata.
//! The page's [oEmbed document](super::oembed) is applied afterwards. Texts are shortened, URLs are checked.
//!
//! Spec: docs/contract/rules.md#10-statuses, "Preview card".

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime};
use outbound::Target;

use super::structured::Structured;
use crate::web_page::WebPage;
use model::card::{CardKind, CardState};
use model::{PreviewCard, Time};
use text::language;

/// Longest title, in characters.
const TITLE_MAX: usize = 300;
/// Longest description, in characters.
const DESCRIPTION_MAX: usize = 1_000;
/// Longest name of an author or provider, in characters.
const NAME_MAX: usize = 150;
/// Longest URL, in bytes.
pub(super) const URL_MAX: usize = 2_048;
/// Longest HTML of a player, in bytes.
const HTML_MAX: usize = 8_192;
/// Largest width or height, in pixels.
const SIDE_MAX: i64 = 10_000;

/// A new card, and the picture to store for it.
#[derive(Debug)]
pub(super) struct Preview {
    pub(super) card: PreviewCard,
    pub(super) image: Option<Target>,
    /// The account that the page names as its author on this network: `@name@server`.
    pub(super) creator: Option<String>,
}

impl Preview {
    /// The preview of the page `found`; `card` is its previous card.
    pub(super) fn of(card: &PreviewCard, found: &WebPage) -> Self {
        let (page, target) = (&found.page, &found.target);
        let data = Structured::read(&page.linked_data);
        let meta = |names: &[&str]| page.meta(names).map(str::to_owned);
        let title =
            data.headline.or_else(|| meta(&["og:title", "twitter:title"])).unwrap_or_else(|| page.title.clone());
        let description = data.description.or_else(|| meta(&["og:description", "twitter:description", "description"]));
        let locale = data.language.or_else(|| meta(&["og:locale"])).or_else(|| page.language.clone());
        let published = data.date_published.or_else(|| meta(&["article:published_time"]));
        let image = page.meta(&["og:image:secure_url", "og:image", "og:image:url", "twitter:image"]);
        let card = PreviewCard {
            state: CardState::Found,
            kind: CardKind::Link,
            page_url: shown_address(found).unwrap_or_else(|| card.url.clone()),
            title: line(&title, TITLE_MAX),
            description: line(&description.unwrap_or_default(), DESCRIPTION_MAX),
            language: locale.and_then(|locale| language::resolve(&locale)).map(str::to_owned),
            author_name: line(&data.author_name.or_else(|| meta(&["og:author"])).unwrap_or_default(), NAME_MAX),
            author_url: data.author_url.and_then(|url| address(target, &url)).unwrap_or_default(),
            provider_name: line(&data.publisher_name.or_else(|| meta(&["og:site_name"])).unwrap_or_default(), NAME_MAX),
            provider_url: page.meta(&["og:site"]).and_then(|url| address(target, url)).unwrap_or_default(),
            html: String::new(),
            width: 0,
            height: 0,
            image: None,
            image_bytes: 0,
            image_description: line(
                page.meta(&["og:image:alt", "twitter:image:alt"]).unwrap_or_default(),
                DESCRIPTION_MAX,
            ),
            creator_account_id: None,
            embed_url: String::new(),
            blurhash: None,
            published_at: published.and_then(|written| time(&written)),
            ..card.clone()
        };
        let image = image.and_then(|url| target.join(url.trim()).ok());
        let mut preview = Self { card, image, creator: meta(&["fediverse:creator"]) };
        preview.add_player(found);
        preview
    }

    /// True when there is content to show.
    pub(super) fn has_content(&self) -> bool {
        !self.card.title.is_empty() || !self.card.html.is_empty()
    }

    /// Adds the player that the page names, in a frame.
    fn add_player(&mut self, found: &WebPage) {
        let Some(player) = found.page.meta(&["twitter:player"]).and_then(|url| address(&found.target, url)) else {
            return;
        };
        let side = |name| found.page.meta(&[name]).and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        let (width, height) = (side("twitter:player:width"), side("twitter:player:height"));
        let frame = format!(
            "<iframe src=\"{}\" width=\"{width}\" height=\"{height}\" allowfullscreen frameborder=\"0\">",
            text::escape(&player)
        );
        if player.starts_with("https://") {
            self.set_player(&frame, width, height);
        }
        let stream = found.page.meta(&["twitter:player:stream"]).and_then(|url| address(&found.target, url));
        self.card.embed_url = stream.unwrap_or_default();
    }

    /// Makes it a card with a player, if `html` contains anything that may be shown.
    pub(super) fn set_player(&mut self, html: &str, width: i64, height: i64) {
        let html = text::embed(html);
        if !html.is_empty() && html.len() <= HTML_MAX {
            self.card.kind = CardKind::Video;
            self.card.html = html;
            self.set_size(width, height);
        }
    }

    pub(super) fn set_size(&mut self, width: i64, height: i64) {
        (self.card.width, self.card.height) = (width.clamp(0, SIDE_MAX), height.clamp(0, SIDE_MAX));
    }

    /// Sets the names that are not blank.
    pub(super) fn set_names(&mut self, title: &str, author: &str, provider: &str) {
        let card = &mut self.card;
        for (text, max, known) in [
            (title, TITLE_MAX, &mut card.title),
            (author, NAME_MAX, &mut card.author_name),
            (provider, NAME_MAX, &mut card.provider_name),
        ] {
            let text = line(text, max);
            if !text.is_empty() {
                *known = text;
            }
        }
    }
}

/// The canonical URL of the page, if it belongs to the same site, else the URL where it was found.
fn shown_address(found: &WebPage) -> Option<String> {
    let written = [found.page.canonical.as_deref(), found.page.meta(&["og:url"])];
    let joined = written.into_iter().flatten().filter_map(|url| found.target.join(url.trim()).ok());
    let canonical = joined.filter(|canonical| canonical.host() == found.target.host());
    let mut addresses = canonical.chain([found.target.clone()]).map(|target| target.url().to_owned());
    addresses.find(|url| url.len() <= URL_MAX)
}

/// Parses `written` as a web URL.
pub(super) fn address(base: &Target, written: &str) -> Option<String> {
    let written = written.trim();
    let target = base.join(written).ok().filter(|_| !written.is_empty())?;
    Some(target.url().to_owned()).filter(|url| url.len() <= URL_MAX)
}

/// `text` in one line, without control characters, of at most `max` characters.
fn line(text: &str, max: usize) -> String {
    // Limits the work for much longer texts.
    let head: String = text.chars().take(max * 8).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words = head.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(max).collect()
}

/// An ISO 8601 time, or midnight of a date.
fn time(written: &str) -> Option<Time> {
    let written = written.trim();
    let day = || NaiveDate::parse_from_str(written.get(..10)?, "%Y-%m-%d").ok();
    let exact = DateTime::parse_from_rfc3339(written).ok().map(|time| time.to_utc());
    let time = exact.or_else(|| Some(day()?.and_time(NaiveTime::MIN).and_utc()))?;
    Some(Time::from(time)).filter(|time| (1..=9999).contains(&time.year()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use text::page::Page;

    fn preview(html: &str) -> Preview {
        let now = Time::from_micros(0);
        let card = PreviewCard {
            id: 1.into(),
            url: "https://a.test/x".to_owned(),
            state: CardState::Waiting,
            kind: CardKind::Link,
            page_url: String::new(),
            title: String::new(),
            description: String::new(),
            language: None,
            author_name: String::new(),
            author_url: String::new(),
            creator_account_id: None,
            provider_name: String::new(),
            provider_url: String::new(),
            html: String::new(),
            width: 0,
            height: 0,
            image: None,
            image_bytes: 0,
            image_description: String::new(),
            embed_url: String::new(),
            blurhash: None,
            published_at: None,
            failures: 0,
            due_at: now,
            used_at: now,
            created_at: now,
        };
        let target = Target::parse("https://a.test/b/c?d").unwrap();
        Preview::of(&card, &WebPage { target, page: Page::read(html), links: Vec::new() })
    }

    #[test]
    fn page_without_metadata_has_its_title() {
        let Preview { card, image, .. } = preview("<html lang=pt-PT><title> A\n\u{7}title </title>");
        assert_eq!((card.title.as_str(), card.page_url.as_str(), image), ("A title", "https://a.test/b/c?d", None));
        assert_eq!((card.language.as_deref(), card.kind), (Some("pt"), CardKind::Link));
        assert!(!preview("<p>hello").has_content());
    }

    #[test]
    fn better_metadata_comes_first() {
        let Preview { card, image, .. } = preview(
            r#"<title>t</title><meta property="og:title" content="o"><meta name="twitter:title" content="w">
            <meta name=description content=d><meta property="og:image" content="/i.png"><meta property="og:url" content="/real">
            <link rel=canonical href="https://evil.test/"><meta property="article:published_time" content="2026-01-02T03:04:05+01:00">
            <script type="application/ld+json">{"@type":"Article","author":{"name":"Ann","url":"/ann"}}</script>"#,
        );
        assert_eq!((card.title.as_str(), card.description.as_str()), ("o", "d"));
        assert_eq!((card.author_name.as_str(), card.author_url.as_str()), ("Ann", "https://a.test/ann"));
        assert_eq!(card.page_url, "https://a.test/real", "another site is not believed");
        assert_eq!(image.unwrap().url(), "https://a.test/i.png");
        assert_eq!(card.published_at.unwrap().to_api(), "2026-01-02T02:04:05.000Z");
        assert_eq!(time("2026-01-02").unwrap().to_api(), "2026-01-02T00:00:00.000Z");
        assert!(["", "yesterday", "2026-13-01", "-999-01-01", "日本語日本語"].iter().all(|odd| time(odd).is_none()));
    }

    #[test]
    fn player_is_framed_when_it_is_secure() {
        let page = |url: &str| {
            preview(&format!(
                r#"<title>t</title><meta name="twitter:player" content="{url}"><meta name="twitter:player:width" content="640">"#
            ))
        };
        let card = page("https://v.test/?a=&quot;><script>").card;
        assert_eq!((card.kind, card.width), (CardKind::Video, 640));
        assert!(card.html.starts_with("<iframe src=\"https://v.test/?a=%22%3E%3Cscript%3E\""), "{}", card.html);
        for odd in ["http://v.test/", "javascript:alert(1)", ""] {
            assert_eq!((page(odd).card.kind, page(odd).card.html), (CardKind::Link, String::new()), "{odd}");
        }
    }

    #[test]
    fn texts_are_shortened() {
        let long = "x ".repeat(100_000);
        assert_eq!(preview(&format!("<title>{long}</title>")).card.title.chars().count(), TITLE_MAX);
        let url = format!("/{}", "x".repeat(URL_MAX));
        assert_eq!(
            preview(&format!("<title>t</title><link rel=canonical href={url}>")).card.page_url,
            "https://a.test/b/c?d"
        );
    }
}
