//! The filters of a viewer, compiled and cached in memory until their version changes.
//!
//! Reached from `entity::filter_result`, which applies them to statuses. The version is in the row that every request
//! reads to load its [`Actor`], so a set is never older than the request, on this node or another. Viewers without
//! filters have no set. Expired filters are skipped on each use.

use std::sync::Arc;

use super::filter;
use context::Cx;
use context::caches::CompiledFilters;
use context::error::{Error, Result};
use context::json::{Array, Fragment, Object};
use model::{Actor, StatusId, Time};
use store::filter::FilterRow;
use text::keywords::{Keyword, Keywords, Match, Searchable};

/// The filters of one account.
#[derive(Debug)]
pub(super) struct FilterSet(Arc<CompiledFilters>);

/// The fields of a status that filters match.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    /// The status, and the original of a reblog.
    pub(super) ids: [Option<StatusId>; 2],
    pub(super) text: &'a Searchable,
    /// The text of its quote, if [`FilterSet::looks_at_quotes`].
    pub(super) quoted: Option<&'a Searchable>,
    /// The author's name and note, if [`FilterSet::looks_at_authors`].
    pub(super) profile: Option<&'a Searchable>,
    /// Whether the author belongs to this server.
    pub(super) local: bool,
    /// Whether the viewer follows the author.
    pub(super) following: bool,
}

/// The filters of `viewer`; `None` when there are none. No statement unless they changed since the last use.
pub(super) async fn of(cx: &Cx, viewer: &Actor) -> Result<Option<FilterSet>> {
    if viewer.filters_version <= 0 {
        return Ok(None);
    }
    if let Some(compiled) = cx.caches.filters.at_least(&viewer.id, viewer.filters_version) {
        return Ok(Some(FilterSet(compiled)));
    }
    let compiled = Arc::new(load(cx, viewer).await?);
    cx.caches.filters.insert_at(viewer.id, viewer.filters_version, Arc::clone(&compiled));
    Ok(Some(FilterSet(compiled)))
}

async fn load(cx: &Cx, viewer: &Actor) -> Result<CompiledFilters> {
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
    let rendered = |row: FilterRow| {
        let json = filter::render_bare(&row)?;
        Ok((row, json))
    };
    Ok(CompiledFilters {
        keywords: compiled.map_err(Error::internal)?,
        statuses,
        filters: rows.into_iter().map(rendered).collect::<Result<_>>()?,
    })
}

impl FilterSet {
    /// True when a filter depends on the author.
    pub(super) fn looks_at_authors(&self) -> bool {
        self.0.filters.iter().any(|(row, _)| row.with_profile || row.exclude_local_users)
    }

    /// True when a filter depends on the quoted status.
    pub(super) fn looks_at_quotes(&self) -> bool {
        self.0.filters.iter().any(|(row, _)| row.with_quote)
    }

    /// True when a filter depends on the accounts that the viewer follows.
    pub(super) fn looks_at_follows(&self) -> bool {
        self.0.filters.iter().any(|(row, _)| row.exclude_follows)
    }

    /// A `FilterResult` for each filter that matches; `None` when none does.
    pub(super) fn results(&self, subject: &Subject<'_>, now: Time) -> Option<Array> {
        let in_text = self.0.keywords.find(subject.text);
        let in_profile = subject.profile.map(|profile| self.0.keywords.find(profile)).unwrap_or_default();
        let in_quoted = subject.quoted.map(|quoted| self.0.keywords.find(quoted)).unwrap_or_default();
        let added = self.added(subject);
        if in_text.is_empty() && in_quoted.is_empty() && in_profile.is_empty() && added.is_empty() {
            return None;
        }
        let matching = self.0.filters.iter().enumerate().filter(|(_, (row, _))| applies(row, subject, now));
        let results = matching.filter_map(|(index, (row, json))| {
            let profile = if row.with_profile { in_profile.as_slice() } else { &[] };
            let quoted = if row.with_quote { in_quoted.as_slice() } else { &[] };
            let found = first(&in_text, index).or_else(|| first(quoted, index));
            let keyword = found.or_else(|| first(profile, index));
            let statuses: Vec<StatusId> = added.iter().filter(|(_, of)| *of == index).map(|(id, _)| *id).collect();
            (keyword.is_some() || !statuses.is_empty()).then(|| result(json, keyword, &statuses))
        });
        let results: Vec<Fragment> = results.collect();
        (!results.is_empty()).then(|| Array::from(results))
    }

    /// The statuses of the subject that were added to a filter, with the index of the filter.
    fn added(&self, subject: &Subject<'_>) -> Vec<(StatusId, usize)> {
        if self.0.statuses.is_empty() {
            return Vec::new();
        }
        let of = |id: StatusId| {
            let from = self.0.statuses.partition_point(|(status, _)| *status < id);
            self.0.statuses[from..].iter().take_while(move |(status, _)| *status == id).copied()
        };
        subject.ids.into_iter().flatten().flat_map(of).collect()
    }
}

/// The text that the filter at `index` matched.
fn first<'t>(found: &[Match<'t>], index: usize) -> Option<&'t str> {
    found.binary_search_by_key(&index, |found| found.group).ok().map(|at| found[at].text)
}

/// False when the filter has expired or excludes such authors.
fn applies(row: &FilterRow, subject: &Subject<'_>, now: Time) -> bool {
    row.expires_at.is_none_or(|expires_at| expires_at > now)
        && !(row.exclude_follows && subject.following)
        && !(row.exclude_local_users && subject.local)
}

/// <https://docs.joinmastodon.org/entities/FilterResult/>
fn result(filter: &Fragment, keyword: Option<&str>, statuses: &[StatusId]) -> Fragment {
    let json = |value: serde_json::Value| value.to_string();
    let mut object = Object::with_capacity(filter.as_str().len() + 96);
    object
        .member("filter", filter.as_str())
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
