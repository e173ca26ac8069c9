//! Making reports, a step at a time: first what all local accounts did in the year is counted, then each report is made
//! from that. A step is one call of the plugin, and its changes one transaction.

use rookery_plugin::prelude::*;

use crate::year::Range;
use crate::{report, sql, year};

/// Accounts per call.
const WINDOW: u16 = 200;
/// Calls per step: their reports are written in a few milliseconds, during which other writers wait.
const WINDOWS: usize = 5;

/// The remaining work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    pub(crate) year: i64,
    /// Only this account.
    account: Option<Id>,
    stage: Stage,
    /// Reports that were made.
    pub(crate) made: u32,
    /// Reports to make in all, when it is known.
    of: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Stage {
    /// The accounts after this one are to be counted.
    Tally(Id),
    /// The reports of accounts after this one are to be made.
    Report(Id),
    Done,
}

impl Work {
    /// Of a year, for one account or for all that posted.
    pub(crate) fn new(year: i64, account: Option<Id>) -> Result<Self> {
        let stage = match account {
            Some(account) if report::is_made(account, year)? => Stage::Done,
            // The figures of a past year change only by deletions.
            Some(_) if sql::is_counted(year).one::<u32>()? > 0 => Stage::Report(Id(0)),
            Some(_) | None => Stage::Tally(Id(0)),
        };
        Ok(Self { year, account, stage, made: 0, of: u32::from(account.is_some()) })
    }

    pub(crate) fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// Does the next part of it.
    pub(crate) fn step(mut self) -> Result<Self> {
        match self.stage {
            Stage::Tally(after) => self.tally(after)?,
            Stage::Report(after) => self.report(after)?,
            Stage::Done => {}
        }
        Ok(self)
    }

    /// How far it is, for people.
    pub(crate) fn progress(&self) -> String {
        let Self { year, made, of, .. } = self;
        match self.stage {
            Stage::Tally(_) => format!("{year}: counting what everyone did"),
            Stage::Report(_) | Stage::Done => format!("{year}: {made} of {of} reports made"),
        }
    }

    /// Counts the accounts after one. Everything is read first, so that other writers do not wait for the transaction.
    fn tally(&mut self, after: Id) -> Result<()> {
        let (tallies, next) = tallied(after, year::ids(self.year))?;
        self.keep(&tallies)?;
        match next {
            Some(after) => self.stage = Stage::Tally(after),
            None => {
                self.stage = Stage::Report(Id(0));
                sql::set_counted(self.year).exec()?;
                if self.account.is_none() {
                    self.of = sql::active(self.year).one()?;
                }
            }
        }
        Ok(())
    }

    /// Stores the reports; none for accounts without activity.
    fn keep(&self, tallies: &[Tally]) -> Result<()> {
        let (idle, busy): (Vec<_>, Vec<_>) =
            tallies.iter().partition(|(_, posted, gained)| *posted == 0 && *gained == 0);
        sql::many::tally(busy.iter().map(|(account, posted, gained)| (self.year, *account, *posted, *gained)))?;
        if !idle.is_empty() {
            let idle: Vec<i64> = idle.iter().map(|(account, ..)| *account).collect();
            sql::forget_tallies(self.year, idle).exec()?;
        }
        Ok(())
    }

    /// Makes the next report.
    fn report(&mut self, after: Id) -> Result<()> {
        let next = match self.account {
            Some(account) => Some(account),
            None => sql::next_account(self.year, after).optional()?,
        };
        self.stage = Stage::Done;
        if let Some(account) = next {
            report::make(account, self.year)?;
            self.made += 1;
            if self.account.is_none() {
                self.stage = Stage::Report(account);
            }
        }
        Ok(())
    }
}

/// An account, how many statuses it posted, and how many followers it gained.
type Tally = (i64, u32, u32);

/// The counts of the local accounts after one between two ids, for some windows of accounts; and the last account.
fn tallied(mut after: Id, (since, until): Range) -> Result<(Vec<Tally>, Option<Id>)> {
    let mut tallies = Vec::new();
    for _ in 0..WINDOWS {
        let (count, end): (u16, Option<Id>) = sql::account_window(after, WINDOW).one()?;
        let Some(end) = end else { return Ok((tallies, None)) };
        tallies.extend(sql::tally_window(after, end, since, until).all::<Tally>()?);
        if count < WINDOW {
            return Ok((tallies, None));
        }
        after = end;
    }
    Ok((tallies, Some(after)))
}
