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
    /// The reason of a report.
    #[serde(default)]
    pub category: Lenient<String>,
    /// The collection that an object is added to, or removed from; the account that one moves to.
    #[serde(default)]
    pub target: Lenient<Id>,
    /// The interaction that a request is about.
    #[serde(default)]
    pub instrument: Lenient<Object>,
    /// The authorization that an acceptance gives.
    #[serde(default)]
    pub result: Lenient<Id>,
}

impl Activity {
    /// The first of `names` that is one of its types.
    #[must_use]
    pub fn first_of(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.kind.iter().any(|kind| kind == name))
    }

    /// True for an activity of this type.
    #[must_use]
    pub fn is(&self, name: &'static str) -> bool {
        self.first_of(&[name]).is_some()
    }
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
