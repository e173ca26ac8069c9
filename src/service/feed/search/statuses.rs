//! Full-text search of statuses: candidates from the index, newest first, filtered by visibility and by the query.
//!
//! The work is bounded: a search follows its rarest term through at most [`LOOKED_AT`] statuses, then the viewer's
//! own statuses and interactions through as many, and reads at most [`READ`] of them. So a search for several words
//! that are each frequent, but rare in combination, may end early.
//!
//! Extensions add to a viewer's library: statuses with marks that they store, such as reactions, are found like the
//! interactions of the core. They are called for a window or chunk at a time. Statuses that only the author may find
//! stay hidden from others.
//! Spec: docs/contract/rules.md#16-search.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use super::criteria::{Condition, Criteria, Mark, Scope};
use super::document::{self, ANY, Document, EMBED};
use crate::relations;
use crate::visibility::{self, Place, Seen};
use context::Cx;
use context::error::Result;
use context::extension::MarkedPage;
use model::{Actor, Status, StatusId};
use store::status_search::{self, COUNTED, Candidate, Lead, Window};
use text::search::term;

/// Most statuses of the index that one lead brings to a search.
const LOOKED_AT: i64 = 10_000;
/// Most candidates whose text is read.
const READ: usize = 1_000;
/// Most candidates whose text is read together.
const CHUNK: usize = 80;
/// Statuses of the first window: twice as many as requested, within these bounds, since of a frequent word most
/// statuses may be found by anyone. Each further window is four times as long, up to the longest.
const FIRST_WINDOW: RangeInclusive<i64> = 40..=200;
const LONGEST_WINDOW: i64 = 4_000;
/// Most terms that a candidate must have; the text is checked for the rest.
const MAX_TERMS: usize = 16;

/// The statuses that `viewer` finds, newest first unless `criteria` specify otherwise: `take` of them after the first
/// `skip`.
pub(super) async fn find(cx: &Cx, viewer: &Actor, criteria: &Criteria, skip: usize, take: usize) -> Result<Vec<Seen>> {
    let wanted = skip.saturating_add(take).min(READ);
    if take == 0 || skip >= wanted {
        return Ok(Vec::new());
    }
    let has_marks = !cx.extensions().search_words().is_empty();
    let mut search = Search { cx, viewer, criteria, wanted, has_marks, read: 0, found: Vec::new() };
    let terms = terms(criteria);
    let mut window = Window {
        lead: Lead::Library,
        terms: Vec::new(),
        after: criteria.after,
        before: criteria.before,
        length: 0,
        oldest_first: criteria.oldest_first,
        viewer: viewer.id,
        marked: Vec::new(),
        ways: criteria.ways(),
    };
    let mut ended = Ended::Whole;
    for lead in leads(cx, criteria, &terms).await? {
        window.terms = terms.iter().copied().filter(|term| lead != Lead::Term(*term)).collect();
        window.lead = lead;
        ended = search.follow(&mut window).await?;
        if ended != Ended::LookedAt {
            break;
        }
    }
    if ended != Ended::Whole {
        // Without the query, which is private.
        let (read, found) = (search.read, search.found.len());
        tracing::info!(by = ?ended, read, found, "a search of statuses was cut short by a bound");
    }
    Ok(search.found.into_iter().skip(skip).collect())
}

/// The terms that a candidate must have.
fn terms(criteria: &Criteria) -> Vec<i64> {
    let facts = criteria.facts.iter().filter(|fact| !fact.negated).filter_map(|fact| document::indexed(&fact.what));
    let words = criteria.words.iter().filter(|words| !words.negated);
    let mut terms: Vec<i64> = facts.map(term).collect();
    terms.extend(words.flat_map(|words| words.what.terms()));
    let mut known = BTreeSet::new();
    terms.retain(|term| known.insert(*term));
    terms.truncate(MAX_TERMS);
    terms
}

