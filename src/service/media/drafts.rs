//! Uploads that saved drafts name: no purge removes them meanwhile, and statuses may still take them.

use super::loosen;
use context::Cx;
use context::error::{Error, Result};
use database::Tx;
use model::{AccountId, Actor, MediaId, SavedDraftId};

/// Gives the uploads that a draft of `owner` no longer names, those not in `kept`, another [`UNATTACHED_TTL`](super::UNATTACHED_TTL), unless a
/// status uses them. Call it before the rows of the draft change.
pub async fn release(cx: &Cx, tx: &mut Tx, owner: AccountId, draft: SavedDraftId, kept: &[MediaId]) -> Result<()> {
    let mut rows = store::media::list_for_draft(&mut *tx, owner, draft).await?;
    rows.retain(|row| !row.is_used() && !kept.contains(&row.id));
    loosen(cx, tx, &rows).await
}

/// Checks that `ids` are unattached uploads of `actor`, at most as many as a status may have, and locks them until the
/// transaction ends. They may still be processed.
///
/// # Errors
/// [`Error::Invalid`] with the reason.
pub async fn check_unattached(cx: &Cx, tx: &mut Tx, actor: &Actor, ids: &[MediaId]) -> Result<()> {
    let limit = cx.settings().max_media_attachments;
    if i64::try_from(ids.len()).unwrap_or(i64::MAX) > limit {
        return Err(Error::invalid(format!("media_ids: a status has at most {limit} media")));
    }
    // In one order, as wherever several rows are locked, to avoid deadlocks.
    let mut ordered = ids.to_vec();
    ordered.sort_unstable();
    for id in ordered {
        let media = store::media::lock(tx, id).await?;
        if !media.is_some_and(|media| media.account_id == actor.id && !media.is_used()) {
            return Err(Error::invalid(format!("media_ids: {id} is not one of your unattached media")));
        }
    }
    Ok(())
}
