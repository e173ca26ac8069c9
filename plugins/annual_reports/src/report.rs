//! Making the report of an account: once for each year.

use std::collections::BTreeMap;

use rookery_plugin::prelude::*;

use crate::count::{Counts, PublicUse};
use crate::data::{Archetype, Counted, Data, Named, Percentiles, PublicHashtag, SCHEMA_VERSION};
use crate::{share, sql};

/// Most applications of a report, and most accounts whose statuses were reblogged.
const FEW: usize = 10;
/// Most accounts that were replied to, and most hashtags.
const MANY: usize = 40;
/// Accounts per call.
const PART: usize = 100;

/// The bit of `account.state`.
const SUSPENDED: u32 = 1;

/// Whether an account has its report of a year.
pub(crate) fn is_made(account: Id, year: i64) -> Result<bool> {
    Ok(sql::is_made(account, year).one::<u32>()? > 0)
}

/// Whether an account is still there for others: neither removed nor suspended.
pub(crate) fn is_there(account: Option<&Account>) -> bool {
    account.is_some_and(|account| account.state & SUSPENDED == 0)
}

/// Makes the report of an account, from what all did in that year (`tally`). One that is there already stays as it is.
pub(crate) fn make(account: Id, year: i64) -> Result<()> {
    let counts = Counts::of(account, year)?;
    let data = Data {
        archetype: Archetype::of(counts.kinds, counts.polls),
        type_distribution: counts.kinds,
        top_statuses: counts.top_statuses(),
        commonly_interacted_with_accounts: known(&counts.replied_to, MANY)?,
        top_hashtags: hashtags(&counts.hashtags)?,
        most_reblogged_accounts: known(&counts.reblogged, FEW)?,
        percentiles: percentiles(&counts, year)?,
        most_used_apps: ranked(counts.applications, FEW),
        time_series: counts.months,
    };
    let public = serde_json::to_string(&public_hashtags(&counts.public_hashtags)?)?;
    sql::keep(account, year, SCHEMA_VERSION, serde_json::to_string(&data)?, public, share::new_key()).exec()?;
    sql::forget_request(account, year).exec()?;
    Ok(())
}

/// The keys with a count above one, highest count first; for equal counts the smaller key.
fn repeated(counts: &BTreeMap<i64, u64>) -> Vec<(i64, u64)> {
    let mut repeated: Vec<(i64, u64)> =
        counts.iter().filter(|(_, count)| **count > 1).map(|(key, count)| (*key, *count)).collect();
    repeated.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    repeated
}

/// The accounts with the highest counts, without deleted ones.
fn known(counts: &BTreeMap<i64, u64>, most: usize) -> Result<Vec<Counted>> {
    let mut list = Vec::new();
    for part in repeated(counts).chunks(PART) {
        let ids: Vec<i64> = part.iter().map(|(id, _)| *id).collect();
        let accounts = core::accounts(&ids)?;
        let there = part.iter().zip(&accounts).filter(|(_, account)| is_there(account.as_ref()));
        list.extend(there.map(|((id, count), _)| Counted { account_id: Id(*id), count: *count }));
        if list.len() >= most {
            break;
        }
    }
    list.truncate(most);
    Ok(list)
}

/// The hashtags that were used most, as they are displayed.
fn hashtags(counts: &BTreeMap<i64, u64>) -> Result<Vec<Named>> {
    let (top, names) = top_hashtags(counts)?;
    let shown = top.into_iter().filter_map(|(id, count)| Some(Named { name: names.get(&id)?.clone(), count }));
    Ok(shown.collect())
}

/// The hashtags that were used most in public statuses.
fn public_hashtags(public: &BTreeMap<i64, PublicUse>) -> Result<Vec<PublicHashtag>> {
    let (top, names) = top_hashtags(&public.iter().map(|(id, public)| (*id, public.count)).collect())?;
    let shown = top.into_iter().filter_map(|(id, _)| {
        Some(PublicHashtag { name: names.get(&id)?.clone(), newest: Id(public.get(&id)?.newest) })
    });
    Ok(shown.collect())
}

type Top = Vec<(i64, u64)>;

/// The hashtags with the highest counts, and their names.
fn top_hashtags(counts: &BTreeMap<i64, u64>) -> Result<(Top, BTreeMap<i64, String>)> {
    let mut top = repeated(counts);
    top.truncate(MANY);
    let ids: Vec<i64> = top.iter().map(|(id, _)| *id).collect();
    if ids.is_empty() {
        return Ok((top, BTreeMap::new()));
    }
    let names: Vec<(i64, String)> = sql::hashtag_names(ids).all()?;
    Ok((top, names.into_iter().collect()))
}

/// Names by how often they were met; of equal ones by the alphabet.
fn ranked(counts: BTreeMap<String, u64>, most: usize) -> Vec<Named> {
    let mut list: Vec<Named> = counts.into_iter().map(|(name, count)| Named { name, count }).collect();
    list.sort_by_key(|named| std::cmp::Reverse(named.count));
    list.truncate(most);
    list
}

/// How many local accounts did less, and how many did anything.
#[derive(Row)]
struct Standing {
    fewer_followers: u32,
    any_followers: u32,
    fewer_statuses: u32,
    any_statuses: u32,
}

fn percentiles(counts: &Counts, year: i64) -> Result<Percentiles> {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let standing: Standing = sql::standing(year, number(counts.kinds.total), number(counts.followers())).one()?;
    let percent = |fewer: u32, any: u32| 100.0 * f64::from(fewer) / (f64::from(any) + 1.0);
    Ok(Percentiles {
        followers: percent(standing.fewer_followers, standing.any_followers),
        statuses: percent(standing.fewer_statuses, standing.any_statuses),
    })
}
