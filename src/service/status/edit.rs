//! Editing a status: omitted parameters are cleared, except the language, which is kept.
//!
//! Reached from `PUT /api/v1/statuses/{id}`. The previous revision is kept in the edit history.
//! Spec: docs/contract/rules.md#10-statuses, Edits.

use serde_json::{Map, Value};

use super::compose::{self, Words};
use super::expiry;
use super::publish::notify_mentioned;
use super::reference::{self, Asked, Referring};
use crate::media::{self, Picture};
use crate::poll::{self, PollChange, PollDraft};
use crate::rate_limits::{self, Family};
use crate::search::index;
use crate::{card, conversation, notification, visibility};
use context::Cx;
use context::change::{self, StatusTraits};
use context::error::{Error, Result};
use context::extension::{Notice, PendingStatus};
use context::json;
use database::Tx;
use model::{
    AccountId, Actor, Json, MediaAttachment, MediaId, NotificationType, QuotePolicy, Status, StatusId, Visibility,
    boxed,
};
use store::status_edit::{Edit, Revision};

/// The new content of a status.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "the parameters of PUT /api/v1/statuses/{id}")]
pub struct Change {
    pub text: String,
    pub spoiler_text: String,
    pub sensitive: bool,
    pub language: Option<String>,
    pub media_ids: Vec<MediaId>,
    pub media_attributes: Vec<(MediaId, media::Change)>,
    pub poll: Option<PollDraft>,
    /// The text is Markdown.
    pub markdown: bool,
    /// `None`: it stays.
    pub quote_approval_policy: Option<QuotePolicy>,
    /// Parameters unknown to the server, which plugins may have declared.
    pub params: Map<String, Value>,
}

