//! The filters of a viewer, compiled and in memory: read once, and again when their version says that they changed.
//!
//! Reached from `entity::filter_result`, which asks about statuses. The version is in the row that every
//! request reads to know its [`Actor`], so a set is never older than the request, on this node or another. Whoever has no
//! filters has none here either. Expired filters are passed over whenever a set is asked.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::filter;
use crate::Cx;
use crate::error::{Error, Result};
use crate::json::{Array, Fragment, Object};
use model::{AccountId, Actor, StatusId, Time};
use store::filter::FilterRow;
use text::keywords::{Keyword, Keywords, Match, Searchable};

/// Capacity, in bytes. A set takes some 30 bytes for each of the bytes of its keywords, of which an account has a bounded
/// number, and 300 for each filter.
const BYTES: u64 = 32 * 1024 * 1024;
/// Expected number of entries. Lower than it could be, because it limits the number of shards to 8, each of which must
/// have room for a large set.
const ENTRIES: usize = 256;

/// Sets by account.
#[derive(Debug)]
pub struct FilterSets(Cache<AccountId, Arc<FilterSet>, Bytes>);

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<AccountId, Arc<FilterSet>> for Bytes {
    fn weight(&self, _: &AccountId, set: &Arc<FilterSet>) -> u64 {
        set.size_bytes() as u64
    }
}

impl Default for FilterSets {
    fn default() -> Self {
        Self(Cache::with_weighter(ENTRIES, BYTES, Bytes))
    }
}

/// The filters of one account.
#[derive(Debug)]
pub(super) struct FilterSet {
    /// `accounts.filters_version` when this was read, or before.
    version: i64,
    filters: Vec<Shown>,
    /// By the index of their filter.
    keywords: Keywords,
    /// With the index of their filter, sorted.
    statuses: Vec<(StatusId, usize)>,
}

/// A filter, and how it is shown.
#[derive(Debug)]
struct Shown {
    row: FilterRow,
    json: Fragment,
}

/// What filters look at of a status.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    /// The status, and the original of a reblog.
    pub(super) ids: [Option<StatusId>; 2],
    pub(super) text: &'a Searchable,
    /// The text of what it quotes, where [`FilterSet::looks_at_quotes`].
    pub(super) quoted: Option<&'a Searchable>,
    /// The author's name and note, where [`FilterSet::looks_at_authors`].
    pub(super) profile: Option<&'a Searchable>,
    /// The author is of this server.
    pub(super) local: bool,
    /// The viewer follows the author.
    pub(super) following: bool,
}

/// The filters of `viewer`: no statement unless they changed since they were last asked for. `None` when there are none.
pub(super) async fn of(cx: &Cx, viewer: &Actor) -> Result<Option<Arc<FilterSet>>> {
    if viewer.filters_version <= 0 {
        return Ok(None);
    }
    let kept = cx.filters.0.get(&viewer.id).filter(|kept| kept.version >= viewer.filters_version);
    if let Some(set) = kept {
        return Ok(Some(set));
    }
    let set = Arc::new(FilterSet::load(cx, viewer).await?);
    cx.filters.0.insert(viewer.id, Arc::clone(&set));
    Ok(Some(set))
}

impl FilterSet {
    async fn load(cx: &Cx, viewer: &Actor) -> Result<Self> {
        let rows = store::filter::list(&cx.db, viewer.id).await?;
        let keywords = store::filter::list_keywords(&cx.db, viewer.id).await?;
        let statuses = store::filter::list_statuses(&cx.db, viewer.id).await?;
        let index = |id| rows.binary_search_by_key(&id, |row: &FilterRow| row.id).ok();
        let compiled = Keywords::compile(keywords.iter().filter_map(|keyword| {
            let group = index(keyword.filter_id)?;
            Some(Keyword { text: &keyword.keyword, whole_word: keyword.whole_word, group })
        }));
        let mut statuses: Vec<(StatusId, usize)> =
            statuses.iter().filter_map(|status| Some((status.status_id, index(status.filter_id)?))).collect();
        statuses.sort_unstable();
        let shown = |row| Ok(Shown { json: filter::render_bare(&row)?, row });
        Ok(Self {
            version: viewer.filters_version,
            keywords: compiled.map_err(Error::internal)?,
            statuses,
            filters: rows.into_iter().map(shown).collect::<Result<_>>()?,
        })
    }

