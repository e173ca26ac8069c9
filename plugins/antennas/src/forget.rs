//! What goes or moves, and what antennas forget or name with it.

use rookery_plugin::prelude::*;

use crate::table::{self, next_version};
use crate::{FEED, fanout, sql};

/// How many antennas are looked at in one go.
const PART: u16 = 1_000;

/// Accounts that are blocked, moved or gone, and lists that are gone. Who is suspended may come back: until then the server shows
/// nothing of them.
#[on(events)]
fn events(batch: &[Event]) -> Result<()> {
    for event in batch {
        match (event.kind.as_str(), event.id()) {
            ("account.blocked", _) => {
                let (account, target) = event.pair("account", "target")?;
                clear(account, target)?;
            }
            ("account.moved", _) => {
                let (account, target) = event.pair("account", "target")?;
                sql::name_target(account.0, target.0).exec()?;
                sql::change_naming(account.0, next_version()?).exec()?;
            }
            ("account.purged", Some(account)) => purge(account)?,
            ("list.deleted", Some(list)) => {
                sql::forget_list(list, next_version()?).exec()?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Takes everything by `target` out of the antennas of `account`.
fn clear(account: Id, target: Id) -> Result<()> {
    let own: Vec<i64> = sql::ids_of(account).all()?;
    let feeds: Vec<Feed> = own.iter().map(|id| feeds::custom(FEED, *id)).collect();
    if !feeds.is_empty() {
        feeds::remove_authors(&feeds, &[target])?;
    }
    Ok(())
}

/// Deletes the antennas of an account, and removes the account from the antennas of others. The host may have deleted
/// the antennas before, so that only reading everything helps.
fn purge(account: i64) -> Result<()> {
    let version = next_version()?;
    table::delete(&sql::ids_of(account).all::<i64>()?, version)?;
    sql::change_naming(account, version).exec()?;
    sql::forget_member(account).exec()?;
    sql::next_epoch().exec()?;
    Ok(())
}

/// Once a day: the feeds of inactive owners are emptied, and the records of deleted antennas for indexes are dropped;
/// an older index is then read as a whole.
#[job("tidy")]
fn tidy(_task: &Task) -> Result<()> {
    let since = fanout::awake_since();
    let mut after = 0;
    loop {
        let asleep: Vec<i64> = sql::asleep(since, after, PART).all()?;
        let Some(last) = asleep.last() else { break };
        after = *last;
        feeds::drop_feeds(&asleep.iter().map(|id| feeds::custom(FEED, *id)).collect::<Vec<_>>())?;
    }
    if sql::tidy_removed().exec()? > 0 {
        sql::next_epoch().exec()?;
    }
    Ok(())
}
