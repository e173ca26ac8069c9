//! The picture of a card: fetched, decoded in the sandbox, scaled down, and stored beside the media of this server.
//!
//! As for media, a job that deletes the file is queued before it is written. It deletes the file if the card does not
//! use it when the job runs, since the fetch was not completed.

use chrono::Duration;
use outbound::Target;

use crate::media::{new_key, put_all};
use crate::web_page;
use context::Cx;
use context::error::{Error, Result};
use context::queue::{self, PurgeCardImage};
use media::Purpose;
use media::storage::FileKind;
use model::RowId;

/// The content types that are decoded.
const KINDS: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];
/// How long a stored picture may remain unused; it normally takes milliseconds.
const UNSET_TTL: Duration = Duration::hours(1);
/// The owner whose share of the decoders is used: id 0, no account, so that all cards together leave half to people.
const OWNER: i64 = 0;

/// A picture in the storage.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) key: String,
    pub(super) bytes: i64,
    pub(super) width: i64,
    pub(super) height: i64,
    pub(super) blurhash: String,
}

/// Stores the picture at `target` for `card`; `None` when it cannot be shown.
pub(super) async fn store(cx: &Cx, card: RowId, target: Target) -> Result<Option<Stored>> {
    let limit = cx.config.previews.image_limit_bytes;
    let document = match web_page::document(cx, target, KINDS, limit).await {
        Ok(document) => document,
        Err(error) => {
            tracing::debug!(card.id = %card, %error, "the picture of a card was not fetched");
            return Ok(None);
        }
    };
    let processed = match cx.sandbox.process(Some(OWNER), &document.body, Purpose::Preview).await {
        Ok(processed) => processed,
        Err(media::Error::Internal { cause }) => return Err(Error::internal(cause)),
        Err(error) => {
            tracing::debug!(card.id = %card, %error, "the picture of a card was not decoded");
            return Ok(None);
        }
    };
    let key = new_key(FileKind::Card, &processed.original);
    let stored = Stored {
        key: key.to_string(),
        bytes: i64::try_from(processed.original.bytes.len()).unwrap_or(i64::MAX),
        width: processed.original.width.into(),
        height: processed.original.height.into(),
        blurhash: processed.blurhash,
    };
    let mut tx = cx.db.begin().await?;
    let purge = PurgeCardImage { card, image: stored.key.clone() };
    queue::enqueue_at(cx, &mut tx, &purge, cx.clock.now() + UNSET_TTL).await?;
    tx.commit().await?;
    put_all(cx, [(Some(key), Some(processed.original))]).await?;
    Ok(Some(stored))
}
