//! Rendered JSON: entities and arrays as text, extended with members without parsing.
//!
//! Used by `entity`, which renders, and by [`extension`](crate::extension), whose members are spliced in ([`splice`]).

pub mod media;
pub mod splice;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::error::{Error, Result};

/// A rendered entity: JSON, ready to be sent or embedded in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment(String);

/// Any JSON: the entity that it contains has a schema.
impl JsonSchema for Fragment {
    fn schema_name() -> Cow<'static, str> {
        "Fragment".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}

impl Fragment {
    /// Serialises `entity`.
    pub fn of<T: Serialize>(entity: &T) -> Result<Self> {
        serde_json::to_string(entity).map(Self).map_err(Error::internal)
    }

    /// Wraps a string that is JSON already.
    pub fn from_json(json: &str) -> Self {
        Self(json.to_owned())
    }

    /// Takes a string that is JSON already.
    #[must_use]
    pub fn from_string(json: String) -> Self {
        Self(json)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The JSON, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// Reopens the object to add further members after the existing ones.
    #[must_use]
    pub fn open(mut self) -> Object {
        self.0.pop();
        Object { text: self.0, start: 0 }
    }
}

impl From<Fragment> for bytes::Bytes {
    fn from(fragment: Fragment) -> Self {
        fragment.0.into()
    }
}

/// A JSON object to which rendered members are added.
#[derive(Debug)]
pub struct Object {
    text: String,
    /// Where the object begins in `text`, which may be a whole page.
    start: usize,
}

impl Object {
    /// An empty object with a capacity of `capacity` bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut text = String::with_capacity(capacity);
        text.push('{');
        Self { text, start: 0 }
    }

    /// Appends an object to `out`, with members added by `add`.
    pub fn write(out: &mut String, add: impl FnOnce(&mut Self)) {
        let mut object = Self { start: out.len(), text: std::mem::take(out) };
        object.text.push('{');
        add(&mut object);
        object.text.push('}');
        *out = object.text;
    }

    /// Adds rendered members: `"a":1,"b":2`.
    pub fn members(&mut self, members: &str) -> &mut Self {
        self.separate();
        self.text.push_str(members);
        self
    }

    /// As [`Object::members`], which `write` appends.
    pub fn members_with(&mut self, write: impl FnOnce(&mut String)) -> &mut Self {
        self.separate();
        write(&mut self.text);
        self
    }

    /// Adds the members of the rendered object `json`.
    pub fn members_of(&mut self, json: &str) -> &mut Self {
        self.members(json.get(1..json.len().saturating_sub(1)).unwrap_or_default())
    }

    /// Adds one member; `name` needs no escaping, `value` is JSON.
    pub fn member(&mut self, name: &str, value: &str) -> &mut Self {
        self.member_with(name, |out| out.push_str(value))
    }

    /// As [`Object::member`], with the value that `write` appends.
    pub fn member_with(&mut self, name: &str, write: impl FnOnce(&mut String)) -> &mut Self {
        self.separate();
        self.text.push('"');
        self.text.push_str(name);
        self.text.push_str("\":");
        write(&mut self.text);
        self
    }

    /// Adds a number.
    pub fn number(&mut self, name: &str, value: i64) -> &mut Self {
        self.member_with(name, |out| out.push_str(itoa::Buffer::new().format(value)))
    }

    /// Sets the member `name` of the nested object `parent`, which was added before, to `value`.
    pub fn set(&mut self, parent: &str, name: &str, value: &str) -> &mut Self {
        let mut own = self.text.split_off(self.start);
        own.push('}');
        self.text.push_str(&splice::set(&own, parent, name, value));
        self.text.pop();
        self
    }

    /// The finished object.
    #[must_use]
    pub fn close(mut self) -> Fragment {
        self.text.push('}');
        Fragment(self.text)
    }

    fn separate(&mut self) {
        if self.text.len() > self.start + 1 {
            self.text.push(',');
        }
    }
}

/// A rendered JSON array, such as a page of entities: one buffer, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array(String);

impl Array {
    /// An array in a buffer of `capacity` bytes: `write` appends each of `items`.
    pub fn of<T>(capacity: usize, items: impl IntoIterator<Item = T>, write: impl FnMut(&mut String, T)) -> Self {
        let mut out = String::with_capacity(capacity);
        Self::write(&mut out, items, write);
        Self(out)
    }

    /// Appends an array to `out`, as [`Array::of`].
    pub fn write<T>(out: &mut String, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
        out.push('[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write(out, item);
        }
        out.push(']');
    }

    /// The array of `items`, which are JSON.
    pub fn join<'a>(items: impl Iterator<Item = &'a str> + Clone) -> Self {
        let capacity = 2 + items.clone().map(|item| item.len() + 1).sum::<usize>();
        Self::of(capacity, items, String::push_str)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An empty array.
impl Default for Array {
    fn default() -> Self {
        Self("[]".to_owned())
    }
}

impl From<&[Fragment]> for Array {
    fn from(items: &[Fragment]) -> Self {
        Self::join(items.iter().map(Fragment::as_str))
    }
}

impl From<Vec<Fragment>> for Array {
    fn from(items: Vec<Fragment>) -> Self {
        Self::from(items.as_slice())
    }
}

impl From<Array> for String {
    fn from(array: Array) -> Self {
        array.0
    }
}

/// `true` or `false`, as JSON.
#[must_use]
pub fn boolean(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_a_page_share_one_buffer() {
        let page = Array::of(64, ["1", "2"], |out, id| {
            Object::write(out, |object| {
                object.member("id", id).member("nested", "{\"a\":1}").set("nested", "b", "2");
                object.member_with("inner", |out| {
                    Object::write(out, |inner| {
                        inner.members("\"c\":3");
                    });
                });
            });
        });
        let object = |id| format!(r#"{{"id":{id},"nested":{{"a":1,"b":2}},"inner":{{"c":3}}}}"#);
        assert_eq!(page.as_str(), format!("[{},{}]", object(1), object(2)));
    }

    #[test]
    fn array_joins_rendered_items() {
        assert_eq!(Array::from(Vec::new()), Array::default());
        let mut object = Object::with_capacity(2);
        object.members_of(r#"{"a":1}"#);
        let items = vec![object.close(), Fragment::from_json("[]")];
        assert_eq!(Array::from(items).as_str(), r#"[{"a":1},[]]"#);
    }
}