/// Edits `actor`'s own status. An edit that changes nothing leaves no revision.
///
/// # Errors
/// [`Error::NotFound`] unless it is their own and not a reblog; else as publishing.
#[model::use_case]
#[boxed]
pub async fn edit(cx: &Cx, actor: &Actor, id: StatusId, mut change: Change) -> Result<()> {
    let old = own(cx, actor, id).await?;
    let spent = rate_limits::family(cx, actor.id, Family::Statuses)?;
    let (has_media, markdown) = (!change.media_ids.is_empty(), change.markdown);
    let mut words = compose::words(cx, actor, &change.text, &change.spoiler_text, has_media, markdown).await?;
    let poll = change.poll.as_ref().map(poll::check).transpose()?;
    let mut language = match &change.language {
        Some(tag) => compose::language(cx, actor, Some(tag), None),
        None => old.language.clone(),
    };
    let mut sensitive = change.sensitive;
    let mut extras = Vec::new();
    if cx.extensions().filters_drafts() {
        let pending = filtered(cx, actor, &old, &change, &words, language).await?;
        if (&pending.text, &pending.spoiler_text) != (&words.text, &words.spoiler_text) {
            words = compose::words(cx, actor, &pending.text, &pending.spoiler_text, has_media, markdown).await?;
        }
        (sensitive, language, extras) = (pending.sensitive, pending.language, pending.extras);
    }

    let pictures = pictures(cx, actor, id, &mut change).await?;
    let asked = Asked { found: &words.references, ..Asked::default() };
    let mut references = reference::resolve(cx, actor, asked, Some(&old)).await?;
    let mut tx = cx.db.begin().await?;
    // Edits of one status, and its deletion, run one after the other.
    store::account::lock(&mut tx, &[actor.id]).await?;
    reference::lock_for_edit(&mut tx, id, &mut references).await?;
    // As it is now: another edit may have been faster, and its revision is the one before this.
    let old = store::status::lock(&mut tx, id).await?.ok_or(Error::NotFound)?;
    let indexed = index::terms(&mut tx, &old).await?;
    let policy = change.quote_approval_policy.filter(|policy| *policy != old.quote_policy);
    if let Some(policy) = policy {
        store::reference::set_quote_policy(&mut tx, id, policy).await?;
    }
    let before = store::media::list_for_statuses(&mut tx, &[id]).await?;
    let media_changed = replace_media(cx, &mut tx, actor, id, &before, change, &pictures).await?;
    let (poll_change, poll_options) = poll::replace(cx, &mut tx, id, poll.as_ref()).await?;
    let revision = Revision {
        expires_at: expiry::after_edit(cx, &old, words.lasts),
        markdown,
        sensitive: sensitive || !words.spoiler_text.is_empty(),
        text: words.text,
        content: words.content,
        spoiler_text: words.spoiler_text,
        language,
        has_media,
        has_poll: poll.is_some(),
    };
    if revision == of(&old) && !media_changed && poll_change != PollChange::Content {
        if poll_change == PollChange::Terms || policy.is_some() {
            tx.commit().await?;
            spent.keep();
        }
        return Ok(());
    }
    let linked = [&old.text, &revision.text].map(|text| card::link(cx, text)).iter().any(Option::is_some);
    let relinked = linked && old.text != revision.text;
    let referring = Referring::from(&old);
    let traits = StatusTraits { media: has_media, ..StatusTraits::from(&old) };
    let shown: Vec<json::media::MediaAttachment> =
        before.iter().map(|media| json::media::MediaAttachment::new(media, &cx.urls)).collect();
    let edit = Edit {
        id: cx.ids.next(),
        status_id: id,
        text: old.text,
        content: old.content,
        spoiler_text: old.spoiler_text,
        sensitive: old.sensitive,
        markdown: old.markdown,
        media: Json(serde_json::to_value(shown).map_err(Error::internal)?),
        poll_options: poll_options.map(Json),
        created_at: old.edited_at.unwrap_or(old.created_at),
    };
    store::status_edit::insert(&mut tx, &edit).await?;
    if revision.expires_at != old.expires_at {
        expiry::expire_later(cx, &mut tx, id, revision.expires_at).await?;
    }
    store::status_edit::update(&mut tx, id, revision, cx.clock.now()).await?;
    store::tag::clear_for_status(&mut tx, id, actor.id).await?;
    compose::save_tags(cx, &mut tx, id, actor.id, old.visibility, &words.tags).await?;
    let (audience, readdressed) = replace_mentions(cx, &mut tx, actor, id, &words.mentions).await?;
    reference::replace(cx, &mut tx, referring, references, &audience).await?;
    index::update(&mut tx, id, &indexed).await?;
    if referring.visibility == Visibility::Direct && readdressed {
        conversation::rearrange(cx, &mut tx, id).await?;
    }
    tell(cx, &mut tx, actor, id).await?;
    for (plugin, value) in extras {
        store::plugin_record::upsert_extra(&mut tx, id, plugin, value).await?;
    }
    change::record(cx, &mut tx, change::Change::StatusEdited { status: id, author: actor.id, traits }).await?;
    if relinked {
        change::record(cx, &mut tx, change::Change::StatusLinked { status: id }).await?;
    }
    tx.commit().await?;

    spent.keep();
    Ok(())
}

/// Applies plugin filters to an edit. They cannot change its audience, which was fixed when the status was published.
async fn filtered(
    cx: &Cx,
    actor: &Actor,
    old: &Status,
    change: &Change,
    words: &Words,
    language: Option<String>,
) -> Result<PendingStatus> {
    let pending = PendingStatus {
        text: words.text.clone(),
        spoiler_text: words.spoiler_text.clone(),
        visibility: old.visibility,
        limited_scope: old.limited_scope,
        sensitive: change.sensitive,
        language,
        in_reply_to_id: old.in_reply_to_id,
        media: change.media_ids.clone(),
        recipients: Vec::new(),
        new_conversation: false,
        editing: Some(old.id),
        extras: Vec::new(),
    };
    cx.extensions().filter_draft(cx, actor, pending, &change.params, None).await
}

