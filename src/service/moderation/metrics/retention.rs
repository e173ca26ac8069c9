//! Retention: of the users who signed up in each period, how many were active in it or in later ones.
//!
//! A user counts in every period until their last activity, also in periods of absence in between, as in the
//! reference: the last activity is known of users who signed up before daily activity was recorded, too.

use std::collections::BTreeMap;

use super::period::{Period, day, first_of_month, ids, month, too_long};
use context::Cx;
use context::error::Result;
use model::Time;
use model::metrics::Frequency;

/// Longest span of cohorts of a day: the response has half the square of it.
const DAYS_MAX: i64 = 100;
/// Longest span of cohorts of a month.
const MONTHS_MAX: i64 = 36;

/// The users who signed up in one period.
#[derive(Clone, Debug, PartialEq)]
pub struct Cohort {
    /// The first day of the period.
    pub period: i64,
    /// For each period from this one on: its first day, and the users of the cohort who were active in it or later.
    pub data: Vec<(i64, i64)>,
    /// All users of the cohort.
    pub users: i64,
}

/// The cohorts of each period from `start` to `end`.
///
/// # Errors
/// [`Error::Invalid`](context::Error::Invalid) when the span ends before it starts, or is longer than 100 days, or 36
/// months.
#[model::use_case]
pub async fn cohorts(cx: &Cx, start: Time, end: Time, frequency: Frequency) -> Result<Vec<Cohort>> {
    let Period { first, until } = Period::ordered(day(start), day(end) + 1)?;
    let (most, unit) = match frequency {
        Frequency::Day => (DAYS_MAX, "days"),
        Frequency::Month => (MONTHS_MAX, "months"),
    };
    let index = |day: i64| if frequency == Frequency::Month { month(day) } else { day };
    let begin = |period: i64| if frequency == Frequency::Month { first_of_month(period) } else { period };
    let periods = index(first)..index(until - 1) + 1;
    if periods.end - periods.start > most {
        return Err(too_long(&format!("{most} {unit}")));
    }
    let rows = store::metrics::count_cohorts(&cx.db, ids(begin(periods.start), begin(periods.end))).await?;
    let mut users: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
    for (signed_up, last, count) in rows {
        users.entry(index(signed_up)).or_default().push((index(last), count));
    }
    let cohort = |period: i64| {
        let of = users.get(&period).map(Vec::as_slice).unwrap_or_default();
        let since = |later: i64| of.iter().filter(|(last, _)| *last >= later).map(|(_, count)| count).sum();
        Cohort {
            period: begin(period),
            data: (period..periods.end).map(|later| (begin(later), since(later))).collect(),
            users: of.iter().map(|(_, count)| count).sum(),
        }
    };
    Ok(periods.clone().map(cohort).collect())
}
