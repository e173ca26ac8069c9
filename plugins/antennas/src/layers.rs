//! The index in two layers, so that one person's edit does not build the whole of it again.
//!
//! The base holds everything as of one version of the table; the layer above holds the few antennas that changed since,
//! and their ids hide the base's entries. When the upper layer has grown, both become one new base.

use std::collections::HashSet;

use aho_corasick::BuildError;

use crate::index::{Antenna, Here, Index, Rule, Scratch};
use crate::room;
use crate::status::Status;

/// How many changed antennas the upper layer holds at least before a new base is built.
const CHANGED_MIN: usize = 256;

/// All antennas as of a version.
#[derive(Debug, Default)]
pub struct Layers {
    base: Index,
    /// The table's counters when the base was read.
    base_version: i64,
    epoch: i64,
    changed: Index,
    /// The antennas that changed or went since the base was read.
    hidden: HashSet<i64>,
    version: i64,
}

/// The difference to the table's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    None,
    /// Reading what changed after this version.
    Changes(i64),
    /// Reading everything.
    Everything,
}

impl Layers {
    /// Everything, read when the counters were `version` and `epoch`.
    #[must_use]
    pub fn new(base: Index, version: i64, epoch: i64) -> Self {
        Self { base, base_version: version, epoch, version, ..Self::default() }
    }

    /// How to arrive at `version` and `epoch`.
    #[must_use]
    pub fn step(&self, version: i64, epoch: i64) -> Step {
        if self.base_version == 0 || epoch != self.epoch || self.outgrown() {
            return Step::Everything;
        }
        if version == self.version { Step::None } else { Step::Changes(self.base_version) }
    }

    fn outgrown(&self) -> bool {
        self.hidden.len() > CHANGED_MIN.max(self.base.len() / 16)
    }

    /// Replaces the upper layer: all antennas that changed since the base was read, and the ids of deleted ones.
    ///
    /// # Errors
    /// As [`Index::build`]; then nothing was replaced.
    pub fn change(&mut self, changed: Vec<Antenna>, gone: &[i64], version: i64) -> Result<(), BuildError> {
        let hidden = changed.iter().map(|antenna| antenna.id).chain(gone.iter().copied()).collect();
        self.changed = Index::build(changed, room::CHANGED)?;
        self.hidden = hidden;
        self.version = version;
        Ok(())
    }

    /// The antennas that catch `status`.
    pub fn catches<'a>(
        &'a self,
        status: &Status<'_>,
        here: &Here,
        scratch: &mut Scratch,
    ) -> impl Iterator<Item = &'a Rule> + use<'a> {
        let base = self.base.catches(status, here, scratch);
        let changed = self.changed.catches(status, here, scratch);
        base.into_iter().filter(|rule| !self.hidden.contains(&rule.id)).chain(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::tests::status;

    fn antenna(id: i64, account: i64) -> Antenna {
        Antenna { id, accounts: vec![account], ..Antenna::default() }
    }

    fn base(ids: &[i64]) -> Index {
        Index::build(ids.iter().map(|id| antenna(*id, 10)).collect(), room::BASE).unwrap()
    }

    fn caught(layers: &Layers, account: i64) -> Vec<i64> {
        let status = Status { account, ..status() };
        layers.catches(&status, &Here::default(), &mut Scratch::default()).map(|rule| rule.id).collect()
    }

    #[test]
    fn changes_hide_entries_of_the_base() {
        let mut layers = Layers::new(base(&[1, 2, 3]), 5, 0);
        assert_eq!(caught(&layers, 10), [1, 2, 3]);
        layers.change(vec![antenna(2, 20), antenna(4, 10)], &[3], 6).unwrap();
        assert_eq!(caught(&layers, 10), [1, 4]);
        assert_eq!(caught(&layers, 20), [2]);
        layers.change(vec![], &[], 7).unwrap();
        assert_eq!(caught(&layers, 10), [1, 2, 3], "each change replaces the one before");
    }

    #[test]
    fn everything_is_read_at_first_after_a_new_epoch_and_after_many_changes() {
        assert_eq!(Layers::default().step(1, 0), Step::Everything);
        let mut layers = Layers::new(base(&[1]), 5, 0);
        assert_eq!(layers.step(5, 0), Step::None);
        assert_eq!(layers.step(6, 0), Step::Changes(5));
        assert_eq!(layers.step(5, 1), Step::Everything);
        layers.change((0..300).map(|id| antenna(id, 10)).collect(), &[], 305).unwrap();
        assert_eq!(layers.step(305, 0), Step::Everything);
    }
}
