//! Antennas from the tables into memory.
//!
//! One statement a batch checks for changes. Antennas are read in parts, so that long lists fill neither a result nor
//! the memory (see [`room`]).

use std::collections::HashMap;

use rookery_plugin::prelude::*;

use crate::antenna::{Choices, MOST_ACCOUNTS};
use crate::index::{Antenna, Index};
use crate::layers::{Layers, Step};
use crate::{room, sql, table};

/// How many antennas are read in one go: 16 KiB each at most, and a result may have 4 MiB.
const PART: u16 = 100;
/// How many rows of little are read in one go: more accounts than one antenna can have, fewer than the manifest allows.
const ROWS: u16 = 10_000;
/// How many accounts an antenna can have at most, on both sides together.
const MEMBERS: usize = 2 * MOST_ACCOUNTS;

/// Updates the antennas in memory from the tables.
///
/// # Errors
/// The host's, or when the keywords are too many for an automaton.
pub(crate) fn refresh(antennas: &mut Layers) -> Result<()> {
    let (version, epoch): (i64, i64) = sql::counters().one()?;
    match antennas.step(version, epoch) {
        Step::None => Ok(()),
        Step::Everything => rebuild(antennas, version, epoch),
        Step::Changes(after) => match changed(after)? {
            Some(changed) => antennas.change(changed, &gone(after)?, version).map_err(Error::internal),
            None => rebuild(antennas, version, epoch),
        },
    }
}

/// Reads all antennas. Those in memory go first, because there is no room for both.
fn rebuild(antennas: &mut Layers, version: i64, epoch: i64) -> Result<()> {
    *antennas = Layers::default();
    let base = Index::build(everything()?, room::BASE).map_err(Error::internal)?;
    warn(base.left_out());
    *antennas = Layers::new(base, version, epoch);
    Ok(())
}

/// All antennas that there is room for; a quarter of it is cleared in one step when it is full. Antennas that change
/// meanwhile have a later version, and are read again.
fn everything() -> Result<Vec<Antenna>> {
    let (mut antennas, mut taken, mut after): (Vec<Antenna>, usize, i64) = (Vec::new(), 0, 0);
    loop {
        let part: Vec<Loaded> = sql::everything(after, PART).all()?;
        let Some(last) = part.last().map(|antenna| antenna.id) else { return Ok(antennas) };
        let members = members_between(after, last)?;
        let part = join(part, members);
        taken += part.iter().map(Antenna::plain).sum::<usize>();
        antennas.extend(part);
        if taken > room::READ {
            warn(&room::trim(&mut antennas, room::READ / 4 * 3));
            taken = antennas.iter().map(Antenna::plain).sum();
        }
        after = last;
    }
}

/// The antennas that changed after a version; `None` when they are too many for the upper layer.
fn changed(version: i64) -> Result<Option<Vec<Antenna>>> {
    let (mut antennas, mut taken, mut after): (Vec<Antenna>, usize, (i64, i64)) = (Vec::new(), 0, (version, i64::MAX));
    loop {
        let part: Vec<Loaded> = sql::changed(after.0, after.1, PART).all()?;
        let Some(last) = part.last().map(|antenna| (antenna.version, antenna.id)) else { return Ok(Some(antennas)) };
        let members = members_of(&part)?;
        let part = join(part, members);
        taken += part.iter().map(Antenna::arranged).sum::<usize>();
        if taken > room::CHANGED {
            return Ok(None);
        }
        antennas.extend(part);
        after = last;
    }
}

/// The antennas that went after a version.
fn gone(version: i64) -> Result<Vec<i64>> {
    let (mut gone, mut after): (Vec<i64>, (i64, i64)) = (Vec::new(), (version, i64::MAX));
    loop {
        let part: Vec<(i64, i64)> = sql::gone(after.0, after.1, ROWS).all()?;
        let Some((id, version)) = part.last().copied() else { return Ok(gone) };
        gone.extend(part.into_iter().map(|(id, _)| id));
        after = (version, id);
    }
}

/// Tells the admin of antennas that catch nothing because all together list too much.
fn warn(left_out: &[i64]) {
    if left_out.is_empty() {
        return;
    }
    log::counter("antennas_left_out", &[], left_out.len() as u64);
    let some: Vec<String> = left_out.iter().take(20).map(ToString::to_string).collect();
    let count = left_out.len().to_string();
    log::warn("no memory is left for what some antennas list", &[("count", &count), ("antennas", &some.join(" "))]);
}

/// A row as the index needs it.
#[derive(Row)]
struct Loaded {
    id: i64,
    account_id: i64,
    list_id: i64,
    insert_feeds: bool,
    stl: bool,
    ltl: bool,
    with_media_only: bool,
    ignore_reblog: bool,
    terms: String,
    version: i64,
}

/// An antenna, whether it leaves the account out, and the account.
type Member = (i64, bool, i64);

/// The members of antennas after `after`, up to `last`. One statement may not return the members of all.
fn members_between(mut after: i64, last: i64) -> Result<Vec<Member>> {
    let mut members: Vec<Member> = Vec::new();
    loop {
        let mut part: Vec<Member> = sql::members_between(after, last, ROWS).all()?;
        let cut = part.last().filter(|_| part.len() >= usize::from(ROWS)).map(|(antenna, ..)| *antenna);
        if let Some(antenna) = cut {
            part.retain(|member| member.0 != antenna);
            after = antenna - 1;
        }
        members.extend(part);
        if cut.is_none() {
            return Ok(members);
        }
    }
}

/// The members of a few antennas, which may stand far apart.
fn members_of(antennas: &[Loaded]) -> Result<Vec<Member>> {
    let ids: Vec<i64> = antennas.iter().map(|antenna| antenna.id).collect();
    let mut members = Vec::new();
    for ids in ids.chunks(usize::from(ROWS) / MEMBERS) {
        members.extend(sql::members_of(ids).all::<Member>()?);
    }
    Ok(members)
}

/// Gives each antenna its members.
fn join(loaded: Vec<Loaded>, members: Vec<Member>) -> Vec<Antenna> {
    let mut accounts: HashMap<(i64, bool), Vec<i64>> = HashMap::new();
    for (antenna, excluded, account) in members {
        accounts.entry((antenna, excluded)).or_default().push(account);
    }
    let antenna = |loaded: Loaded| Antenna {
        id: loaded.id,
        owner: loaded.account_id,
        choices: Choices {
            title: String::new(),
            list_id: loaded.list_id,
            insert_feeds: loaded.insert_feeds,
            stl: loaded.stl,
            ltl: loaded.ltl,
            with_media_only: loaded.with_media_only,
            ignore_reblog: loaded.ignore_reblog,
        },
        terms: table::terms(&loaded.terms),
        accounts: accounts.remove(&(loaded.id, false)).unwrap_or_default(),
        exclude_accounts: accounts.remove(&(loaded.id, true)).unwrap_or_default(),
    };
    loaded.into_iter().map(antenna).collect()
}
