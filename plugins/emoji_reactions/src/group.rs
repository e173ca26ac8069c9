//! Reactions as a status shows them: grouped by name and server, in the order of their first use.

use serde::Serialize;

use crate::emoji::Emoji;
use crate::pictures::{Picture, Pictures};

/// One account's reaction, and what there is of the same emoji on the status.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reaction {
    pub(crate) account: i64,
    pub(crate) emoji: Emoji,
    /// How many reacted with it.
    pub(crate) total: usize,
    /// The viewer did.
    pub(crate) own: bool,
}

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
    /// Fewer than `count` when there are many.
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

/// Groups the reactions of one status, which are sorted by emoji. Custom emojis without a
/// picture are left out.
pub(crate) fn group(reactions: &[Reaction], pictures: &Pictures, signed_in: bool) -> Vec<Group> {
    let groups = reactions.chunk_by(|one, other| one.emoji == other.emoji);
    let shown = groups.filter(|group| pictures.show(&group[0].emoji));
    shown
        .map(|group| Group {
            me: signed_in.then_some(group[0].own),
            account_ids: group.iter().map(|reaction| reaction.account.to_string()).collect(),
            ..Group::new(&group[0].emoji, group[0].total, pictures)
        })
        .collect()
}

impl Group {
    /// An emoji that so many reacted with.
    pub(crate) fn new(emoji: &Emoji, count: usize, pictures: &Pictures) -> Self {
        let name = emoji.name.name.clone();
        Self { name, count, me: None, picture: pictures.find(emoji).cloned(), account_ids: Vec::new() }
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
    use crate::emoji::Name;

    fn reaction(account: i64, name: &str, domain: Option<&str>, total: usize) -> Reaction {
        let emoji = Emoji::new(name.into(), domain.unwrap_or_default().into(), domain.is_some());
        Reaction { account, emoji, total, own: account == 3 }
    }

    fn pictures() -> Pictures {
        let picture = |domain: &str| {
            let picture = Picture {
                url: "https://here.test/rook.png".into(),
                static_url: "https://here.test/still.png".into(),
                domain: Some(domain.to_owned()).filter(|domain| !domain.is_empty()),
                width: Some(32),
                height: None,
            };
            (Name { name: "rook".into(), domain: domain.to_owned() }, picture)
        };
        ["", "far.test"].map(picture).into_iter().collect()
    }

    #[test]
    fn equal_emojis_are_one_group() {
        let reactions = [
            Reaction { own: true, ..reaction(1, "👍", None, 200) },
            reaction(3, "👍", None, 200),
            reaction(2, "🎉", None, 1),
        ];
        let groups = serde_json::to_value(group(&reactions, &Pictures::default(), true)).unwrap();
        assert_eq!(
            groups,
            json!([
                {"name": "👍", "count": 200, "me": true, "account_ids": ["1", "3"]},
                {"name": "🎉", "count": 1, "me": false, "account_ids": ["2"]},
            ])
        );
    }

    #[test]
    fn one_shortcode_of_two_servers_is_two_groups() {
        let reactions = [
            reaction(1, "rook", Some(""), 2),
            reaction(3, "rook", Some(""), 2),
            reaction(2, "rook", Some("far.test"), 1),
        ];
        let groups = group(&reactions, &pictures(), false);
        let counts: Vec<_> = groups.iter().map(|group| (group.count, group.compact().name)).collect();
        assert_eq!(counts, [(2, "rook".into()), (1, "rook@far.test".into())]);
        let json = serde_json::to_value(&groups[0]).unwrap();
        assert_eq!((&json["domain"], &json["width"], &json["height"]), (&json!(null), &json!(32), &json!(null)));
        assert_eq!(json.get("me"), None, "anonymous");
    }

    #[test]
    fn a_unicode_emoji_has_no_picture_and_no_domain() {
        let groups = group(&[reaction(1, "👍", None, 1)], &pictures(), false);
        assert_eq!(serde_json::to_value(&groups[0]).unwrap(), json!({"name": "👍", "count": 1, "account_ids": ["1"]}));
        assert_eq!(serde_json::to_value(groups[0].compact()).unwrap(), json!({"name": "👍", "count": 1}));
    }

    #[test]
    fn an_emoji_that_is_gone_leaves_no_group() {
        let reactions = [reaction(1, "gone", Some(""), 1), reaction(1, "👍", None, 1)];
        assert_eq!(group(&reactions, &pictures(), false).len(), 1);
    }
}
