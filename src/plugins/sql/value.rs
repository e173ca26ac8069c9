//! Converts values of the contract to SQL parameters and back.

use rookery_plugin_host::imports::sql::Value;
use rookery_plugin_host::imports::types::Failure;
use serde_json::value::RawValue;

use super::failure::failure;
use store::confined::{self, Param, ParamType};

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
        (ParamType::Text, Value::Text(value)) if !value.contains('\0') => Param::Text(value),
        (ParamType::Blob, Value::Blob(value)) => Param::Blob(value),
        (ParamType::Json, Value::Text(text)) => {
            Param::Json(RawValue::from_string(text).map_err(|_| wrong(name, kind))?)
        }
        (ParamType::Integers, Value::Text(text)) => Param::Integers(integers(&text).ok_or_else(|| wrong(name, kind))?),
        (ParamType::Texts, Value::Text(text)) => {
            let texts: Vec<String> = serde_json::from_str(&text).map_err(|_| wrong(name, kind))?;
            if texts.iter().any(|text| text.contains('\0')) {
                return Err(wrong(name, kind));
            }
            Param::Texts(texts)
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

fn wrong(name: &str, kind: ParamType) -> Failure {
    let wanted = match kind {
        ParamType::Boolean => "a boolean",
        ParamType::Integer => "an integer",
        ParamType::Real => "a real number",
        ParamType::Text => "a text without zero bytes",
        ParamType::Blob => "a blob",
        ParamType::Json => "a text that is JSON",
        ParamType::Integers => "a text that is a JSON list of integers",
        ParamType::Texts => "a text that is a JSON list of texts",
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

pub(super) fn value(value: confined::Value) -> Value {
    match value {
        confined::Value::Null => Value::Null,
        confined::Value::Integer(value) => Value::Integer(value),
        confined::Value::Real(value) => Value::Real(value),
        confined::Value::Text(value) => Value::Text(value),
        confined::Value::Blob(value) => Value::Blob(value),
    }
}
