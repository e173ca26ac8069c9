//! The time window of a signature, and the date format of HTTP.

use chrono::{Duration, NaiveDateTime};
use model::Time;

use super::refusal::Refusal;

/// The difference between the clocks of two servers that is tolerated.
const CLOCK_SKEW: Duration = Duration::hours(1);

/// The lifetime of a signature without `expires`.
const LIFETIME: Duration = Duration::minutes(5);

/// The longest lifetime of a signature; a later `expires` is reduced to it.
const LIFETIME_MAX: Duration = Duration::hours(12);

/// The formats of RFC 9110, section 5.6.7: the current one first, which is the only one that is sent.
const HTTP_DATES: [&str; 3] = ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// The last second of the year 9999.
const SECONDS_MAX: i64 = 253_402_300_799;

/// Seconds since the epoch; `None` before it and after the year 9999.
pub(super) fn from_seconds(seconds: i64) -> Option<Time> {
    (0..=SECONDS_MAX).contains(&seconds).then(|| Time::from_micros(seconds * 1_000_000))
}

pub(super) fn from_http_date(text: &str) -> Option<Time> {
    let parsed = HTTP_DATES.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())?;
    from_seconds(parsed.and_utc().timestamp())
}

pub(super) fn to_http_date(time: Time) -> String {
    time.format(HTTP_DATES[0]).to_string()
}

/// An `expires` that is not signed, reduced to the usual lifetime, since anyone on the way may have changed it.
pub(super) fn at_most_usual(created: Time, expires: Option<Time>) -> Option<Time> {
    expires.map(|expires| expires.min(created + LIFETIME))
}

/// Checks that `now` is between creation and end of a signature.
///
/// # Errors
/// [`Refusal::FromTheFuture`] and [`Refusal::Expired`].
pub(super) fn check(created: Time, expires: Option<Time>, now: Time) -> Result<(), Refusal> {
    let expires = expires.unwrap_or(created + LIFETIME).min(created + LIFETIME_MAX);
    if created > now + CLOCK_SKEW {
        return Err(Refusal::FromTheFuture);
    }
    if now > expires + CLOCK_SKEW {
        return Err(Refusal::Expired);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_dates_parse_in_all_formats() {
        let time = from_seconds(784_111_777).unwrap();
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(from_http_date(text), Some(time), "{text}");
        }
        assert_eq!(to_http_date(time), "Sun, 06 Nov 1994 08:49:37 GMT");
        for text in ["", "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "1994-11-06T08:49:37Z"] {
            assert_eq!(from_http_date(text), None, "{text}");
        }
        assert_eq!(from_seconds(-1), None);
        assert_eq!(from_seconds(i64::MAX), None);
    }

    #[test]
    fn window_has_exact_bounds() {
        let created = from_seconds(1_000_000).unwrap();
        let after = |seconds| check(created, None, created + Duration::seconds(seconds));
        assert_eq!(after(-3600), Ok(()));
        assert_eq!(after(-3601), Err(Refusal::FromTheFuture));
        assert_eq!(after(300 + 3600), Ok(()));
        assert_eq!(after(300 + 3601), Err(Refusal::Expired));
        let long = Some(created + Duration::days(30));
        assert_eq!(check(created, long, created + Duration::hours(13)), Ok(()));
        assert_eq!(check(created, long, created + Duration::hours(13) + Duration::seconds(1)), Err(Refusal::Expired));
    }
}
