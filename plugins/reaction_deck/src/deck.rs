//! A deck, independent of its storage.

use std::collections::HashSet;

use rookery_plugin::core::Emoji;
use rookery_plugin::prelude::*;

/// How many entries a deck holds; what comes after them is dropped.
const MOST: usize = 256;

/// An entry as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) custom: Option<Custom>,
}

/// A custom emoji, as it looked when it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Custom {
    /// Another emoji of the same name is another.
    pub(crate) id: i64,
    pub(crate) url: String,
    pub(crate) static_url: String,
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
}

/// An entry as clients see it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum DeckEmoji {
    Custom { name: String, url: String, static_url: String, width: Option<u32>, height: Option<u32> },
    Plain { name: String },
}

/// The names that a client sent, without colons and blanks, as many as a deck holds.
pub(crate) fn names(sent: &[String]) -> Vec<String> {
    let bare = sent.iter().map(|name| name.replace(':', "").trim().to_owned());
    bare.filter(|name| !name.is_empty()).take(MOST).collect()
}

/// The entries of a new deck: `emojis` is what each name means, in the same order.
pub(crate) fn entries(names: Vec<String>, emojis: Vec<Option<Emoji>>) -> Vec<Entry> {
    let entry = |(name, emoji): (String, Option<Emoji>)| match emoji.and_then(|emoji| Some((custom(&emoji)?, emoji))) {
        Some((custom, emoji)) => Entry { name: emoji.name, custom: Some(custom) },
        None => Entry { name, custom: None },
    };
    names.into_iter().zip(emojis).map(entry).collect()
}

/// The picture of an emoji of this server.
fn custom(emoji: &Emoji) -> Option<Custom> {
    let (id, url) = (emoji.custom.filter(|_| emoji.domain.is_none())?, emoji.url.clone()?);
    let static_url = emoji.static_url.clone().unwrap_or_else(|| url.clone());
    Some(Custom { id, url, static_url, width: emoji.width, height: emoji.height })
}

/// The shortcodes of custom emojis, which may be gone meanwhile.
pub(crate) fn custom_names(entries: &[Entry]) -> Vec<String> {
    entries.iter().filter(|entry| entry.custom.is_some()).map(|entry| entry.name.clone()).collect()
}

/// What clients see: custom emojis only while they are among `usable`.
pub(crate) fn shown(entries: Vec<Entry>, usable: &HashSet<i64>) -> Vec<DeckEmoji> {
    let show = |Entry { name, custom }: Entry| match custom {
        Some(Custom { id, url, static_url, width, height }) => {
            usable.contains(&id).then_some(DeckEmoji::Custom { name, url, static_url, width, height })
        }
        None => Some(DeckEmoji::Plain { name }),
    };
    entries.into_iter().filter_map(show).collect()
}

/// The ids of the custom emojis of this server among them.
pub(crate) fn usable(emojis: &[Option<Emoji>]) -> HashSet<i64> {
    emojis.iter().flatten().filter(|emoji| emoji.domain.is_none()).filter_map(|emoji| emoji.custom).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn unicode(name: &str) -> Option<Emoji> {
        Some(Emoji {
            name: name.into(),
            domain: None,
            custom: None,
            url: None,
            static_url: None,
            width: None,
            height: None,
        })
    }

    fn drawn(name: &str, domain: Option<&str>) -> Option<Emoji> {
        let url = Some(format!("https://here.test/{name}.png"));
        let domain = domain.map(str::to_owned);
        Some(Emoji { custom: Some(1), domain, static_url: url.clone(), url, width: Some(20), ..unicode(name)? })
    }

    fn json(entries: Vec<Entry>, usable: &HashSet<i64>) -> String {
        serde_json::to_string(&shown(entries, usable)).unwrap()
    }

    #[test]
    fn names_lose_colons_and_blanks_and_end_at_256() {
        assert_eq!(names(&texts(&[":rook:", " ", "::", "👍 ", "a b"])), ["rook", "👍", "a b"]);
        let many: Vec<String> = (0..300).map(|number| number.to_string()).collect();
        assert_eq!(names(&many), many[..256]);
    }

    #[test]
    fn only_an_emoji_of_this_server_is_kept_with_its_picture() {
        let names = texts(&["👍", "rook", "rook@far.test", "no_such"]);
        let entries = entries(names, vec![unicode("👍"), drawn("rook", None), drawn("rook", Some("far.test")), None]);
        let kept: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.custom.is_some())).collect();
        assert_eq!(kept, [("👍", false), ("rook", true), ("rook@far.test", false), ("no_such", false)]);
        assert_eq!(custom_names(&entries), ["rook"]);
    }

    #[test]
    fn a_custom_emoji_is_shown_while_it_can_be_used() {
        let entries = entries(texts(&["rook", "👍"]), vec![drawn("rook", None), unicode("👍")]);
        let usable = usable(&[drawn("rook", None)]);
        let url = "https://here.test/rook.png";
        assert_eq!(
            json(entries.clone(), &usable),
            format!(
                r#"[{{"name":"rook","url":"{url}","static_url":"{url}","width":20,"height":null}},{{"name":"👍"}}]"#
            )
        );
        assert_eq!(json(entries.clone(), &HashSet::new()), r#"[{"name":"👍"}]"#);
        assert_eq!(json(entries, &HashSet::from([2])), r#"[{"name":"👍"}]"#, "another of the same name");
    }
}
