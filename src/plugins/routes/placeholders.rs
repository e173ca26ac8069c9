//! JSON templates: `{"$status":"1"}`, `{"$account":"2"}`, `{"$credentials":"2"}` and `{"$list":"3"}` are placeholders for
//! entities, and `{"$url":"/path"}` for the whole URL of a path of the server.
//!
//! Pure functions. [`Filled::parse`] finds the placeholders, the caller renders the entities, [`Filled::write`] inserts
//! them: a missing entity is `null`, or is left out where the placeholder is an array element.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::call::json::{self, MAX_DEPTH, too_deep};
use context::json::Fragment;
use rookery_http::web::next::is_own_path;

/// The kind of entity in a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum EntityKind {
    Status,
    Account,
    /// The caller's own account, with what only they see.
    Credentials,
    List,
}

impl EntityKind {
    fn of(name: &str) -> Option<Self> {
        match name {
            "$status" => Some(Self::Status),
            "$account" => Some(Self::Account),
            "$credentials" => Some(Self::Credentials),
            "$list" => Some(Self::List),
            _ => None,
        }
    }
}

/// A parsed template.
#[derive(Debug, PartialEq)]
pub(super) struct Filled(Node);

#[derive(Debug, PartialEq)]
enum Node {
    /// Verbatim JSON.
    Plain(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
    Hole(EntityKind, i64),
    /// A path of the server's.
    Url(String),
}

impl Filled {
    /// Parses a template, as strictly as [`json::check`].
    ///
    /// # Errors
    /// A message for the plugin's author.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        json::read(text, |deserializer| Read { depth: 0 }.deserialize(deserializer)).map(Self)
    }

    /// The ids of all placeholders of `kind`, without duplicates, in order of appearance.
    pub(super) fn ids(&self, kind: EntityKind) -> Vec<i64> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut waiting = vec![&self.0];
        while let Some(node) = waiting.pop() {
            match node {
                Node::Hole(of, id) if *of == kind && seen.insert(*id) => found.push(*id),
                Node::Hole(..) | Node::Plain(_) | Node::Url(_) => {}
                Node::Array(items) => waiting.extend(items.iter().rev()),
                Node::Object(members) => waiting.extend(members.iter().rev().map(|(_, node)| node)),
            }
        }
        found
    }

    /// The number of placeholders.
    pub(super) fn holes(&self) -> usize {
        let (mut count, mut waiting) = (0, vec![&self.0]);
        while let Some(node) = waiting.pop() {
            match node {
                Node::Hole(..) => count += 1,
                Node::Plain(_) | Node::Url(_) => {}
                Node::Array(items) => waiting.extend(items),
                Node::Object(members) => waiting.extend(members.iter().map(|(_, node)| node)),
            }
        }
        count
    }

    /// The document with `entities` in place of the placeholders; `whole` makes a URL of a path.
    pub(super) fn write(
        &self,
        entities: &HashMap<(EntityKind, i64), Fragment>,
        whole: &dyn Fn(&str) -> String,
    ) -> String {
        let mut out = String::new();
        self.0.write(&mut out, entities, whole);
        out
    }
}

impl Node {
    fn write(&self, out: &mut String, entities: &HashMap<(EntityKind, i64), Fragment>, whole: &dyn Fn(&str) -> String) {
        match self {
            Self::Plain(text) => out.push_str(text),
            Self::Url(path) => out.push_str(&serde_json::Value::from(whole(path)).to_string()),
            Self::Hole(kind, id) => out.push_str(entities.get(&(*kind, *id)).map_or("null", Fragment::as_str)),
            Self::Array(items) => {
                let shown = items.iter().filter(|item| match item {
                    Self::Hole(kind, id) => entities.contains_key(&(*kind, *id)),
                    Self::Plain(_) | Self::Url(_) | Self::Array(_) | Self::Object(_) => true,
                });
                out.push('[');
                for (index, item) in shown.enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    item.write(out, entities, whole);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (name, node)) in members.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    out.push_str(&serde_json::Value::from(name.as_str()).to_string());
                    out.push(':');
                    node.write(out, entities, whole);
                }
                out.push('}');
            }
        }
    }
}

