//! An index of all antennas of the server: one pass over a status finds the antennas that catch it.
//!
//! The keywords of all antennas are one Aho-Corasick automaton, and accounts, domains and hashtags are three tables:
//! the cost of a status depends on its length and its hits, and hardly on the number of antennas. Elements of one kind
//! are alternatives, the kinds that an antenna sets must all be hit, and one hit of an exclusion rejects.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError};

use crate::antenna::Choices;
use crate::audience::Mode;
use crate::room::{Keywords, fair};
use crate::status::Status;
use crate::terms::Terms;

/// An antenna with everything that matching needs.
#[derive(Clone, Debug, Default)]
pub struct Antenna {
    pub id: i64,
    pub owner: i64,
    pub choices: Choices,
    pub terms: Terms,
    pub accounts: Vec<i64>,
    pub exclude_accounts: Vec<i64>,
}

impl Antenna {
    /// The timeline that it follows, or `None` when it uses its lists. Social wins over local.
    fn timeline(&self) -> Option<Mode> {
        let home = self.choices.insert_feeds && self.choices.list_id == 0;
        match (self.choices.stl, self.choices.ltl) {
            (true, _) => Some(Mode::Social { home }),
            (false, true) => Some(Mode::Local),
            (false, false) => None,
        }
    }
}

/// The rest of an antenna whose conditions are in the index.
#[derive(Debug)]
pub struct Rule {
    pub id: i64,
    pub owner: i64,
    pub list_id: i64,
    pub insert_feeds: bool,
    pub mode: Mode,
    with_media_only: bool,
    ignore_reblog: bool,
    /// The kinds that are set, as bits.
    kinds: u8,
    excluded: Option<Box<Excluded>>,
}

#[derive(Debug)]
struct Excluded {
    accounts: Vec<i64>,
    keywords: Vec<String>,
    domains: Vec<String>,
    tags: Vec<String>,
}

const ACCOUNT: u8 = 1;
const DOMAIN: u8 = 2;
const TAG: u8 = 4;
const KEYWORD: u8 = 8;

impl Rule {
    fn new(antenna: Antenna, mode: Mode, kinds: u8) -> Self {
        let terms = antenna.terms;
        let excluded = Excluded {
            accounts: antenna.exclude_accounts,
            keywords: terms.exclude_keywords,
            domains: terms.exclude_domains,
            tags: terms.exclude_tags,
        };
        Self {
            id: antenna.id,
            owner: antenna.owner,
            list_id: antenna.choices.list_id,
            insert_feeds: antenna.choices.insert_feeds,
            mode,
            with_media_only: antenna.choices.with_media_only,
            ignore_reblog: antenna.choices.ignore_reblog,
            kinds,
            excluded: (!excluded.is_empty()).then(|| Box::new(excluded)),
        }
    }

    fn rejects(&self, status: &Status<'_>, domain: &str) -> bool {
        (self.with_media_only && !status.media)
            || (self.ignore_reblog && status.reblog)
            || self.excluded.as_ref().is_some_and(|excluded| excluded.hit(status, domain))
    }
}

impl Excluded {
    fn is_empty(&self) -> bool {
        self.accounts.is_empty() && self.keywords.is_empty() && self.domains.is_empty() && self.tags.is_empty()
    }

    fn hit(&self, status: &Status<'_>, domain: &str) -> bool {
        self.accounts.contains(&status.account)
            || self.domains.iter().any(|name| name == domain)
            || self.tags.iter().any(|tag| status.tags.contains(tag))
            || self.keywords.iter().any(|word| status.text.contains(word.as_str()))
    }
}

/// Which rules an element of a kind belongs to.
type Owners<K> = HashMap<K, Vec<u32>>;

/// The arranged antennas. Built once; changes come as an index of their own (see [`crate::layers`]).
#[derive(Debug, Default)]
pub struct Index {
    rules: Vec<Rule>,
    accounts: Owners<i64>,
    domains: Owners<Box<str>>,
    tags: Owners<Box<str>>,
    words: Option<Words>,
    timelines: Vec<u32>,
    left_out: Vec<i64>,
}

/// The automaton; pattern `p` belongs to the rules `owners[starts[p]..starts[p + 1]]`.
#[derive(Debug)]
struct Words {
    automaton: AhoCorasick,
    starts: Vec<u32>,
    owners: Vec<u32>,
}

