//! Drafts of statuses that the server keeps, so that all devices of a person have them.
//!
//! A draft holds the fields of the form as they were left, so hardly anything is checked: it need not be publishable.
//! Uploads that it names stay while it does, and for a day more. Publishing or scheduling a
//! [`Draft`](crate::status::Draft) with `saved_draft_id` deletes the saved one in the transaction of the status.
//!
//! Spec: docs/contract/rules.md#22-scheduled-statuses

use serde::{Deserialize, Serialize};

use crate::media::drafts;
use crate::poll::PollDraft;
use context::Cx;
use context::error::{Error, Result};
use database::Tx;
use model::account::Searchability;
use model::interaction::PolicyRules;
use model::{
    AccountId, Actor, Cursor, Json, MediaAttachment, MediaId, QuotePolicy, SavedDraft, SavedDraftId, StatusId,
};

/// Most drafts of an account.
const MOST: i64 = 100;
/// Most characters of the text and the content warning together: as many as the setting `max_characters` can allow.
const MAX_CHARACTERS: usize = 100_000;
/// Most bytes of all parameters, as JSON.
const MAX_BYTES: usize = 128 * 1024;

/// The fields of the form to publish a status; see [`Draft`](crate::status::Draft).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parameters {
    pub text: String,
    /// The content warning.
    pub spoiler_text: String,
    /// `None`: the preference of the author.
    pub sensitive: Option<bool>,
    pub visibility: Option<String>,
    pub local_only: bool,
    pub searchability: Option<Searchability>,
    pub language: Option<String>,
    pub in_reply_to_id: Option<StatusId>,
    pub quoted_status_id: Option<StatusId>,
    /// Uploads of the author that no status uses, in order.
    pub media_ids: Vec<MediaId>,
    pub poll: Option<PollDraft>,
    pub markdown: bool,
    pub quote_approval_policy: Option<QuotePolicy>,
    pub interaction_policy: PolicyRules,
}

/// A draft with its parameters, and those of its uploads that still exist and that no status uses, in order.
#[derive(Debug)]
pub struct WithMedia {
    pub draft: SavedDraft,
    pub parameters: Parameters,
    pub media: Vec<MediaAttachment>,
}

/// A page of the drafts of `account`, those saved first last.
#[model::use_case]
pub async fn list(cx: &Cx, account: AccountId, cursor: &Cursor) -> Result<Vec<WithMedia>> {
    let rows = store::saved_draft::list(&cx.db, account, cursor).await?;
    with_media(cx, rows).await
}

/// One of `viewer`'s drafts.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn show(cx: &Cx, viewer: &Actor, id: SavedDraftId) -> Result<WithMedia> {
    let row = store::saved_draft::find(&cx.db, id).await?;
    let row = row.filter(|row| row.account_id == viewer.id).ok_or(Error::NotFound)?;
    with_media(cx, vec![row]).await?.pop().ok_or(Error::NotFound)
}

/// Saves a new draft of `actor`, or replaces the one with this `id`.
///
/// # Errors
/// [`Error::NotFound`] when there is no such draft or it is someone else's; [`Error::Invalid`] beyond [`MOST`] drafts,
/// [`MAX_CHARACTERS`] or [`MAX_BYTES`], and for media that are not unattached uploads of `actor`.
#[model::use_case]
pub async fn save(cx: &Cx, actor: &Actor, id: Option<SavedDraftId>, mut parameters: Parameters) -> Result<WithMedia> {
    let mut media_ids: Vec<MediaId> = Vec::with_capacity(parameters.media_ids.len());
    for media in parameters.media_ids {
        if !media_ids.contains(&media) {
            media_ids.push(media);
        }
    }
    parameters.media_ids = media_ids;
    let json = checked(&parameters)?;
    let mut tx = cx.db.begin().await?;
    // Concurrent requests count one after the other.
    store::account::lock(&mut tx, &[actor.id]).await?;
    drafts::check_unattached(cx, &mut tx, actor, &parameters.media_ids).await?;
    let id = match id {
        Some(id) => replace(cx, &mut tx, actor, id, json, &parameters.media_ids).await?,
        None => insert(cx, &mut tx, actor, json).await?,
    };
    store::saved_draft::set_media(&mut tx, id, &parameters.media_ids).await?;
    tx.commit().await?;
    show(cx, actor, id).await
}

