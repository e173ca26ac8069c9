//! A lenient deserializer of parameters: booleans and numbers may be strings, lists may be objects or single values.
//!
//! An empty string where a boolean or number is expected counts as not sent: the member is removed and the tree is
//! deserialised again, so that options and defaults apply.

use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::{Error, Result};

/// Deserialises a tree into `T`.
pub(super) fn read<T: DeserializeOwned>(mut tree: Value) -> Result<T> {
    loop {
        match T::deserialize(Lenient(&tree)) {
            Ok(read) => return Ok(read),
            Err(fault) if fault.blank && remove(&mut tree, &fault.path) => {}
            Err(fault) => return Err(fault.into_error()),
        }
    }
}

/// Deserialises one value, called `name` in errors.
pub(super) fn read_named<T: DeserializeOwned>(name: &str, value: &Value) -> Result<T> {
    T::deserialize(Lenient(value)).map_err(|mut fault| {
        fault.path.push(name.to_owned());
        fault.into_error()
    })
}

/// Removes the member at `path`, whose innermost key comes first.
fn remove(tree: &mut Value, path: &[String]) -> bool {
    let Some((last, parents)) = path.split_first() else { return false };
    let mut place = tree;
    for key in parents.iter().rev() {
        let next = match place {
            Value::Object(map) => map.get_mut(key),
            Value::Array(list) => key.parse().ok().and_then(|index: usize| list.get_mut(index)),
            _ => None,
        };
        let Some(next) = next else { return false };
        place = next;
    }
    match place {
        Value::Object(map) => map.remove(last).is_some(),
        _ => false,
    }
}

/// What cannot be deserialised, and where.
#[derive(Debug, Default)]
struct Fault {
    /// Keys, innermost first.
    path: Vec<String>,
    message: String,
    blank: bool,
}

impl Fault {
    fn into_error(self) -> Error {
        let path: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
        Error::invalid(if path.is_empty() { self.message } else { format!("{}: {}", path.join("."), self.message) })
    }

    fn at(mut self, key: &str) -> Self {
        self.path.push(key.to_owned());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), ..Self::default() }
    }
    fn missing_field(field: &'static str) -> Self {
        Self { message: "is missing".into(), path: vec![field.to_owned()], blank: false }
    }
}

struct Lenient<'a>(&'a Value);

impl<'de> IntoDeserializer<'de, Fault> for Lenient<'de> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl Lenient<'_> {
    fn fault(&self, wanted: &str) -> Fault {
        Fault { message: format!("must be {wanted}"), blank: self.0.as_str() == Some(""), ..Fault::default() }
    }

    fn integer(&self) -> Option<i128> {
        match self.0 {
            Value::Number(number) => number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }
}

macro_rules! integers {
    ($($method:ident $visit:ident $type:ty),*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.integer().and_then(|number| <$type>::try_from(number).ok()) {
                Some(number) => visitor.$visit(number),
                None => Err(self.fault("a whole number")),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for Lenient<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(number) => number.deserialize_any(visitor).map_err(de::Error::custom),
            Value::String(text) => visitor.visit_borrowed_str(text).map_err(|mut fault: Fault| {
                fault.blank |= text.is_empty();
                fault
            }),
            Value::Array(list) => visitor.visit_seq(Items::new(list.iter())),
            Value::Object(map) => visitor.visit_map(Members::new(map)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(number) => visitor.visit_bool(number.as_f64() != Some(0.0)),
            Value::String(text) if !text.is_empty() => {
                visitor.visit_bool(!matches!(text.as_str(), "false" | "f" | "F" | "FALSE" | "0" | "off" | "OFF"))
            }
            _ => Err(self.fault("true or false")),
        }
    }

    integers!(
        deserialize_i8 visit_i8 i8, deserialize_i16 visit_i16 i16, deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64, deserialize_u8 visit_u8 u8, deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32, deserialize_u64 visit_u64 u64
    );

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let number = match self.0 {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.map_or_else(|| Err(self.fault("a number")), |number| visitor.visit_f64(number))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Bool(flag) => visitor.visit_string(flag.to_string()),
            Value::Number(number) => visitor.visit_string(number.to_string()),
            _ => Err(self.fault("a text")),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    /// An array, an object keyed by index, or a single value; blank elements are dropped.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let wanted = |value: &&Value| !value.is_null() && value.as_str() != Some("");
        match self.0 {
            Value::Array(list) => visitor.visit_seq(Items::new(list.iter().filter(wanted))),
            Value::Object(map) => visitor.visit_seq(Items::new(map.values().filter(wanted))),
            alone => visitor.visit_seq(SeqDeserializer::new(Some(alone).into_iter().filter(wanted).map(Lenient))),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.0.deserialize_enum(name, variants, visitor).map_err(|error| {
            let known = variants.join(", ");
            let mut fault = self.fault(&format!("one of {known}"));
            if variants.is_empty() {
                fault.message = error.to_string();
            }
            fault
        })
    }

    serde::forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier ignored_any
    }
}

/// The elements of a list; adds the index to the path of a fault.
struct Items<I> {
    items: I,
    index: usize,
}

impl<I> Items<I> {
    fn new(items: I) -> Self {
        Self { items, index: 0 }
    }
}

impl<'de, I: Iterator<Item = &'de Value>> de::SeqAccess<'de> for Items<I> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(value) = self.items.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        seed.deserialize(Lenient(value)).map(Some).map_err(|fault| fault.at(&index.to_string()))
    }
}

