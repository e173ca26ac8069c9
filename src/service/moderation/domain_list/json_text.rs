//! JSON: an array of domains, or of objects as in `/api/v1/instance/domain_blocks` of Mastodon.
//!
//! Read as a stream: members that are not known cost no memory.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::parameter;
use super::parse::Collector;
use context::error::{Error, Result};

/// Reads the entries of `text`, whose lines are their numbers in the array.
///
/// # Errors
/// [`Error::Invalid`] when it is not an array, or breaks off.
pub(super) fn read(text: &str, into: &mut Collector<'_>) -> Result<()> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = json.deserialize_seq(List(into)).and_then(|()| json.end());
    read.map_err(|error| Error::invalid(format!("The list is not an array in JSON: {error}")))
}

/// Passes each element on.
struct List<'a, 'b>(&'a mut Collector<'b>);

impl<'de> Visitor<'de> for List<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of domains")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some(item) = list.next_element::<Item>()? {
            number += 1;
            let mut block = self.0.default_block();
            let Item(mut members) = item;
            let domain = members.remove("domain").unwrap_or_default();
            let set = members.iter().try_for_each(|(name, value)| parameter::set(&mut block, name, value));
            self.0.take(number, &domain, set.map(|()| block)).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// The known members of an element as text, without those that have no value. A text is the domain alone.
struct Item(BTreeMap<&'static str, String>);

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Place;
        impl<'de> Visitor<'de> for Place {
            type Value = Item;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a domain or an object")
            }

            fn visit_str<E>(self, domain: &str) -> Result<Item, E> {
                Ok(Item(BTreeMap::from([("domain", domain.to_owned())])))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item, A::Error> {
                let mut members = BTreeMap::new();
                while let Some(key) = map.next_key::<String>()? {
                    let name = if key == "domain" { Some("domain") } else { parameter::name(&key) };
                    match name {
                        None => drop(map.next_value::<IgnoredAny>()?),
                        Some(name) => {
                            let Text(value) = map.next_value()?;
                            value.and_then(|value| members.insert(name, value));
                        }
                    }
                }
                Ok(Item(members))
            }
        }
        deserializer.deserialize_any(Place)
    }
}

/// A scalar as text; `None` for null.
struct Text(Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Place;
        impl Visitor<'_> for Place {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, a boolean or null")
            }
            fn visit_unit<E>(self) -> Result<Text, E> {
                Ok(Text(None))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Text, E> {
                Ok(Text(Some(value.to_string())))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Text, E> {
                Ok(Text(Some(value.to_string())))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Text, E> {
                Ok(Text(Some(value.to_string())))
            }
            fn visit_str<E>(self, value: &str) -> Result<Text, E> {
                Ok(Text(Some(value.to_owned())))
            }
        }
        deserializer.deserialize_any(Place)
    }
}