/// The leads of the search, in order. Empty when no status has one of the terms.
async fn leads(cx: &Cx, criteria: &Criteria, terms: &[i64]) -> Result<Vec<Lead>> {
    let ways = criteria.ways();
    let own = !ways.public && !ways.followed;
    let marked = criteria.wanted_mark().is_some();
    if terms.is_empty() {
        return Ok(if marked {
            vec![Lead::Marked]
        } else if own {
            vec![Lead::Library]
        } else {
            vec![Lead::Term(term(ANY)), Lead::Library]
        });
    }
    let frequencies = status_search::frequencies(&cx.db, terms).await?;
    let Some(rarest) = frequencies.iter().min_by_key(|term| term.count) else { return Ok(Vec::new()) };
    Ok(match rarest.count {
        0 => Vec::new(),
        COUNTED.. if marked => vec![Lead::Marked],
        COUNTED.. if own => vec![Lead::Library],
        COUNTED.. => vec![Lead::Term(rarest.term), Lead::Library],
        _ => vec![Lead::Term(rarest.term)],
    })
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// It found enough, or nothing was left.
    Whole,
    /// One lead brought [`LOOKED_AT`] statuses.
    LookedAt,
    /// It read [`READ`] candidates.
    Read,
}

/// A running search.
struct Search<'a> {
    cx: &'a Cx,
    viewer: &'a Actor,
    criteria: &'a Criteria,
    wanted: usize,
    /// Whether extensions store marks.
    has_marks: bool,
    read: usize,
    found: Vec<Seen>,
}

impl<'a> Search<'a> {
    /// Processes window after window.
    async fn follow(&mut self, window: &mut Window) -> Result<Ended> {
        let mut looked_at = 0;
        let twice = i64::try_from(self.wanted * 2).unwrap_or(i64::MAX);
        window.length = twice.clamp(*FIRST_WINDOW.start(), *FIRST_WINDOW.end());
        while looked_at < LOOKED_AT {
            self.bring_marked(window).await?;
            let candidates = status_search::look(&self.cx.db, window).await?;
            let by_mark = self.by_mark(window, &candidates).await?;
            let is_found = |candidate: &&Candidate| candidate.is_found() || by_mark.contains(&candidate.id);
            let ids: Vec<StatusId> = candidates.iter().filter(is_found).map(|candidate| candidate.id).collect();
            for chunk in ids.chunks(self.wanted.clamp(CHUNK / 4, CHUNK)) {
                self.take(chunk).await?;
                if self.found.len() >= self.wanted {
                    return Ok(Ended::Whole);
                }
                if self.read >= READ {
                    return Ok(Ended::Read);
                }
            }
            let is_full = i64::try_from(candidates.len()).is_ok_and(|count| count >= window.length);
            let Some(last) = candidates.last().filter(|_| is_full) else { return Ok(Ended::Whole) };
            if window.oldest_first {
                window.after = last.id;
            } else {
                window.before = last.id;
            }
            looked_at += window.length;
            window.length = (window.length * 4).min(LONGEST_WINDOW);
        }
        Ok(Ended::LookedAt)
    }

    /// Adds the statuses that the viewer marked in extensions to a window that the viewer's library leads.
    async fn bring_marked(&self, window: &mut Window) -> Result<()> {
        let word = match window.lead {
            Lead::Library if self.has_marks => None,
            Lead::Marked => self.criteria.wanted_mark(),
            Lead::Term(_) | Lead::Library => return Ok(()),
        };
        let Window { after, before, length: limit, oldest_first, .. } = *window;
        let page = MarkedPage { after, before, limit, oldest_first };
        window.marked = self.cx.extensions().list_marked(self.cx, self.viewer.id, word, page).await?;
        Ok(())
    }

    /// The `candidates` that are found only by a mark in an extension.
    async fn by_mark(&self, window: &Window, candidates: &[Candidate]) -> Result<HashSet<StatusId>> {
        let unsure = candidates.iter().filter(|candidate| candidate.is_found_by_mark());
        let unsure: Vec<StatusId> = unsure.map(|candidate| candidate.id).collect();
        if unsure.is_empty() || !self.has_marks || !window.ways.library {
            return Ok(HashSet::new());
        }
        self.cx.extensions().marked(self.cx, self.viewer.id, None, &unsure).await
    }

