//! Scores trends again from current usage. Reached from the job that runs every few minutes.
//!
//! [`measure`] reads, outside of any transaction, and [`save`] writes a few hundred rows. Who may see trends is
//! decided elsewhere.

use std::collections::HashMap;

use chrono::TimeDelta;

use super::publisher::{self, Decisions};
use super::score::{Scoring, THRESHOLD, burst, count};
use context::error::Result;
use context::extension::{Entity, Target};
use context::queue::{self, Done, Failure, RefreshTrends};
use context::{Cx, job};
use database::Tx;
use model::clock::Ids;
use model::trend::TrendKind;
use model::{StatusId, Time};
use store::job::Claim;
use store::trend::{NewTrend, Trend};
use store::trend_use::{self, StatusUse};

/// Most stored trends of a kind.
const MOST: i64 = 400;
/// How long the peak of a hashtag prevents a lower one from replacing it.
const COOLDOWN: TimeDelta = TimeDelta::days(2);
/// The oldest statuses considered: older ones would need some 10¹⁴ favourites.
const OLDEST: TimeDelta = TimeDelta::days(2);
/// Seconds of a day.
const DAY_SECONDS: i64 = 24 * 60 * 60;
/// A review is requested for trends with a higher score than this place among the shown trends.
const REVIEWED_PLACE: usize = 3;

const WEIGHT_MAX: f64 = 1_000_000.0;

/// The measured trends, by kind.
#[derive(Debug, Default)]
pub struct Measured(Vec<(TrendKind, Vec<NewTrend>)>);

/// Measures trends of every kind; none while trends are disabled. `since`: lower bound of the row ids not covered by
/// an earlier run.
#[model::use_case]
pub async fn measure(cx: &Cx, since: i64) -> Result<Measured> {
    if !cx.settings().trends {
        return Ok(Measured(TrendKind::ALL.iter().map(|kind| (*kind, Vec::new())).collect()));
    }
    Ok(Measured(vec![
        (TrendKind::Tag, measure_used(cx, TrendKind::Tag).await?),
        (TrendKind::Status, measure_statuses(cx, since).await?),
        (TrendKind::Link, measure_used(cx, TrendKind::Link).await?),
    ]))
}

/// Saves the measured trends, and requests reviews where these are required.
#[model::use_case]
pub async fn save(cx: &Cx, tx: &mut Tx, measured: &Measured) -> Result<()> {
    let now = cx.clock.now();
    for (kind, trends) in &measured.0 {
        store::trend::replace(tx, *kind, trends, now).await?;
        let ids = awaiting_review(trends);
        if ids.is_empty() || cx.settings().trendable_by_default {
            continue;
        }
        match kind {
            TrendKind::Tag => store::trend::request_tag_reviews(tx, &ids, now).await?,
            TrendKind::Status => store::trend::request_author_reviews(tx, &ids, now).await?,
            TrendKind::Link => publisher::request_reviews(cx, tx, &ids).await?,
        }
    }
    Ok(())
}

/// Unreviewed trends that would be among the first ones shown.
fn awaiting_review(trends: &[NewTrend]) -> Vec<i64> {
    let shown = trends.iter().filter(|trend| trend.allowed == Some(true)).nth(REVIEWED_PLACE - 1);
    let above = shown.map_or(0.0, |trend| trend.score);
    let waiting = trends.iter().filter(|trend| trend.allowed.is_none() && trend.score > above);
    waiting.map(|trend| trend.subject_id).collect()
}

/// Hashtags or links, by how many more people use them today than yesterday.
async fn measure_used(cx: &Cx, kind: TrendKind) -> Result<Vec<NewTrend>> {
    let [yesterday, today, tomorrow] = days(cx);
    let links = kind == TrendKind::Link;
    let used = match links {
        false => trend_use::list_tags(&cx.db, today, tomorrow, THRESHOLD, MOST).await?,
        true => trend_use::list_links(&cx.db, today, tomorrow, THRESHOLD, MOST).await?,
    };
    let ids: Vec<i64> = used.iter().map(|used| used.id).collect();
    let before = match links {
        false => trend_use::count_tag_accounts(&cx.db, &ids, yesterday, today).await?,
        true => trend_use::count_link_accounts(&cx.db, &ids, yesterday, today).await?,
    };
    let before: HashMap<i64, i64> = before.into_iter().collect();
    let decided = Decisions::load((&cx.db).into(), used.iter().filter_map(|used| used.page_url.as_deref())).await?;
    let used = used.into_iter().map(|used| Use {
        subject: used.id,
        allowed: used.allowed.or_else(|| decided.of(used.page_url.as_deref()?)),
        burst: burst(count(used.accounts), count(before.get(&used.id).copied().unwrap_or_default())),
        language: used.language,
    });
    let known = store::trend::list(&cx.db, kind).await?;
    Ok(by_peaks(Scoring::of(kind), cx.clock.now(), known, used.collect()))
}

