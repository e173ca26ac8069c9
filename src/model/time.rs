//! Timestamps in UTC, to the microsecond: `TIMESTAMPTZ` on PostgreSQL, an integer of microseconds on SQLite.

use std::ops::{Add, Deref, Sub};

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};

use crate::sqlite::{self, Parameter, ValueRef};

/// A timestamp in UTC, to the microsecond. Derefs to chrono's `DateTime<Utc>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(DateTime<Utc>);

impl Time {
    /// From microseconds since the epoch; a value outside chrono's range becomes the epoch.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self(DateTime::from_timestamp_micros(micros).unwrap_or_default())
    }

    /// A time as other servers write it (RFC 3339), of the years 1 to 9999; `None` for any other text.
    #[must_use]
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let time = DateTime::parse_from_rfc3339(text).ok()?.to_utc();
        (1..=9999).contains(&chrono::Datelike::year(&time)).then(|| time.into())
    }

    /// The format of the API: ISO 8601 with milliseconds and `Z` (docs/contract/rules.md#1-transport).
    #[must_use]
    pub fn to_api(self) -> String {
        self.0.to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    /// The date only: `2026-11-21`.
    #[must_use]
    pub fn to_api_date(self) -> String {
        self.0.format("%Y-%m-%d").to_string()
    }

    /// Midnight of the day in the format of the API, as in `Account.created_at`.
    #[must_use]
    pub fn to_api_midnight(self) -> String {
        self.0.format("%Y-%m-%dT00:00:00.000Z").to_string()
    }

    /// ISO 8601 to the second, as in the instance's documents.
    #[must_use]
    pub fn to_api_seconds(self) -> String {
        self.0.to_rfc3339_opts(SecondsFormat::Secs, true)
    }
}

impl From<DateTime<Utc>> for Time {
    fn from(time: DateTime<Utc>) -> Self {
        Self::from_micros(time.timestamp_micros())
    }
}
impl Deref for Time {
    type Target = DateTime<Utc>;
    fn deref(&self) -> &DateTime<Utc> {
        &self.0
    }
}
impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, by: Duration) -> Self {
        Self(self.0.checked_add_signed(by).unwrap_or(DateTime::<Utc>::MAX_UTC))
    }
}
impl Sub<Duration> for Time {
    type Output = Self;
    fn sub(self, by: Duration) -> Self {
        Self(self.0.checked_sub_signed(by).unwrap_or(DateTime::<Utc>::MIN_UTC))
    }
}
impl Sub for Time {
    type Output = Duration;
    fn sub(self, other: Self) -> Duration {
        self.0 - other.0
    }
}

impl Type<Postgres> for Time {
    fn type_info() -> PgTypeInfo {
        <DateTime<Utc> as Type<Postgres>>::type_info()
    }
}
impl Encode<'_, Postgres> for Time {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        <DateTime<Utc> as Encode<Postgres>>::encode_by_ref(&self.0, buffer)
    }
}
impl<'r> Decode<'r, Postgres> for Time {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        <DateTime<Utc> as Decode<Postgres>>::decode(value).map(Self)
    }
}
impl sqlite::Encode for Time {
    fn encode(&self) -> Result<Parameter, BoxDynError> {
        Ok(Parameter::Integer(self.0.timestamp_micros()))
    }
}
impl sqlite::Decode for Time {
    fn decode(value: ValueRef<'_>) -> Result<Self, BoxDynError> {
        <i64 as sqlite::Decode>::decode(value).map(Self::from_micros)
    }
}