impl Words {
    /// `None` when there are no keywords.
    fn new(keywords: Keywords) -> Result<Option<Self>, BuildError> {
        if keywords.is_empty() {
            return Ok(None);
        }
        let (mut starts, mut owners) = (vec![0], Vec::new());
        let patterns: Vec<String> = keywords
            .into_iter()
            .map(|(word, rules)| {
                owners.extend(rules);
                starts.push(number(owners.len()));
                word
            })
            .collect();
        // Dense states beyond the first take a kilobyte each, and there could be thousands of them.
        let automaton =
            AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).dense_depth(1).build(patterns)?;
        Ok(Some(Self { automaton, starts, owners }))
    }
}

fn number(length: usize) -> u32 {
    u32::try_from(length).expect("fewer antennas and keywords than an index can count")
}

/// This server.
#[derive(Clone, Debug, Default)]
pub struct Here {
    /// Its name, which local authors' statuses come from.
    pub domain: String,
    /// Whether it has a local timeline. Without, its name catches nothing and antennas that are timelines rest.
    pub local_timeline: bool,
}

/// Memory that one batch's statuses share: which kinds each rule was hit by.
#[derive(Debug, Default)]
pub struct Scratch {
    hits: Vec<u8>,
    touched: Vec<u32>,
}

impl Scratch {
    fn hit(&mut self, rules: &[u32], kind: u8) {
        for rule in rules {
            let hits = &mut self.hits[*rule as usize];
            if *hits == 0 {
                self.touched.push(*rule);
            }
            *hits |= kind;
        }
    }
}

impl Index {
    /// Arranges antennas, as many as fit into `room` bytes (see [`crate::room`]). Antennas without lists and without a
    /// timeline catch nothing and are left out.
    ///
    /// # Errors
    /// When the keywords are too many for an automaton.
    pub fn build(mut antennas: Vec<Antenna>, mut room: usize) -> Result<Self, BuildError> {
        fair(&mut antennas);
        let mut index = Self::default();
        let mut keywords = Keywords::new();
        for antenna in antennas {
            let taken = antenna.beside(&keywords);
            if taken > room {
                index.left_out.push(antenna.id);
                continue;
            }
            room -= taken;
            index.add(antenna, &mut keywords);
        }
        index.words = Words::new(keywords)?;
        Ok(index)
    }

    fn add(&mut self, mut antenna: Antenna, keywords: &mut Keywords) {
        let place = number(self.rules.len());
        if let Some(mode) = antenna.timeline() {
            let bare = Antenna { id: antenna.id, owner: antenna.owner, choices: antenna.choices, ..Antenna::default() };
            let mut rule = Rule::new(bare, mode, 0);
            (rule.with_media_only, rule.ignore_reblog) = (false, false);
            self.rules.push(rule);
            return self.timelines.push(place);
        }
        let accounts = std::mem::take(&mut antenna.accounts);
        let domains = std::mem::take(&mut antenna.terms.domains);
        let tags = std::mem::take(&mut antenna.terms.tags);
        let words = std::mem::take(&mut antenna.terms.keywords);
        let kind = |bit, empty: bool| if empty { 0 } else { bit };
        let kinds = kind(ACCOUNT, accounts.is_empty())
            | kind(DOMAIN, domains.is_empty())
            | kind(TAG, tags.is_empty())
            | kind(KEYWORD, words.is_empty());
        if kinds == 0 {
            return;
        }
        let worded = kinds & (TAG | KEYWORD) != 0;
        self.rules.push(Rule::new(antenna, Mode::Listed { worded }, kinds));
        accounts.into_iter().for_each(|account| self.accounts.entry(account).or_default().push(place));
        domains.into_iter().for_each(|name| self.domains.entry(name.into()).or_default().push(place));
        tags.into_iter().for_each(|tag| self.tags.entry(tag.into()).or_default().push(place));
        words.into_iter().for_each(|word| keywords.entry(word).or_default().push(place));
    }

    /// The antennas that catch `status`.
    pub fn catches<'a>(&'a self, status: &Status<'_>, here: &Here, scratch: &mut Scratch) -> Vec<&'a Rule> {
        scratch.hits.resize(self.rules.len().max(scratch.hits.len()), 0);
        let domain = status.domain.unwrap_or(&here.domain);
        self.look(status, domain, here, scratch);
        let timelines = if here.local_timeline { self.timelines.as_slice() } else { &[] };
        let mut caught: Vec<&Rule> = timelines.iter().map(|place| &self.rules[*place as usize]).collect();
        for place in scratch.touched.drain(..) {
            let hits = std::mem::take(&mut scratch.hits[place as usize]);
            let rule = &self.rules[place as usize];
            if hits == rule.kinds && !rule.rejects(status, domain) {
                caught.push(rule);
            }
        }
        caught
    }