/// Makes `mentions` those of the status, and tells the new ones. Returns all who may see it by a mention, and whether those who
/// are mentioned in the text are others than before.
async fn replace_mentions(
    cx: &Cx,
    tx: &mut Tx,
    actor: &Actor,
    id: StatusId,
    mentions: &[AccountId],
) -> Result<(Vec<AccountId>, bool)> {
    let known = store::mention::list(&mut *tx, id).await?;
    store::mention::silence(tx, id, mentions).await?;
    let loud: Vec<AccountId> = known.iter().filter(|(_, _, silent)| !silent).map(|(_, account, _)| *account).collect();
    for (mention, ..) in known.iter().filter(|(_, account, silent)| !silent && !mentions.contains(account)) {
        notification::retract(tx, NotificationType::Mention, *mention).await?;
    }
    let new: Vec<AccountId> = mentions.iter().copied().filter(|account| !loud.contains(account)).collect();
    compose::save_mentions(cx, tx, id, &new, false).await?;
    let all = store::mention::list(&mut *tx, id).await?;
    let mentioned =
        all.iter().filter(|(_, account, _)| new.contains(account)).map(|(row, account, _)| (*row, *account));
    let mentioned: Vec<_> = mentioned.collect();
    notify_mentioned(cx, tx, actor, id, &mentioned).await?;
    let readdressed = !(new.is_empty() && loud.iter().all(|id| mentions.contains(id)));
    Ok((all.into_iter().map(|(_, account, _)| account).collect(), readdressed))
}

/// Tells whoever reblogged the status or refers to it that it was edited.
async fn tell(cx: &Cx, tx: &mut Tx, actor: &Actor, id: StatusId) -> Result<()> {
    let mut receivers = store::reblog::list_local_rebloggers(&mut *tx, id).await?;
    receivers.extend(store::reference::list_local_referring(&mut *tx, id).await?);
    receivers.sort_unstable();
    receivers.dedup();
    let update = |receiver| Notice {
        receiver,
        from: actor.id,
        kind: NotificationType::Update.into(),
        activity: i64::from(id),
        status: Some(id),
    };
    let notices: Vec<Notice> = receivers.into_iter().map(update).collect();
    notification::notify(cx, tx, &notices).await.map(drop)
}

/// Stores the pictures that an edit sends for attachments that it has.
async fn pictures(cx: &Cx, actor: &Actor, id: StatusId, change: &mut Change) -> Result<Vec<(MediaId, Picture)>> {
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
    change: Change,
    pictures: &[(MediaId, Picture)],
) -> Result<bool> {
    let mut after = media::attachable(cx, tx, actor, Some(id), &change.media_ids).await?;
    let ids: Vec<MediaId> = after.iter().map(|media| media.id).collect();
    let mut changed = !before.iter().map(|media| media.id).eq(ids.iter().copied());
    for (attachment, attributes) in change.media_attributes {
        let Some(media) = after.iter_mut().find(|media| media.id == attachment) else { continue };
        let old = (media.description.clone(), media.meta.clone(), media.preview.clone());
        media::apply(cx, media, attributes)?;
        if let Some((_, picture)) = pictures.iter().find(|(id, _)| *id == attachment) {
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

/// The status, when it is `actor`'s own and not a reblog.
///
/// # Errors
/// [`Error::NotFound`] otherwise.
#[model::use_case]
pub async fn own(cx: &Cx, actor: &Actor, id: StatusId) -> Result<Status> {
    let status = store::status::find(&cx.db, id).await?;
    status.filter(|status| status.account_id == actor.id && status.reblog_of_id.is_none()).ok_or(Error::NotFound)
}

fn of(status: &Status) -> Revision {
    Revision {
        text: status.text.clone(),
        content: status.content.clone(),
        spoiler_text: status.spoiler_text.clone(),
        sensitive: status.sensitive,
        language: status.language.clone(),
        has_media: status.has_media,
        has_poll: status.has_poll,
        markdown: status.markdown,
        expires_at: status.expires_at,
    }
}

/// The status, for its source text: whoever sees a status may read it.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden.
#[model::use_case]
pub async fn source(cx: &Cx, viewer: Option<&Actor>, id: StatusId) -> Result<Status> {
    let seen = visibility::status(cx, viewer, id).await?;
    store::status::find(&cx.db, seen.head().id).await?.ok_or(Error::NotFound)
}

/// All revisions, oldest first, and the current status, as far as `viewer` may see it.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden.
#[model::use_case]
pub async fn history(cx: &Cx, viewer: Option<&Actor>, id: StatusId) -> Result<(Status, Vec<Edit>)> {
    let seen = visibility::status(cx, viewer, id).await?;
    let id = seen.head().id;
    let status = store::status::find(&cx.db, id).await?.ok_or(Error::NotFound)?;
    Ok((status, store::status_edit::list(&cx.db, id).await?))
}
