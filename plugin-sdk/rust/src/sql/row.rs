//! Conversion of rows to Rust values.

use crate::contract::sql::{Rows, Value};
use crate::{Error, Id, Result};

/// A type that a row can be read as: structs that derive [`Row`](derive@crate::Row) by the names of columns, tuples and
/// single values by their order.
pub trait FromRow: Sized {
    /// The names of the columns to read; when empty, all of them in order.
    const COLUMNS: &'static [&'static str];

    /// Reads a row: `values` has a value for each of [`FromRow::COLUMNS`], each to be taken once.
    fn from_row(values: &mut dyn Iterator<Item = Value>) -> Result<Self>;
}

/// A type that a column's value can be read as.
pub trait FromValue: Sized {
    /// Reads it; `None` when it has another type.
    fn from_value(value: Value) -> Option<Self>;
}

/// Reads all rows.
pub(super) fn read<T: FromRow>(rows: Rows) -> Result<Vec<T>> {
    let width = rows.columns.len();
    let places: Vec<usize> = if T::COLUMNS.is_empty() {
        (0..width).collect()
    } else {
        T::COLUMNS.iter().map(|name| place(&rows.columns, name)).collect::<Result<_>>()?
    };
    let Some(count) = rows.values.len().checked_div(width) else { return Ok(Vec::new()) };
    let mut values = rows.values;
    let mut list = Vec::with_capacity(count);
    for row in values.chunks_exact_mut(width) {
        let mut taken = places.iter().map(|place| std::mem::replace(&mut row[*place], Value::Null));
        list.push(T::from_row(&mut taken)?);
    }
    Ok(list)
}

fn place(columns: &[String], name: &str) -> Result<usize> {
    columns.iter().position(|column| column == name).ok_or_else(|| {
        Error::internal(format!("the statement gives no column {name}: it gives {}", columns.join(", ")))
    })
}

/// The next value of a row.
#[doc(hidden)]
pub fn next<T: FromValue>(values: &mut dyn Iterator<Item = Value>, name: &str) -> Result<T> {
    let value = values.next().ok_or_else(|| Error::internal(format!("the statement gives no column {name}")))?;
    let described = describe(&value);
    T::from_value(value).ok_or_else(|| {
        let wanted = std::any::type_name::<T>();
        Error::internal(format!("column {name} holds {described}, which is no {wanted}"))
    })
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Boolean(_) => "a boolean",
        Value::Integer(_) => "an integer",
        Value::Real(_) => "a real number",
        Value::Text(_) => "a text",
        Value::Blob(_) => "bytes",
    }
}

macro_rules! integers {
    ($($type:ty),*) => {
        $(impl FromValue for $type {
            fn from_value(value: Value) -> Option<Self> {
                if let Value::Integer(number) = value { number.try_into().ok() } else { None }
            }
        })*
    };
}
integers!(i64, i32, i16, u64, u32, u16, u8, usize);

impl FromValue for Id {
    fn from_value(value: Value) -> Option<Self> {
        i64::from_value(value).map(Self)
    }
}

impl FromValue for bool {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Boolean(flag) => Some(flag),
            Value::Integer(number) => Some(number != 0),
            _ => None,
        }
    }
}

impl FromValue for f64 {
    #[expect(clippy::cast_precision_loss, reason = "a whole number where a real one is wanted")]
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Real(number) => Some(number),
            Value::Integer(number) => Some(number as f64),
            _ => None,
        }
    }
}

impl FromValue for String {
    fn from_value(value: Value) -> Option<Self> {
        if let Value::Text(text) = value { Some(text) } else { None }
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: Value) -> Option<Self> {
        if let Value::Blob(bytes) = value { Some(bytes) } else { None }
    }
}

impl FromValue for serde_json::Value {
    fn from_value(value: Value) -> Option<Self> {
        serde_json::from_str(&String::from_value(value)?).ok()
    }
}

impl FromValue for Vec<String> {
    fn from_value(value: Value) -> Option<Self> {
        serde_json::from_str(&String::from_value(value)?).ok()
    }
}

impl FromValue for Vec<i64> {
    fn from_value(value: Value) -> Option<Self> {
        serde_json::from_str(&String::from_value(value)?).ok()
    }
}

impl FromValue for Value {
    fn from_value(value: Value) -> Option<Self> {
        Some(value)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Option<Self> {
        if value == Value::Null { Some(None) } else { T::from_value(value).map(Some) }
    }
}

impl<T: FromValue> FromRow for T {
    const COLUMNS: &'static [&'static str] = &[];

    fn from_row(values: &mut dyn Iterator<Item = Value>) -> Result<Self> {
        next(values, "1")
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: FromValue),*> FromRow for ($($name,)*) {
            const COLUMNS: &'static [&'static str] = &[];

            fn from_row(values: &mut dyn Iterator<Item = Value>) -> Result<Self> {
                Ok(($(next::<$name>(values, stringify!($name))?,)*))
            }
        }
    };
}
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
