//! The staff's review of cards: which links may be shown as trends and have a public timeline.
//!
//! Reached from `rookery card` and from the timeline of a link. A link is identified by the URL that its card shows,
//! which several cards may share, or by the URL in a status.
//!
//! Spec: docs/contract/rules.md#12-timelines and docs/contract/rules.md#23-discovery.

use crate::audit::Target;
use crate::trend::publisher::Decisions;
use crate::trend::review::record;
use context::Cx;
use context::error::{Error, Result};
use context::queue::{self, FetchCard};
use model::card::CardState;
use model::{PreviewCard, RowId, Staff};
use store::card::ReviewedCard;

/// The newest `limit` cards with content.
#[model::use_case]
pub async fn list(cx: &Cx, limit: i64) -> Result<Vec<ReviewedCard>> {
    Ok(store::card::list_found(&cx.db, limit).await?)
}

/// Sets whether the link `url` may be shown as a trend.
///
/// # Errors
/// [`Error::NotFound`] when no status used it.
#[model::use_case]
pub async fn review(cx: &Cx, staff: &Staff, url: &str, trendable: bool) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let cards = known(cx, url).await?;
    store::card::set_trendable(&mut tx, &cards, trendable, cx.clock.now()).await?;
    for card in cards {
        record(cx, &mut tx, staff, Target::new("link", card, url), trendable).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Sets whether the card `id` may be shown as a trend, and returns it.
///
/// # Errors
/// [`Error::NotFound`] when there is no such card, or nothing to show of it.
#[model::use_case]
pub async fn review_card(cx: &Cx, staff: &Staff, id: RowId, trendable: bool) -> Result<PreviewCard> {
    let mut tx = cx.db.begin().await?;
    let card = store::card::lock(&mut tx, id).await?.filter(|card| card.state == CardState::Found);
    let card = card.ok_or(Error::NotFound)?;
    store::card::set_trendable(&mut tx, &[id], trendable, cx.clock.now()).await?;
    record(cx, &mut tx, staff, Target::new("link", id, &*card.page_url), trendable).await?;
    tx.commit().await?;
    Ok(card)
}

/// Fetches the page of the link `url` again, soon.
///
/// # Errors
/// As [`review`].
#[model::use_case]
pub async fn refetch(cx: &Cx, url: &str) -> Result<()> {
    let cards = known(cx, url).await?;
    let mut tx = cx.db.begin().await?;
    store::card::set_due(&mut tx, &cards).await?;
    for card in cards {
        queue::enqueue(cx, &mut tx, &FetchCard { card }).await?;
    }
    tx.commit().await?;
    Ok(())
}

async fn known(cx: &Cx, url: &str) -> Result<Vec<RowId>> {
    let cards = store::card::list_by_url(&cx.db, url).await?;
    if cards.is_empty() { Err(Error::NotFound) } else { Ok(cards.into_iter().map(|card| card.id).collect()) }
}

/// The cards of the link `url` that may be shown as trends.
///
/// # Errors
/// [`Error::NotFound`] when there are none, and when trends are disabled.
pub(crate) async fn approved(cx: &Cx, url: &str) -> Result<Vec<RowId>> {
    let settings = cx.settings();
    if !settings.trends {
        return Err(Error::NotFound);
    }
    let mut cards = store::card::list_by_url(&cx.db, url).await?;
    let decided = Decisions::load((&cx.db).into(), cards.iter().map(|card| card.page_url.as_str())).await?;
    cards.retain(|card| card.trendable.or_else(|| decided.of(&card.page_url)).unwrap_or(settings.trendable_by_default));
    if cards.is_empty() { Err(Error::NotFound) } else { Ok(cards.into_iter().map(|card| card.id).collect()) }
}