/// The members of an object; adds the key to the path of a fault.
struct Members<'a> {
    members: serde_json::map::Iter<'a>,
    value: Option<(&'a str, &'a Value)>,
}

impl<'a> Members<'a> {
    fn new(map: &'a Map<String, Value>) -> Self {
        Self { members: map.iter(), value: None }
    }
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((key, value)) = self.members.next() else { return Ok(None) };
        self.value = Some((key, value));
        let mut key = MapDeserializer::new(std::iter::once((key.as_str(), ())));
        key.next_key_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some((key, value)) = self.value.take() else { return Err(de::Error::custom("a value without a name")) };
        seed.deserialize(Lenient(value)).map_err(|fault| fault.at(key))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::Id;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct All {
        title: Option<String>,
        limit: Option<u16>,
        exclusive: bool,
        with_media: Option<bool>,
        account_ids: Vec<Id>,
        id: Option<Id>,
        mode: Mode,
        inner: Option<Inner>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        weight: i64,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Mode {
        #[default]
        AnyWord,
        Other,
    }

    fn all(tree: Value) -> Result<All> {
        read(tree)
    }

    #[test]
    fn texts_are_read_as_the_wanted_type() {
        let read = all(json!({
            "title": 5, "limit": "20", "exclusive": "1", "with_media": "off", "account_ids": {"0": "1", "1": "2"},
            "id": "7", "mode": "other", "inner": {"weight": "3"}, "unknown": [1],
        }));
        let wanted = All {
            title: Some("5".into()),
            limit: Some(20),
            exclusive: true,
            with_media: Some(false),
            account_ids: vec![Id(1), Id(2)],
            id: Some(Id(7)),
            mode: Mode::Other,
            inner: Some(Inner { weight: 3 }),
        };
        assert_eq!(read, Ok(wanted));
        assert_eq!(all(json!({"account_ids": "9"})).map(|all| all.account_ids), Ok(vec![Id(9)]));
    }

    #[test]
    fn an_empty_text_is_only_a_text() {
        let read = all(json!({
            "title": "", "limit": "", "exclusive": "", "with_media": "", "account_ids": ["", "1"], "id": "", "mode": "",
        }));
        let wanted = All { title: Some(String::new()), account_ids: vec![Id(1)], ..All::default() };
        assert_eq!(read, Ok(wanted));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let wrong = |tree| all(tree).map_err(|error| error.to_string());
        assert_eq!(wrong(json!({"limit": "many"})), Err("limit: must be a whole number".into()));
        assert_eq!(wrong(json!({"inner": {"weight": {}}})), Err("inner.weight: must be a whole number".into()));
        assert_eq!(wrong(json!({"inner": {}})), Err("inner.weight: is missing".into()));
        assert_eq!(wrong(json!({"account_ids": ["1", "x"]})), Err("account_ids.1: must be an id".into()));
        assert_eq!(wrong(json!({"mode": "x"})), Err("mode: must be one of any_word, other".into()));
    }
}
