//! JSON that a plugin wrote, validated before any of it is used.
//!
//! Strict: exactly one value, no duplicate members, at most 32 levels deep and 4 MiB long. What passes can be spliced
//! into a response verbatim.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// Longest text, in bytes.
pub const MAX_BYTES: usize = 4 << 20;
/// Most levels of nested arrays and objects.
pub const MAX_DEPTH: usize = 32;

/// Checks `text`.
///
/// # Errors
/// A message for the plugin's author.
pub fn check(text: &str) -> Result<(), String> {
    read(text, |deserializer| Check { depth: 0 }.deserialize(deserializer))
}

/// Parses `text`, up to the permitted length, with `seed`, which enforces the rest.
pub(crate) fn read<'de, T>(
    text: &'de str,
    seed: impl FnOnce(&mut serde_json::Deserializer<serde_json::de::StrRead<'de>>) -> serde_json::Result<T>,
) -> Result<T, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("JSON of {} bytes is longer than {MAX_BYTES}", text.len()));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = seed(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| format!("JSON is broken: {error}"))
}

/// The error for an object or array nested deeper than [`MAX_DEPTH`].
pub(crate) fn too_deep<E: serde::de::Error>() -> E {
    E::custom(format_args!("deeper than {MAX_DEPTH}"))
}

struct Check {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Check {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Check {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if self.depth == MAX_DEPTH {
            return Err(too_deep());
        }
        while items.next_element_seed(Self { depth: self.depth + 1 })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        if self.depth == MAX_DEPTH {
            return Err(too_deep());
        }
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<std::borrow::Cow<'de, str>>()? {
            if names.contains(&name) {
                return Err(A::Error::custom(format_args!("the member {name:?} is there twice")));
            }
            names.insert(name);
            members.next_value_seed(Self { depth: self.depth + 1 })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_shallow_value_passes() {
        for good in ["null", "[1,-2,3.5,true,\"a\\u00e9\"]", "{\"a\":{\"a\":1},\"b\":[]}", " {} "] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        assert_eq!(check(&format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH))), Ok(()));
    }

    #[test]
    fn other_json_is_refused() {
        let deep = format!("{}{}", "[".repeat(MAX_DEPTH + 1), "]".repeat(MAX_DEPTH + 1));
        let bomb = "[".repeat(1_000_000);
        let long = format!("\"{}\"", "a".repeat(MAX_BYTES));
        for bad in [
            "",
            "{",
            "{} {}",
            "[1,]",
            "nul",
            "{'a':1}",
            "\"\\ud800\"",
            "1e999",
            "{\"a\":1,\"a\":2}",
            "{\"a\":1,\"\\u0061\":2}",
            "\"\u{1}\"",
            &deep,
            &bomb,
            &long,
        ] {
            assert!(check(bad).is_err(), "{}", bad.chars().take(40).collect::<String>());
        }
    }
}
