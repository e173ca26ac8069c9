//! Times as the API writes them. [`system::now`](crate::system::now) returns the present time.

/// A time in milliseconds since 1970, as the API writes it: `2024-01-31T12:00:00.000Z`.
#[must_use]
pub fn iso(millis: i64) -> String {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let (days, rest) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    let (hours, minutes, seconds) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{:03}Z", rest % 1000)
}

/// The date of a day since 1970 in the Gregorian calendar. In eras of 400 years that begin with March, so that a leap day is
/// a year's last: <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_written_as_the_api_writes_it() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_704_110_400_123, "2024-01-01T12:00:00.123Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(iso(millis), text);
        }
    }
}
