//! Counts of past days for metrics, kept by a job, and counts of days that have none yet.
//!
//! Every hour the job counts days without counts, the latest first, and some others again: statuses are deleted and
//! old ones arrive, so that a day is never final. A few days without counts, the current one among them, are counted
//! when they are asked for.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::TimeDelta;

use super::period::{Period, day, ids};
use context::error::Result;
use context::queue::{self, CountDays, Done, Failure};
use context::{Cx, job};
use store::day_count::{self, DayCount, ServerCount, ServerNumber};
use store::job::Claim;

/// How often days are counted.
const INTERVAL: TimeDelta = TimeDelta::hours(1);
/// Days counted in one run.
const BATCH: usize = 24;
/// Days before the current one that are counted: ten years.
const OLDEST: i64 = 3_660;
/// Most days that one request counts.
const LIVE: usize = 3;
/// Days for which the activity of users is kept: the longest period of a measure and the one before it.
const ACTIVITY_KEPT: i64 = 801;

#[model::use_case]
#[job]
async fn count_days(cx: &Cx, job: CountDays, claim: Claim) -> Result<Done, Failure> {
    let today = day(cx.clock.now());
    let (days, more) = due(cx, today).await?;
    for day in days {
        let count = count_day(cx, day).await?;
        let mut tx = cx.db.begin().await?;
        day_count::replace(&mut tx, day, &count, cx.clock.now()).await?;
        tx.commit().await?;
    }
    let mut tx = cx.db.begin().await?;
    store::metrics::delete_activity(&mut tx, today - ACTIVITY_KEPT).await?;
    day_count::delete_before(&mut tx, today - OLDEST).await?;
    queue::finish(&mut tx, claim).await?;
    let next = if more { TimeDelta::seconds(1) } else { INTERVAL };
    queue::enqueue_at(cx, &mut tx, &job, cx.clock.now() + next).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

/// The next days to count, and whether days without counts remain.
async fn due(cx: &Cx, today: i64) -> Result<(Vec<i64>, bool)> {
    let Some(first) = day_count::first_id(&cx.db).await? else { return Ok((Vec::new(), false)) };
    let first = ((first >> 16) / (24 * 60 * 60 * 1000)).max(today - OLDEST);
    let counted = day_count::list_counted(&cx.db, first, today).await?;
    let known: HashSet<i64> = counted.iter().copied().collect();
    let missing: Vec<i64> = (first..today).rev().filter(|day| !known.contains(day)).collect();
    let more = missing.len() > BATCH;
    Ok((missing.into_iter().chain(counted).take(BATCH).collect(), more))
}

async fn count_day(cx: &Cx, day: i64) -> Result<DayCount> {
    let range = ids(day, day + 1);
    let mut servers: BTreeMap<String, ServerCount> = BTreeMap::new();
    let mut server = |domain: String, add: &dyn Fn(&mut ServerCount)| {
        let counted = servers
            .entry(domain)
            .or_insert_with_key(|domain| ServerCount { domain: domain.clone(), ..ServerCount::default() });
        add(counted);
    };
    for (domain, accounts) in day_count::count_accounts(&cx.db, range).await? {
        server(domain, &|counted| counted.accounts += accounts);
    }
    let mut media: BTreeMap<String, i64> = BTreeMap::new();
    for (domain, kind, bytes) in day_count::sum_media(&cx.db, range).await? {
        server(domain, &|counted| counted.media_bytes += bytes);
        *media.entry(kind).or_default() += bytes;
    }
    for (domain, reports) in day_count::count_reports(&cx.db, range).await? {
        server(domain, &|counted| counted.reports += reports);
    }
    for (follower, target, follows) in day_count::count_follows(&cx.db, range).await? {
        match (follower.is_empty(), target.is_empty()) {
            (true, false) => server(target, &|counted| counted.follows += follows),
            (false, true) => server(follower, &|counted| counted.followers += follows),
            // Between local accounts both are of this server; between remote ones none is known here.
            (true, true) => server(String::new(), &|counted| {
                counted.follows += follows;
                counted.followers += follows;
            }),
            (false, false) => {}
        }
    }
    Ok(DayCount {
        interactions: day_count::count_interactions(&cx.db, range).await?,
        statuses: day_count::count_statuses(&cx.db, range).await?,
        servers: servers.into_values().collect(),
        media: media.into_iter().collect(),
    })
}

/// The latest days of `period` up to the current one that have no counts; at most a few, so that a request never
/// counts a whole history.
pub(super) async fn live_days(cx: &Cx, period: Period) -> Result<Vec<i64>> {
    let today = day(cx.clock.now());
    let Some(first) = day_count::first_id(&cx.db).await? else { return Ok(Vec::new()) };
    let first = ((first >> 16) / (24 * 60 * 60 * 1000)).max(period.first);
    let known: HashSet<i64> = day_count::list_counted(&cx.db, first, today).await?.into_iter().collect();
    let days = (first..=today).rev().filter(|day| period.contains(*day) && !known.contains(day));
    Ok(days.take(LIVE).collect())
}

/// Interactions by local accounts on each day of `period`, by day.
pub(super) async fn interactions(cx: &Cx, period: Period) -> Result<HashMap<i64, i64>> {
    let counted = day_count::list_interactions(&cx.db, period.first, period.until).await?;
    let mut by_day: HashMap<i64, i64> = counted.into_iter().collect();
    for day in live_days(cx, period).await? {
        by_day.insert(day, day_count::count_interactions(&cx.db, ids(day, day + 1)).await?);
    }
    Ok(by_day)
}

/// A number of the servers `domains` on every day that has any.
pub(super) async fn of_servers(cx: &Cx, number: ServerNumber, domains: &[String]) -> Result<HashMap<i64, i64>> {
    let counted = day_count::list_of_servers(&cx.db, number, domains).await?;
    let mut by_day: HashMap<i64, i64> = counted.into_iter().collect();
    let ever = Period { first: 0, until: i64::MAX };
    for day in live_days(cx, ever).await? {
        let count = count_day(cx, day).await?;
        let servers = count.servers.iter().filter(|server| domains.contains(&server.domain));
        let sum = |of: fn(&ServerCount) -> i64| servers.map(of).sum();
        let number = match number {
            ServerNumber::Accounts => sum(|server| server.accounts),
            ServerNumber::MediaBytes => sum(|server| server.media_bytes),
            ServerNumber::Reports => sum(|server| server.reports),
            ServerNumber::Follows => sum(|server| server.follows),
            ServerNumber::Followers => sum(|server| server.followers),
            ServerNumber::Statuses => {
                count.statuses.iter().filter(|row| domains.contains(&row.domain)).map(|row| row.statuses).sum()
            }
        };
        by_day.insert(day, number);
    }
    Ok(by_day)
}

/// The servers with most statuses in `period`, the first ones first, at most `limit`, as (domain, statuses).
pub(super) async fn servers(cx: &Cx, period: Period, limit: i64) -> Result<Vec<(String, i64)>> {
    let mut live: HashMap<String, i64> = HashMap::new();
    for day in live_days(cx, period).await? {
        for row in day_count::count_statuses(&cx.db, ids(day, day + 1)).await? {
            *live.entry(row.domain).or_default() += row.statuses;
        }
    }
    // A server that is not in the counted days' first ones may be with the others.
    let named: Vec<String> = live.keys().cloned().collect();
    let mut total = live;
    for (domain, statuses) in day_count::list_servers(&cx.db, period.first, period.until, limit, &named).await? {
        *total.entry(domain).or_default() += statuses;
    }
    Ok(highest(total, limit))
}

/// The languages of statuses of the servers `domains` in `period` without reblogs, as (language, statuses), the most
/// frequent first, at most `limit`.
pub(super) async fn languages(cx: &Cx, domains: &[String], period: Period, limit: i64) -> Result<Vec<(String, i64)>> {
    let counted = day_count::list_languages(&cx.db, domains, period.first, period.until).await?;
    let mut total: HashMap<String, i64> = counted.into_iter().collect();
    for day in live_days(cx, period).await? {
        for row in day_count::count_statuses(&cx.db, ids(day, day + 1)).await? {
            if domains.contains(&row.domain) {
                *total.entry(row.language).or_default() += row.statuses - row.reblogs;
            }
        }
    }
    total.retain(|_, statuses| *statuses > 0);
    Ok(highest(total, limit))
}

/// The size of all stored media by kind, as (kind, bytes).
pub(super) async fn media(cx: &Cx) -> Result<BTreeMap<String, i64>> {
    let mut total: BTreeMap<String, i64> = day_count::sum_media_kinds(&cx.db).await?.into_iter().collect();
    for day in live_days(cx, Period { first: 0, until: i64::MAX }).await? {
        for (_, kind, bytes) in day_count::sum_media(&cx.db, ids(day, day + 1)).await? {
            *total.entry(kind).or_default() += bytes;
        }
    }
    Ok(total)
}

/// The entries with the highest numbers, at most `limit`.
fn highest(total: HashMap<String, i64>, limit: i64) -> Vec<(String, i64)> {
    let mut sorted: Vec<(String, i64)> = total.into_iter().collect();
    sorted.sort_unstable_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    sorted.truncate(usize::try_from(limit).unwrap_or_default());
    sorted
}
