//! Fetches the page of a card when it is due, and stores the result.
//!
//! Reached from the job [`FetchCard`]. A card that is being fetched is not due, so that only one of several jobs
//! fetches it; its row is not locked meanwhile.

use chrono::TimeDelta;
use outbound::{FetchError, Target};

use super::preview::Preview;
use super::{bump, image, oembed};
use crate::{domain, web_page};
use context::error::Result;
use context::hosts::Ended;
use context::queue::{self, BumpCard, Done, Failure, FetchCard, PurgeCardImage};
use context::{Cx, job};
use model::card::{CardKind, CardState};
use model::{AccountId, PreviewCard, RowId, StatusId, Time};
use store::job::Claim;

/// Age at which a card is fetched again when a status uses it (docs/contract/rules.md#10-statuses).
const REFRESH: TimeDelta = TimeDelta::days(14);
/// Time limit of a fetch, with its picture; after it the fetch counts as lost.
const LEASE: TimeDelta = TimeDelta::minutes(4);
/// How long a job waits when another is fetching the same card.
const BUSY: TimeDelta = TimeDelta::seconds(5);
/// How long a page that cannot be shown is not fetched again.
const REFUSED: TimeDelta = TimeDelta::days(1);
/// The first back-off after a temporary failure; each further one is four times as long.
const FIRST_BACK_OFF: TimeDelta = TimeDelta::minutes(5);
/// After this many failures in a row a page is no longer fetched.
const MAX_FAILURES: i64 = 4;

/// What happens to the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fetched {
    /// It is removed.
    Done,
    /// It runs again at this time.
    Later(Time),
}

/// Fetches the page of a card, unless it is not due or was deleted.
async fn fetch(cx: &Cx, id: RowId) -> Result<Fetched> {
    let Some(card) = store::card::find(&cx.db, id).await?.filter(|_| cx.config.previews.enabled) else {
        return Ok(Fetched::Done);
    };
    let now = cx.clock.now();
    if card.due_at > now {
        return Ok(next(&card));
    }
    let target = match Target::parse(&card.url) {
        Ok(target) => target,
        Err(error) => return store(cx, id, Err(error.into())).await,
    };
    let visit = match cx.page_hosts.enter(&target.host(), now) {
        Ok(visit) => visit,
        Err(spared) => return Ok(Fetched::Later(spared.until())),
    };
    let mut tx = cx.db.begin().await?;
    let claimed = store::card::claim(&mut tx, id, now, now + LEASE).await?;
    tx.commit().await?;
    if !claimed {
        return Ok(Fetched::Later(now + BUSY));
    }
    let found = preview(cx, &card, target).await;
    let ended = if found.as_ref().is_err_and(FetchError::is_transient) { Ended::Silent } else { Ended::Answered };
    visit.end(ended, cx.clock.now());
    store(cx, id, found).await
}

/// The preview of a page; `None` when it has no content for one.
async fn preview(cx: &Cx, card: &PreviewCard, target: Target) -> Result<Option<Preview>, FetchError> {
    let found = web_page::fetch(cx, target, false).await?;
    let mut preview = Preview::of(card, &found);
    if let Some(link) = found.page.oembed.as_deref().and_then(|link| found.target.join(link).ok()) {
        // The page is sufficient without it.
        if let Err(error) = oembed::add(cx, &mut preview, link).await {
            tracing::debug!(card.id = %card.id, %error, "the oEmbed document of a page was not fetched");
        }
    }
    Ok(Some(preview).filter(Preview::has_content))
}

