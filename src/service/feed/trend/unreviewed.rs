//! Trends as staff sees them: approved, unreviewed and rejected ones, also while trends are not shown to anyone else.
//!
//! Reached from the trends routes of the admin API. Scores are computed only while trends are enabled, so that the
//! last run before that was disabled is shown.
//!
//! Spec: docs/contract/extensions.md#13-admin-api

use std::collections::{HashMap, HashSet};

use super::{Page, Query, publisher};
use crate::access::grants;
use crate::audit::Target;
use crate::visibility::{self, Place, Seen};
use context::Cx;
use context::error::{Error, Result};
use model::trend::TrendKind;
use model::{AccountId, Actor, PreviewCard, RowId, Staff, StatusId, TagId};
use store::tag_review::ReviewedTag;
use store::trend::{Subject, TrendPage};

/// A trend, and whether staff still has to decide about it.
#[derive(Clone, Debug)]
pub struct Reviewable<T> {
    pub subject: T,
    pub requires_review: bool,
}

/// Trending hashtags with their reviews, the highest score first.
#[model::use_case]
pub async fn tags(cx: &Cx, viewer: Option<AccountId>, query: &Query) -> Result<Page<ReviewedTag>> {
    let ids: Vec<TagId> = ids(cx, TrendKind::Tag, query).await?.into_iter().map(TagId::from).collect();
    let found = store::tag_review::list_by_ids(&cx.db, viewer, &ids).await?;
    let mut found: HashMap<TagId, ReviewedTag> = found.into_iter().map(|found| (found.tag.id, found)).collect();
    Ok(Page { count: ids.len(), shown: ids.iter().filter_map(|id| found.remove(id)).collect() })
}

/// Trending links, those in the languages of `query` first and then by score.
#[model::use_case]
pub async fn links(cx: &Cx, query: &Query) -> Result<Page<Reviewable<PreviewCard>>> {
    let ids: Vec<RowId> = ids(cx, TrendKind::Link, query).await?.into_iter().map(RowId::from).collect();
    let found = store::card::list(&cx.db, &ids).await?;
    let mut found: HashMap<RowId, PreviewCard> = found.into_iter().map(|card| (card.id, card)).collect();
    let cards = ids.iter().filter_map(|id| found.remove(id)).collect();
    Ok(Page { count: ids.len(), shown: links_with_reviews(cx, cards).await? })
}

/// Trending statuses, those in the languages of `query` first and then by score, as [`review_status`] shows them.
#[model::use_case]
pub async fn statuses(cx: &Cx, viewer: &Actor, query: &Query) -> Result<Page<Reviewable<Seen>>> {
    let ids: Vec<StatusId> = ids(cx, TrendKind::Status, query).await?.into_iter().map(StatusId::from).collect();
    Ok(Page { count: ids.len(), shown: reviewable_statuses(cx, Some(viewer), &ids).await? })
}

/// Approves or rejects the hashtag `id` for trends, and returns it.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
#[model::use_case]
pub async fn review_tag(cx: &Cx, staff: &Staff, id: TagId, allowed: bool) -> Result<ReviewedTag> {
    let mut tx = cx.db.begin().await?;
    store::trend::review(&mut tx, Subject::Tag(id), allowed, cx.clock.now()).await?;
    let tag = store::tag_review::list_by_ids(&mut tx, staff.account, &[id]).await?.pop().ok_or(Error::NotFound)?;
    let target = Target::new("tag", id, format!("#{}", tag.tag.name));
    super::review::record(cx, &mut tx, staff, target, allowed).await?;
    tx.commit().await?;
    Ok(tag)
}

/// Approves or rejects the link `id` (its preview card) for trends, and returns it.
///
/// # Errors
/// [`Error::NotFound`] when there is none with content to show.
#[model::use_case]
pub async fn review_link(cx: &Cx, staff: &Staff, id: RowId, allowed: bool) -> Result<Reviewable<PreviewCard>> {
    let card = super::card_review::review_card(cx, staff, id, allowed).await?;
    Ok(Reviewable { subject: card, requires_review: false })
}

/// Approves or rejects the status `id` for trends, and returns it as `staff` sees it: regardless of blocks and mutes
/// between it and the author.
///
/// # Errors
/// [`Error::NotFound`] when there is none that everyone may read.
#[model::use_case]
pub async fn review_status(
    cx: &Cx,
    staff: &Staff,
    id: StatusId,
    allowed: bool,
) -> Result<(Option<std::sync::Arc<Actor>>, Reviewable<Seen>)> {
    let viewer = match staff.account {
        Some(viewer) => grants::cached_actors(cx, &[viewer]).await?.pop(),
        None => None,
    };
    let found = reviewable_statuses(cx, viewer.as_deref(), &[id]).await?.pop().ok_or(Error::NotFound)?;
    let id = found.subject.proper().id;
    super::review::review(cx, staff, Subject::Status(id), "", allowed).await?;
    Ok((viewer, Reviewable { requires_review: false, ..found }))
}

async fn links_with_reviews(cx: &Cx, cards: Vec<PreviewCard>) -> Result<Vec<Reviewable<PreviewCard>>> {
    let ids: Vec<RowId> = cards.iter().map(|card| card.id).collect();
    let pending = publisher::pending(cx, &ids).await?;
    let reviewable = |card: PreviewCard| Reviewable {
        requires_review: pending.get(&card.id).copied().unwrap_or_default(),
        subject: card,
    };
    Ok(cards.into_iter().map(reviewable).collect())
}

/// The statuses of `ids` that everyone may read, in the order given. Blocks and mutes do not hide one from staff, who
/// decides about it; it then has no marks of the viewer.
async fn reviewable_statuses(cx: &Cx, viewer: Option<&Actor>, ids: &[StatusId]) -> Result<Vec<Reviewable<Seen>>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let reviews = store::trend::list_status_reviews(&cx.db, ids).await?;
    let reviews: HashMap<StatusId, bool> = reviews
        .into_iter()
        .filter(|review| review.visibility.is_anonymous())
        .map(|review| (review.id, review.requires_review))
        .collect();
    let ids: Vec<StatusId> = ids.iter().copied().filter(|id| reviews.contains_key(id)).collect();
    let mut shown = visibility::statuses(cx, viewer, Place::Single, &ids).await?;
    let found: HashSet<StatusId> = shown.iter().map(|seen| seen.head().id).collect();
    let hidden: Vec<StatusId> = ids.iter().copied().filter(|id| !found.contains(id)).collect();
    shown.extend(visibility::everything(cx, &hidden).await?);
    let mut shown: HashMap<StatusId, Seen> = shown.into_iter().map(|seen| (seen.head().id, seen)).collect();
    let reviewable = |id: &StatusId| Some(Reviewable { subject: shown.remove(id)?, requires_review: reviews[id] });
    Ok(ids.iter().filter_map(reviewable).collect())
}

async fn ids(cx: &Cx, kind: TrendKind, query: &Query) -> Result<Vec<i64>> {
    if query.limit == 0 {
        return Ok(Vec::new());
    }
    let page = TrendPage {
        languages: query.languages.clone(),
        unreviewed: true,
        rejected: true,
        limit: query.limit,
        offset: query.offset,
    };
    Ok(store::trend::page(&cx.db, kind, &page).await?)
}
