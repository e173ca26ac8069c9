//! Trends: hashtags, statuses and links that are currently in wide use.
//!
//! Read by the routes of trends ([`tags`], [`statuses`], [`links`]), scored every few minutes by a job ([`refresh`]),
//! and shown once staff has approved them ([`review`], [`publisher`]), or immediately with the setting
//! `trendable_by_default`. Staff sees all of them ([`unreviewed`]). A further kind needs a variant of [`TrendKind`], a function in [`refresh`] that measures it, and one here that reads
//! it.
//!
//! Spec: docs/contract/rules.md#23-discovery; <https://docs.joinmastodon.org/methods/trends/>

pub mod card_review;
pub mod publisher;
pub mod refresh;
pub mod review;
mod score;
pub mod unreviewed;

use std::collections::HashMap;

use crate::visibility::{self, Place, Seen};
use context::Cx;
use context::error::Result;
use model::trend::TrendKind;
use model::{Actor, PreviewCard, RowId, StatusId, TagId};
use store::tag::FoundTag;
use store::trend::TrendPage;

/// A query for trends.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Trends in one of these languages come first.
    pub languages: Vec<String>,
    pub limit: i64,
    pub offset: i64,
}

/// A page: the number of trends read, before filtering, and the ones visible to the viewer.
#[derive(Clone, Debug)]
pub struct Page<T> {
    pub count: usize,
    pub shown: Vec<T>,
}

/// Trending hashtags, the highest score first; none while trends are disabled.
#[model::use_case]
pub async fn tags(cx: &Cx, viewer: Option<&Actor>, query: &Query) -> Result<Page<FoundTag>> {
    let ids: Vec<TagId> = ids(cx, TrendKind::Tag, query).await?.into_iter().map(TagId::from).collect();
    if ids.is_empty() {
        return Ok(Page { count: 0, shown: Vec::new() });
    }
    let found = store::trend::tags(&cx.db, &ids, viewer.map(|actor| actor.id)).await?;
    let mut found: HashMap<TagId, FoundTag> = found.into_iter().map(|tag| (tag.id, tag)).collect();
    Ok(Page { count: ids.len(), shown: ids.iter().filter_map(|id| found.remove(id)).collect() })
}

/// Trending statuses, those in the languages of `query` first and then by score; none while trends are disabled.
/// Without statuses that the viewer excludes from public timelines.
#[model::use_case]
pub async fn statuses(cx: &Cx, viewer: Option<&Actor>, query: &Query) -> Result<Page<Seen>> {
    let ids: Vec<StatusId> = ids(cx, TrendKind::Status, query).await?.into_iter().map(StatusId::from).collect();
    let shown = visibility::statuses(cx, viewer, Place::Public { local: false }, &ids).await?;
    Ok(Page { count: ids.len(), shown })
}

/// Trending links, those in the languages of `query` first and then by score; none while trends are disabled.
#[model::use_case]
pub async fn links(cx: &Cx, query: &Query) -> Result<Page<PreviewCard>> {
    let ids: Vec<RowId> = ids(cx, TrendKind::Link, query).await?.into_iter().map(RowId::from).collect();
    if ids.is_empty() {
        return Ok(Page { count: 0, shown: Vec::new() });
    }
    let found = store::card::list(&cx.db, &ids).await?;
    let mut found: HashMap<RowId, PreviewCard> = found.into_iter().map(|card| (card.id, card)).collect();
    Ok(Page { count: ids.len(), shown: ids.iter().filter_map(|id| found.remove(id)).collect() })
}

async fn ids(cx: &Cx, kind: TrendKind, query: &Query) -> Result<Vec<i64>> {
    let settings = cx.settings();
    if !settings.trends || query.limit == 0 {
        return Ok(Vec::new());
    }
    let page = TrendPage {
        languages: query.languages.clone(),
        unreviewed: settings.trendable_by_default,
        rejected: false,
        limit: query.limit,
        offset: query.offset,
    };
    Ok(store::trend::page(&cx.db, kind, &page).await?)
}
