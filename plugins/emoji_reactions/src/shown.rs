//! The reactions that are shown, as the table has them.
//!
//! A status shows every emoji that was used, up to [`MOST`] of them, with how many used it, and up to [`MOST`] accounts in
//! all: one for each emoji, then those who were first. Counts are complete; the lists of accounts are while no more than
//! [`MOST`] reacted. So one status that thousands reacted to takes nothing from the others of its page.

use std::collections::HashMap;

use rookery_plugin::prelude::*;

use crate::emoji::{Emoji, Name};
use crate::group::Reaction;
use crate::sql;

/// How many accounts a status shows.
pub(crate) const MOST: usize = 128;
/// How many statuses are asked for in one statement, which then gives no more rows than it may.
const PART: usize = 40;

/// What a viewer may know of the reactions to one status.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// Those of one emoji side by side, in the order of its first use.
    pub(crate) reactions: Vec<Reaction>,
    pub(crate) local_author: bool,
}

#[derive(Row)]
struct ShownRow {
    status_id: i64,
    account_id: i64,
    name: String,
    domain: String,
    custom: bool,
    total: usize,
    own: bool,
    local_author: bool,
}

/// The reactions to statuses without those that the viewer does not want to know of. Statuses without any are left out.
///
/// # Errors
/// The host's.
pub(crate) fn reactions(statuses: &[i64], viewer: Option<Id>) -> Result<HashMap<i64, Shown>> {
    let mut shown: HashMap<i64, Shown> = HashMap::new();
    for part in statuses.chunks(PART) {
        let rows: Vec<ShownRow> = sql::shown(part, viewer.map_or(0, i64::from), MOST).all()?;
        for row in rows {
            let status = shown.entry(row.status_id).or_default();
            status.local_author = row.local_author;
            status.reactions.push(Reaction {
                account: row.account_id,
                emoji: Emoji::new(row.name, row.domain, row.custom),
                total: row.total,
                own: row.own,
            });
        }
    }
    Ok(shown)
}

/// Those who reacted to a status with one emoji, [`MOST`] at most, and how many they are.
///
/// # Errors
/// The host's.
pub(crate) fn group_of(status: i64, emoji: &Name) -> Result<(Vec<i64>, usize)> {
    let rows: Vec<(i64, usize)> = sql::group_of(status, &emoji.name, &emoji.domain, MOST).all()?;
    let total = rows.first().map_or(0, |(_, total)| *total);
    Ok((rows.into_iter().map(|(account, _)| account).collect(), total))
}
