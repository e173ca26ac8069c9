//! Trends: hashtags, statuses and links that many people use at present.
//!
//! Read by the routes of trends ([`tags`], [`statuses`], [`links`]), scored every few minutes by a job ([`refresh`]), and
//! shown once staff has reviewed them ([`review`]) or at once where the setting `trendable_by_default` says so. A further
//! kind is one of [`TrendKind`], a function of [`refresh`] that measures it, and one here that reads it.
//!
//! Spec: docs/contract/rules.md#23-discovery; <https://docs.joinmastodon.org/methods/trends/>

pub mod refresh;
pub mod review;
mod score;

use std::collections::HashMap;

use crate::visibility::{self, Place, Seen};
use context::Cx;
use context::error::Result;
use model::trend::TrendKind;
use model::{Actor, PreviewCard, RowId, StatusId, TagId};
use store::tag::FoundTag;
use store::trend::TrendPage;

/// What is read of trends.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Those in one of these languages come first.
    pub languages: Vec<String>,
    pub limit: i64,
    pub offset: i64,
}

/// A page: how many trends were read, before filtering, and those of them that the viewer sees.
#[derive(Clone, Debug)]
pub struct Page<T> {
    pub count: usize,
    pub shown: Vec<T>,
}

/// The hashtags that trend, the highest score first; none while trends are off.
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

/// The statuses that trend, those in the languages of `query` first and then by their scores; none while trends are off.
/// Without those that the viewer keeps off public timelines.
#[model::use_case]
pub async fn statuses(cx: &Cx, viewer: Option<&Actor>, query: &Query) -> Result<Page<Seen>> {
    let ids: Vec<StatusId> = ids(cx, TrendKind::Status, query).await?.into_iter().map(StatusId::from).collect();
    let shown = visibility::statuses(cx, viewer, Place::Public { local: false }, &ids).await?;
    Ok(Page { count: ids.len(), shown })
}

/// The links that trend, those in the languages of `query` first and then by their scores; none while trends are off.
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
        limit: query.limit,
        offset: query.offset,
    };
    Ok(store::trend::page(&cx.db, kind, &page).await?)
}
