//! Readers of request parameters: clients encode one value in several ways (docs/contract/rules.md#1-transport).
//!
//! The attribute [`parameters`](crate::parameters) chooses a reader for each field by its type. Fields that are
//! [`required`] are marked only in API documents.

use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use schemars::Schema;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::Value;

use crate::time::Time;

/// The schema extension that marks a field as required: `true`, or `"create"` for requests that create.
pub const REQUIRED: &str = "x-required";

/// Declares a field as required: `#[schemars(transform = required)]`.
///
/// Every such field has a default, so that the handler or service returns its own error message when it is missing.
pub fn required(schema: &mut Schema) {
    schema.insert(REQUIRED.to_owned(), true.into());
}

/// Declares a field as required in POST requests, which create, and optional in requests that change.
pub fn required_to_create(schema: &mut Schema) {
    schema.insert(REQUIRED.to_owned(), "create".into());
}

/// A boolean as defined by docs/contract/rules.md#1-transport; absent, null and "" are `None`.
///
/// # Errors
/// When it is a list or an object.
pub fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(value)),
        Value::Number(number) => Ok(Some(number.as_f64() != Some(0.0))),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => Ok(Some(!matches!(text.as_str(), "false" | "f" | "F" | "FALSE" | "0" | "off" | "OFF"))),
        Value::Array(_) | Value::Object(_) => Err(D::Error::custom("must be true or false")),
    }
}

/// Booleans by name, each as [`flag`] reads it; null and "" are left out.
///
/// # Errors
/// When an element is neither true nor false, or the value is not an object.
pub fn flags<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, bool>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(BTreeMap::new()),
        Value::String(text) if text.is_empty() => Ok(BTreeMap::new()),
        Value::Object(named) => {
            let read = |(name, value)| match flag(value) {
                Ok(value) => value.map(|value| Ok((name, value))),
                Err(_) => Some(Err(D::Error::custom(format!("{name} must be true or false")))),
            };
            named.into_iter().filter_map(read).collect()
        }
        _ => Err(D::Error::custom("must be an object of booleans")),
    }
}

/// An integer, as a JSON number or a string of digits; absent, null and "" are `None`.
///
/// # Errors
/// When it is anything else, or does not fit 64 bits.
pub fn int<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => text.trim().parse().map(Some).map_err(|_| D::Error::custom("must be a whole number")),
        Value::Number(number) => number.as_i64().map(Some).ok_or_else(|| D::Error::custom("must be a whole number")),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err(D::Error::custom("must be a whole number")),
    }
}

/// A list of integers, each as [`int`] reads it; otherwise as [`list`].
///
/// # Errors
/// When an element is not an integer.
pub fn ints<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<i64>>, D::Error> {
    let Some(values) = list::<D, Value>(deserializer)? else { return Ok(None) };
    let ints = values.into_iter().map(|value| int(value).map_err(D::Error::custom));
    Ok(Some(ints.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()))
}

/// As [`int`], but distinguishes null or "" from an absent value.
///
/// # Errors
/// As [`int`].
pub fn sent_int<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<i64>>, D::Error> {
    int(deserializer).map(Some)
}

/// A string; numbers and booleans are converted. Absent and null are `None`, "" is an empty string.
///
/// # Errors
/// When it is a list or an object.
pub fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Bool(value) => Ok(Some(value.to_string())),
        Value::Number(number) => Ok(Some(number.to_string())),
        Value::Array(_) | Value::Object(_) => Err(D::Error::custom("must be a text")),
    }
}

/// The name of a language, as [`text()`] reads it; anything else is `None`, since no request fails because of it.
///
/// # Errors
/// None.
pub fn language<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(text(Value::deserialize(deserializer)?).ok().flatten())
}

/// A time in ISO 8601, in UTC unless it has an offset; a date is its midnight. Absent, null and "" are `None`.
///
/// # Errors
/// When it is not a time, or its year is not between 0 and 9999.
pub fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Time>, D::Error> {
    let Some(text) = text(deserializer)?.filter(|text| !text.is_empty()) else { return Ok(None) };
    let time = parse_time(text.trim()).filter(|time| (0..=9999).contains(&time.year()));
    time.map(|time| Some(time.into()))
        .ok_or_else(|| D::Error::custom("must be a date and time, as 2026-01-31T12:00:00Z"))
}

fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    let with_offset = DateTime::parse_from_rfc3339(text).map(|time| time.with_timezone(&Utc));
    let naive = |format| NaiveDateTime::parse_from_str(text, format).map(|time| time.and_utc());
    let date = || text.parse::<NaiveDate>().map(|date| date.and_time(NaiveTime::MIN).and_utc());
    with_offset.or_else(|_| naive("%Y-%m-%dT%H:%M:%S%.f")).or_else(|_| naive("%Y-%m-%dT%H:%M")).or_else(|_| date()).ok()
}

/// A value that deserialises from a string, such as an id or an enum; absent, null and "" are `None`.
///
/// # Errors
/// When the string does not parse.
pub fn word<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        value => serde_json::from_value(value).map(Some).map_err(D::Error::custom),
    }
}

/// As [`list`], without duplicates; the first occurrence is kept.
///
/// # Errors
/// As [`list`].
pub fn distinct<'de, D: Deserializer<'de>, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    T: DeserializeOwned + Clone + Eq + Hash,
{
    let mut values = list::<D, T>(deserializer)?;
    if let Some(values) = &mut values {
        let mut known = HashSet::new();
        values.retain(|value| known.insert(value.clone()));
    }
    Ok(values)
}

/// A list: an array, an object keyed by index, or a single value. Absent and null are `None`; blank elements are
/// dropped.
///
/// # Errors
/// When an element does not parse.
pub fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<Vec<T>>, D::Error> {
    let values = match Value::deserialize(deserializer)? {
        Value::Null => return Ok(None),
        Value::Array(values) => values,
        Value::Object(map) => map.into_iter().map(|(_, value)| value).collect(),
        value => vec![value],
    };
    let wanted = values.into_iter().filter(|value| !matches!(value, Value::Null) && value.as_str() != Some(""));
    wanted.map(|value| serde_json::from_value(value).map_err(D::Error::custom)).collect::<Result<_, _>>().map(Some)
}
