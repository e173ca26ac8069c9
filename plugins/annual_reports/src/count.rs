//! Counts a year of one account, in windows of its statuses: the database counts each window, and this module adds up
//! one number for each account, application and hashtag.

use std::collections::BTreeMap;

use rookery_plugin::prelude::*;

use crate::data::{Month, TopStatuses, TypeDistribution};
use crate::sql;
use crate::year::{self, Range};

/// Statuses per window: a few milliseconds of the database.
const WINDOW: u16 = 2_000;
/// Hashtags per statement.
const HASHTAGS: u16 = 5_000;

/// The counts of an account in a year.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) kinds: TypeDistribution,
    pub(crate) polls: u64,
    pub(crate) months: Vec<Month>,
    pub(crate) replied_to: BTreeMap<i64, u64>,
    pub(crate) reblogged: BTreeMap<i64, u64>,
    pub(crate) applications: BTreeMap<String, u64>,
    pub(crate) hashtags: BTreeMap<i64, u64>,
    /// In public statuses.
    pub(crate) public_hashtags: BTreeMap<i64, PublicUse>,
    tops: Tops,
}

/// The use of a hashtag in public statuses: how many, and the newest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PublicUse {
    pub(crate) count: u64,
    pub(crate) newest: i64,
}

/// A hashtag of a window.
#[derive(Row)]
struct Hashtag {
    id: i64,
    count: u64,
    public_count: u64,
    newest_public: Option<i64>,
}

/// The statuses with the most of each, best first: as many as may be needed when others are left out.
#[derive(Debug, Default)]
struct Tops {
    reblogs: Vec<(i64, u64)>,
    favourites: Vec<(i64, u64)>,
    replies: Vec<(i64, u64)>,
}

/// The statuses of a kind in a window.
#[derive(Row)]
struct Kind {
    replied_to: Option<i64>,
    statuses: u64,
    reblogs: u64,
    polls: u64,
}

/// Some of an account's statuses: those from one id to another, both included.
#[derive(Clone, Copy)]
struct Window {
    account: Id,
    since: i64,
    last: i64,
}

impl Counts {
    /// Counts what `account` did in a year.
    pub(crate) fn of(account: Id, year: i64) -> Result<Self> {
        let mut counts = Self::default();
        for (number, month) in (1..).zip(year::months(year)) {
            let statuses = counts.statuses(account, month)?;
            let (since, until) = month;
            let followers = sql::followers_gained(account, since, until).one()?;
            let following = sql::following_gained(account, since, until).one()?;
            counts.months.push(Month { month: number, statuses, following, followers });
        }
        Ok(counts)
    }

    /// Counts the statuses of a range, and says how many there are.
    fn statuses(&mut self, account: Id, (mut since, until): Range) -> Result<u64> {
        let mut all = 0;
        loop {
            let (count, last): (u64, Option<i64>) = sql::status_window(account, since, until, WINDOW).one()?;
            let Some(last) = last else { return Ok(all) };
            self.window(Window { account, since, last })?;
            all += count;
            if count < u64::from(WINDOW) {
                return Ok(all);
            }
            since = last + 1;
        }
    }

    fn window(&mut self, window: Window) -> Result<()> {
        let Window { account, since, last } = window;
        for kind in sql::kinds(account, since, last).all()? {
            self.kind(account, &kind);
        }
        add(&mut self.reblogged, sql::reblogged(account, since, last).all()?);
        add(&mut self.applications, sql::applications(account, since, last).all()?);
        self.hashtags(window)?;
        best(&mut self.tops.reblogs, sql::most_reblogged(account, since, last).all()?, 1);
        best(&mut self.tops.favourites, sql::most_favourited(account, since, last).all()?, 2);
        best(&mut self.tops.replies, sql::most_replied(account, since, last).all()?, 3);
        Ok(())
    }

    fn kind(&mut self, account: Id, kind: &Kind) {
        let written = kind.statuses - kind.reblogs;
        self.kinds.total += kind.statuses;
        self.kinds.reblogs += kind.reblogs;
        self.polls += kind.polls;
        match kind.replied_to {
            Some(other) if account != other => {
                self.kinds.replies += written;
                *self.replied_to.entry(other).or_default() += written;
            }
            Some(_) | None => self.kinds.standalone += written,
        }
    }

    fn hashtags(&mut self, Window { account, since, last }: Window) -> Result<()> {
        let mut after = i64::MIN;
        loop {
            let part: Vec<Hashtag> = sql::hashtags(account, since, last, after, HASHTAGS).all()?;
            let (count, end) = (part.len(), part.last().map(|tag| tag.id));
            for tag in &part {
                self.public_hashtag(tag);
            }
            add(&mut self.hashtags, part.into_iter().map(|tag| (tag.id, tag.count)).collect());
            match end {
                Some(end) if count == usize::from(HASHTAGS) => after = end,
                Some(_) | None => return Ok(()),
            }
        }
    }

    fn public_hashtag(&mut self, tag: &Hashtag) {
        if let Some(newest) = tag.newest_public {
            let public = self.public_hashtags.entry(tag.id).or_default();
            public.count += tag.public_count;
            public.newest = public.newest.max(newest);
        }
    }

    /// The followers gained.
    pub(crate) fn followers(&self) -> u64 {
        self.months.iter().map(|month| month.followers).sum()
    }

    /// The statuses with the most reblogs, favourites and replies, each another one.
    pub(crate) fn top_statuses(&self) -> TopStatuses {
        let mut taken = Vec::new();
        let mut first = |among: &[(i64, u64)]| {
            let id = among.iter().map(|(id, _)| *id).find(|id| !taken.contains(id))?;
            taken.push(id);
            Some(Id(id))
        };
        TopStatuses {
            by_reblogs: first(&self.tops.reblogs),
            by_favourites: first(&self.tops.favourites),
            by_replies: first(&self.tops.replies),
        }
    }
}

fn add<K: Ord>(sums: &mut BTreeMap<K, u64>, counted: Vec<(K, u64)>) {
    for (key, count) in counted {
        *sums.entry(key).or_default() += count;
    }
}

/// Keeps the `most` best of `kept` and `more`; of equal ones the newest.
fn best(kept: &mut Vec<(i64, u64)>, more: Vec<(i64, u64)>, most: usize) {
    kept.extend(more);
    kept.sort_unstable_by_key(|(id, count)| std::cmp::Reverse((*count, *id)));
    kept.truncate(most);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_of_two_windows_are_the_best_of_both_and_the_newest_of_equals() {
        let mut kept = vec![(5, 10), (2, 4)];
        best(&mut kept, vec![(9, 7), (7, 10)], 3);
        assert_eq!(kept, [(7, 10), (5, 10), (9, 7)]);
    }

    #[test]
    fn status_is_the_top_of_one_kind_only() {
        let tops = Tops { reblogs: vec![(1, 9)], favourites: vec![(1, 8), (2, 7)], replies: vec![(2, 6), (1, 5)] };
        let top = Counts { tops, ..Counts::default() }.top_statuses();
        assert_eq!(top, TopStatuses { by_reblogs: Some(Id(1)), by_favourites: Some(Id(2)), by_replies: None });
    }
}
