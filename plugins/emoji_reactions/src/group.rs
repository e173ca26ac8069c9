//! Reactions as a status shows them: grouped by name and server, in the order of their first use.

use std::collections::HashMap;

use serde::Serialize;

/// One account's reaction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reaction {
    pub(crate) account: i64,
    pub(crate) emoji: Emoji,
}

/// What someone reacted with, as far as it tells one emoji from another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Emoji {
    /// The Unicode emoji, or the shortcode.
    pub(crate) name: String,
    /// Empty for an emoji of this server, and for a Unicode one.
    pub(crate) domain: String,
    pub(crate) custom: bool,
}

impl Emoji {
    /// How the host finds a custom one: `rook`, `rook@far.test`.
    pub(crate) fn key(&self) -> String {
        if self.domain.is_empty() { self.name.clone() } else { format!("{}@{}", self.name, self.domain) }
    }
}

/// A custom emoji's picture.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Picture {
    pub(crate) url: String,
    pub(crate) static_url: String,
    pub(crate) domain: Option<String>,
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
}

/// The pictures of custom emojis, by [`Emoji::key`]. One that is gone or disabled has none.
pub(crate) type Pictures = HashMap<String, Picture>;

/// `EmojiReaction`: an element of a status' `emoji_reactions`.
#[derive(Debug, Serialize)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) count: usize,
    /// Only for someone who is signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) me: Option<bool>,
    #[serde(flatten)]
    pub(crate) picture: Option<Picture>,
    pub(crate) account_ids: Vec<String>,
}

/// An element of a status' `reactions`.
#[derive(Debug, Serialize)]
pub(crate) struct Compact {
    pub(crate) name: String,
    pub(crate) count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) static_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) width: Option<Option<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) height: Option<Option<u32>>,
}

/// Groups the reactions of one status, which come in the order of their making. Custom emojis without a picture are
/// left out.
pub(crate) fn group<'a>(
    reactions: impl IntoIterator<Item = &'a Reaction>,
    pictures: &Pictures,
    viewer: Option<i64>,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places: HashMap<&Emoji, usize> = HashMap::new();
    let drawn = |emoji: &Emoji| !emoji.custom || pictures.contains_key(&emoji.key());
    for Reaction { account, emoji } in reactions.into_iter().filter(|reaction| drawn(&reaction.emoji)) {
        let place = *places.entry(emoji).or_insert_with(|| {
            groups.push(empty(emoji, pictures, viewer));
            groups.len() - 1
        });
        let group = &mut groups[place];
        group.count += 1;
        group.account_ids.push(account.to_string());
        if viewer == Some(*account) {
            group.me = Some(true);
        }
    }
    groups
}

fn empty(emoji: &Emoji, pictures: &Pictures, viewer: Option<i64>) -> Group {
    Group {
        name: emoji.name.clone(),
        count: 0,
        me: viewer.map(|_| false),
        picture: if emoji.custom { pictures.get(&emoji.key()).cloned() } else { None },
        account_ids: Vec::new(),
    }
}

impl Group {
    /// What is left when nobody reacts with `name` any more.
    pub(crate) fn none(name: &str) -> Self {
        Self { name: name.to_owned(), count: 0, me: None, picture: None, account_ids: Vec::new() }
    }

    /// The short form.
    pub(crate) fn compact(&self) -> Compact {
        let picture = self.picture.as_ref();
        let domain = picture.and_then(|picture| picture.domain.as_deref());
        Compact {
            name: domain.map_or_else(|| self.name.clone(), |domain| format!("{}@{domain}", self.name)),
            count: self.count,
            url: picture.map(|picture| picture.url.clone()),
            static_url: picture.map(|picture| picture.static_url.clone()),
            width: picture.map(|picture| picture.width),
            height: picture.map(|picture| picture.height),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reaction(account: i64, name: &str, domain: Option<&str>) -> Reaction {
        let emoji = Emoji { name: name.into(), domain: domain.unwrap_or_default().into(), custom: domain.is_some() };
        Reaction { account, emoji }
    }

    fn pictures() -> Pictures {
        let picture = |domain: Option<&str>| Picture {
            url: "https://here.test/rook.png".into(),
            static_url: "https://here.test/still.png".into(),
            domain: domain.map(str::to_owned),
            width: Some(32),
            height: None,
        };
        HashMap::from([("rook".into(), picture(None)), ("rook@far.test".into(), picture(Some("far.test")))])
    }

    #[test]
    fn groups_stand_in_the_order_of_their_first_use() {
        let reactions = [reaction(1, "👍", None), reaction(2, "🎉", None), reaction(3, "👍", None)];
        let groups = serde_json::to_value(group(&reactions, &Pictures::new(), Some(3))).unwrap();
        assert_eq!(
            groups,
            json!([
                {"name": "👍", "count": 2, "me": true, "account_ids": ["1", "3"]},
                {"name": "🎉", "count": 1, "me": false, "account_ids": ["2"]},
            ])
        );
    }

    #[test]
    fn one_shortcode_of_two_servers_is_two_groups() {
        let reactions =
            [reaction(1, "rook", Some("")), reaction(2, "rook", Some("far.test")), reaction(3, "rook", Some(""))];
        let groups = group(&reactions, &pictures(), None);
        let counts: Vec<_> = groups.iter().map(|group| (group.count, group.compact().name)).collect();
        assert_eq!(counts, [(2, "rook".into()), (1, "rook@far.test".into())]);
        let json = serde_json::to_value(&groups[0]).unwrap();
        assert_eq!((&json["domain"], &json["width"], &json["height"]), (&json!(null), &json!(32), &json!(null)));
        assert_eq!(json.get("me"), None, "nobody is signed in");
    }

    #[test]
    fn a_unicode_emoji_has_no_picture_and_no_domain() {
        let reactions = [reaction(1, "👍", None)];
        let groups = group(&reactions, &pictures(), None);
        assert_eq!(serde_json::to_value(&groups[0]).unwrap(), json!({"name": "👍", "count": 1, "account_ids": ["1"]}));
        assert_eq!(serde_json::to_value(groups[0].compact()).unwrap(), json!({"name": "👍", "count": 1}));
    }

    #[test]
    fn an_emoji_that_is_gone_leaves_no_group() {
        let reactions = [reaction(1, "gone", Some("")), reaction(1, "👍", None)];
        assert_eq!(group(&reactions, &pictures(), None).len(), 1);
    }
}
