//! The SQLite encoding of values: decoding columns, and binding parameters.
//!
//! For PostgreSQL these are sqlx's traits; these two are their counterparts for SQLite, which the server accesses
//! through rusqlite, on the calling thread. Booleans are 0 and 1, times microseconds since the epoch, ids integers,
//! documents (`Json`) text.

use std::str::from_utf8;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::error::BoxDynError;
use sqlx::types::Json;

pub use rusqlite::types::{Value as Parameter, ValueRef};

/// A value decoded from a column that is borrowed from the row.
pub trait Decode: Sized {
    /// Decodes a column.
    ///
    /// # Errors
    /// When the column has another type.
    fn decode(value: ValueRef<'_>) -> Result<Self, BoxDynError>;
}

/// A value that can be bound to a parameter.
pub trait Encode {
    /// The parameter.
    ///
    /// # Errors
    /// When the value cannot be represented in the database.
    fn encode(&self) -> Result<Parameter, BoxDynError>;

    /// Converts the value into a parameter, without a copy where that is possible.
    ///
    /// # Errors
    /// As [`Encode::encode`].
    fn into_parameter(self) -> Result<Parameter, BoxDynError>
    where
        Self: Sized,
    {
        self.encode()
    }
}

fn mismatch<T>(expected: &str, value: ValueRef<'_>) -> Result<T, BoxDynError> {
    Err(format!("expected {expected}, found {}", value.data_type()).into())
}

/// The text of a column.
///
/// # Errors
/// When it is not text, or not UTF-8.
pub fn text(value: ValueRef<'_>) -> Result<&str, BoxDynError> {
    match value {
        ValueRef::Text(bytes) => Ok(from_utf8(bytes)?),
        other => mismatch("text", other),
    }
}

impl Decode for i64 {
    fn decode(value: ValueRef<'_>) -> Result<Self, BoxDynError> {
        match value {
            ValueRef::Integer(value) => Ok(value),
            other => mismatch("an integer", other),
        }
    }
}
impl Decode for i32 {
    fn decode(value: ValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(Self::try_from(i64::decode(value)?)?)
    }
}
impl Decode for bool {
    fn decode(value: ValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(i64::decode(value)? != 0)
    }
}
impl Decode for f64 {
    fn decode(value: ValueRef<'_>) -> Result<Self, BoxDynError> {
        match value {
            ValueRef::Real(value) => Ok(value),
            other => mismatch("a real number", other),
        }
    }
}
impl Decode for String {
    fn decode(value: ValueRef<'_>) -> Result<Self, BoxDynError> {
        text(value).map(str::to_owned)
    }
}
impl Decode for Vec<u8> {
    fn decode(value: ValueRef<'_>) -> Result<Self, BoxDynError> {
        match value {
            ValueRef::Blob(bytes) => Ok(bytes.to_owned()),
            other => mismatch("a blob", other),
        }
    }
}
impl<T: Decode> Decode for Option<T> {
    fn decode(value: ValueRef<'_>) -> Result<Self, BoxDynError> {
        match value {
            ValueRef::Null => Ok(None),
            value => T::decode(value).map(Some),
        }
    }
}
impl<T: DeserializeOwned> Decode for Json<T> {
    fn decode(value: ValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(Self(serde_json::from_str(text(value)?)?))
    }
}

macro_rules! integers {
    ($($integer:ty),+) => {$(
        impl Encode for $integer {
            fn encode(&self) -> Result<Parameter, BoxDynError> {
                Ok(Parameter::Integer(i64::from(*self)))
            }
        }
    )+};
}
integers!(i64, i32, bool);

impl Encode for f64 {
    fn encode(&self) -> Result<Parameter, BoxDynError> {
        Ok(Parameter::Real(*self))
    }
}
impl Encode for str {
    fn encode(&self) -> Result<Parameter, BoxDynError> {
        Ok(Parameter::Text(self.to_owned()))
    }
}
impl Encode for String {
    fn encode(&self) -> Result<Parameter, BoxDynError> {
        self.as_str().encode()
    }
    fn into_parameter(self) -> Result<Parameter, BoxDynError> {
        Ok(Parameter::Text(self))
    }
}
impl Encode for Vec<u8> {
    fn encode(&self) -> Result<Parameter, BoxDynError> {
        Ok(Parameter::Blob(self.clone()))
    }
    fn into_parameter(self) -> Result<Parameter, BoxDynError> {
        Ok(Parameter::Blob(self))
    }
}
impl<T: Encode> Encode for Option<T> {
    fn encode(&self) -> Result<Parameter, BoxDynError> {
        self.as_ref().map_or(Ok(Parameter::Null), Encode::encode)
    }
    fn into_parameter(self) -> Result<Parameter, BoxDynError> {
        self.map_or(Ok(Parameter::Null), Encode::into_parameter)
    }
}
impl<T: Serialize> Encode for Json<T> {
    fn encode(&self) -> Result<Parameter, BoxDynError> {
        Ok(Parameter::Text(serde_json::to_string(&self.0)?))
    }
}
impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self) -> Result<Parameter, BoxDynError> {
        (**self).encode()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_were_bound() {
        fn same<T: Encode + Decode + PartialEq + std::fmt::Debug>(value: T) {
            let parameter = value.encode().unwrap();
            assert_eq!(T::decode(ValueRef::from(&parameter)).unwrap(), value);
            assert_eq!(value.into_parameter().unwrap(), parameter);
        }
        same(-7_i64);
        same(true);
        same(0.5);
        same("rook".to_owned());
        same(vec![0_u8, 255]);
        same(None::<i64>);
        same(Some("elm".to_owned()));
        same(Json(vec![1, 2]));
    }

    #[test]
    fn columns_of_another_type_are_refused() {
        assert!(String::decode(ValueRef::Integer(1)).is_err());
        assert!(i64::decode(ValueRef::Text(b"1")).is_err());
        assert!(i32::decode(ValueRef::Integer(1 << 40)).is_err());
        assert!(i64::decode(ValueRef::Null).is_err());
        assert!(String::decode(ValueRef::Text(b"\xff")).is_err());
    }
}
