//! Edits of statuses of other servers.

use super::emoji;
use super::media;
use super::poll;
use super::status::{AHEAD_MAX, RemoteStatus, STRANGERS_MAX, content, moderate, seek, spoiler};
use crate::search::index;
use crate::status::edited_status::EditedStatus;
use crate::status::{reference, revision};
use context::Cx;
use context::error::{Error, Result};
use context::queue::{self, AttachCard, VerifyQuote};
use model::{MediaAttachment, Time};
use store::status_edit::Revision;

/// Replaces what an edit may change of a status: text, warning, language, mentions, hashtags, references, attachments and
/// options of the poll; visibility and searchability stay. `edited_at`: as its server says. False when it is unknown, or
/// was edited later, or is to be edited in the future.
///
/// # Errors
/// [`Error::Forbidden`] when it is another account's, [`Error::Invalid`] for a text that is not allowed here.
#[model::use_case]
pub async fn edit(cx: &Cx, mut new: RemoteStatus, edited_at: Time) -> Result<bool> {
    // It is kept as stated, so that an older edit does not replace a newer one of a server whose clock is ahead.
    if edited_at > cx.clock.now() + AHEAD_MAX {
        return Ok(false);
    }
    moderate(cx, &mut new)?;
    new.obey(super::flags(cx, new.author).await?);
    let actor = super::actor(cx, new.author).await?;
    let Some(id) = store::status::find_by_uri(&cx.db, &new.uri).await? else { return Ok(false) };
    let Some(known) = store::status::find(&cx.db, id).await? else { return Ok(false) };
    if known.account_id != actor.id {
        return Err(Error::forbidden("the status is someone else's"));
    }
    emoji::save_of(cx, actor.id, &new.emojis).await?;
    let visibility = known.visibility;
    let mut references =
        reference::resolve_remote(cx, &actor, &new.references, visibility, Some(&known), new.claim()).await?;
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[actor.id]).await?;
    reference::lock_for_edit(&mut tx, id, &mut references).await?;
    let Some(old) = store::status::lock(&mut tx, id).await? else { return Ok(false) };
    if old.edited_at.unwrap_or(old.created_at) >= edited_at {
        return Ok(false);
    }
    let indexed = index::terms(&mut tx, &old).await?;
    let before = store::media::list_for_statuses(&mut tx, &[id]).await?;
    let revised = Revision {
        text: String::new(),
        content: content(&new.content, references.shows_quote()),
        spoiler_text: spoiler(&new.spoiler_text),
        sensitive: new.sensitive || !new.spoiler_text.is_empty(),
        language: new.language.clone(),
        has_media: !new.media.is_empty(),
        has_poll: new.poll.is_some(),
        markdown: false,
        expires_at: old.expires_at,
    };
    let media_changed = !same_files(&before, &new);
    let (poll_changed, options) = poll::replace(cx, &mut tx, id, new.poll.as_ref()).await?;
    let same_parts = !media_changed && !poll_changed && old.quote_id == references.quote().map(|quote| quote.target);
    if same_parts && revised == revision::of(&old) {
        return Ok(false);
    }
    if media_changed {
        store::media::delete_remote(&mut tx, id).await?;
        media::insert(cx, &mut tx, new.author, id, &new.media).await?;
    }
    let options = old.has_poll.then_some(options);
    let edited = EditedStatus {
        author: &actor,
        old,
        media: &before,
        poll_options: options,
        indexed: &indexed,
        new: revised,
        at: edited_at,
        tags: &new.tags(),
        mentions: &new.mentions,
        strangers_max: Some(STRANGERS_MAX),
        references,
    };
    edited.write(cx, &mut tx).await?;
    if let Some(allowance) = new.addresses_strangers().then(|| cx.hand_on()).flatten() {
        seek(cx, &mut tx, id, &new, allowance).await?;
    }
    if new.verify_later {
        queue::enqueue(cx, &mut tx, &VerifyQuote { status: id }).await?;
    }
    queue::enqueue(cx, &mut tx, &AttachCard { status: id }).await?;
    tx.commit().await?;
    Ok(true)
}

fn same_files(before: &[MediaAttachment], new: &RemoteStatus) -> bool {
    let old = before.iter().map(|media| (media.remote_url.as_deref(), media.description.as_deref()));
    old.eq(new.media.iter().map(|media| (Some(media.url.as_str()), media.description.as_deref())))
}
