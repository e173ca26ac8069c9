//! The hook: statuses in, feed entries out.
//!
//! The index of antennas stays in the memory of the instance, which serves one batch after the other; [`load`] updates
//! it from the tables.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use rookery_plugin::prelude::{Status as Record, *};

use crate::audience::Policy;
use crate::index::Here;
use crate::layers::Layers;
use crate::spread::{self, Entry as Wanted};
use crate::status::Status;
use crate::{FEED, load, sql};

/// How long ago an owner may have been here last, in milliseconds: seven days.
const AWAKE: i64 = 7 * 24 * 60 * 60 * 1_000;
/// How many owners are asked about in one go: a statement may give as many rows.
const OWNERS: usize = 10_000;

/// This server's own domain.
static DOMAIN: OnceLock<String> = OnceLock::new();

thread_local! {
    static ANTENNAS: RefCell<Layers> = RefCell::default();
}

/// Keeps what does not change while the instance lives.
#[init]
fn init(env: &Environment) -> Result<()> {
    DOMAIN.get_or_init(|| env.instance_domain.clone());
    Ok(())
}

/// Owners who were here after this time get statuses.
pub(crate) fn awake_since() -> i64 {
    system::now() - AWAKE
}

/// Finds the antennas that catch the statuses of a batch, and writes the feed entries.
#[on(fanout)]
fn select(batch: &[Record]) -> Result<Vec<Entry>> {
    let statuses: Vec<Status<'_>> = batch.iter().map(Status::from).collect();
    let here = Here {
        domain: DOMAIN.get().cloned().unwrap_or_default(),
        local_timeline: config::get("enable_local_timeline")?.unwrap_or(true),
    };
    ANTENNAS.with_borrow_mut(|antennas| {
        load::refresh(antennas)?;
        entries(antennas, &statuses, &here)
    })
}

fn entries(antennas: &Layers, statuses: &[Status<'_>], here: &Here) -> Result<Vec<Entry>> {
    let caught = spread::catch(antennas, statuses, &policies(statuses)?, here);
    if caught.is_empty() {
        return Ok(Vec::new());
    }
    let owners: HashSet<i64> = caught.iter().map(|one| one.rule.owner).collect();
    let awake = awake(&owners.into_iter().collect::<Vec<_>>())?;
    let mut follows = HashSet::new();
    for (author, owners) in spread::doubtful(&caught, statuses) {
        let followers = core::followers_among(author, &owners)?;
        follows.extend(followers.into_iter().map(|follower| (follower, author)));
    }
    let wanted = spread::entries(&caught, statuses, &awake, &follows);
    Ok(wanted.into_iter().map(entry).collect())
}

/// Those among owners who were here lately. One statement may not give all of them.
fn awake(owners: &[i64]) -> Result<HashSet<i64>> {
    let mut awake = HashSet::new();
    for part in owners.chunks(OWNERS) {
        awake.extend(sql::awake(part, awake_since()).all::<i64>()?);
    }
    Ok(awake)
}

fn entry(wanted: Wanted) -> Entry {
    let feed = match wanted.feed {
        spread::Feed::Antenna(id) => feeds::custom(FEED, id),
        spread::Feed::Home(account) => Feed::Home(account),
        spread::Feed::List(list) => Feed::ListOf(list),
    };
    Entry { feed, viewer: Some(wanted.viewer), status: wanted.status, push: true }
}

/// The permissions of authors of other servers; authors of this server allow everything.
fn policies(statuses: &[Status<'_>]) -> Result<HashMap<i64, Policy>> {
    let remote: HashSet<i64> = statuses.iter().filter(|status| !status.local).map(|status| status.account).collect();
    if remote.is_empty() {
        return Ok(HashMap::new());
    }
    let accounts = core::accounts(&remote.into_iter().collect::<Vec<_>>())?;
    accounts.iter().flatten().map(|account| Ok((account.id, policy(account)?))).collect()
}

/// The public settings of an account that are used here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Published {
    other_settings: OtherSettings,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OtherSettings {
    subscription_policy: Option<String>,
}

fn policy(account: &Account) -> Result<Policy> {
    let published: Published = match &account.extra {
        Some(extra) => serde_json::from_str(extra)?,
        None => Published::default(),
    };
    Ok(published.other_settings.subscription_policy.as_deref().map(Policy::parse).unwrap_or_default())
}