/// Deletes one of `actor`'s drafts; its uploads stay for another day.
///
/// # Errors
/// As [`show`].
#[model::use_case]
pub async fn delete(cx: &Cx, actor: &Actor, id: SavedDraftId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[actor.id]).await?;
    if !remove(cx, &mut tx, actor.id, id).await? {
        return Err(Error::NotFound);
    }
    Ok(tx.commit().await?)
}

/// Deletes the draft from which a status of `author` was made, in the transaction of the status, after its media were
/// attached. A draft that does not exist any more is not an error: another device may have deleted it.
pub(super) async fn publish(cx: &Cx, tx: &mut Tx, author: AccountId, id: Option<SavedDraftId>) -> Result<()> {
    if let Some(id) = id {
        remove(cx, tx, author, id).await?;
    }
    Ok(())
}

/// Deletes a draft of `owner`; false when there is none.
async fn remove(cx: &Cx, tx: &mut Tx, owner: AccountId, id: SavedDraftId) -> Result<bool> {
    drafts::release(cx, tx, owner, id, &[]).await?;
    Ok(store::saved_draft::delete(tx, owner, id).await?)
}

async fn insert(cx: &Cx, tx: &mut Tx, actor: &Actor, parameters: Json<serde_json::Value>) -> Result<SavedDraftId> {
    if store::saved_draft::count(&mut *tx, actor.id).await? >= MOST {
        return Err(Error::invalid(format!("Validation failed: You have reached the limit of {MOST} drafts")));
    }
    let new = SavedDraft { id: cx.ids.next(), account_id: actor.id, parameters, updated_at: cx.clock.now() };
    store::saved_draft::insert(tx, &new).await?;
    Ok(new.id)
}

async fn replace(
    cx: &Cx,
    tx: &mut Tx,
    actor: &Actor,
    id: SavedDraftId,
    parameters: Json<serde_json::Value>,
    media: &[MediaId],
) -> Result<SavedDraftId> {
    if !store::saved_draft::update(tx, actor.id, id, parameters, cx.clock.now()).await? {
        return Err(Error::NotFound);
    }
    drafts::release(cx, tx, actor.id, id, media).await?;
    Ok(id)
}

/// The parameters as they are stored.
///
/// # Errors
/// [`Error::Invalid`] when they are too long.
fn checked(parameters: &Parameters) -> Result<Json<serde_json::Value>> {
    let characters = text::length(&parameters.text) + text::length(&parameters.spoiler_text);
    if characters > MAX_CHARACTERS {
        let why = format!("Validation failed: Text character limit of {MAX_CHARACTERS} exceeded ({characters})");
        return Err(Error::invalid(why));
    }
    let json = serde_json::to_value(parameters).map_err(Error::internal)?;
    let bytes = json.to_string().len();
    if bytes > MAX_BYTES {
        return Err(Error::invalid(format!("Validation failed: A draft has at most {MAX_BYTES} bytes ({bytes})")));
    }
    Ok(Json(json))
}

async fn with_media(cx: &Cx, rows: Vec<SavedDraft>) -> Result<Vec<WithMedia>> {
    let mut drafts = Vec::with_capacity(rows.len());
    for draft in rows {
        let parameters: Parameters = serde_json::from_value(draft.parameters.0.clone()).map_err(Error::internal)?;
        drafts.push(WithMedia { draft, parameters, media: Vec::new() });
    }
    let ids: Vec<MediaId> = drafts.iter().flat_map(|draft| draft.parameters.media_ids.iter().copied()).collect();
    if ids.is_empty() {
        return Ok(drafts);
    }
    let media = store::media::list(&cx.db, &ids).await?;
    for WithMedia { draft, parameters, media: shown } in &mut drafts {
        let usable = |id: &MediaId| {
            media.iter().find(|row| row.id == *id && row.account_id == draft.account_id && !row.is_used()).cloned()
        };
        shown.extend(parameters.media_ids.iter().filter_map(usable));
    }
    Ok(drafts)
}
