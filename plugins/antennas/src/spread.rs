//! From statuses and antennas to feeds: who gets what, and where it appears.
//!
//! Two steps, so that each batch needs one call of the host: [`catch`] finds which antennas catch which status, and
//! [`entries`] writes feed entries with the relationships and the activity of owners.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::audience::{Policy, Ties, needed};
use crate::index::{Here, Rule, Scratch};
use crate::layers::Layers;
use crate::status::Status;

/// An antenna that caught a status, and the ties that its owner needs.
#[derive(Clone, Copy, Debug)]
pub struct Catch<'a> {
    /// Which of the batch.
    pub status: usize,
    pub rule: &'a Rule,
    pub ties: Ties,
}

/// Where a status is to appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feed {
    /// An antenna's own feed.
    Antenna(i64),
    /// An account's home feed.
    Home(i64),
    /// A list's feed.
    List(i64),
}

/// One status for one feed, past the home filter of `viewer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    pub status: i64,
    pub feed: Feed,
    pub viewer: i64,
}

/// Which antennas catch which status of the batch. Authors that `policies` does not name allow everything.
pub fn catch<'a>(
    antennas: &'a Layers,
    statuses: &[Status<'_>],
    policies: &HashMap<i64, Policy>,
    here: &Here,
) -> Vec<Catch<'a>> {
    let mut scratch = Scratch::default();
    let mut caught = Vec::new();
    for (place, status) in statuses.iter().enumerate() {
        let policy = policies.get(&status.account).copied().unwrap_or_default();
        for rule in antennas.catches(status, here, &mut scratch) {
            if let Some(ties) = needed(status, policy, rule.mode) {
                caught.push(Catch { status: place, rule, ties });
            }
        }
    }
    caught
}

/// For each author whose followers matter: the owners to ask about, each once.
#[must_use]
pub fn doubtful(caught: &[Catch<'_>], statuses: &[Status<'_>]) -> BTreeMap<i64, Vec<i64>> {
    let mut doubtful: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for one in caught.iter().filter(|one| one.ties.follower) {
        doubtful.entry(statuses[one.status].account).or_default().push(one.rule.owner);
    }
    for owners in doubtful.values_mut() {
        owners.sort_unstable();
        owners.dedup();
    }
    doubtful
}

/// The entries of a batch, each once: every antenna's own feed, and the home or list feed that it inserts into.
/// `awake`: the owners who were here lately; `follows`: pairs of follower and author.
#[must_use]
pub fn entries(
    caught: &[Catch<'_>],
    statuses: &[Status<'_>],
    awake: &HashSet<i64>,
    follows: &HashSet<(i64, i64)>,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut seen = HashSet::new();
    for one in caught {
        let (rule, status) = (one.rule, &statuses[one.status]);
        let bound = || one.ties.bind(status, rule.owner, || follows.contains(&(rule.owner, status.account)));
        if !awake.contains(&rule.owner) || !bound() {
            continue;
        }
        let insert = match (rule.insert_feeds, rule.list_id) {
            (false, _) => None,
            (true, 0) => Some(Feed::Home(rule.owner)),
            (true, list) => Some(Feed::List(list)),
        };
        for feed in [Some(Feed::Antenna(rule.id)), insert].into_iter().flatten() {
            let entry = Entry { status: status.id, feed, viewer: rule.owner };
            if seen.insert(entry) {
                entries.push(entry);
            }
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::antenna::Choices;
    use crate::index::{Antenna, Index};
    use crate::room;
    use crate::status::Visibility;
    use crate::status::tests::status;

    /// An antenna of `owner` that catches account 1.
    fn antenna(id: i64, owner: i64, insert_feeds: bool, list_id: i64) -> Antenna {
        let choices = Choices { insert_feeds, list_id, ..Choices::default() };
        Antenna { id, owner, choices, accounts: vec![1], ..Antenna::default() }
    }

    fn spread(
        antennas: &[Antenna],
        statuses: &[Status<'_>],
        awake: &[i64],
        follows: &[(i64, i64)],
    ) -> Vec<(i64, Feed)> {
        let layers = Layers::new(Index::build(antennas.to_vec(), room::BASE).unwrap(), 1, 0);
        let caught = catch(&layers, statuses, &HashMap::new(), &Here::default());
        let follows: HashSet<(i64, i64)> = follows.iter().copied().collect();
        let entries = entries(&caught, statuses, &awake.iter().copied().collect(), &follows);
        entries.iter().map(|entry| (entry.status, entry.feed)).collect()
    }

    #[test]
    fn status_enters_the_antenna_and_its_target() {
        let antennas =
            [antenna(11, 5, false, 0), antenna(12, 6, true, 0), antenna(13, 7, true, 70), antenna(14, 8, false, 80)];
        let found = spread(&antennas, &[status()], &[5, 6, 7, 8], &[]);
        let feeds: Vec<Feed> = found.iter().map(|(_, feed)| *feed).collect();
        assert_eq!(
            feeds,
            [Feed::Antenna(11), Feed::Antenna(12), Feed::Home(6), Feed::Antenna(13), Feed::List(70), Feed::Antenna(14),]
        );
    }

    #[test]
    fn two_antennas_of_one_owner_fill_their_own_feeds_and_one_home() {
        let antennas = [antenna(11, 5, true, 0), antenna(12, 5, true, 0)];
        let found = spread(&antennas, &[status()], &[5], &[]);
        assert_eq!(found, [(100, Feed::Antenna(11)), (100, Feed::Home(5)), (100, Feed::Antenna(12))]);
    }

    #[test]
    fn inactive_owner_receives_nothing() {
        assert_eq!(spread(&[antenna(11, 5, true, 0)], &[status()], &[], &[]), []);
    }

    #[test]
    fn followers_are_asked_about_once_for_an_author_and_only_when_it_matters() {
        let private = |id| Status { id, visibility: Visibility::Private, ..status() };
        let statuses = [status(), private(101), private(102)];
        let antennas = [antenna(11, 6, false, 0), antenna(12, 5, false, 0), antenna(13, 5, false, 0)];
        let layers = Layers::new(Index::build(antennas.to_vec(), room::BASE).unwrap(), 1, 0);
        let caught = catch(&layers, &statuses, &HashMap::new(), &Here::default());
        assert_eq!(doubtful(&caught, &statuses), BTreeMap::from([(1, vec![5, 6])]));
        assert_eq!(doubtful(&caught[..3], &statuses), BTreeMap::new(), "a public status needs no ties");
        let found = spread(&antennas[..2], &statuses[1..2], &[5, 6], &[(6, 1)]);
        assert_eq!(found, [(101, Feed::Antenna(11))]);
    }

    #[test]
    fn an_author_may_refuse() {
        let layers = Layers::new(Index::build(vec![antenna(11, 5, false, 0)], room::BASE).unwrap(), 1, 0);
        let policies = HashMap::from([(1, Policy::Block)]);
        assert!(catch(&layers, &[status()], &policies, &Here::default()).is_empty());
    }
}
