//! Converts values of the contract to SQL parameters and back.

use std::fmt;
use std::marker::PhantomData;

use rookery_plugin_host::imports::sql::Value;
use rookery_plugin_host::imports::types::Failure;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::failure::failure;
use database::confined::{Param, ParamType};

/// `value` as the parameter `name` of type `kind`. Lists and documents are JSON text; integers in a list may be strings
/// of digits, since ids are strings in JSON.
pub(super) fn arg(name: &str, kind: ParamType, value: Value) -> Result<Param, Failure> {
    Ok(match (kind, value) {
        (_, Value::Null) => Param::Null(kind),
        (ParamType::Boolean, Value::Boolean(value)) => Param::Boolean(value),
        (ParamType::Boolean, Value::Integer(value @ (0 | 1))) => Param::Boolean(value == 1),
        (ParamType::Integer, Value::Integer(value)) => Param::Integer(value),
        (ParamType::Real, Value::Real(value)) => Param::Real(value),
        #[expect(clippy::cast_precision_loss, reason = "a whole number where a real one is wanted")]
        (ParamType::Real, Value::Integer(value)) => Param::Real(value as f64),
        (ParamType::Text, Value::Text(value)) if value.contains('\0') => return Err(zero_byte(name)),
        (ParamType::Text, Value::Text(value)) => Param::Text(value),
        (ParamType::Blob, Value::Blob(value)) => Param::Blob(value),
        (ParamType::Json, Value::Text(text)) => {
            Param::Json(RawValue::from_string(text).map_err(|_| wrong(name, kind))?)
        }
        (ParamType::Integers, Value::Text(text)) => Param::Integers(integers(&text).ok_or_else(|| wrong(name, kind))?),
        (ParamType::Texts, Value::Text(text)) => {
            let Bounded(texts) = serde_json::from_str::<Bounded<String>>(&text).map_err(|_| wrong(name, kind))?;
            if texts.iter().any(|text| text.contains('\0')) {
                return Err(zero_byte(name));
            }
            Param::Texts(texts)
        }
        _ => return Err(wrong(name, kind)),
    })
}

/// Most elements of a list: a list of short ones takes many times the memory of its text.
const MOST_ELEMENTS: usize = 100_000;

fn integers(text: &str) -> Option<Vec<i64>> {
    let Bounded(numbers) = serde_json::from_str::<Bounded<Number>>(text).ok()?;
    Some(numbers.into_iter().map(|Number(number)| number).collect())
}

/// A list of at most [`MOST_ELEMENTS`], which ends there instead of being read as a whole.
struct Bounded<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Bounded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
            type Value = Bounded<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {MOST_ELEMENTS} elements")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = elements.next_element()? {
                    if list.len() == MOST_ELEMENTS {
                        return Err(A::Error::invalid_length(MOST_ELEMENTS + 1, &self));
                    }
                    list.push(element);
                }
                Ok(Bounded(list))
            }
        }
        deserializer.deserialize_seq(List(PhantomData))
    }
}

/// An integer, or a text of its digits.
struct Number(i64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;
        impl Visitor<'_> for Digits {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Number, E> {
                Ok(Number(number))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
                number.try_into().map(Number).map_err(E::custom)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
                text.parse().map(Number).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Digits)
    }
}

/// No mistake of the plugin's: it may come from a request.
fn zero_byte(name: &str) -> Failure {
    failure(422, "zero-byte", format!("{name}: has a zero byte"))
}

fn wrong(name: &str, kind: ParamType) -> Failure {
    let wanted = match kind {
        ParamType::Boolean => "a boolean",
        ParamType::Integer => "an integer",
        ParamType::Real => "a real number",
        ParamType::Text => "a text",
        ParamType::Blob => "a blob",
        ParamType::Json => "a text that is JSON",
        ParamType::Integers => "a text that is a JSON list of integers, 100,000 at most",
        ParamType::Texts => "a text that is a JSON list of texts, 100,000 at most",
    };
    failure(422, "params", format!("the parameter {name} is not {wanted}"))
}

pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        Value::Null | Value::Boolean(_) | Value::Integer(_) | Value::Real(_) => 8,
    }
}

pub(super) fn value(value: database::confined::Value) -> Value {
    match value {
        database::confined::Value::Null => Value::Null,
        database::confined::Value::Integer(value) => Value::Integer(value),
        database::confined::Value::Real(value) => Value::Real(value),
        database::confined::Value::Text(value) => Value::Text(value),
        database::confined::Value::Blob(value) => Value::Blob(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_read_up_to_its_most_elements() {
        assert_eq!(integers("[1, \"-2\", 9223372036854775807]"), Some(vec![1, -2, i64::MAX]));
        for wrong in ["[1.5]", "[null]", "[9223372036854775808]", "[\"x\"]", "[[1]]", "1", "[1"] {
            assert_eq!(integers(wrong), None, "{wrong}");
        }
        let list = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        assert_eq!(integers(&list(MOST_ELEMENTS)).map(|list| list.len()), Some(MOST_ELEMENTS));
        assert_eq!(integers(&list(MOST_ELEMENTS + 1)), None);
    }
}