/// Stores the result, and updates the statuses that have the card.
async fn store(cx: &Cx, id: RowId, found: Result<Option<Preview>, FetchError>) -> Result<Fetched> {
    let found = match found {
        Err(error) => Err(error),
        Ok(None) => Ok(None),
        Ok(Some(preview)) => {
            let creator = match preview.creator.as_deref() {
                Some(handle) => creator(cx, handle).await?,
                None => None,
            };
            Ok(Some(PreviewCard { creator_account_id: creator, ..with_image(cx, id, preview).await? }))
        }
    };
    let mut tx = cx.db.begin().await?;
    let Some(old) = store::card::lock(&mut tx, id).await? else { return Ok(Fetched::Done) };
    let now = cx.clock.now();
    let new = match found {
        Ok(Some(shown)) => PreviewCard { failures: 0, due_at: now + REFRESH, ..shown },
        Ok(None) => PreviewCard { state: CardState::Nothing, failures: 0, due_at: now + REFUSED, ..old.clone() },
        Err(error) => failed(&old, &error, now),
    };
    store::card::save(&mut tx, &new).await?;
    if let Some(image) = old.image.clone().filter(|_| old.image != new.image) {
        queue::enqueue(cx, &mut tx, &PurgeCardImage { card: id, image }).await?;
    }
    if !new.looks_like(&old) {
        bump(cx, &mut tx, BumpCard { card: id, before: StatusId::from(i64::MAX) }).await?;
    }
    tx.commit().await?;
    Ok(next(&new))
}

/// The account with the handle `@name@server`. Of other servers, only known accounts.
async fn creator(cx: &Cx, handle: &str) -> Result<Option<AccountId>> {
    let handle = handle.trim().trim_start_matches('@');
    let Some((name, server)) = handle.split_once('@') else { return Ok(None) };
    let Some(server) = domain::parse(server) else { return Ok(None) };
    let handle = match cx.config.is_local_domain(&server) {
        true => name.to_lowercase(),
        false => format!("{}@{server}", name.to_lowercase()),
    };
    let found = store::account::list_by_handles(&cx.db, &[handle]).await?;
    Ok(found.first().map(|account| account.id))
}

/// The card of `preview` with its picture in the storage. A page has the size of its picture, a player its own size.
async fn with_image(cx: &Cx, id: RowId, preview: Preview) -> Result<PreviewCard> {
    let Preview { mut card, image, .. } = preview;
    let stored = match image {
        Some(target) => image::store(cx, id, target).await?,
        None => None,
    };
    if let Some(stored) = stored {
        card.image = Some(stored.key);
        card.image_bytes = stored.bytes;
        card.blurhash = Some(stored.blurhash);
        if card.kind == CardKind::Link {
            (card.width, card.height) = (stored.width, stored.height);
        }
    }
    Ok(card)
}

/// The card after a failure. A card with content keeps it.
fn failed(old: &PreviewCard, error: &FetchError, now: Time) -> PreviewCard {
    tracing::debug!(card.id = %old.id, %error, "the page of a card was not fetched");
    let failures = old.failures + 1;
    let again = error.is_transient() && failures < MAX_FAILURES;
    let back_off = FIRST_BACK_OFF * 4_i32.pow(u32::try_from(old.failures.clamp(0, MAX_FAILURES)).unwrap_or(0));
    PreviewCard {
        state: if old.state == CardState::Waiting && !again { CardState::Nothing } else { old.state },
        failures,
        due_at: now + if again { back_off } else { REFUSED },
        ..old.clone()
    }
}

/// A card without a result yet is fetched again when it is due, any other when it is used.
fn next(card: &PreviewCard) -> Fetched {
    match card.state {
        CardState::Waiting => Fetched::Later(card.due_at),
        CardState::Found | CardState::Nothing => Fetched::Done,
    }
}

/// The card stores the result, so the job does not fail when the page does. It runs again when the card is due.
#[model::use_case]
#[job]
async fn fetch_card(cx: &Cx, job: FetchCard, claim: Claim) -> Result<Done, Failure> {
    let Fetched::Later(at) = fetch(cx, job.card).await? else { return Ok(Done::Remove) };
    let mut tx = cx.db.begin().await?;
    queue::enqueue_at(cx, &mut tx, &job, at).await?;
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}