    /// For each word of `my:` of an extension, the statuses with that mark of the viewer.
    async fn marks(&self, ids: &[StatusId]) -> Result<HashMap<&'a str, HashSet<StatusId>>> {
        let mut marks = HashMap::new();
        let criteria: &'a Criteria = self.criteria;
        for mark in &criteria.marks {
            if let Mark::Other(word) = &mark.what
                && !marks.contains_key(word.as_str())
            {
                let marked = self.cx.extensions().marked(self.cx, self.viewer.id, Some(word), ids).await?;
                marks.insert(word.as_str(), marked);
            }
        }
        Ok(marks)
    }

    /// Adds the candidates among `ids` that the viewer may see and that match the query.
    async fn take(&mut self, ids: &[StatusId]) -> Result<()> {
        self.read += ids.len();
        let seen = visibility::statuses(self.cx, Some(self.viewer), Place::Search, ids).await?;
        let ids: Vec<StatusId> = seen.iter().map(|seen| seen.head().id).collect();
        let statuses = store::status::list(&self.cx.db, &ids).await?;
        let mut documents = document::of(&self.cx.db, &statuses).await?;
        if self.criteria.facts.iter().any(|fact| fact.what == EMBED) {
            document::add_cards(&self.cx.db, &mut documents).await?;
        }
        let following = match self.criteria.scope {
            Scope::Following => Some(relations::of(self.cx, self.viewer).await?),
            Scope::All | Scope::Library | Scope::Public => None,
        };
        let domains = self.domains(&statuses).await?;
        let marks = self.marks(&ids).await?;
        for seen in seen {
            let author = seen.head().account_id;
            let followed = following.as_ref().is_none_or(|relations| relations.is_following(author));
            let document = documents.iter().find(|document| document.id == seen.head().id);
            let meant = document.is_some_and(|document| is_meant(self.criteria, document, &seen, &marks));
            let domain = domains.iter().find(|(account, _)| *account == author).map(|(_, domain)| domain.as_str());
            let at = self.criteria.domains.iter().all(|wanted| holds(wanted, domain == Some(wanted.what.as_str())));
            if followed && at && meant && self.found.len() < self.wanted {
                self.found.push(seen);
            }
        }
        Ok(())
    }

    /// The domain of each author, if the query filters by it.
    async fn domains(&self, statuses: &[Status]) -> Result<Vec<(model::AccountId, String)>> {
        if self.criteria.domains.is_empty() {
            return Ok(Vec::new());
        }
        let authors: BTreeSet<model::AccountId> = statuses.iter().map(|status| status.account_id).collect();
        let authors: Vec<model::AccountId> = authors.into_iter().collect();
        let domains = store::account::domains(&self.cx.db, &authors).await?;
        let own = &self.cx.urls.local_domain;
        let named = |domain: Option<String>| domain.unwrap_or_else(|| own.clone()).to_lowercase();
        Ok(domains.into_iter().map(|(account, domain)| (account, named(domain))).collect())
    }
}

fn holds<T>(condition: &Condition<T>, is: bool) -> bool {
    is != condition.negated
}

/// True when `document` matches the query; `marks` are the marks of extensions by their words.
fn is_meant(criteria: &Criteria, document: &Document, seen: &Seen, marks: &HashMap<&str, HashSet<StatusId>>) -> bool {
    let marked = seen.marked();
    let mark = |mark: &Mark| match mark {
        Mark::Favourited => marked.favourited,
        Mark::Bookmarked => marked.bookmarked,
        Mark::Reblogged => marked.reblogged,
        Mark::Other(word) => marks.get(word.as_str()).is_some_and(|marked| marked.contains(&document.id)),
    };
    criteria.words.iter().all(|words| holds(words, document.contains(&words.what)))
        && criteria.facts.iter().all(|fact| holds(fact, document.is(&fact.what)))
        && criteria.marks.iter().all(|wanted| holds(wanted, mark(&wanted.what)))
}
