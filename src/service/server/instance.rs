//! Information about this server: usage statistics, weekly activity, peers, domain blocks, contact.
//!
//! Reached from the instance routes, NodeInfo and WebFinger. Statistics are cached for minutes to a day, so that
//! frequent requests cost no counting queries.
//!
//! Spec: docs/contract/rules.md#27-instance and docs/contract/rules.md#28-defaults-of-settings;
//! <https://docs.joinmastodon.org/methods/instance/>

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{Datelike as _, Duration};

use crate::auth::week;
use context::Cx;
use context::error::Result;
use model::instance::{DomainBlock, Usage, Week};
use model::settings::Audience;
use model::{Account, Actor};

/// Weeks that count as a month, and as half a year.
const MONTH_WEEKS: i64 = 4;
const HALF_YEAR_WEEKS: i64 = 24;
/// Weeks shown of the server's activity.
const ACTIVITY_WEEKS: i64 = 12;
/// Cache lifetimes of the statistics.
const USAGE_AGE: Duration = Duration::minutes(5);
const ACTIVITY_AGE: Duration = Duration::hours(1);
const PEERS_AGE: Duration = Duration::days(1);

/// The route by which apps request the annual report of a year.
const ANNUAL_REPORTS: &str = "/api/v1/annual_reports/{year}/generate";

/// Usage statistics, at most a few minutes old.
#[model::use_case]
pub async fn usage(cx: &Cx) -> Result<Arc<Usage>> {
    let now = cx.clock.now();
    cx.caches.usage.get(now, USAGE_AGE, count_usage(cx, week(now))).await
}

async fn count_usage(cx: &Cx, this_week: i64) -> Result<Usage> {
    let (users, statuses) = store::instance::local_totals(&cx.db).await?;
    Ok(Usage {
        users,
        statuses,
        active_month: store::instance::active_since(&cx.db, this_week - MONTH_WEEKS + 1).await?,
        active_half_year: store::instance::active_since(&cx.db, this_week - HALF_YEAR_WEEKS + 1).await?,
        domains: store::instance::count_known(&cx.db).await?,
    })
}

/// Activity of the last twelve weeks, newest first; `None` when the setting disables it.
#[model::use_case]
pub async fn activity(cx: &Cx) -> Result<Option<Arc<Vec<Week>>>> {
    if !cx.settings().activity_api_enabled {
        return Ok(None);
    }
    let now = cx.clock.now();
    cx.caches.activity.get(now, ACTIVITY_AGE, count_activity(cx, week(now))).await.map(Some)
}

async fn count_activity(cx: &Cx, this_week: i64) -> Result<Vec<Week>> {
    let first = this_week - ACTIVITY_WEEKS + 1;
    let by_week = |rows: Vec<(i64, i64)>| rows.into_iter().collect::<HashMap<i64, i64>>();
    let statuses = by_week(store::instance::statuses_by_week(&cx.db, first).await?);
    let logins = by_week(store::instance::logins_by_week(&cx.db, first).await?);
    let registrations = by_week(store::instance::registrations_by_week(&cx.db, first).await?);
    let of = |counts: &HashMap<i64, i64>, week| counts.get(&week).copied().unwrap_or_default();
    let weeks = (first..=this_week).rev().map(|week| Week {
        begins: Duration::weeks(week).num_seconds(),
        statuses: of(&statuses, week),
        logins: of(&logins, week),
        registrations: of(&registrations, week),
    });
    Ok(weeks.collect())
}

/// The year of which people may get an annual report at this time: in January, the year that ended; `None` unless an
/// extension makes such reports.
#[must_use]
pub fn reported_year(cx: &Cx) -> Option<i32> {
    let now = cx.clock.now();
    (now.month() == 1 && cx.extensions().serves(ANNUAL_REPORTS)).then(|| now.year() - 1)
}

/// Domains of known servers, at most a day old; `None` when the setting disables it.
#[model::use_case]
pub async fn peers(cx: &Cx) -> Result<Option<Arc<Vec<String>>>> {
    if !cx.settings().peers_api_enabled {
        return Ok(None);
    }
    let find = async { Ok(store::instance::peers(&cx.db).await?) };
    cx.caches.peers.get(cx.clock.now(), PEERS_AGE, find).await.map(Some)
}

/// The blocked domains visible to `viewer`, with reasons only where the setting allows; `None` when the list is not
/// public to them.
#[model::use_case]
pub async fn domain_blocks(cx: &Cx, viewer: Option<&Actor>) -> Result<Option<Vec<DomainBlock>>> {
    let settings = cx.settings();
    if !reaches(settings.show_domain_blocks, viewer) {
        return Ok(None);
    }
    let mut blocks = store::instance::domain_blocks(&cx.db).await?;
    if !reaches(settings.show_domain_blocks_rationale, viewer) {
        for block in &mut blocks {
            block.public_comment = None;
        }
    }
    Ok(Some(blocks))
}

fn reaches(audience: Audience, viewer: Option<&Actor>) -> bool {
    match audience {
        Audience::Disabled => false,
        Audience::Users => viewer.is_some(),
        Audience::All => true,
    }
}

/// The contact account, if the setting names an existing one that is not suspended.
#[model::use_case]
pub async fn contact(cx: &Cx) -> Result<Option<Account>> {
    let name = &cx.settings().contact_username;
    if name.is_empty() {
        return Ok(None);
    }
    let account = store::account::find_local(&cx.db, name).await?;
    Ok(account.filter(|account| !account.is_suspended()))
}

/// True when the database responds and its schema has the version of this binary.
#[model::use_case]
pub async fn is_ready(cx: &Cx) -> Result<bool> {
    Ok(database::migrate::pending(&cx.db).await?.is_empty())
}
