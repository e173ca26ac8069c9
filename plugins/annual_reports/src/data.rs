//! The content of a report: the contract's `AnnualReports`, as it is stored.

use std::collections::BTreeSet;

use rookery_plugin::prelude::*;

/// The version of [`Data`] in responses.
pub(crate) const SCHEMA_VERSION: i64 = 1;

/// Fewer statuses than this in a year make a lurker: the average of accounts that post at all.
const LURKER_BELOW: u64 = 113;

/// The figures of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Data {
    pub(crate) archetype: Archetype,
    pub(crate) type_distribution: TypeDistribution,
    pub(crate) top_statuses: TopStatuses,
    pub(crate) most_used_apps: Vec<Named>,
    pub(crate) commonly_interacted_with_accounts: Vec<Counted>,
    pub(crate) time_series: Vec<Month>,
    pub(crate) top_hashtags: Vec<Named>,
    pub(crate) most_reblogged_accounts: Vec<Counted>,
    pub(crate) percentiles: Percentiles,
}

/// The account's main activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Archetype {
    Lurker,
    Booster,
    Pollster,
    Replier,
    Oracle,
}

/// Statuses by kind. `standalone` counts statuses that are neither a reblog nor a reply to another account: each status
/// is in one of the three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TypeDistribution {
    pub(crate) total: u64,
    pub(crate) reblogs: u64,
    pub(crate) replies: u64,
    pub(crate) standalone: u64,
}

/// Public statuses, a different one each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TopStatuses {
    pub(crate) by_reblogs: Option<Id>,
    pub(crate) by_favourites: Option<Id>,
    pub(crate) by_replies: Option<Id>,
}

/// An application or a hashtag, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) count: u64,
}

/// A hashtag of public statuses, and the newest of them. It is not part of [`Data`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PublicHashtag {
    pub(crate) name: String,
    pub(crate) newest: Id,
}

/// An account, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) account_id: Id,
    pub(crate) count: u64,
}

/// A month, from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Month {
    pub(crate) month: u8,
    pub(crate) statuses: u64,
    pub(crate) following: u64,
    pub(crate) followers: u64,
}

/// Of 100 local accounts that did anything, how many did less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Percentiles {
    pub(crate) followers: f64,
    pub(crate) statuses: f64,
}

impl Archetype {
    /// The first that fits, in the order of the contract.
    pub(crate) fn of(kinds: TypeDistribution, polls: u64) -> Self {
        let TypeDistribution { reblogs, replies, standalone, .. } = kinds;
        if standalone + replies + reblogs < LURKER_BELOW {
            Self::Lurker
        } else if reblogs > 2 * standalone {
            Self::Booster
        } else if 10 * polls > standalone {
            Self::Pollster
        } else if replies > 2 * standalone {
            Self::Replier
        } else {
            Self::Oracle
        }
    }
}

impl Data {
    /// The accounts that it names.
    pub(crate) fn accounts(&self) -> impl Iterator<Item = i64> {
        self.commonly_interacted_with_accounts.iter().chain(&self.most_reblogged_accounts).map(|one| one.account_id.0)
    }

    /// The statuses that it names.
    pub(crate) fn statuses(&self) -> impl Iterator<Item = i64> {
        let top = &self.top_statuses;
        [top.by_reblogs, top.by_favourites, top.by_replies].into_iter().flatten().map(|id| id.0)
    }

    /// Drops deleted accounts and statuses.
    pub(crate) fn retain(&mut self, accounts: &BTreeSet<i64>, statuses: &BTreeSet<i64>) {
        for named in [&mut self.commonly_interacted_with_accounts, &mut self.most_reblogged_accounts] {
            named.retain(|one| accounts.contains(&one.account_id.0));
        }
        let top = &mut self.top_statuses;
        for status in [&mut top.by_reblogs, &mut top.by_favourites, &mut top.by_replies] {
            *status = status.filter(|id| statuses.contains(&id.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archetype(reblogs: u64, replies: u64, standalone: u64, polls: u64) -> Archetype {
        let total = reblogs + replies + standalone;
        Archetype::of(TypeDistribution { total, reblogs, replies, standalone }, polls)
    }

    #[test]
    fn archetypes_are_tried_in_their_order() {
        assert_eq!(archetype(112, 0, 0, 50), Archetype::Lurker);
        assert_eq!(archetype(113, 0, 0, 50), Archetype::Booster);
        assert_eq!(archetype(80, 0, 40, 4), Archetype::Oracle, "twice as many is not more");
        assert_eq!(archetype(81, 0, 40, 0), Archetype::Booster);
        assert_eq!(archetype(0, 300, 100, 11), Archetype::Pollster);
        assert_eq!(archetype(0, 300, 100, 10), Archetype::Replier, "a tenth is not more");
        assert_eq!(archetype(0, 200, 100, 0), Archetype::Oracle);
    }
}