/// The first ids of yesterday, today and tomorrow.
fn days(cx: &Cx) -> [StatusId; 3] {
    let today = cx.clock.now().timestamp().div_euclid(DAY_SECONDS);
    [today - 1, today, today + 1].map(|day| Ids::first_at(Time::from_micros(day * DAY_SECONDS * 1_000_000)).into())
}

/// A hashtag or link used today.
#[derive(Debug)]
struct Use {
    subject: i64,
    language: Option<String>,
    allowed: Option<bool>,
    burst: f64,
}

/// Scores each subject by its highest burst, which decays from the time of its peak. A trend that has ended keeps its
/// row, with a score of 0, until its peak no longer prevents a lower one.
fn by_peaks(scoring: Scoring, now: Time, known: Vec<Trend>, used: Vec<Use>) -> Vec<NewTrend> {
    let mut known: HashMap<i64, Trend> = known.into_iter().map(|trend| (trend.subject_id, trend)).collect();
    let mut trends = Vec::with_capacity(known.len() + used.len());
    for used in used {
        let before = known.remove(&used.subject).and_then(|trend| peak(&trend, now));
        let (score, peak) = match before {
            Some((peak, at)) if used.burst <= peak => (scoring.decayed(peak, now - at), None),
            _ if used.burst < scoring.least => continue,
            _ => (used.burst, Some(used.burst)),
        };
        trends.push(NewTrend { subject_id: used.subject, language: used.language, allowed: used.allowed, score, peak });
    }
    for trend in known.into_values() {
        if let Some((peak, at)) = peak(&trend, now) {
            let score = scoring.decayed(peak, now - at);
            let Trend { subject_id, language, allowed, .. } = trend;
            trends.push(NewTrend { subject_id, language, allowed, score, peak: None });
        }
    }
    highest(trends)
}

/// The peak of a trend and its time, until it has cooled down.
fn peak(trend: &Trend, now: Time) -> Option<(f64, Time)> {
    trend.peak.filter(|_| now - trend.peak_at < COOLDOWN).map(|peak| (peak, trend.peak_at))
}

async fn measure_statuses(cx: &Cx, since: i64) -> Result<Vec<NewTrend>> {
    let now = cx.clock.now();
    let oldest = Ids::first_at(now - OLDEST);
    let since = since.max(oldest).into();
    // The weights of extensions may turn a status with few interactions into a trend.
    let least = if cx.extensions().decorates(Entity::Trend) { 1 } else { THRESHOLD };
    let mut used = trend_use::list_statuses(&cx.db, since, oldest.into(), least, MOST).await?;
    let known = store::trend::list(&cx.db, TrendKind::Status).await?;
    let known: Vec<StatusId> = known.into_iter().map(|trend| trend.subject_id.into()).collect();
    used.extend(trend_use::find_statuses(&cx.db, &known).await?);
    used.sort_unstable_by_key(|used| used.id);
    used.dedup_by_key(|used| used.id);
    let policy = cx.domain_policy();
    used.retain(|used| used.domain.as_deref().is_none_or(|domain| !policy.of(domain).flags.block_trends));
    let weights = weights(cx, &used).await;
    let scoring = Scoring::of(TrendKind::Status);
    let trend = |(used, weight): (StatusUse, f64)| NewTrend {
        subject_id: used.id.into(),
        score: scoring.decayed(burst(count(used.uses) + weight, 0.0), now - used.created_at),
        language: used.language,
        allowed: used.allowed,
        peak: None,
    };
    Ok(highest(used.into_iter().zip(weights).map(trend).filter(|trend| trend.score > 0.0).collect()))
}

