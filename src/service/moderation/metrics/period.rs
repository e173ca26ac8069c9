//! Periods of whole days, in UTC.

use chrono::{Datelike as _, NaiveDate};

use context::error::{Error, Result};
use model::Time;
use model::clock::Ids;
use store::day_count::IdRange;

const DAY_SECONDS: i64 = 24 * 60 * 60;
/// Longest period of measures and dimensions.
const DAYS_MAX: i64 = 400;
/// Days of a period that a request does not state.
const DAYS_DEFAULT: i64 = 30;
/// Years of periods: outside of them ids have no times.
const YEARS: std::ops::RangeInclusive<i32> = 1970..=2200;

/// Days since the epoch.
#[must_use]
pub fn day(time: Time) -> i64 {
    time.timestamp().div_euclid(DAY_SECONDS)
}

/// The beginning of a day.
#[must_use]
pub fn midnight(day: i64) -> Time {
    Time::from_micros(day * DAY_SECONDS * 1_000_000)
}

/// The ids of rows made from the day `from` on and before the day `until`.
#[must_use]
pub fn ids(from: i64, until: i64) -> IdRange {
    (Ids::first_at(midnight(from)), Ids::first_at(midnight(until)))
}

/// The month of a day, counted from the year 0.
#[must_use]
pub fn month(day: i64) -> i64 {
    let date = midnight(day).date_naive();
    i64::from(date.year()) * 12 + i64::from(date.month0())
}

/// The first day of a month.
#[must_use]
pub fn first_of_month(month: i64) -> i64 {
    let year = i32::try_from(month.div_euclid(12)).unwrap_or_default();
    let number = u32::try_from(month.rem_euclid(12)).unwrap_or_default() + 1;
    let date = NaiveDate::from_ymd_opt(year, number, 1).unwrap_or_default();
    date.and_time(chrono::NaiveTime::MIN).and_utc().timestamp().div_euclid(DAY_SECONDS)
}

/// Consecutive days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Its first day, counted from the epoch.
    pub first: i64,
    /// The day after its last one.
    pub until: i64,
}

impl Period {
    /// From the day of `start` to the day of `end`, both included. Without `end` to `now`, without `start` 30 days.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the period ends before it starts, or is longer than 400 days.
    pub fn new(start: Option<Time>, end: Option<Time>, now: Time) -> Result<Self> {
        let until = day(end.unwrap_or(now)) + 1;
        let first = start.map_or(until - DAYS_DEFAULT, day);
        let period = Self::ordered(first, until)?;
        if period.days() > DAYS_MAX {
            return Err(too_long(&format!("{DAYS_MAX} days")));
        }
        Ok(period)
    }

    /// # Errors
    /// [`Error::Invalid`] when the period ends before it starts, or in a year without rows.
    pub(super) fn ordered(first: i64, until: i64) -> Result<Self> {
        if until <= first {
            return Err(Error::invalid("Validation failed: end_at must not be before start_at"));
        }
        if ![first, until].iter().all(|day| YEARS.contains(&midnight(*day).year())) {
            return Err(Error::invalid("Validation failed: start_at and end_at must be between 1970 and 2200"));
        }
        Ok(Self { first, until })
    }

    /// The number of days.
    #[must_use]
    pub fn days(self) -> i64 {
        self.until - self.first
    }

    /// The period of the same length before it.
    #[must_use]
    pub fn before(self) -> Self {
        Self { first: (self.first - self.days()).max(0), until: self.first }
    }

    /// The ids of rows made in it.
    #[must_use]
    pub fn ids(self) -> IdRange {
        ids(self.first, self.until)
    }

    pub(super) fn contains(self, day: i64) -> bool {
        (self.first..self.until).contains(&day)
    }
}

/// The error for a period beyond `most`.
pub(super) fn too_long(most: &str) -> Error {
    Error::invalid(format!("Validation failed: the time from start_at to end_at must be at most {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn month_begins_on_its_first_day() {
        for day in [0, 30, 31, 59, 365, 20_468, 20_483] {
            let first = first_of_month(month(day));
            assert!(first <= day && day < first_of_month(month(day) + 1), "{day}");
            assert_eq!(midnight(first).day(), 1);
        }
    }

    #[test]
    fn period_before_has_the_same_length() {
        let now = midnight(100);
        let period = Period::new(Some(midnight(91)), Some(now), now).unwrap();
        assert_eq!((period.days(), period.before()), (10, Period { first: 81, until: 91 }));
        assert_eq!(Period::new(None, None, now).unwrap(), Period { first: 71, until: 101 });
        assert!(Period::new(Some(midnight(100)), Some(midnight(99)), now).is_err());
        assert!(Period::new(Some(midnight(0)), Some(midnight(399)), now).is_ok());
        assert!(Period::new(Some(midnight(0)), Some(midnight(400)), now).is_err());
    }
}
