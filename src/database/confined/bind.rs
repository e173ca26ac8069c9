//! Encodes [`Param`]s as parameters for either engine, and decodes rows into [`Value`]s.
//!
//! Both engines return the same values: booleans become integers, times integers of milliseconds, JSON text.

use rusqlite::types::ValueRef;
use sqlx::postgres::{PgArguments, PgRow, PgTypeInfo, PgValueRef};
use sqlx::types::Json;
use sqlx::{Arguments as _, Column as _, Postgres, Row as _, Type, TypeInfo as _, ValueRef as _};

use super::types::{ConfinedError, Limits, Param, ParamType, Rows, Value};
use model::Time;
use model::sqlite::Parameter;

fn unfit(error: impl std::fmt::Display) -> ConfinedError {
    ConfinedError::Statement(error.to_string())
}

pub(super) fn sqlite(args: Vec<Param>) -> Result<Vec<Parameter>, ConfinedError> {
    args.into_iter().map(parameter).collect()
}

fn parameter(arg: Param) -> Result<Parameter, ConfinedError> {
    Ok(match arg {
        Param::Null(_) => Parameter::Null,
        Param::Boolean(value) => Parameter::Integer(value.into()),
        Param::Integer(value) => Parameter::Integer(value),
        Param::Real(value) => Parameter::Real(value),
        Param::Text(value) => Parameter::Text(value),
        Param::Blob(value) => Parameter::Blob(value),
        Param::Json(value) => Parameter::Text(value.get().to_owned()),
        Param::Integers(values) => Parameter::Text(list(&values)?),
        Param::Texts(values) => Parameter::Text(list(&values)?),
    })
}

/// A list as a JSON array, the form used on SQLite.
fn list<T: serde::Serialize>(values: &[T]) -> Result<String, ConfinedError> {
    serde_json::to_string(values).map_err(unfit)
}

pub(super) fn postgres(args: Vec<Param>) -> Result<PgArguments, ConfinedError> {
    let mut bound = PgArguments::default();
    for arg in args {
        match arg {
            Param::Null(ParamType::Boolean) => bound.add(None::<bool>),
            Param::Null(ParamType::Integer) => bound.add(None::<i64>),
            Param::Null(ParamType::Real) => bound.add(None::<f64>),
            Param::Null(ParamType::Text) => bound.add(None::<String>),
            Param::Null(ParamType::Blob) => bound.add(None::<Vec<u8>>),
            Param::Null(ParamType::Json) => bound.add(None::<Json<()>>),
            Param::Null(ParamType::Integers) => bound.add(None::<Vec<i64>>),
            Param::Null(ParamType::Texts) => bound.add(None::<Vec<String>>),
            Param::Boolean(value) => bound.add(value),
            Param::Integer(value) => bound.add(value),
            Param::Real(value) => bound.add(value),
            Param::Text(value) => bound.add(value),
            Param::Blob(value) => bound.add(value),
            Param::Json(value) => bound.add(Json(value)),
            Param::Integers(values) => bound.add(values),
            Param::Texts(values) => bound.add(values),
        }
        .map_err(unfit)?;
    }
    Ok(bound)
}

/// The declared PostgreSQL type of a parameter.
pub(super) fn declared(kind: ParamType) -> PgTypeInfo {
    match kind {
        ParamType::Boolean => <bool as Type<Postgres>>::type_info(),
        ParamType::Integer => <i64 as Type<Postgres>>::type_info(),
        ParamType::Real => <f64 as Type<Postgres>>::type_info(),
        ParamType::Text => <String as Type<Postgres>>::type_info(),
        ParamType::Blob => <Vec<u8> as Type<Postgres>>::type_info(),
        ParamType::Json => <Json<()> as Type<Postgres>>::type_info(),
        ParamType::Integers => <Vec<i64> as Type<Postgres>>::type_info(),
        ParamType::Texts => <Vec<String> as Type<Postgres>>::type_info(),
    }
}

/// True for PostgreSQL types that can be decoded into a [`Value`].
pub(super) fn readable(name: &str) -> bool {
    matches!(
        name,
        "BOOL"
            | "INT2"
            | "INT4"
            | "INT8"
            | "FLOAT4"
            | "FLOAT8"
            | "NUMERIC"
            | "TEXT"
            | "VARCHAR"
            | "CHAR"
            | "NAME"
            | "BYTEA"
            | "JSON"
            | "JSONB"
            | "TIMESTAMPTZ"
            | "UNKNOWN"
    )
}

pub(super) fn take_sqlite(value: ValueRef<'_>) -> Result<Value, ConfinedError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(bytes) => Value::Text(utf8(bytes)?),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_owned()),
    })
}

