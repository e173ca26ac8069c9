//! Activities: who did what to which object.

use serde::Deserialize;

use super::lenient::{Id, Lenient, Many, Reference, spelled};

/// An activity. Its object is read by the kind of activity, from [`Object`].
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    #[serde(default)]
    pub id: Lenient<String>,
    #[serde(rename = "type")]
    pub kind: Many<String>,
    pub actor: Id,
    #[serde(default)]
    pub object: Many<Object>,
    #[serde(default)]
    pub to: Many<Id>,
    #[serde(default)]
    pub cc: Many<Id>,
    #[serde(default)]
    pub published: Lenient<String>,
    #[serde(default)]
    pub content: Lenient<String>,
    /// The collection that an object is added to, or removed from.
    #[serde(default)]
    pub target: Lenient<Id>,
}

/// The object of an activity: its id, and if it is inline also its text, which [`Object::read`] parses as the type that
/// the activity expects.
#[derive(Clone, Debug)]
pub struct Object {
    pub id: Option<String>,
    pub kind: Vec<String>,
    inline: Option<Box<str>>,
}

impl Object {
    /// The inline object as `T`; `None` when there is only an id, or it is none.
    #[must_use]
    pub fn read<T: serde::de::DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.inline.as_deref()?).ok()
    }

    /// True when the object itself is here, not only its id.
    #[must_use]
    pub fn is_inline(&self) -> bool {
        self.inline.is_some()
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            id: Lenient<String>,
            #[serde(rename = "type", default)]
            kind: Many<String>,
        }
        use serde::de::Error as _;
        let raw = <&serde_json::value::RawValue>::deserialize(deserializer)?.get();
        match serde_json::from_str::<Reference<Head>>(raw).map_err(D::Error::custom)? {
            Reference::Id(id) => Ok(Self { id: Some(id), kind: Vec::new(), inline: None }),
            Reference::Inline(head) => {
                Ok(Self { id: head.id.0.map(spelled), kind: head.kind.0, inline: Some(raw.into()) })
            }
        }
    }
}

/// The kinds of activity that this server understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Create,
    Update,
    Delete,
    Announce,
    Like,
    Follow,
    Accept,
    Reject,
    Undo,
    Block,
    Add,
    Remove,
}

impl Kind {
    /// The name, also a label of metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::Update => "Update",
            Self::Delete => "Delete",
            Self::Announce => "Announce",
            Self::Like => "Like",
            Self::Follow => "Follow",
            Self::Accept => "Accept",
            Self::Reject => "Reject",
            Self::Undo => "Undo",
            Self::Block => "Block",
            Self::Add => "Add",
            Self::Remove => "Remove",
        }
    }

    /// The kind of one of these types; `None` when none is known.
    #[must_use]
    pub fn of(types: &[String]) -> Option<Self> {
        const ALL: [Kind; 12] = [
            Kind::Create,
            Kind::Update,
            Kind::Delete,
            Kind::Announce,
            Kind::Like,
            Kind::Follow,
            Kind::Accept,
            Kind::Reject,
            Kind::Undo,
            Kind::Block,
            Kind::Add,
            Kind::Remove,
        ];
        ALL.into_iter().find(|kind| types.iter().any(|name| name == kind.as_str()))
    }
}
