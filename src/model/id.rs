//! Ids: 64-bit numbers in the database, decimal strings in JSON so that clients keep all their digits.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
/// The id of a plugin in the database.
pub type PluginId = i64;

/// The values of a column that holds the number of `$name(i64)`.
macro_rules! integer_column {
    ($name:ident) => {
        impl<DB: sqlx::Database> sqlx::Type<DB> for $name
        where
            i64: sqlx::Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                <i64 as sqlx::Type<DB>>::type_info()
            }
            fn compatible(info: &DB::TypeInfo) -> bool {
                <i64 as sqlx::Type<DB>>::compatible(info)
            }
        }
        impl<'q, DB: sqlx::Database> sqlx::Encode<'q, DB> for $name
        where
            i64: sqlx::Encode<'q, DB>,
        {
            fn encode_by_ref(
                &self,
                buffer: &mut DB::ArgumentBuffer,
            ) -> Result<sqlx::encode::IsNull, sqlx::error::BoxDynError> {
                sqlx::Encode::<DB>::encode_by_ref(&self.0, buffer)
            }
        }
        impl<'r, DB: sqlx::Database> sqlx::Decode<'r, DB> for $name
        where
            i64: sqlx::Decode<'r, DB>,
        {
            fn decode(value: DB::ValueRef<'r>) -> Result<Self, sqlx::error::BoxDynError> {
                <i64 as sqlx::Decode<DB>>::decode(value).map(Self)
            }
        }
        impl crate::sqlite::Encode for $name {
            fn encode(&self) -> Result<crate::sqlite::Parameter, sqlx::error::BoxDynError> {
                Ok(crate::sqlite::Parameter::Integer(self.0))
            }
        }
        impl crate::sqlite::Decode for $name {
            fn decode(value: crate::sqlite::ValueRef<'_>) -> Result<Self, sqlx::error::BoxDynError> {
                <i64 as crate::sqlite::Decode>::decode(value).map(Self)
            }
        }
    };
}
pub(crate) use integer_column;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl From<i64> for $name {
            fn from(id: i64) -> Self {
                Self(id)
            }
        }
        impl From<$name> for i64 {
            fn from(id: $name) -> Self {
                id.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
        impl FromStr for $name {
            type Err = std::num::ParseIntError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
        integer_column!($name);
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                parse(deserializer).map(Self)
            }
        }
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": "^-?[0-9]+$" })
            }
        }
    )+};
}

id! {
    AccountId,
    /// A registered OAuth application.
    AppId,
    /// A thread of statuses.
    ConversationId,
    FilterId,
    /// A queued job.
    JobId,
    MediaId,
    NotificationId,
    PollId,
    /// A row that needs an id only for pagination or as a reference: a follow, a favourite, a bookmark, a mute …
    RowId,
    RuleId,
    /// A draft of a status that the server keeps.
    SavedDraftId,
    /// A status scheduled for later publication.
    ScheduledStatusId,
    StatusId,
    TagId,
    /// An access token.
    TokenId,
}

/// A decimal string, or a JSON integer as some clients send it.
fn parse<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    struct Digits;
    impl de::Visitor<'_> for Digits {
        type Value = i64;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an id: a decimal number of at most 64 bits, as a string")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<i64, E> {
            text.trim().parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
        }
        fn visit_i64<E: de::Error>(self, number: i64) -> Result<i64, E> {
            Ok(number)
        }
        fn visit_u64<E: de::Error>(self, number: u64) -> Result<i64, E> {
            i64::try_from(number).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
        }
    }
    deserializer.deserialize_any(Digits)
}