    /// Marks the hits of the status.
    fn look(&self, status: &Status<'_>, domain: &str, here: &Here, scratch: &mut Scratch) {
        if let Some(rules) = self.accounts.get(&status.account) {
            scratch.hit(rules, ACCOUNT);
        }
        if let Some(rules) = self.domains.get(domain).filter(|_| !status.local || here.local_timeline) {
            scratch.hit(rules, DOMAIN);
        }
        for rules in status.tags.iter().filter_map(|tag| self.tags.get(tag.as_str())) {
            scratch.hit(rules, TAG);
        }
        if let Some(words) = &self.words {
            for found in words.automaton.find_overlapping_iter(status.text) {
                let pattern = found.pattern().as_usize();
                let range = words.starts[pattern] as usize..words.starts[pattern + 1] as usize;
                scratch.hit(&words.owners[range], KEYWORD);
            }
        }
    }

    /// The antennas for which there was no room.
    #[must_use]
    pub fn left_out(&self) -> &[i64] {
        &self.left_out
    }

    /// How many antennas there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::BASE;
    use crate::status::tests::status;

    fn texts(entries: &[&str]) -> Vec<String> {
        entries.iter().map(|entry| (*entry).to_owned()).collect()
    }

    fn here() -> Here {
        Here { domain: "here.test".into(), local_timeline: true }
    }

    /// The ids of the antennas that catch `status`.
    fn caught(antennas: &[Antenna], status: &Status<'_>) -> Vec<i64> {
        let index = Index::build(antennas.to_vec(), BASE).unwrap();
        let mut scratch = Scratch::default();
        let once: Vec<i64> = index.catches(status, &here(), &mut scratch).iter().map(|rule| rule.id).collect();
        let again: Vec<i64> = index.catches(status, &here(), &mut scratch).iter().map(|rule| rule.id).collect();
        assert_eq!(once, again, "a status leaves nothing behind for the next");
        let mut sorted = once;
        sorted.sort_unstable();
        sorted
    }

    fn words(id: i64, keywords: &[&str]) -> Antenna {
        Antenna { id, terms: Terms { keywords: texts(keywords), ..Terms::default() }, ..Antenna::default() }
    }

    #[test]
    fn a_keyword_is_any_part_of_the_text_as_it_is_written() {
        let antennas = [words(1, &["cat"]), words(2, &["Cat"]), words(3, &["猫が"]), words(4, &["dog", "cate"])];
        let text = |text| Status { text, ..status() };
        assert_eq!(caught(&antennas, &text("concatenate")), [1, 4]);
        assert_eq!(caught(&antennas, &text("warning: Cat\nhello")), [2]);
        assert_eq!(caught(&antennas, &text("小猫がいる")), [3]);
        assert_eq!(caught(&antennas, &text("")), [0; 0]);
    }

    #[test]
    fn an_antenna_that_lists_nothing_catches_nothing() {
        let excluding = Terms { exclude_keywords: texts(&["x"]), ..Terms::default() };
        let antennas =
            [Antenna { id: 1, ..Antenna::default() }, Antenna { id: 2, terms: excluding, ..Antenna::default() }];
        assert_eq!(caught(&antennas, &Status { text: "anything", ..status() }), [0; 0]);
        assert!(Index::build(antennas.to_vec(), BASE).unwrap().is_empty());
    }

    #[test]
    fn all_kinds_that_are_set_must_be_hit() {
        let antenna = Antenna {
            id: 1,
            terms: Terms {
                keywords: texts(&["chess", "rook"]),
                tags: texts(&["games"]),
                domains: texts(&["here.test"]),
                ..Terms::default()
            },
            accounts: vec![1, 2],
            ..Antenna::default()
        };
        let tags = texts(&["games", "other"]);
        let full = Status { text: "a rook", tags: &tags, ..status() };
        assert_eq!(caught(std::slice::from_ref(&antenna), &full), [1]);
        for lacking in [
            Status { text: "a knight", ..full.clone() },
            Status { tags: &[], ..full.clone() },
            Status { local: false, domain: Some("far.test"), ..full.clone() },
            Status { account: 3, ..full.clone() },
        ] {
            assert_eq!(caught(std::slice::from_ref(&antenna), &lacking), [0; 0], "{lacking:?}");
        }
    }

