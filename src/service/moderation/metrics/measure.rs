//! Measures: a number on each day of a period, its total, and the total of the period before.

use std::collections::{HashMap, HashSet};

use super::period::{Period, midnight};
use super::{ServerQuery, TagNumber, check_tag, count, domains};
use context::Cx;
use context::error::Result;
use model::TagId;
use store::day_count::ServerNumber;
use store::metrics;

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Users who used the server.
    ActiveUsers,
    NewUsers,
    /// Reblogs, favourites and replies to others by local accounts.
    Interactions,
    OpenedReports,
    ResolvedReports,
    /// The use of a hashtag in public statuses.
    Tag(TagNumber, TagId),
    /// A number of a server; its total is over all time.
    Server(ServerNumber, ServerQuery),
}

/// The result of a measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    pub total: i64,
    /// `None`: the total is over all time.
    pub previous_total: Option<i64>,
    /// The number on each day of the period, as (day since the epoch, number).
    pub data: Vec<(i64, i64)>,
}

/// Measures one number in `period`.
///
/// # Errors
/// [`Error::NotFound`](context::Error::NotFound) when there is no such hashtag.
#[model::use_case]
pub async fn measure(cx: &Cx, measure: &Measure, period: Period) -> Result<Measured> {
    if let Measure::Tag(number, tag) = measure {
        check_tag(cx, *tag).await?;
        let (total, by_day) = of_tag(cx, *number, *tag, period).await?;
        let (before, _) = of_tag(cx, *number, *tag, period.before()).await?;
        return Ok(Measured { total, previous_total: Some(before), data: every_day(&by_day, period) });
    }
    let by_day = by_day(cx, measure, period).await?;
    let data = every_day(&by_day, period);
    let (total, previous_total) = match measure {
        Measure::Server(..) => (by_day.values().sum(), None),
        // People are not counted again on another day.
        Measure::ActiveUsers => {
            let once = async |period: Period| metrics::count_active_once(&cx.db, period.first, period.until).await;
            (once(period).await?, Some(once(period.before()).await?))
        }
        _ => {
            let before = self::by_day(cx, measure, period.before()).await?;
            (data.iter().map(|(_, number)| number).sum(), Some(before.values().sum()))
        }
    };
    Ok(Measured { total, previous_total, data })
}

/// The number on every day of `period`.
fn every_day(by_day: &HashMap<i64, i64>, period: Period) -> Vec<(i64, i64)> {
    (period.first..period.until).map(|day| (day, by_day.get(&day).copied().unwrap_or_default())).collect()
}

/// A number of a hashtag in all of `period`, and on each of its days that has any. Accounts and servers count once in
/// the former.
async fn of_tag(cx: &Cx, number: TagNumber, tag: TagId, period: Period) -> Result<(i64, HashMap<i64, i64>)> {
    Ok(match number {
        TagNumber::Uses => {
            let by_day: HashMap<i64, i64> =
                metrics::count_tag_uses(&cx.db, tag, period.ids()).await?.into_iter().collect();
            (by_day.values().sum(), by_day)
        }
        TagNumber::Accounts => distinct(metrics::list_tag_accounts(&cx.db, tag, period.ids()).await?),
        TagNumber::Servers => distinct(metrics::list_tag_domains(&cx.db, tag, period.ids()).await?),
    })
}

/// How many values there are in all, and on each day, of rows without duplicates.
fn distinct<T: Eq + std::hash::Hash>(rows: Vec<(i64, T)>) -> (i64, HashMap<i64, i64>) {
    let mut by_day: HashMap<i64, i64> = HashMap::new();
    let mut all = HashSet::new();
    for (day, value) in rows {
        *by_day.entry(day).or_default() += 1;
        all.insert(value);
    }
    (i64::try_from(all.len()).unwrap_or(i64::MAX), by_day)
}

/// The number on each day of `period` that has any; for a server on each day.
async fn by_day(cx: &Cx, measure: &Measure, period: Period) -> Result<HashMap<i64, i64>> {
    Ok(match measure {
        Measure::ActiveUsers => metrics::count_active(&cx.db, period.first, period.until).await?.into_iter().collect(),
        Measure::NewUsers => metrics::count_users(&cx.db, period.ids()).await?.into_iter().collect(),
        Measure::Interactions => count::interactions(cx, period).await?,
        Measure::OpenedReports => metrics::count_reports(&cx.db, period.ids()).await?.into_iter().collect(),
        Measure::ResolvedReports => {
            let (from, until) = (midnight(period.first), midnight(period.until));
            metrics::count_resolved(&cx.db, from, until).await?.into_iter().collect()
        }
        Measure::Tag(number, tag) => of_tag(cx, *number, *tag, period).await?.1,
        Measure::Server(number, query) => count::of_servers(cx, *number, &domains(cx, query).await?).await?,
    })
}