/// The weights that extensions add to each of `used`, in order; nothing for extensions that do not respond.
async fn weights(cx: &Cx, used: &[StatusUse]) -> Vec<f64> {
    if used.is_empty() || !cx.extensions().decorates(Entity::Trend) {
        return vec![0.0; used.len()];
    }
    let target = |used: &StatusUse| Target {
        id: used.id.into(),
        owner: used.account_id.into(),
        subject: None,
        activity: None,
        code: String::new(),
    };
    let added = cx.extensions().decorate(cx, None, Entity::Trend, used.iter().map(target).collect(), &[]).await;
    let weight = |index: usize| added.of(index).and_then(|members| members.number("weight")).unwrap_or_default();
    (0..used.len()).map(|index| weight(index).clamp(0.0, WEIGHT_MAX)).collect()
}

/// The trends with the highest scores, up to the stored maximum.
fn highest(mut trends: Vec<NewTrend>) -> Vec<NewTrend> {
    trends.sort_unstable_by(|one, other| {
        other.score.total_cmp(&one.score).then_with(|| other.subject_id.cmp(&one.subject_id))
    });
    trends.truncate(usize::try_from(MOST).unwrap_or_default());
    trends
}

/// How often trends are scored.
const INTERVAL: TimeDelta = TimeDelta::minutes(5);
/// How long before a run rows may have received their ids that are committed after it.
const OVERLAP: TimeDelta = TimeDelta::minutes(1);

/// Slow reads happen before the transaction begins.
#[model::use_case]
#[job]
async fn refresh_trends(cx: &Cx, job: RefreshTrends, claim: Claim) -> Result<Done, Failure> {
    let begun = cx.clock.now();
    let measured = measure(cx, job.since).await?;
    let mut tx = cx.db.begin().await?;
    save(cx, &mut tx, &measured).await?;
    queue::finish(&mut tx, claim).await?;
    let next = RefreshTrends { since: Ids::first_at(begun - OVERLAP) };
    queue::enqueue_at(cx, &mut tx, &next, begun + INTERVAL).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000;

    fn known(subject_id: i64, peak: f64, hours_ago: i64) -> Trend {
        let peak_at = Time::from_micros(-hours_ago * HOUR);
        Trend { subject_id, language: None, allowed: Some(true), score: 0.0, peak: Some(peak), peak_at }
    }

    fn scored(known: Vec<Trend>, used: Vec<(i64, f64)>) -> Vec<(i64, f64, Option<f64>)> {
        let used =
            used.into_iter().map(|(subject, burst)| Use { subject, language: None, allowed: None, burst }).collect();
        let trends = by_peaks(Scoring::of(TrendKind::Tag), Time::from_micros(0), known, used);
        trends.into_iter().map(|trend| (trend.subject_id, trend.score, trend.peak)).collect()
    }

    #[test]
    fn new_peak_replaces_the_lower_one() {
        let before = vec![known(1, 16.0, 4), known(2, 16.0, 4)];
        let after = scored(before, vec![(1, 20.0), (2, 10.0), (3, 9.0), (4, 0.5)]);
        assert_eq!(after, [(1, 20.0, Some(20.0)), (3, 9.0, Some(9.0)), (2, 8.0, None)]);
    }

    #[test]
    fn ended_trend_keeps_its_peak_for_two_days() {
        assert_eq!(scored(vec![known(1, 16.0, 47)], vec![]), [(1, 0.0, None)]);
        assert_eq!(scored(vec![known(1, 16.0, 47)], vec![(1, 12.0)]), [(1, 0.0, None)]);
        assert_eq!(scored(vec![known(1, 16.0, 48)], vec![]), []);
        assert_eq!(scored(vec![known(1, 16.0, 48)], vec![(1, 12.0)]), [(1, 12.0, Some(12.0))]);
    }

    #[test]
    fn review_is_requested_for_trends_that_would_be_shown() {
        let trend = |subject_id, score, allowed| NewTrend { subject_id, language: None, allowed, score, peak: None };
        let yes = Some(true);
        let trends = [
            trend(1, 9.0, yes),
            trend(2, 8.0, None),
            trend(3, 7.0, yes),
            trend(4, 6.0, Some(false)),
            trend(5, 5.0, yes),
            trend(6, 4.0, None),
        ];
        assert_eq!(awaiting_review(&trends), [2]);
        assert_eq!(awaiting_review(&trends[5..]), [6], "few are shown yet");
    }
}
