//! A status of this server that is ready to be written, and the transaction that writes it.
//!
//! Reached from [`publish`](super::publish()), from scheduled statuses that are due and from plugins, in the
//! transaction of each. The author's feed, mentions and counters are written with the status.

use super::address::Audience;
use super::compose::ComposedText;
use super::consent::{self, NewRequest};
use super::draft::{Draft, changed};
use super::new_status::{NewStatus, Parts};
use super::reference::{self, References};
use super::{expiry, idempotency, mentions, saved_draft};
use crate::poll::{self, CheckedPoll};
use crate::rate_limits::Spent;
use crate::{card, media};
use context::Cx;
use context::change::{self, Change};
use context::error::Result;
use database::Tx;
use model::account::Searchability;
use model::status::Visibility;
use model::{AccountId, Actor, MediaId, PluginId, Status, StatusId, urls};
use serde_json::Value;
use store::idempotency_key::CreatedStatus;

/// A validated draft: the last of the [`states`](super::states).
pub struct Ready {
    pub(super) draft: Draft,
    pub(super) words: ComposedText,
    pub(super) poll: Option<CheckedPoll>,
    pub(super) sensitive: bool,
    pub(super) language: Option<String>,
    /// Data of plugins.
    pub(super) extras: Vec<(PluginId, Value)>,
    pub(super) parent: Option<Status>,
    /// The request to reply that its parent needs.
    pub(super) request: Option<NewRequest>,
    pub(super) references: References,
    pub(super) reach: Audience,
    /// `None`: it does not count against the limit of statuses.
    pub(super) spent: Option<Spent>,
}

impl Ready {
    /// The idempotency key of the request.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&str> {
        self.draft.idempotency_key.as_deref()
    }

    /// As its author chose; a reply to a status that stays on this server stays too, and so does one that quotes it.
    fn is_local_only(&self) -> bool {
        let replies = self.parent.as_ref().is_some_and(|parent| parent.local_only);
        self.draft.local_only || replies || self.references.is_local_only()
    }

    fn row(&self, cx: &Cx, actor: &Actor, id: StatusId, has_media: bool) -> Status {
        let Self { draft, words, poll, parent, reach, .. } = self;
        let policy = actor.preferences.policy(reach.visibility);
        let policy = changed(policy, draft.interaction_policy, draft.quote_approval_policy);
        Status {
            url: Some(cx.urls.status(&actor.username, id)),
            sensitive: self.sensitive,
            text: words.text.clone(),
            content: words.content.clone(),
            markdown: draft.markdown,
            spoiler_text: words.spoiler_text.clone(),
            visibility: reach.visibility,
            local_only: self.is_local_only(),
            limited_scope: reach.scope,
            searchability: searchability(
                draft.searchability.unwrap_or(actor.preferences.searchability()),
                reach.visibility,
            ),
            language: self.language.clone(),
            in_reply_to_id: parent.as_ref().map(|parent| parent.id),
            app_id: actor.app,
            interaction_policy: policy,
            approval: self.request.as_ref().and_then(NewRequest::approval),
            has_media,
            has_poll: poll.is_some(),
            expires_at: expiry::of_new(cx, words.lasts),
            ..Status::new(id, actor.id, urls::note(&actor.uri, id), cx.clock.now())
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

/// Writes the status.
///
/// # Errors
/// [`Error::Invalid`](context::Error::Invalid) for media that cannot be attached (any more),
/// [`Error::Conflict`](context::Error::Conflict) when another request with the same idempotency key was faster. The
/// transaction must not be committed then.
#[model::use_case]
pub async fn write(cx: &Cx, tx: &mut Tx, actor: &Actor, mut ready: Ready) -> Result<StatusId> {
    let id: StatusId = cx.ids.next();
    idempotency::claim(cx, tx, actor, ready.idempotency_key(), CreatedStatus::Status(id)).await?;
    let media = media::attachable(cx, tx, actor, None, &ready.draft.media_ids).await?;
    let parent = ready.parent.as_ref().map(|parent| parent.id);
    reference::lock_for_new(tx, actor.id, parent, &mut ready.references).await?;
    let row = ready.row(cx, actor, id, !media.is_empty());
    let saved_draft = ready.draft.saved_draft_id;
    let Ready { words, poll, extras, parent, request, references, reach, spent, .. } = ready;
    let thread = parent.as_ref().filter(|_| !reach.new_conversation);
    let new = NewStatus { author: actor, row, thread, references, tags: words.tags };
    let media = media.iter().map(|media| media.id).collect();
    let parts = LocalParts { media, poll, extras, thread, mentions: words.mentions, reach };
    let new = new.write(cx, tx, parts).await?;
    saved_draft::publish(cx, tx, actor.id, saved_draft).await?;
    if let Some(request) = request {
        consent::ask(cx, tx, actor.id, |_| new.uri.clone(), id, request).await?;
    }
    if new.approval.is_none() {
        change::record(cx, tx, Change::StatusPublished { status: id, author: actor.id, traits: (&new).into() }).await?;
    }
    if cx.config.previews.enabled && card::link(cx, &new.text).is_some() {
        change::record(cx, tx, Change::StatusLinked { status: id }).await?;
    }
    if let Some(spent) = spent {
        tx.after_commit(move || spent.keep());
    }
    Ok(id)
}

/// The parts of a status of this server.
struct LocalParts<'a> {
    media: Vec<MediaId>,
    poll: Option<CheckedPoll>,
    /// Data of plugins.
    extras: Vec<(PluginId, Value)>,
    thread: Option<&'a Status>,
    mentions: Vec<AccountId>,
    reach: Audience,
}

impl Parts for LocalParts<'_> {
    async fn attach(&mut self, cx: &Cx, tx: &mut Tx, new: &Status) -> Result<()> {
        media::attach(cx, tx, new.id, &self.media).await?;
        if let Some(poll) = &self.poll {
            poll::insert(cx, tx, new.id, poll).await?;
        }
        for (plugin, value) in std::mem::take(&mut self.extras) {
            store::plugin_record::upsert_extra(tx, new.id, plugin, value).await?;
        }
        expiry::expire_later(cx, tx, new.id, new.expires_at).await
    }

    async fn address(self, cx: &Cx, tx: &mut Tx, author: &Actor, new: &Status) -> Result<Vec<AccountId>> {
        mentions::address(cx, tx, author, new, self.thread, self.mentions, self.reach).await
    }
}
