//! Converts values of the contract to SQL parameters and back.

use rookery_plugin_host::imports::sql::Value;
use rookery_plugin_host::imports::types::Failure;
use serde_json::value::RawValue;

use super::failure::failure;
use store::confined::{self, Arg, Kind};

/// `value` as the parameter `name` of type `kind`. Lists and documents are JSON text; integers in a list may be strings
/// of digits, since ids are strings in JSON.
pub(super) fn arg(name: &str, kind: Kind, value: Value) -> Result<Arg, Failure> {
    Ok(match (kind, value) {
        (_, Value::Null) => Arg::Null(kind),
        (Kind::Boolean, Value::Boolean(value)) => Arg::Boolean(value),
        (Kind::Boolean, Value::Integer(value @ (0 | 1))) => Arg::Boolean(value == 1),
        (Kind::Integer, Value::Integer(value)) => Arg::Integer(value),
        (Kind::Real, Value::Real(value)) => Arg::Real(value),
        #[expect(clippy::cast_precision_loss, reason = "a whole number where a real one is wanted")]
        (Kind::Real, Value::Integer(value)) => Arg::Real(value as f64),
        (Kind::Text, Value::Text(value)) if !value.contains('\0') => Arg::Text(value),
        (Kind::Blob, Value::Blob(value)) => Arg::Blob(value),
        (Kind::Json, Value::Text(text)) => Arg::Json(RawValue::from_string(text).map_err(|_| wrong(name, kind))?),
        (Kind::Integers, Value::Text(text)) => Arg::Integers(integers(&text).ok_or_else(|| wrong(name, kind))?),
        (Kind::Texts, Value::Text(text)) => {
            let texts: Vec<String> = serde_json::from_str(&text).map_err(|_| wrong(name, kind))?;
            if texts.iter().any(|text| text.contains('\0')) {
                return Err(wrong(name, kind));
            }
            Arg::Texts(texts)
        }
        _ => return Err(wrong(name, kind)),
    })
}

fn integers(text: &str) -> Option<Vec<i64>> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Number {
        Plain(i64),
        Text(String),
    }
    let numbers: Vec<Number> = serde_json::from_str(text).ok()?;
    let parse = |number| match number {
        Number::Plain(number) => Some(number),
        Number::Text(text) => text.parse().ok(),
    };
    numbers.into_iter().map(parse).collect()
}

fn wrong(name: &str, kind: Kind) -> Failure {
    let wanted = match kind {
        Kind::Boolean => "a boolean",
        Kind::Integer => "an integer",
        Kind::Real => "a real number",
        Kind::Text => "a text without zero bytes",
        Kind::Blob => "a blob",
        Kind::Json => "a text that is JSON",
        Kind::Integers => "a text that is a JSON list of integers",
        Kind::Texts => "a text that is a JSON list of texts",
    };
    failure(422, "params", format!("the parameter {name} is not {wanted}"))
}

/// The parameter type of a value in a statement built at run time.
pub(super) fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Boolean(_) => Kind::Boolean,
        Value::Integer(_) => Kind::Integer,
        Value::Real(_) => Kind::Real,
        Value::Null | Value::Text(_) => Kind::Text,
        Value::Blob(_) => Kind::Blob,
    }
}

pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        Value::Null | Value::Boolean(_) | Value::Integer(_) | Value::Real(_) => 8,
    }
}

pub(super) fn value(value: confined::Value) -> Value {
    match value {
        confined::Value::Null => Value::Null,
        confined::Value::Integer(value) => Value::Integer(value),
        confined::Value::Real(value) => Value::Real(value),
        confined::Value::Text(value) => Value::Text(value),
        confined::Value::Blob(value) => Value::Blob(value),
    }
}
