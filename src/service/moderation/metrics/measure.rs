//! Measures: a number on each day of a period, its total, and the total of the period before.

use std::collections::HashMap;

use super::period::{Period, midnight};
use super::{ServerQuery, check_tag, count, domains};
use context::Cx;
use context::error::Result;
use model::TagId;
use store::day_count::ServerNumber;
use store::metrics::{self, TagNumber};

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
    let by_day: HashMap<i64, i64> = by_day(cx, measure, period).await?;
    let data: Vec<(i64, i64)> =
        (period.first..period.until).map(|day| (day, by_day.get(&day).copied().unwrap_or_default())).collect();
    let (total, previous_total) = match measure {
        Measure::Server(..) => (by_day.values().sum(), None),
        // People and servers are not counted again on another day.
        Measure::ActiveUsers | Measure::Tag(..) => {
            (once(cx, measure, period).await?, Some(once(cx, measure, period.before()).await?))
        }
        _ => {
            let before = self::by_day(cx, measure, period.before()).await?;
            (data.iter().map(|(_, number)| number).sum(), Some(before.values().sum()))
        }
    };
    Ok(Measured { total, previous_total, data })
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
        Measure::Tag(number, tag) => {
            check_tag(cx, *tag).await?;
            metrics::count_tag(&cx.db, *number, *tag, period.ids()).await?.into_iter().collect()
        }
        Measure::Server(number, query) => count::of_servers(cx, *number, &domains(cx, query).await?).await?,
    })
}

/// The number in all of `period`, for a number that is not the sum of its days.
async fn once(cx: &Cx, measure: &Measure, period: Period) -> Result<i64> {
    Ok(match measure {
        Measure::Tag(number, tag) => metrics::count_tag_once(&cx.db, *number, *tag, period.ids()).await?,
        _ => metrics::count_active_once(&cx.db, period.first, period.until).await?,
    })
}