    #[test]
    fn a_reblog_is_caught_by_who_made_it_and_by_nothing_else() {
        let account = Antenna { id: 1, accounts: vec![1], ..Antenna::default() };
        let domain = Antenna {
            id: 2,
            terms: Terms { domains: texts(&["here.test"]), ..Terms::default() },
            ..Antenna::default()
        };
        let mut not_reblogs = account.clone();
        (not_reblogs.id, not_reblogs.choices.ignore_reblog) = (3, true);
        let antennas = [account, domain, not_reblogs, words(4, &["rook"])];
        assert_eq!(caught(&antennas, &Status { reblog: true, ..status() }), [1, 2]);
        assert_eq!(caught(&antennas, &Status { text: "rook", ..status() }), [1, 2, 3, 4]);
    }

    #[test]
    fn media_may_be_required() {
        let mut antenna = words(1, &["rook"]);
        antenna.choices.with_media_only = true;
        let plain = Status { text: "rook", ..status() };
        assert_eq!(caught(std::slice::from_ref(&antenna), &plain), [0; 0]);
        assert_eq!(caught(std::slice::from_ref(&antenna), &Status { media: true, ..plain }), [1]);
    }

    #[test]
    fn one_hit_of_an_exclusion_rejects() {
        let tags = texts(&["spoiler"]);
        let full = Status {
            text: "a rook takes",
            tags: &tags,
            account: 7,
            local: false,
            domain: Some("far.test"),
            ..status()
        };
        let with = |change: fn(&mut Antenna)| {
            let mut antenna = words(1, &["rook"]);
            change(&mut antenna);
            caught(&[antenna], &full)
        };
        assert_eq!(with(|antenna| antenna.terms.exclude_keywords = texts(&["takes"])), [0; 0]);
        assert_eq!(with(|antenna| antenna.terms.exclude_tags = texts(&["spoiler"])), [0; 0]);
        assert_eq!(with(|antenna| antenna.terms.exclude_domains = texts(&["far.test"])), [0; 0]);
        assert_eq!(with(|antenna| antenna.exclude_accounts = vec![7]), [0; 0]);
        assert_eq!(with(|antenna| antenna.terms.exclude_domains = texts(&["test"])), [1], "names are compared whole");
        assert_eq!(with(|antenna| antenna.exclude_accounts = vec![8]), [1]);
    }

    #[test]
    fn a_timeline_ignores_everything_that_it_lists() {
        let mut social = words(1, &["rook"]);
        (social.choices.stl, social.choices.with_media_only, social.choices.ignore_reblog) = (true, true, true);
        social.terms.exclude_keywords = texts(&["hello"]);
        let mut local = words(2, &["rook"]);
        local.choices.ltl = true;
        let antennas = [social, local];
        assert_eq!(caught(&antennas, &Status { text: "hello", ..status() }), [1, 2]);
    }

    #[test]
    fn without_a_local_timeline_local_authors_are_caught_by_words_alone() {
        let here = Here { local_timeline: false, ..here() };
        let domain = Terms { domains: texts(&["here.test"]), ..Terms::default() };
        let mut social = words(2, &[]);
        social.choices.stl = true;
        let excluding =
            Terms { keywords: texts(&["rook"]), exclude_domains: texts(&["here.test"]), ..Terms::default() };
        let antennas = vec![
            Antenna { id: 1, terms: domain, ..Antenna::default() },
            social,
            words(3, &["rook"]),
            Antenna { id: 4, terms: excluding, ..Antenna::default() },
        ];
        let index = Index::build(antennas, BASE).unwrap();
        let status = Status { text: "rook", ..status() };
        let caught = index.catches(&status, &here, &mut Scratch::default());
        assert_eq!(caught.iter().map(|rule| rule.id).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_the_rest_works() {
        let long: Vec<String> = (0..60).map(|number| format!("{number:x<256}")).collect();
        let long: Vec<&str> = long.iter().map(String::as_str).collect();
        let of = |owner, antenna| Antenna { owner, ..antenna };
        let antennas = vec![of(1, words(1, &long)), of(2, words(2, &["rook"])), of(1, words(3, &["crow"]))];
        let index = Index::build(antennas.clone(), BASE).unwrap();
        assert_eq!((index.len(), index.left_out()), (3, &[][..]));
        let index = Index::build(antennas, 100_000).unwrap();
        assert_eq!((index.len(), index.left_out()), (2, &[1][..]));
        let status = Status { text: "a rook, a crow", ..status() };
        assert_eq!(index.catches(&status, &here(), &mut Scratch::default()).len(), 2);
    }
}