pub(super) fn take_postgres(row: &PgRow, rows: &mut Rows, limits: &Limits) -> Result<(), ConfinedError> {
    if rows.columns.is_empty() {
        rows.columns = row.columns().iter().map(|column| column.name().to_owned()).collect();
    }
    for index in 0..row.len() {
        let value = row.try_get_raw(index).map_err(unfit)?;
        rows.push(decode(value).map_err(unfit)?, limits)?;
    }
    Ok(())
}

fn decode(value: PgValueRef<'_>) -> Result<Value, sqlx::error::BoxDynError> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let kind = value.type_info().name().to_owned();
    Ok(match kind.as_str() {
        "BOOL" => Value::Integer(i64::from(<bool as sqlx::Decode<Postgres>>::decode(value)?)),
        "INT2" => Value::Integer(<i16 as sqlx::Decode<Postgres>>::decode(value)?.into()),
        "INT4" => Value::Integer(<i32 as sqlx::Decode<Postgres>>::decode(value)?.into()),
        "INT8" => Value::Integer(<i64 as sqlx::Decode<Postgres>>::decode(value)?),
        "FLOAT4" => Value::Real(<f32 as sqlx::Decode<Postgres>>::decode(value)?.into()),
        "FLOAT8" => Value::Real(<f64 as sqlx::Decode<Postgres>>::decode(value)?),
        "NUMERIC" => numeric(value.as_bytes()?).ok_or("a number that cannot be read")?,
        "BYTEA" => Value::Blob(<Vec<u8> as sqlx::Decode<Postgres>>::decode(value)?),
        "TIMESTAMPTZ" => Value::Integer(<Time as sqlx::Decode<Postgres>>::decode(value)?.timestamp_millis()),
        "JSON" => Value::Text(utf8(value.as_bytes()?)?),
        // The first byte of the binary format is a version.
        "JSONB" => Value::Text(utf8(value.as_bytes()?.get(1..).unwrap_or_default())?),
        _ => Value::Text(utf8(value.as_bytes()?)?),
    })
}

fn utf8(bytes: &[u8]) -> Result<String, ConfinedError> {
    Ok(std::str::from_utf8(bytes).map_err(unfit)?.to_owned())
}

/// Decodes PostgreSQL's `NUMERIC`, the type of sums and averages: digits of base 10,000. An integer if it has no
/// fraction and fits an `i64`, else a real; NaN and infinity are NULL. `None` for malformed bytes.
fn numeric(bytes: &[u8]) -> Option<Value> {
    let word = |n: usize| Some(u16::from_be_bytes([*bytes.get(2 * n)?, *bytes.get(2 * n + 1)?]));
    let (count, weight, sign) = (usize::from(word(0)?), i32::from(word(1)?.cast_signed()), word(2)?);
    if sign & 0x8000 != 0 {
        return Some(Value::Null);
    }
    let negative = sign == 0x4000;
    let mut whole: Option<i64> = Some(0);
    let mut real = 0f64;
    for n in 0..count {
        let digit = word(4 + n)?;
        let power = weight - i32::try_from(n).ok()?;
        real += f64::from(digit) * 10_000f64.powi(power);
        if power < 0 && digit != 0 {
            whole = None;
        } else if power >= 0 {
            whole = whole.and_then(|sum| sum.checked_mul(10_000)?.checked_add(digit.into()));
        }
    }
    let missing = weight + 1 - i32::try_from(count).ok()?;
    for _ in 0..missing.clamp(0, 5) {
        whole = whole.and_then(|sum| sum.checked_mul(10_000));
    }
    Some(match whole {
        Some(whole) => Value::Integer(if negative { -whole } else { whole }),
        None => Value::Real(if negative { -real } else { real }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(weight: i16, sign: u16, digits: &[u16]) -> Vec<u8> {
        let mut words = vec![u16::try_from(digits.len()).unwrap(), weight.cast_unsigned(), sign, 0];
        words.extend(digits);
        words.into_iter().flat_map(u16::to_be_bytes).collect()
    }

    #[test]
    fn exact_numbers_become_integers_where_they_are_some() {
        for (given, expected) in [
            (bytes(0, 0, &[]), Value::Integer(0)),
            (bytes(0, 0, &[7]), Value::Integer(7)),
            (bytes(1, 0, &[3]), Value::Integer(30_000)),
            (bytes(1, 0x4000, &[1, 2345]), Value::Integer(-12_345)),
            (bytes(0, 0, &[2, 5000]), Value::Real(2.5)),
            (bytes(-1, 0, &[2500]), Value::Real(0.25)),
            (bytes(0, 0xC000, &[]), Value::Null),
        ] {
            assert_eq!(numeric(&given), Some(expected));
        }
        assert_eq!(numeric(&[0, 3, 0]), None, "cut short");
    }
}
