//! A validated status, and the transaction that writes it.
//!
//! Reached from [`publish`](super::publish()), from scheduled statuses that are due and from plugins, in the
//! transaction of each. The author's feed, mentions and counters are written with the status.

use super::address::Reach;
use super::compose::Words;
use super::draft::Draft;
use super::reference::{self, References, Referring};
use super::{expiry, idempotency, insert, mentions};
use crate::poll::{self, CheckedPoll};
use crate::rate_limits::Spent;
use crate::search::index;
use crate::{card, conversation, media};
use context::Cx;
use context::change::{self, Change};
use context::error::Result;
use database::Tx;
use model::account::Searchability;
use model::status::Visibility;
use model::{Actor, MediaAttachment, MediaId, Status, StatusId};
use store::idempotency_key::CreatedStatus;

/// A validated draft, ready to be written.
pub struct Prepared {
    pub(super) draft: Draft,
    pub(super) words: Words,
    pub(super) poll: Option<CheckedPoll>,
    pub(super) parent: Option<Status>,
    pub(super) references: References,
    pub(super) reach: Reach,
    /// `None`: it does not count against the limit of statuses.
    pub(super) spent: Option<Spent>,
}

impl Prepared {
    /// The idempotency key of the request.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&str> {
        self.draft.idempotency_key.as_deref()
    }

    fn row(&self, cx: &Cx, actor: &Actor, id: StatusId, has_media: bool) -> Status {
        let Self { draft, words, poll, parent, references, reach, .. } = self;
        let thread = parent.as_ref().filter(|_| !reach.new_conversation);
        let in_reply_to_account_id = thread.map(|parent| match parent.in_reply_to_account_id {
            // A reply to one's own reply still addresses the same person.
            Some(answered) if parent.account_id == actor.id => answered,
            _ => parent.account_id,
        });
        let to_someone_else = in_reply_to_account_id.is_some_and(|account| account != actor.id);
        Status {
            url: Some(cx.urls.status(&actor.username, id)),
            sensitive: draft.sensitive.unwrap_or_default() || !words.spoiler_text.is_empty(),
            text: words.text.clone(),
            content: words.content.clone(),
            markdown: draft.markdown,
            spoiler_text: words.spoiler_text.clone(),
            visibility: reach.visibility,
            limited_scope: reach.scope,
            searchability: searchability(
                draft.searchability.unwrap_or(actor.preferences.searchability()),
                reach.visibility,
            ),
            language: draft.language.clone(),
            conversation_id: thread.and_then(|parent| parent.conversation_id),
            in_reply_to_id: parent.as_ref().map(|parent| parent.id),
            in_reply_to_account_id,
            app_id: actor.app,
            quote_policy: draft.quote_approval_policy.unwrap_or(actor.preferences.default_quote_policy),
            listed: reach.visibility.is_listed() && !to_someone_else,
            has_media,
            has_poll: poll.is_some(),
            has_references: references.exist(),
            quote_id: references.quote(),
            expires_at: expiry::of_new(cx, words.lasts),
            ..Status::new(id, actor.id, cx.urls.note(&actor.username, id), cx.clock.now())
        }
    }
}

/// Who may find the status: the author's choice; a limited or direct status is found at most by accounts that
/// interacted with it.
fn searchability(chosen: Searchability, visibility: Visibility) -> Searchability {
    match (chosen, visibility) {
        (Searchability::Limited, _) => Searchability::Limited,
        (_, Visibility::Limited | Visibility::Direct) => Searchability::Direct,
        _ => chosen,
    }
}

/// Writes a prepared status.
///
/// # Errors
/// [`Error::Invalid`](context::Error::Invalid) for media that cannot be attached (any more),
/// [`Error::Conflict`](context::Error::Conflict) when another request with the same idempotency key was faster. The
/// transaction must not be committed then.
#[model::use_case]
pub async fn write(cx: &Cx, tx: &mut Tx, actor: &Actor, mut prepared: Prepared) -> Result<StatusId> {
    let id: StatusId = cx.ids.next();
    idempotency::claim(cx, tx, actor, prepared.idempotency_key(), CreatedStatus::Status(id)).await?;
    let media = media::attachable(cx, tx, actor, None, &prepared.draft.media_ids).await?;
    let parent = prepared.parent.as_ref().map(|parent| parent.id);
    reference::lock_for_new(tx, actor.id, parent, &mut prepared.references).await?;
    let new = prepared.row(cx, actor, id, !media.is_empty());
    insert::insert(cx, tx, actor, new.clone()).await?;
    write_content(cx, tx, &new, &media, &mut prepared).await?;
    let Prepared { words, parent, references, reach, spent, .. } = prepared;
    let reached = mentions::address(cx, tx, actor, &new, parent.as_ref(), words.mentions, reach).await?;
    reference::insert(cx, tx, Referring::from(&new), &references, &reached).await?;
    if new.visibility == Visibility::Direct {
        conversation::receive(cx, tx, id).await?;
    }
    change::record(cx, tx, Change::StatusPublished { status: id, author: actor.id, traits: (&new).into() }).await?;
    if cx.config.previews.enabled && card::link(cx, &new.text).is_some() {
        change::record(cx, tx, Change::StatusLinked { status: id }).await?;
    }
    if let Some(spent) = spent {
        tx.after_commit(move || spent.keep());
    }
    Ok(id)
}

/// Writes the content of the status: attachments, poll, search terms, hashtags, data of plugins, and its deletion
/// time.
async fn write_content(
    cx: &Cx,
    tx: &mut Tx,
    new: &Status,
    media: &[MediaAttachment],
    prepared: &mut Prepared,
) -> Result<()> {
    let media: Vec<MediaId> = media.iter().map(|media| media.id).collect();
    media::attach(cx, tx, new.id, &media).await?;
    if let Some(poll) = &prepared.poll {
        poll::insert(cx, tx, new.id, poll).await?;
    }
    index::insert(tx, new).await?;
    mentions::save_tags(cx, tx, new.id, new.account_id, new.visibility, &prepared.words.tags).await?;
    for (plugin, value) in std::mem::take(&mut prepared.draft.extras) {
        store::plugin_record::upsert_extra(tx, new.id, plugin, value).await?;
    }
    expiry::expire_later(cx, tx, new.id, new.expires_at).await
}
