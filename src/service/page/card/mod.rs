//! Preview cards of the links in statuses.
//!
//! The job [`attach`] gives a status whose text has a link its card. Another job, in `fetch`, fetches a card that is
//! due, so that publishing never waits for another site. All statuses with the same link share its card. A fetched
//! card increments the versions of those statuses, by which renderings are cached. Cards that no status uses are
//! deleted a day after their last use, with their pictures.
//!
//! Not here: parsing pages (`text::page`), and blocking the addresses of private networks (`outbound`).
//!
//! Spec: docs/contract/rules.md#10-statuses, "Preview card".

mod fetch;
mod image;
mod oembed;
mod preview;
mod structured;

use chrono::TimeDelta;
use outbound::Target;

use context::error::Result;
use context::queue::{
    self, AttachCard, BumpCard, Failure, FetchCard, Next, PruneCards, PurgeCardImage, TrimMediaCache,
};
use context::{Cx, job};
use database::Tx;
use model::{RowId, StatusId};
use store::card::CardImage;

/// Most statuses that get a new version in one transaction.
const BUMP_BATCH: i64 = 200;
/// Most cards checked in one transaction.
const PRUNE_BATCH: i64 = 500;
/// Most pictures removed in one transaction.
const TRIM_BATCH: i64 = 100;
/// How long an unused card is kept.
const UNUSED_TTL: TimeDelta = TimeDelta::days(1);

/// The URL in `text` that gets a card: the first one of another site.
#[must_use]
pub fn link(cx: &Cx, text: &str) -> Option<String> {
    if !text.contains("://") {
        return None;
    }
    text::scan(text).urls().find_map(|range| elsewhere(cx, &text[range]))
}

/// As [`link`], in the HTML of a status of another server.
#[must_use]
pub(crate) fn link_in_html(cx: &Cx, html: &str) -> Option<String> {
    text::links(html).iter().find_map(|written| elsewhere(cx, written))
}

/// The URL as it is fetched, if it belongs to another site.
fn elsewhere(cx: &Cx, written: &str) -> Option<String> {
    let target = Target::parse(written).ok()?;
    let host = target.host();
    let own = cx.config.is_local_domain(&host) || cx.config.is_local_domain(&format!("{host}:{}", target.port()));
    Some(target.url().to_owned()).filter(|url| !own && url.len() <= preview::URL_MAX)
}

/// Replaces or removes the card of a status according to the link in its text, and queues the fetch of a card that is
/// due.
#[model::use_case]
#[job]
async fn attach(cx: &Cx, AttachCard { status: id }: AttachCard) -> Result<()> {
    let Some(status) = store::status::find(&cx.db, id).await? else { return Ok(()) };
    let link = if status.local { link(cx, &status.text) } else { link_in_html(cx, &status.content) };
    let link = link.filter(|_| cx.config.previews.enabled);
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    let card = match &link {
        None => None,
        Some(url) => Some(store::card::upsert_used(&mut tx, cx.ids.next(), url, now).await?),
    };
    let locked = store::status::lock(&mut tx, id).await?;
    if locked.is_none_or(|locked| locked.text != status.text || locked.content != status.content) {
        // It was deleted, or the edit has queued this job again.
        return Ok(());
    }
    let changed = match card {
        None => store::card::detach(&mut tx, id).await?,
        Some(card) => store::card::attach(&mut tx, id, card.id).await?,
    };
    if changed {
        store::status::bump_all(&mut tx, &[id]).await?;
    }
    if let Some(card) = card.filter(|card| card.due_at <= now) {
        queue::enqueue(cx, &mut tx, &FetchCard { card: card.id }).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Increments the versions of the next statuses with the card, the newest first, and queues the rest.
#[model::use_case]
#[job]
async fn bump(cx: &Cx, tx: &mut Tx, BumpCard { card, before }: BumpCard) -> Result<()> {
    let statuses = store::card::list_statuses(&mut *tx, card, before, BUMP_BATCH).await?;
    store::status::bump_all(tx, &statuses).await?;
    match statuses.last() {
        Some(last) if i64::try_from(statuses.len()).is_ok_and(|many| many == BUMP_BATCH) => {
            queue::enqueue(cx, tx, &BumpCard { card, before: *last }).await
        }
        _ => Ok(()),
    }
}

/// Removes the least recently used pictures until the others fit into the media cache; true when more must be
/// removed. A removed picture is fetched again when its link is used.
async fn trim_cache(cx: &Cx, tx: &mut Tx) -> Result<bool> {
    let limit = i64::try_from(cx.config.media.cache_limit_bytes).unwrap_or(i64::MAX);
    let mut excess = store::card::sum_images(&mut *tx).await? - limit;
    if limit == 0 || excess <= 0 {
        return Ok(false);
    }
    let mut oldest = store::card::list_oldest_images(&mut *tx, TRIM_BATCH).await?;
    oldest.retain(|card| {
        let goes = excess > 0;
        excess -= card.image_bytes;
        goes
    });
    let ids: Vec<RowId> = oldest.iter().map(|card| card.id).collect();
    let dropped = store::card::drop_images(tx, &ids).await?;
    for CardImage { id, image, .. } in oldest.into_iter().filter(|card| dropped.contains(&card.id)) {
        queue::enqueue(cx, tx, &PurgeCardImage { card: id, image }).await?;
        bump(cx, tx, BumpCard { card: id, before: StatusId::from(i64::MAX) }).await?;
    }
    tracing::info!(cards = dropped.len(), "the media cache is full: deleting the least recently used pictures");
    Ok(excess > 0)
}

/// Deletes the cards without statuses among the next ones after `after`. Returns the last card checked, or `None` at
/// the end.
async fn prune(cx: &Cx, tx: &mut Tx, after: RowId) -> Result<Option<RowId>> {
    let ids = store::card::list_ids(&mut *tx, after, PRUNE_BATCH).await?;
    for (card, image) in store::card::delete_unused(tx, &ids, cx.clock.now() - UNUSED_TTL).await? {
        if let Some(image) = image {
            queue::enqueue(cx, tx, &PurgeCardImage { card, image }).await?;
        }
    }
    let full = i64::try_from(ids.len()).is_ok_and(|many| many == PRUNE_BATCH);
    Ok(ids.last().copied().filter(|_| full))
}

/// How often a walk through the cards begins.
const PRUNE_EVERY: TimeDelta = TimeDelta::hours(6);
/// How often the size of the cache is checked.
const TRIM_EVERY: TimeDelta = TimeDelta::hours(1);

#[model::use_case]
#[job]
async fn prune_cards(cx: &Cx, tx: &mut Tx, job: PruneCards) -> Result<Next<PruneCards>, Failure> {
    Ok(match prune(cx, tx, job.after).await? {
        Some(after) => Next::Now(PruneCards { after }),
        None => Next::At(cx.clock.now() + PRUNE_EVERY, PruneCards::begin()),
    })
}

#[model::use_case]
#[job]
async fn trim_media_cache(cx: &Cx, tx: &mut Tx, job: TrimMediaCache) -> Result<Next<TrimMediaCache>, Failure> {
    let next = if trim_cache(cx, tx).await? { TimeDelta::zero() } else { TRIM_EVERY };
    Ok(Next::At(cx.clock.now() + next, job))
}

#[model::use_case]
#[job]
async fn purge_card_image(cx: &Cx, job: PurgeCardImage) -> Result<(), Failure> {
    let card = store::card::find(&cx.db, job.card).await?;
    if card.and_then(|card| card.image).as_ref() != Some(&job.image) {
        crate::media::purge::remove(cx, &[job.image]).await?;
    }
    Ok(())
}
