//! How much memory antennas take, and who goes without when it is not enough.
//!
//! The figures are upper bounds, measured with a counting allocator on keywords that share nothing: real indexes take
//! less. Owners with short lists come first, so that the owner with the longest lists is the first to be left out.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Unbounded};

use crate::index::Antenna;

/// What all antennas may take while they are arranged, in bytes. An instance that reaches three quarters of the
/// manifest's 64 MiB is replaced after its call.
pub const BASE: usize = 40 << 20;
/// The memory for changed antennas; beyond it, the index is rebuilt.
pub const CHANGED: usize = 8 << 20;
/// The memory for plain lists in one read.
pub const READ: usize = 12 << 20;

/// For a state of the automaton while it is built; there is at most one for each byte of each keyword.
const STATE: usize = 72;
/// For a keyword beside its states.
const KEYWORD: usize = 160;
/// For one more rule that listens for a keyword.
const LISTENER: usize = 8;
/// For a domain, a hashtag or a word that is left out, beside its text.
const ENTRY: usize = 100;
/// For an account.
const ACCOUNT: usize = 64;
/// For an antenna that lists nothing.
const ANTENNA: usize = 200;

/// Which rules listen for each keyword.
pub type Keywords = BTreeMap<String, Vec<u32>>;

impl Antenna {
    /// Its size as plain lists.
    #[must_use]
    pub fn plain(&self) -> usize {
        let texts: usize = self.terms.keywords.iter().chain(self.terms.others()).map(|text| text.len() + 40).sum();
        ANTENNA + texts + 16 * (self.accounts.len() + self.exclude_accounts.len())
    }

    /// Its largest size in the index.
    #[must_use]
    pub fn arranged(&self) -> usize {
        self.apart() + self.terms.keywords.iter().map(|word| STATE * word.len() + KEYWORD).sum::<usize>()
    }

    /// Its size in the index beside others, with whose keywords its own share prefixes.
    pub(crate) fn beside(&self, others: &Keywords) -> usize {
        let mut own: Vec<&str> = self.terms.keywords.iter().map(String::as_str).collect();
        own.sort_unstable();
        let before = std::iter::once("").chain(own.iter().copied());
        let taken = own.iter().zip(before).map(|(word, before)| {
            if others.contains_key(*word) { LISTENER } else { KEYWORD + STATE * new_states(word, before, others) }
        });
        self.apart() + taken.sum::<usize>()
    }

    fn apart(&self) -> usize {
        let texts: usize = self.terms.others().map(|text| text.len() + ENTRY).sum();
        ANTENNA + texts + ACCOUNT * (self.accounts.len() + self.exclude_accounts.len())
    }
}

/// The states that `word` adds to the states of `others` and of `before`.
fn new_states(word: &str, before: &str, others: &Keywords) -> usize {
    let below = others.range::<str, _>((Unbounded, Excluded(word))).next_back();
    let above = others.range::<str, _>((Excluded(word), Unbounded)).next();
    let known = [below, above].into_iter().flatten().map(|(known, _)| shared(word, known));
    word.len() - known.max().unwrap_or(0).max(shared(word, before))
}

fn shared(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

/// Puts the antennas of owners who list little first.
pub fn fair(antennas: &mut [Antenna]) {
    let mut owners: HashMap<i64, usize> = HashMap::new();
    for antenna in antennas.iter() {
        *owners.entry(antenna.owner).or_default() += antenna.plain();
    }
    antennas.sort_by_key(|antenna| (owners.get(&antenna.owner).copied(), antenna.owner, antenna.id));
}

/// Leaves out antennas beyond the memory for reading; returns their ids.
pub fn trim(antennas: &mut Vec<Antenna>, room: usize) -> Vec<i64> {
    fair(antennas);
    let mut taken = 0;
    let fits = |antenna: &Antenna| {
        taken += antenna.plain();
        taken <= room
    };
    let most = antennas.iter().map(fits).take_while(|fits| *fits).count();
    antennas.split_off(most).into_iter().map(|antenna| antenna.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Terms;

    fn antenna(id: i64, owner: i64, keywords: &[&str]) -> Antenna {
        let keywords = keywords.iter().map(|word| (*word).to_owned()).collect();
        Antenna { id, owner, terms: Terms { keywords, ..Terms::default() }, ..Antenna::default() }
    }

    fn ids(antennas: &[Antenna]) -> Vec<i64> {
        antennas.iter().map(|antenna| antenna.id).collect()
    }

    #[test]
    fn beginnings_that_are_there_already_take_nothing() {
        let words = |words: &[&str]| antenna(1, 1, words);
        let others: Keywords = [("rook".to_owned(), vec![0]), ("rooster".to_owned(), vec![0])].into();
        let taken = |keywords: &[&str]| words(keywords).beside(&others) - words(keywords).apart();
        assert_eq!(taken(&["rook"]), LISTENER);
        assert_eq!(taken(&["rookery"]), KEYWORD + 3 * STATE);
        assert_eq!(taken(&["roosts", "crow"]), 2 * KEYWORD + 5 * STATE);
        assert_eq!(taken(&["roo"]), KEYWORD);
        assert_eq!(taken(&["crows", "crow"]), 2 * KEYWORD + 5 * STATE, "one's own count too");
        assert_eq!(words(&["crow"]).beside(&Keywords::new()), words(&["crow"]).arranged());
    }

    #[test]
    fn owner_with_the_longest_lists_is_left_out_first() {
        let long = "x".repeat(500);
        let mut antennas = vec![antenna(1, 10, &[&long]), antenna(2, 10, &["a"]), antenna(3, 20, &["b"])];
        fair(&mut antennas);
        assert_eq!(ids(&antennas), [3, 1, 2]);
        assert_eq!(trim(&mut antennas, 10_000), [0; 0], "all fit");
        let room = antennas[0].plain() + antennas[1].plain();
        assert_eq!((trim(&mut antennas, room), ids(&antennas)), (vec![2], vec![3, 1]));
        assert_eq!((trim(&mut antennas, 0), ids(&antennas)), (vec![3, 1], vec![]));
    }
}
