//! <https://docs.joinmastodon.org/entities/CustomEmoji/>

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use context::Cx;
use context::error::Result;
use model::remote_file::{RemoteAddress, RemoteFileKind};
use model::urls::Urls;
use model::{Emoji, Emojis};

/// A custom emoji; the short form is embedded in other entities.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CustomEmoji {
    pub shortcode: String,
    pub url: String,
    pub static_url: String,
    pub visible_in_picker: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    pub width: Option<i64>,
    pub height: Option<i64>,
    pub sensitive: bool,
    pub is_sensitive: bool,
    /// Full form only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aliases: Option<Vec<String>>,
    /// Full form only; the inner `None` is `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<Option<String>>,
}

impl CustomEmoji {
    /// The short form, for embedding in other entities.
    #[must_use]
    pub fn short(emoji: &Emoji, urls: &Urls) -> Self {
        let remote = emoji.remote_url.as_deref().map(|url| urls.remote_file(RemoteFileKind::Emoji, emoji.id, url));
        let file = |key: &Option<String>| key.as_deref().map(|key| urls.media(key));
        let still = file(&emoji.static_file).or_else(|| file(&emoji.file));
        Self {
            shortcode: emoji.shortcode.clone(),
            static_url: still.or_else(|| remote.as_ref().map(RemoteAddress::small)).unwrap_or_default(),
            url: file(&emoji.file).or_else(|| remote.map(RemoteAddress::whole)).unwrap_or_default(),
            visible_in_picker: emoji.visible_in_picker,
            category: None,
            width: emoji.width,
            height: emoji.height,
            sensitive: emoji.sensitive,
            is_sensitive: emoji.sensitive,
            aliases: None,
            license: None,
        }
    }

    /// The full form, of `GET /api/v1/custom_emojis`.
    #[must_use]
    pub fn full(emoji: &Emoji, urls: &Urls) -> Self {
        Self {
            category: emoji.category.clone(),
            aliases: Some(emoji.aliases.0.clone()),
            license: Some(emoji.license.clone()),
            ..Self::short(emoji, urls)
        }
    }
}

impl CustomEmoji {
    /// This server's emojis that are visible in the picker, sorted by shortcode. Served from memory, without a query.
    #[must_use]
    pub fn picker(cx: &Cx) -> Vec<Self> {
        let emojis = cx.emojis();
        let visible = emojis.by_shortcode.values().filter(|emoji| emoji.visible_in_picker);
        let mut shown: Vec<Self> = visible.map(|emoji| Self::full(emoji, &cx.urls)).collect();
        shown.sort_by(|one, other| one.shortcode.cmp(&other.shortcode));
        shown
    }
}

/// The emojis of this server in the picker whose shortcode contains `word`, prefixes first; at most `most`.
#[must_use]
pub fn named(cx: &Cx, word: &str, most: i64) -> Vec<CustomEmoji> {
    let (word, emojis) = (word.to_lowercase(), cx.emojis());
    let mut found: Vec<(bool, &Emoji)> = emojis
        .by_shortcode
        .values()
        .filter(|emoji| emoji.visible_in_picker)
        .filter_map(|emoji| Some((emoji.shortcode.to_lowercase().find(&word)? > 0, emoji)))
        .collect();
    found.sort_by(|(inner, one), (other_inner, other)| (inner, &one.shortcode).cmp(&(other_inner, &other.shortcode)));
    found.truncate(usize::try_from(most).unwrap_or_default());
    found.into_iter().map(|(_, emoji)| CustomEmoji::short(emoji, &cx.urls)).collect()
}

/// The emojis of a page, loaded together to avoid a query per text.
#[derive(Debug)]
pub struct Palette {
    local: std::sync::Arc<Emojis>,
    remote: HashMap<(String, String), Emoji>,
}

impl Palette {
    /// Loads all emojis used in `texts` (each with its domain, `None` for local) in at most one query.
    pub async fn load(cx: &Cx, texts: &[(Option<&str>, &str)]) -> Result<Self> {
        let (mut shortcodes, mut domains) = (BTreeSet::new(), BTreeSet::new());
        for (domain, content) in texts.iter().copied() {
            if let Some(domain) = domain {
                let found = text::emoji_shortcodes(content);
                if !found.is_empty() {
                    domains.insert(domain.to_owned());
                    shortcodes.extend(found.into_iter().map(str::to_owned));
                }
            }
        }
        let remote = if shortcodes.is_empty() {
            HashMap::new()
        } else {
            let (shortcodes, domains): (Vec<_>, Vec<_>) =
                (shortcodes.into_iter().collect(), domains.into_iter().collect());
            let rows = store::emoji::list_remote(&cx.db, &shortcodes, &domains).await?;
            rows.into_iter()
                .map(|emoji| ((emoji.shortcode.clone(), emoji.domain.clone().unwrap_or_default()), emoji))
                .collect()
        };
        Ok(Self { local: cx.emojis(), remote })
    }

    /// Only the emojis of this server.
    pub(crate) fn of_this_server(cx: &Cx) -> Self {
        Self { local: cx.emojis(), remote: HashMap::new() }
    }

    /// The emojis used in `contents` from `domain`, each once, in order.
    #[must_use]
    pub fn of(&self, urls: &Urls, domain: Option<&str>, contents: &[&str]) -> Vec<CustomEmoji> {
        self.found(domain, contents).into_iter().map(|emoji| CustomEmoji::short(emoji, urls)).collect()
    }

    /// As [`Palette::of`]: their rows.
    pub(crate) fn found(&self, domain: Option<&str>, contents: &[&str]) -> Vec<&Emoji> {
        let mut shown = BTreeSet::new();
        let mut emojis = Vec::new();
        for shortcode in contents.iter().flat_map(|content| text::emoji_shortcodes(content)) {
            let emoji = match domain {
                None => self.local.by_shortcode.get(shortcode),
                Some(domain) => self.remote.get(&(shortcode.to_owned(), domain.to_owned())),
            };
            if let Some(emoji) = emoji
                && shown.insert(shortcode)
            {
                emojis.push(emoji);
            }
        }
        emojis
    }
}
