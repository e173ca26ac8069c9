//! Editing a status: the steps of publishing, in the same order, applied to existing data. Omitted parameters are
//! cleared, except the language, which is kept.
//!
//! Reached from `PUT /api/v1/statuses/{id}`. The previous revision is kept in the edit history.
//! Spec: docs/contract/rules.md#10-statuses, Edits.

use super::compose::{self, ComposedText};
use super::draft::{EditDraft, changed};
use super::edited_status::EditedStatus;
use super::reference::{self, ReferenceRequest, References};
use super::{expiry, revision};
use crate::card;
use crate::media::{self, Picture};
use crate::poll::{self, CheckedPoll, PollChange};
use crate::rate_limits::{self, Family};
use crate::search::index;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use database::Tx;
use model::{Actor, MediaAttachment, MediaId, PluginId, Status, StatusId};
use serde_json::Value;
use store::status_edit::Revision;

/// A validated edit, ready to be written.
struct PreparedEdit {
    change: EditDraft,
    words: ComposedText,
    poll: Option<CheckedPoll>,
    sensitive: bool,
    language: Option<String>,
    extras: Vec<(PluginId, Value)>,
    pictures: Vec<(MediaId, Picture)>,
    references: References,
}

/// Edits `actor`'s own status. An edit that changes nothing leaves no revision.
///
/// # Errors
/// [`Error::NotFound`] unless it is their own and not a reblog; else as publishing.
#[model::use_case]
pub async fn edit(cx: &Cx, actor: &Actor, id: StatusId, change: EditDraft) -> Result<()> {
    let old = revision::own(cx, actor, id).await?;
    let spent = rate_limits::family(cx, actor.id, Family::Statuses)?;
    let prepared = prepare(cx, actor, &old, change).await?;
    let mut tx = cx.db.begin().await?;
    if write(cx, &mut tx, actor, id, prepared).await? {
        tx.commit().await?;
        spent.keep();
    }
    Ok(())
}

/// All checks that are possible before the transaction. Stores the pictures that are sent with the edit.
async fn prepare(cx: &Cx, actor: &Actor, old: &Status, mut change: EditDraft) -> Result<PreparedEdit> {
    let words = compose::words(cx, actor, change.source()).await?;
    let poll = change.poll.as_ref().map(poll::check).transpose()?;
    let language = match &change.language {
        Some(tag) => compose::language(cx, actor, Some(tag), None),
        None => old.language.clone(),
    };
    let pending = change.pending(old, &words, language);
    let (mut words, mut pending) =
        compose::filtered(cx, actor, words, pending, (change.source(), &change.params, None)).await?;
    compose::moderate(cx, &mut words, poll.as_ref(), &mut pending.sensitive)?;
    let pictures = pictures(cx, actor, old.id, &mut change).await?;
    let asked = ReferenceRequest { found: &words.references, ..ReferenceRequest::default() };
    let references = reference::resolve(cx, actor, asked, Some(old), None).await?;
    let (sensitive, language, extras) = (pending.sensitive, pending.language, pending.extras);
    Ok(PreparedEdit { change, words, poll, sensitive, language, extras, pictures, references })
}

