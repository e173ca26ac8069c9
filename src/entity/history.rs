//! Usage of hashtags and links on each of the last seven days, today first.
//!
//! <https://docs.joinmastodon.org/entities/Tag/#history>

use std::collections::HashMap;

use serde::Serialize;

use context::Cx;
use context::error::Result;
use model::clock::Ids;
use model::{StatusId, TagId, Time};

const DAYS: i64 = 7;
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// One day; numbers are strings (docs/contract/rules.md#1-transport).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Day {
    pub day: String,
    pub uses: String,
    pub accounts: String,
}

/// The use of several hashtags, or of several links.
#[derive(Debug)]
pub(crate) struct Histories {
    /// In days since the epoch.
    today: i64,
    /// Uses and accounts, by id and day.
    used: HashMap<(i64, i64), (i64, i64)>,
}

impl Histories {
    /// The lowest id of a status that counts.
    pub(crate) fn since(cx: &Cx) -> StatusId {
        Ids::first_at(Time::from_micros((today(cx) - DAYS + 1) * DAY_SECONDS * 1_000_000)).into()
    }

    /// From rows of id, day, uses and accounts.
    pub(crate) fn new(cx: &Cx, rows: impl IntoIterator<Item = (i64, i64, i64, i64)>) -> Self {
        let used = rows.into_iter().map(|(id, day, uses, accounts)| ((id, day), (uses, accounts))).collect();
        Self { today: today(cx), used }
    }

    /// The use of hashtags. One statement, or none without hashtags.
    pub(crate) async fn of_tags(cx: &Cx, tags: &[TagId]) -> Result<Self> {
        let rows = match tags {
            [] => Vec::new(),
            tags => store::tag::history(&cx.db, tags, Self::since(cx)).await?,
        };
        Ok(Self::new(cx, rows.into_iter().map(|(tag, day, uses, accounts)| (i64::from(tag), day, uses, accounts))))
    }

    /// The history of `id`.
    pub(crate) fn of(&self, id: i64) -> Vec<Day> {
        let day = |back: i64| {
            let (uses, accounts) = self.used.get(&(id, self.today - back)).copied().unwrap_or_default();
            Day {
                day: ((self.today - back) * DAY_SECONDS).to_string(),
                uses: uses.to_string(),
                accounts: accounts.to_string(),
            }
        };
        (0..DAYS).map(day).collect()
    }
}

fn today(cx: &Cx) -> i64 {
    cx.clock.now().timestamp().div_euclid(DAY_SECONDS)
}