struct Read {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Read {
    type Value = Node;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

fn plain<E>(value: impl Into<serde_json::Value>) -> Result<Node, E> {
    Ok(Node::Plain(value.into().to_string()))
}

impl<'de> Visitor<'de> for Read {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Plain("null".to_owned()))
    }
    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        plain(value)
    }
    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        plain(value)
    }
    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        plain(value)
    }
    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        plain(value)
    }
    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        plain(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        if self.depth == MAX_DEPTH {
            return Err(too_deep());
        }
        let mut read = Vec::new();
        while let Some(item) = items.next_element_seed(Self { depth: self.depth + 1 })? {
            read.push(item);
        }
        Ok(Node::Array(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Node, A::Error> {
        if self.depth == MAX_DEPTH {
            return Err(too_deep());
        }
        let mut names = HashSet::new();
        let mut read = Vec::new();
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            let node = members.next_value_seed(Self { depth: self.depth + 1 })?;
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format_args!("the member {name:?} is there twice")));
            }
            read.push((name.into_owned(), node));
        }
        hole(read).map_err(A::Error::custom)
    }
}

/// An object whose only member is named after a kind is a placeholder.
fn hole(members: Vec<(String, Node)>) -> Result<Node, String> {
    let [(name, Node::Plain(value))] = members.as_slice() else { return Ok(Node::Object(members)) };
    if name == "$url" {
        let path: Option<String> = serde_json::from_str(value).ok();
        let path = path.filter(|path| is_own_path(path));
        return path
            .map(Node::Url)
            .ok_or_else(|| format!("$url must precede a path of the server, and {value} is not one"));
    }
    let Some(kind) = EntityKind::of(name) else { return Ok(Node::Object(members)) };
    let id = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).and_then(|id| id.parse().ok());
    id.map(|id| Node::Hole(kind, id))
        .ok_or_else(|| format!("{name} must precede an id as text, and {value} is not one"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use context::json::Object;

    fn entity(text: &str) -> Fragment {
        let mut object = Object::with_capacity(16);
        object.member("id", text);
        object.close()
    }

    fn whole(path: &str) -> String {
        format!("https://a.test{path}")
    }

    #[test]
    fn path_becomes_a_whole_url() {
        let document = Filled::parse(r#"{"api":{"$url":"/api/v2/instance"},"$url":"/x","n":1}"#).expect("JSON");
        let written = document.write(&HashMap::new(), &whole);
        assert_eq!(written, r#"{"api":"https://a.test/api/v2/instance","$url":"/x","n":1}"#);
        for bad in ["//b.test/x", "https://b.test", "x", "/\\\\b"] {
            assert!(Filled::parse(&format!("{{\"$url\":\"{bad}\"}}")).is_err(), "{bad}");
        }
    }

    #[test]
    fn each_hole_is_filled_by_what_it_names() {
        let document = Filled::parse(
            r#"{"b":[{"$status":"2"},{"$status":"9"},1.5,{"$account":"3"}],"a":{"$status":"2"},"n":{"$list":"4"},"text":"{\"$status\":\"1\"}","$status":"1","é":null}"#,
        );
        let document = document.expect("JSON");
        assert_eq!(document.ids(EntityKind::Status), [2, 9]);
        assert_eq!(document.holes(), 5, "each counts, also what stands in several");
        assert_eq!([document.ids(EntityKind::Account), document.ids(EntityKind::List)], [vec![3], vec![4]]);
        let entities = HashMap::from([((EntityKind::Status, 2), entity("2")), ((EntityKind::Account, 3), entity("3"))]);
        assert_eq!(
            document.write(&entities, &whole),
            r#"{"b":[{"id":2},1.5,{"id":3}],"a":{"id":2},"n":null,"text":"{\"$status\":\"1\"}","$status":"1","é":null}"#
        );
    }

    #[test]
    fn hole_alone_is_document() {
        let document = Filled::parse(r#"{"$account":"3"}"#).expect("JSON");
        assert_eq!(document.write(&HashMap::new(), &whole), "null");
        let entities = HashMap::from([((EntityKind::Account, 3), entity("3"))]);
        assert_eq!(document.write(&entities, &whole), "{\"id\":3}");
    }

    #[test]
    fn broken_document_is_refused() {
        let deep = "[".repeat(MAX_DEPTH + 1) + &"]".repeat(MAX_DEPTH + 1);
        for bad in [r#"{"$status":1}"#, r#"{"$status":"x"}"#, r#"{"a":1,"a":2}"#, "{", &deep, "{} x"] {
            assert!(Filled::parse(bad).is_err(), "{bad}");
        }
    }
}
