//! Years and months in UTC, as ranges of ids.

use rookery_plugin::prelude::*;

const DAY: i64 = 24 * 60 * 60 * 1000;
/// Bits of an id below its millisecond (contract, `types.id`).
const BELOW: u32 = 16;
/// The year of the first id that there can be.
const FIRST: i64 = 1970;

/// The ids of a time: from the first on, before the second.
pub(crate) type Range = (i64, i64);

/// The year of a time in milliseconds.
pub(crate) fn of(millis: i64) -> i64 {
    // A guess that is at most one too small, since no year has more than 366 days.
    let guess = FIRST + millis.max(0) / (366 * DAY);
    (guess..).find(|year| month_start(year + 1, 0) > millis).unwrap_or(guess)
}

/// The year that ended last.
pub(crate) fn last() -> i64 {
    of(system::now()) - 1
}

/// The year to report on: the last one unless another is named.
///
/// # Errors
/// [`Error::Invalid`] for one that is not over, or before there were ids: its report would be made once and for all.
pub(crate) fn over(named: Option<i64>) -> Result<i64> {
    let last = last();
    match named.unwrap_or(last) {
        year if (FIRST..=last).contains(&year) => Ok(year),
        year => Err(Error::invalid(format!("{year} is not a year that is over: the last one is {last}"))),
    }
}

/// The ids of a whole year.
pub(crate) fn ids(year: i64) -> Range {
    (month_start(year, 0) << BELOW, month_start(year, 12) << BELOW)
}

/// The ids of each of its months.
pub(crate) fn months(year: i64) -> impl Iterator<Item = Range> {
    (0..12).map(move |month| (month_start(year, month) << BELOW, month_start(year, month + 1) << BELOW))
}

/// When a month begins, in milliseconds; months count from 0, and 12 is the next year's first.
fn month_start(year: i64, month: i64) -> i64 {
    let (year, month) = (year + month / 12, month % 12);
    // Days since 0000-03-01, in years that begin in March: the leap day is their last.
    let (march_year, march_month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let days = march_year * 365 + march_year / 4 - march_year / 100 + march_year / 400 + (153 * march_month + 2) / 5;
    (days - DAYS_TO_EPOCH) * DAY
}

/// From 0000-03-01 to 1970-01-01.
const DAYS_TO_EPOCH: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_begin_when_they_do() {
        for (year, month, days) in
            [(1970, 0, 0), (1970, 2, 59), (2000, 2, 11_017), (2024, 1, 19_754), (2024, 2, 19_783)]
        {
            assert_eq!(month_start(year, month), days * DAY, "{year}-{month}");
        }
        assert_eq!(month_start(2024, 12), month_start(2025, 0));
        assert_eq!(month_start(2100, 2) - month_start(2100, 1), 28 * DAY, "no leap year");
    }

    #[test]
    fn year_has_its_first_and_last_millisecond_and_no_other() {
        for year in [1970, 1999, 2000, 2024, 2025, 2100] {
            let (start, end) = (month_start(year, 0), month_start(year, 12));
            assert_eq!([of(start), of(end - 1), of(end)], [year, year, year + 1]);
        }
        let months: Vec<Range> = months(2024).collect();
        assert_eq!((months[0].0, months[11].1), ids(2024));
        assert!(months.windows(2).all(|pair| pair[0].1 == pair[1].0), "without a gap");
    }
}
