//! What a deck is, apart from where it is kept.

use std::collections::HashSet;

use rookery_plugin::core::Emoji;
use rookery_plugin::prelude::*;

/// How many entries a deck holds; what comes after them is dropped.
const MOST: usize = 256;

/// An entry as it is kept. What has a `url` is a custom emoji, as it looked when it was chosen.
#[derive(Clone, Debug, Default, PartialEq, Row)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) url: Option<String>,
    pub(crate) static_url: Option<String>,
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
}

/// An entry as clients see it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Shown {
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
    let entry = |(name, emoji): (String, Option<Emoji>)| match emoji {
        Some(Emoji { name, custom: Some(_), domain: None, url, static_url, width, height }) => {
            Entry { name, static_url: static_url.or_else(|| url.clone()), url, width, height }
        }
        _ => Entry { name, ..Entry::default() },
    };
    names.into_iter().zip(emojis).map(entry).collect()
}

/// The shortcodes of custom emojis, which may be gone meanwhile.
pub(crate) fn custom_names(entries: &[Entry]) -> Vec<String> {
    entries.iter().filter(|entry| entry.url.is_some()).map(|entry| entry.name.clone()).collect()
}

/// What clients see: custom emojis only while they are among `usable`.
pub(crate) fn shown(entries: Vec<Entry>, usable: &HashSet<String>) -> Vec<Shown> {
    let show = |entry: Entry| match (entry.url, entry.static_url) {
        (Some(url), Some(static_url)) => usable.contains(&entry.name).then_some(Shown::Custom {
            name: entry.name,
            url,
            static_url,
            width: entry.width,
            height: entry.height,
        }),
        _ => Some(Shown::Plain { name: entry.name }),
    };
    entries.into_iter().filter_map(show).collect()
}

/// The shortcodes of those that are custom emojis of this server.
pub(crate) fn usable(emojis: &[Option<Emoji>]) -> HashSet<String> {
    let custom = emojis.iter().flatten().filter(|emoji| emoji.custom.is_some() && emoji.domain.is_none());
    custom.map(|emoji| emoji.name.clone()).collect()
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

    fn custom(name: &str, domain: Option<&str>) -> Option<Emoji> {
        let url = Some(format!("https://here.test/{name}.png"));
        let domain = domain.map(str::to_owned);
        Some(Emoji { custom: Some(1), domain, static_url: url.clone(), url, width: Some(20), ..unicode(name)? })
    }

    fn json(entries: Vec<Entry>, usable: &HashSet<String>) -> String {
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
        let entries = entries(names, vec![unicode("👍"), custom("rook", None), custom("rook", Some("far.test")), None]);
        let kept: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.url.is_some())).collect();
        assert_eq!(kept, [("👍", false), ("rook", true), ("rook@far.test", false), ("no_such", false)]);
        assert_eq!(custom_names(&entries), ["rook"]);
    }

    #[test]
    fn a_custom_emoji_is_shown_while_it_can_be_used() {
        let entries = entries(texts(&["rook", "👍"]), vec![custom("rook", None), unicode("👍")]);
        let usable = usable(&[custom("rook", None)]);
        let url = "https://here.test/rook.png";
        assert_eq!(
            json(entries.clone(), &usable),
            format!(
                r#"[{{"name":"rook","url":"{url}","static_url":"{url}","width":20,"height":null}},{{"name":"👍"}}]"#
            )
        );
        assert_eq!(json(entries, &HashSet::new()), r#"[{"name":"👍"}]"#);
    }
}
