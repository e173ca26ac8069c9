//! Reports that people ask for: of a year that is over and in which they posted. A job makes them.
//!
//! A request is kept until its report is there, so that asking again queues nothing; one whose job was lost counts no longer
//! after [`LOST`].
//!
//! Spec: <https://docs.joinmastodon.org/methods/annual_reports/>

use rookery_plugin::prelude::*;

use crate::work::Work;
use crate::{go_on, report, sql, year};

/// How long a job takes at most, in milliseconds: six hours.
const LOST: i64 = 6 * 60 * 60 * 1000;

/// What there is of a report.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// It is made.
    Available,
    /// It was asked for.
    Generating,
    /// It may be asked for.
    Eligible,
    /// It may not: the year is not over, the account did not post in it, or the admin does not offer it.
    Ineligible,
}

impl State {
    fn of(account: Id, year: i64) -> Result<Self> {
        if report::is_made(account, year)? {
            return Ok(Self::Available);
        }
        if sql::is_requested(account, year, system::now() - LOST).one::<u32>()? > 0 {
            return Ok(Self::Generating);
        }
        if !config::get("on_request")?.unwrap_or(true) || year::over(Some(year)).is_err() {
            return Ok(Self::Ineligible);
        }
        let (since, until) = year::ids(year);
        let posted = sql::posted(account, since, until).one::<u32>()? > 0;
        Ok(if posted { Self::Eligible } else { Self::Ineligible })
    }
}

/// `GET /api/v1/annual_reports/{year}/state`
#[route(get, "/api/v1/annual_reports/{year}/state", scopes = ["read:accounts"])]
fn show_state(ctx: &Context, year: Id) -> Result<Output> {
    Output::json(&json!({ "state": State::of(ctx.account(), year.0)? }))
}

/// `POST /api/v1/annual_reports/{year}/generate`: 202 until it is made, 200 when there is nothing to make.
#[route(post, "/api/v1/annual_reports/{year}/generate", scopes = ["write:accounts"])]
fn start(ctx: &Context, year: Id) -> Result<Output> {
    let state = State::of(ctx.account(), year.0)?;
    if state == State::Eligible {
        sql::request(ctx.account(), year.0).exec()?;
        go_on(&Work::new(year.0, Some(ctx.account()))?)?;
    }
    let waits = matches!(state, State::Eligible | State::Generating);
    Ok(Output::empty()?.with_status(if waits { 202 } else { 200 }))
}
