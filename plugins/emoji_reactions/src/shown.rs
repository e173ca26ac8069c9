//! The reactions that are shown, as the table has them.
//!
//! A status shows every emoji that was used, up to [`MOST`] of them, with their counts, and up to [`MOST`] accounts in
//! all: one for each emoji, then the earliest. Counts are complete; the lists of accounts are complete up to [`MOST`]
//! reactions. So one status with thousands of reactions does not shorten the lists of others on its page.

use std::collections::HashMap;

use rookery_plugin::prelude::*;

use crate::emoji::{Emoji, Name};
use crate::group::Reaction;
use crate::sql;

/// How many accounts a status shows.
pub(crate) const MOST: usize = 128;
/// Statuses per statement, so that the result stays within its limit.
const PART: usize = 40;
/// How many reactions of a part are read as they are. Where there are more, the database arranges them and leaves out what
/// is not shown, which costs several times as much.
const FEW: usize = 500;

/// The reactions to one status for a viewer.
#[derive(Debug, Default)]
pub(crate) struct StatusReactions {
    /// Sorted by emoji, in the order of its first use.
    pub(crate) reactions: Vec<Reaction>,
    pub(crate) local_author: bool,
}

#[derive(Row)]
struct FewRow {
    status_id: i64,
    account_id: i64,
    name: String,
    domain: String,
    custom: bool,
    local_author: bool,
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

/// The reactions to `statuses` that `viewer` may see: without those of accounts that are suspended or limited, that the
/// viewer mutes or blocks (alone or with their server), or that block the viewer. Statuses without any are left out.
///
/// # Errors
/// The host's.
pub(crate) fn reactions(statuses: &[i64], viewer: Option<Id>) -> Result<HashMap<i64, StatusReactions>> {
    let mut shown = HashMap::new();
    for part in statuses.chunks(PART) {
        let me = viewer.map_or(0, i64::from);
        let rows: Vec<FewRow> = sql::few(part, me, FEW + 1).all()?;
        let by_status = || rows.chunk_by(|one, other| one.status_id == other.status_id);
        if rows.len() <= FEW && by_status().all(|rows| rows.len() <= MOST) {
            shown.extend(by_status().map(|rows| (rows[0].status_id, few(rows, me))));
        } else {
            many(part, me, &mut shown)?;
        }
    }
    Ok(shown)
}

/// The shown part of all reactions to one status, in the order of their creation.
fn few(rows: &[FewRow], me: i64) -> StatusReactions {
    let mut groups: Vec<Vec<&FewRow>> = Vec::new();
    for row in rows {
        let same = |group: &&mut Vec<&FewRow>| group[0].name == row.name && group[0].domain == row.domain;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let reaction = |group: &[&FewRow], row: &FewRow| Reaction {
        account: row.account_id,
        emoji: Emoji::new(row.name.clone(), row.domain.clone(), row.custom),
        total: group.len(),
        own: group.iter().any(|row| row.account_id == me),
    };
    let reactions = groups.iter().flat_map(|group| group.iter().map(|row| reaction(group, row))).collect();
    StatusReactions { reactions, local_author: rows[0].local_author }
}

/// As [`few`], of several statuses and by the database.
fn many(statuses: &[i64], me: i64, shown: &mut HashMap<i64, StatusReactions>) -> Result<()> {
    let rows: Vec<ShownRow> = sql::shown(statuses, me, MOST).all()?;
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
    Ok(())
}

/// The accounts that reacted to a status with one emoji, [`MOST`] at most, and their number.
///
/// # Errors
/// The host's.
pub(crate) fn group_of(status: i64, emoji: &Name) -> Result<(Vec<i64>, usize)> {
    let rows: Vec<(i64, usize)> = sql::group_of(status, &emoji.name, &emoji.domain, MOST).all()?;
    let total = rows.first().map_or(0, |(_, total)| *total);
    Ok((rows.into_iter().map(|(account, _)| account).collect(), total))
}
