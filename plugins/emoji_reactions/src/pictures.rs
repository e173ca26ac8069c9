//! The pictures of custom emojis.

use std::collections::{BTreeSet, HashMap};

use rookery_plugin::prelude::*;

use crate::emoji::{Emoji, Name};

/// The picture of a custom emoji.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Picture {
    pub(crate) url: String,
    pub(crate) static_url: String,
    pub(crate) domain: Option<String>,
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
}

/// The pictures of custom emojis, by [`Name::key`]. One that is gone or disabled has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pictures(HashMap<String, Picture>);

impl Pictures {
    /// The pictures of those among `emojis` that are custom and enabled.
    ///
    /// # Errors
    /// The host's.
    pub(crate) fn of<'a>(emojis: impl IntoIterator<Item = &'a Emoji>) -> Result<Self> {
        let custom = emojis.into_iter().filter(|emoji| emoji.custom);
        let keys: BTreeSet<String> = custom.map(|emoji| emoji.name.key()).collect();
        let keys: Vec<String> = keys.into_iter().collect();
        let mut pictures = Self::default();
        for part in keys.chunks(1_000) {
            let found = core::emojis(part)?.into_iter().map(|emoji| picture(emoji?));
            pictures.0.extend(part.iter().cloned().zip(found).filter_map(|(key, picture)| Some((key, picture?))));
        }
        Ok(pictures)
    }

    /// The picture of a custom emoji.
    pub(crate) fn find(&self, emoji: &Emoji) -> Option<&Picture> {
        if emoji.custom { self.0.get(&emoji.name.key()) } else { None }
    }

    /// Whether the emoji can be shown: a custom one needs a picture.
    pub(crate) fn show(&self, emoji: &Emoji) -> bool {
        !emoji.custom || self.find(emoji).is_some()
    }
}

impl FromIterator<(Name, Picture)> for Pictures {
    fn from_iter<I: IntoIterator<Item = (Name, Picture)>>(pictures: I) -> Self {
        Self(pictures.into_iter().map(|(name, picture)| (name.key(), picture)).collect())
    }
}

fn picture(emoji: core::Emoji) -> Option<Picture> {
    let url = emoji.url?;
    let static_url = emoji.static_url.unwrap_or_else(|| url.clone());
    Some(Picture { url, static_url, domain: emoji.domain, width: emoji.width, height: emoji.height })
}