/// Writes an edit; false when it changes nothing.
async fn write(cx: &Cx, tx: &mut Tx, actor: &Actor, id: StatusId, mut edit: PreparedEdit) -> Result<bool> {
    // Serialises edits of one status and its deletion.
    store::account::lock(tx, &[actor.id]).await?;
    reference::lock_for_edit(tx, id, &mut edit.references).await?;
    // Read again: another edit may have been faster, and its revision is then the previous one.
    let old = store::status::lock(tx, id).await?.ok_or(Error::NotFound)?;
    let indexed = index::terms(tx, &old).await?;
    let policy = changed(old.interaction_policy, edit.change.interaction_policy, edit.change.quote_approval_policy);
    let policy = Some(policy).filter(|policy| *policy != old.interaction_policy);
    if let Some(policy) = policy {
        store::reference::set_policy(tx, id, policy).await?;
    }
    let before = store::media::list_for_statuses(&mut *tx, &[id]).await?;
    let media_changed = replace_media(cx, tx, actor, id, &before, &mut edit).await?;
    let (poll_change, poll_options) = poll::replace(cx, tx, id, edit.poll.as_ref()).await?;
    let new = edit.revision(cx, &old);
    if new == revision::of(&old) && !media_changed && poll_change != PollChange::Content {
        if policy.is_some() {
            // It was not edited, but others must see who may interact with it.
            let anew = Change::StatusEdited { status: id, author: actor.id, traits: (&old).into() };
            change::record(cx, tx, anew).await?;
        }
        return Ok(poll_change == PollChange::Terms || policy.is_some());
    }
    if new.expires_at != old.expires_at {
        expiry::expire_later(cx, tx, id, new.expires_at).await?;
    }
    let relinked = is_relinked(cx, &old, &new);
    let edited = EditedStatus {
        author: actor,
        old,
        media: &before,
        poll_options,
        indexed: &indexed,
        new,
        at: cx.clock.now(),
        tags: &edit.words.tags,
        mentions: &edit.words.mentions,
        strangers_max: None,
        references: edit.references,
    };
    edited.write(cx, tx).await?;
    for (plugin, value) in edit.extras {
        store::plugin_record::upsert_extra(tx, id, plugin, value).await?;
    }
    if relinked {
        change::record(cx, tx, Change::StatusLinked { status: id }).await?;
    }
    Ok(true)
}

impl PreparedEdit {
    /// The content of the status from now on.
    fn revision(&mut self, cx: &Cx, old: &Status) -> Revision {
        let words = &mut self.words;
        Revision {
            expires_at: expiry::after_edit(cx, old, words.lasts),
            markdown: self.change.markdown,
            sensitive: self.sensitive || !words.spoiler_text.is_empty(),
            text: std::mem::take(&mut words.text),
            content: std::mem::take(&mut words.content),
            spoiler_text: std::mem::take(&mut words.spoiler_text),
            language: self.language.take(),
            has_media: !self.change.media_ids.is_empty(),
            has_poll: self.poll.is_some(),
        }
    }
}

/// Whether the text changed, and contains a link or contained one.
fn is_relinked(cx: &Cx, old: &Status, new: &Revision) -> bool {
    let linked = [&old.text, &new.text].map(|text| card::link(cx, text)).iter().any(Option::is_some);
    linked && old.text != new.text
}

/// Stores the pictures that an edit sends for its existing attachments.
async fn pictures(cx: &Cx, actor: &Actor, id: StatusId, change: &mut EditDraft) -> Result<Vec<(MediaId, Picture)>> {
    let mut pictures = Vec::new();
    for (attachment, attributes) in &mut change.media_attributes {
        let Some(path) = attributes.thumbnail.take().filter(|_| change.media_ids.contains(attachment)) else {
            continue;
        };
        let picture = media::new_picture(cx, actor, id, *attachment, &path).await?;
        pictures.extend(picture.map(|picture| (*attachment, picture)));
    }
    Ok(pictures)
}

/// Replaces the media of the status, their descriptions and pictures; true when anything changed.
async fn replace_media(
    cx: &Cx,
    tx: &mut Tx,
    actor: &Actor,
    id: StatusId,
    before: &[MediaAttachment],
    edit: &mut PreparedEdit,
) -> Result<bool> {
    let mut after = media::attachable(cx, tx, actor, Some(id), &edit.change.media_ids).await?;
    let ids: Vec<MediaId> = after.iter().map(|media| media.id).collect();
    let mut changed = !before.iter().map(|media| media.id).eq(ids.iter().copied());
    for (attachment, attributes) in std::mem::take(&mut edit.change.media_attributes) {
        let Some(media) = after.iter_mut().find(|media| media.id == attachment) else { continue };
        let old = (media.description.clone(), media.meta.clone(), media.preview.clone());
        media::apply(cx, media, attributes)?;
        if let Some((_, picture)) = edit.pictures.iter().find(|(id, _)| *id == attachment) {
            media::set_picture(tx, media, picture).await?;
        }
        if (&media.description, &media.meta, &media.preview) != (&old.0, &old.1, &old.2) {
            changed = true;
            media.updated_at = cx.clock.now();
            media::save(tx, media).await?;
        }
    }
    if changed {
        media::detach(cx, tx, id, &ids).await?;
        media::attach(cx, tx, id, &ids).await?;
    }
    Ok(changed)
}