    /// True when a filter goes by who the author is.
    pub(super) fn looks_at_authors(&self) -> bool {
        self.filters.iter().any(|filter| filter.row.with_profile || filter.row.exclude_local_users)
    }

    /// True when a filter goes by what a status quotes.
    pub(super) fn looks_at_quotes(&self) -> bool {
        self.filters.iter().any(|filter| filter.row.with_quote)
    }

    /// True when a filter goes by whom the viewer follows.
    pub(super) fn looks_at_follows(&self) -> bool {
        self.filters.iter().any(|filter| filter.row.exclude_follows)
    }

    /// A `FilterResult` for each filter that matches; `None` when none does.
    pub(super) fn results(&self, subject: &Subject<'_>, now: Time) -> Option<Array> {
        let in_text = self.keywords.find(subject.text);
        let in_profile = subject.profile.map(|profile| self.keywords.find(profile)).unwrap_or_default();
        let in_quoted = subject.quoted.map(|quoted| self.keywords.find(quoted)).unwrap_or_default();
        let added = self.added(subject);
        if in_text.is_empty() && in_quoted.is_empty() && in_profile.is_empty() && added.is_empty() {
            return None;
        }
        let matching = self.filters.iter().enumerate().filter(|(_, filter)| filter.applies(subject, now));
        let results = matching.filter_map(|(index, filter)| {
            let profile = if filter.row.with_profile { in_profile.as_slice() } else { &[] };
            let quoted = if filter.row.with_quote { in_quoted.as_slice() } else { &[] };
            let found = first(&in_text, index).or_else(|| first(quoted, index));
            let keyword = found.or_else(|| first(profile, index));
            let statuses: Vec<StatusId> = added.iter().filter(|(_, of)| *of == index).map(|(id, _)| *id).collect();
            (keyword.is_some() || !statuses.is_empty()).then(|| filter.result(keyword, &statuses))
        });
        let results: Vec<Fragment> = results.collect();
        (!results.is_empty()).then(|| Array::from(results))
    }

    /// Which of the subject's statuses are in which filters.
    fn added(&self, subject: &Subject<'_>) -> Vec<(StatusId, usize)> {
        if self.statuses.is_empty() {
            return Vec::new();
        }
        let of = |id: StatusId| {
            let from = self.statuses.partition_point(|(status, _)| *status < id);
            self.statuses[from..].iter().take_while(move |(status, _)| *status == id).copied()
        };
        subject.ids.into_iter().flatten().flat_map(of).collect()
    }

    fn size_bytes(&self) -> usize {
        let shown = |filter: &Shown| size_of::<Shown>() + filter.row.title.len() + filter.json.as_str().len();
        size_of::<Self>()
            + self.keywords.size_bytes()
            + self.statuses.len() * size_of::<(StatusId, usize)>()
            + self.filters.iter().map(shown).sum::<usize>()
    }
}

/// What the filter of `index` found.
fn first<'t>(found: &[Match<'t>], index: usize) -> Option<&'t str> {
    found.binary_search_by_key(&index, |found| found.group).ok().map(|at| found[at].text)
}

impl Shown {
    /// False when it has expired, or leaves such authors out.
    fn applies(&self, subject: &Subject<'_>, now: Time) -> bool {
        self.row.expires_at.is_none_or(|expires_at| expires_at > now)
            && !(self.row.exclude_follows && subject.following)
            && !(self.row.exclude_local_users && subject.local)
    }

    /// <https://docs.joinmastodon.org/entities/FilterResult/>
    fn result(&self, keyword: Option<&str>, statuses: &[StatusId]) -> Fragment {
        let json = |value: serde_json::Value| value.to_string();
        let mut object = Object::with_capacity(self.json.as_str().len() + 96);
        object
            .member("filter", self.json.as_str())
            .member("keyword_matches", &keyword.map_or("null".to_owned(), |keyword| json(vec![keyword].into())))
            .member(
                "status_matches",
                &match statuses {
                    [] => "null".to_owned(),
                    ids => json(ids.iter().map(ToString::to_string).collect()),
                },
            );
        object.close()
    }
}
