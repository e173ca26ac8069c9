//! What the server tells about itself. Figures are counted at most every few minutes, whoever asks and however often.
//!
//! Spec: contract rules, sections 27 and 28; <https://docs.joinmastodon.org/methods/instance/>

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use chrono::Duration;
use tokio::sync::Mutex;

use super::auth::week;
use crate::app::App;
use crate::error::{Error, Result};
use model::instance::DomainBlock;
use model::settings::Audience;
use model::{Account, Actor, Time};

/// Weeks that count as a month, and as half a year.
const MONTH_WEEKS: i64 = 4;
const HALF_YEAR_WEEKS: i64 = 24;
/// Weeks shown of the server's activity.
const ACTIVITY_WEEKS: i64 = 12;
/// How old each kind of figure may get.
const USAGE_AGE: Duration = Duration::minutes(5);
const ACTIVITY_AGE: Duration = Duration::hours(1);
const PEERS_AGE: Duration = Duration::days(1);

/// How much the server is used.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Usage {
    pub users: i64,
    pub statuses: i64,
    /// People of the last 4 weeks.
    pub active_month: i64,
    /// People of the last 24 weeks.
    pub active_half_year: i64,
    /// Other servers.
    pub domains: i64,
}

/// One week.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "named by the InstanceActivity entity")]
pub struct Week {
    /// When it began, in seconds since the epoch.
    pub begins: i64,
    pub statuses: i64,
    pub logins: i64,
    pub registrations: i64,
}

/// Figures, kept for a while.
#[derive(Debug, Default)]
pub struct Figures {
    usage: Kept<Usage>,
    activity: Kept<Vec<Week>>,
    peers: Kept<Vec<String>>,
}

/// How much the server is used, as of some minutes ago.
///
/// # Errors
/// When the database does.
pub async fn usage(app: &App) -> Result<Arc<Usage>> {
    let now = app.clock.now();
    app.figures.usage.get(now, USAGE_AGE, count_usage(app, week(now))).await
}

async fn count_usage(app: &App, this_week: i64) -> Result<Usage> {
    let (users, statuses) = store::instance::local_totals(&app.db).await?;
    Ok(Usage {
        users,
        statuses,
        active_month: store::instance::active_since(&app.db, this_week - MONTH_WEEKS + 1).await?,
        active_half_year: store::instance::active_since(&app.db, this_week - HALF_YEAR_WEEKS + 1).await?,
        domains: store::instance::count_known(&app.db).await?,
    })
}

/// The last twelve weeks, the newest first; `None` when the setting does not want them told.
///
/// # Errors
/// When the database does.
pub async fn activity(app: &App) -> Result<Option<Arc<Vec<Week>>>> {
    if !app.settings().activity_api_enabled {
        return Ok(None);
    }
    let now = app.clock.now();
    app.figures.activity.get(now, ACTIVITY_AGE, count_activity(app, week(now))).await.map(Some)
}

async fn count_activity(app: &App, this_week: i64) -> Result<Vec<Week>> {
    let first = this_week - ACTIVITY_WEEKS + 1;
    let by_week = |rows: Vec<(i64, i64)>| rows.into_iter().collect::<HashMap<i64, i64>>();
    let statuses = by_week(store::instance::statuses_by_week(&app.db, first).await?);
    let logins = by_week(store::instance::logins_by_week(&app.db, first).await?);
    let registrations = by_week(store::instance::registrations_by_week(&app.db, first).await?);
    let of = |counts: &HashMap<i64, i64>, week| counts.get(&week).copied().unwrap_or_default();
    let weeks = (first..=this_week).rev().map(|week| Week {
        begins: Duration::weeks(week).num_seconds(),
        statuses: of(&statuses, week),
        logins: of(&logins, week),
        registrations: of(&registrations, week),
    });
    Ok(weeks.collect())
}

/// Servers that this one knows, as of a day ago at most; `None` when the setting does not want them told.
///
/// # Errors
/// When the database does.
pub async fn peers(app: &App) -> Result<Option<Arc<Vec<String>>>> {
    if !app.settings().peers_api_enabled {
        return Ok(None);
    }
    let find = async { Ok(store::instance::peers(&app.db).await?) };
    app.figures.peers.get(app.clock.now(), PEERS_AGE, find).await.map(Some)
}

/// The blocked domains that `viewer` may know of, reasons only where they may know those too; `None`: nothing is told.
///
/// # Errors
/// When the database does.
pub async fn domain_blocks(app: &App, viewer: Option<&Actor>) -> Result<Option<Vec<DomainBlock>>> {
    let settings = app.settings();
    if !reaches(settings.show_domain_blocks, viewer) {
        return Ok(None);
    }
    let mut blocks = store::instance::domain_blocks(&app.db).await?;
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

/// The account that people ask, if the setting names one that is there.
///
/// # Errors
/// When the database does.
pub async fn contact(app: &App) -> Result<Option<Account>> {
    let name = &app.settings().contact_username;
    if name.is_empty() {
        return Ok(None);
    }
    let account = store::account::find_local(&app.db, name).await?;
    Ok(account.filter(|account| !account.is_suspended()))
}

/// A local account by the name in an address, for WebFinger. A suspended one answers until its data is gone.
///
/// # Errors
/// [`Error::NotFound`] when there is none, [`Error::Gone`] when it was removed.
pub async fn local_account(app: &App, username: &str) -> Result<Account> {
    let account = store::account::find_local(&app.db, username).await?.ok_or(Error::NotFound)?;
    if account.is_suspended() && store::user::find(&app.db, account.id).await?.is_none() {
        return Err(Error::Gone);
    }
    Ok(account)
}

/// A value, and when it was found.
#[derive(Debug)]
struct Kept<T>(Mutex<Option<(Time, Arc<T>)>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Kept<T> {
    /// The value, from `find` when it is older than `age`. Whoever else asks meanwhile waits for the same answer.
    async fn get(&self, now: Time, age: Duration, find: impl Future<Output = Result<T>>) -> Result<Arc<T>> {
        let mut kept = self.0.lock().await;
        if let Some((at, value)) = &*kept
            && now - *at < age
        {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(find.await?);
        *kept = Some((now, Arc::clone(&value)));
        Ok(value)
    }
}
