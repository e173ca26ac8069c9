//! Annual reports: what each person did in a year, for themselves.
//!
//! Reports are made by the command `generate`, when somebody asks for theirs ([`mod@request`]), or every January if the admin says
//! so ([`work`]), each once: making one anew changes nothing. Clients show people those that they have not read yet; in a browser they find all of theirs, each with a
//! picture to share ([`pages`]). Spec: the contract's group `annual_reports`.

mod count;
mod data;
mod pages;
mod report;
mod request;
#[cfg(test)]
mod tests;
mod work;
mod year;

use std::collections::BTreeSet;

use rookery_plugin::prelude::*;

use crate::data::Data;
use crate::work::Work;

/// The plugin.
#[plugin]
pub struct AnnualReports;

/// How many accounts or statuses are asked about at once.
const PART: usize = 1_000;

/// A report as it is kept.
#[derive(Row)]
struct Kept {
    year: i64,
    schema_version: i64,
    data: String,
}

/// `GET /api/v1/annual_reports`
///
/// Accounts and statuses that are gone since, or hidden, are named nowhere.
#[route(get, "/api/v1/annual_reports", scopes = ["read:accounts"])]
fn index(ctx: &Context) -> Result<Output> {
    shown(&sql::unread(ctx.account()).all::<Kept>()?)
}

/// `GET /api/v1/annual_reports/{year}`: read or not.
#[route(get, "/api/v1/annual_reports/{year}", scopes = ["read:accounts"])]
fn show(ctx: &Context, year: Id) -> Result<Output> {
    shown(&[sql::report(ctx.account(), year).one::<Kept>()?])
}

/// Reports, with the accounts and statuses that they name.
fn shown(kept: &[Kept]) -> Result<Output> {
    let read = |kept: &Kept| serde_json::from_str::<Data>(&kept.data);
    let mut reports = kept.iter().map(read).collect::<Result<Vec<Data>, _>>()?;
    let accounts = there(reports.iter().flat_map(Data::accounts).collect(), |ids| {
        Ok(core::accounts(ids)?.iter().map(|account| report::is_there(account.as_ref())).collect())
    })?;
    let statuses = there(reports.iter().flat_map(Data::statuses).collect(), |ids| core::visible(Viewer::Caller, ids))?;
    reports.iter_mut().for_each(|report| report.retain(&accounts, &statuses));
    let shown = kept
        .iter()
        .zip(&reports)
        .map(|(kept, data)| json!({ "year": kept.year, "data": data, "schema_version": kept.schema_version }));
    Output::template(&json!({
        "annual_reports": shown.collect::<Vec<_>>(),
        "accounts": accounts.into_iter().map(account_hole).collect::<Vec<_>>(),
        "statuses": statuses.into_iter().map(status_hole).collect::<Vec<_>>(),
    }))
}

/// Those of `ids` of which `ask` says that they are there.
fn there(ids: BTreeSet<i64>, ask: impl Fn(&[i64]) -> Result<Vec<bool>>) -> Result<BTreeSet<i64>> {
    let ids: Vec<i64> = ids.into_iter().collect();
    let mut found = BTreeSet::new();
    for part in ids.chunks(PART) {
        let there = ask(part)?;
        found.extend(part.iter().zip(there).filter(|(_, there)| *there).map(|(id, _)| *id));
    }
    Ok(found)
}

/// `POST /api/v1/annual_reports/{year}/read`
#[route(post, "/api/v1/annual_reports/{year}/read", scopes = ["write:accounts"])]
fn read(ctx: &Context, year: Id) -> Result<Output> {
    match sql::mark_read(ctx.account(), year).exec()? {
        0 => Err(Error::NotFound),
        _ => Output::empty(),
    }
}

/// What the command is told: a year and an account, or where it was interrupted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    year: Option<i64>,
    /// The user name of a local account; without one, all that posted.
    account: Option<String>,
    work: Option<serde_json::Value>,
}

/// `rookery plugin run annual_reports generate '{"year": 2025, "account": "alice"}'`
#[command("generate")]
fn generate(_ctx: &Context, asked: Asked) -> Result<serde_json::Value> {
    let work = match asked.work {
        Some(work) => serde_json::from_value::<Work>(work)?.step()?,
        None => {
            let account = asked.account.as_deref().map(local_account).transpose()?;
            Work::new(year::over(asked.year)?, account)?
        }
    };
    if work.is_done() {
        return Ok(json!({ "year": work.year, "made": work.made }));
    }
    Ok(json!({ "progress": work.progress(), "continue": { "work": work } }))
}

/// The local account of this name.
///
/// # Errors
/// [`Error::Invalid`] when there is none.
fn local_account(name: &str) -> Result<Id> {
    let found = core::accounts_by_acct(&[name.trim_start_matches('@').to_owned()])?;
    let local = found.into_iter().flatten().find(|account| account.domain.is_none());
    local.map(|account| Id(account.id)).ok_or_else(|| Error::invalid(format!("There is no account {name:?} here")))
}

/// Every January: the reports of the year that ended, if the admin wants them.
#[job("yearly")]
fn yearly() -> Result<()> {
    if config::get("generate_in_january")?.unwrap_or(false) {
        go_on(&Work::new(year::last(), None)?)?;
    }
    Ok(())
}

/// A step of making reports.
#[job("generate")]
fn generate_next(task: &Task) -> Result<()> {
    let work = task.payload::<Work>()?.step()?;
    if work.is_done() { Ok(()) } else { go_on(&work) }
}

/// Queues the next step.
fn go_on(work: &Work) -> Result<()> {
    queue::enqueue(&[queue::job("generate", work)?])?;
    Ok(())
}
