//! Publishing a status.
//!
//! Reached from `POST /api/v1/statuses`, and when a scheduled status is due. The author's feed, mentions and counters are written in the transaction;
//! fan-out to followers is a job. Repeated requests are detected by idempotency key.
//! Spec: docs/contract/rules.md#10-statuses.

use std::collections::BTreeSet;

use chrono::Duration;
use serde_json::{Map, Value};

use super::audience::{self, Reach, reach};
use super::compose::{self, Words};
use super::reference::{self, Asked, References, Referring};
use super::{expiry, insert};
use crate::poll::{self, CheckedPoll, PollDraft};
use crate::rate_limits::{self, Family, Spent};
use crate::search::index;
use crate::{card, conversation, media, notification, scheduled_status, visibility};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::{Notice, PendingStatus};
use database::{Executor, Tx};
use model::account::Searchability;
use model::status::{QuotePolicy, Visibility};
use model::{AccountId, Actor, MediaId, NotificationType, PluginId, RowId, Status, StatusId, Time, boxed};
use store::idempotency_key::Made;

/// How long an idempotency key is valid.
const IDEMPOTENCY_WINDOW: Duration = Duration::hours(1);
/// Longest idempotency key, in bytes; the contract allows any string.
const IDEMPOTENCY_KEY_MAX: usize = 4096;

/// A status to publish, as sent.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the parameters of POST /api/v1/statuses")]
pub struct Draft {
    pub text: String,
    pub spoiler_text: String,
    pub sensitive: Option<bool>,
    pub visibility: Option<String>,
    pub searchability: Option<Searchability>,
    pub language: Option<String>,
    /// The request's `Accept-Language`.
    pub request_language: Option<String>,
    pub in_reply_to_id: Option<StatusId>,
    pub media_ids: Vec<MediaId>,
    /// Statuses to refer to besides those in the text.
    pub status_reference_ids: Vec<StatusId>,
    /// The status to quote; without it, what the text says.
    pub quoted_status_id: Option<StatusId>,
    /// `None`: as its author prefers.
    pub quote_approval_policy: Option<QuotePolicy>,
    pub poll: Option<PollDraft>,
    /// The text is Markdown.
    pub markdown: bool,
    /// Accounts the client expects to be mentioned; `None`: anyone.
    pub allowed_mentions: Option<Vec<AccountId>>,
    pub idempotency_key: Option<String>,
    /// Parameters unknown to the server, which plugins may have declared.
    pub params: Map<String, Value>,
    /// The accounts that a plugin, which publishes it, adds to the audience without a visible mention.
    pub recipients: Option<Vec<AccountId>>,
    /// Data that plugins store with it: JSON objects.
    pub extras: Vec<(PluginId, Value)>,
}

/// A validated draft, ready to be written.
pub struct Prepared {
    draft: Draft,
    words: Words,
    poll: Option<CheckedPoll>,
    parent: Option<Status>,
    references: References,
    reach: Reach,
    /// `None`: it does not count against the limit of statuses.
    spent: Option<Spent>,
}

impl Prepared {
    /// The idempotency key of the request.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&str> {
        self.draft.idempotency_key.as_deref()
    }
}

/// Publishes `draft` as `actor`, or schedules it when `scheduled_at` is ahead; returns what was made, or what was already
/// made with the same idempotency key.
///
/// # Errors
/// [`Error::NotFound`] when the status replied to or to be quoted is missing or hidden, [`Error::Invalid`] for an invalid draft or
/// time, and for a quote that its target's author does not allow,
/// [`Error::Refused`] and [`Error::Plugin`] from a plugin's filter, [`Error::UnexpectedMentions`] when it would mention
/// someone the client did not expect, [`Error::RateLimited`] beyond the limit of statuses.
#[model::use_case]
pub async fn publish(cx: &Cx, actor: &Actor, draft: Draft, scheduled_at: Option<Time>) -> Result<Made> {
    let key = draft.idempotency_key.clone();
    if let Some(first) = find_by_idempotency_key(cx, &cx.db, actor, key.as_deref()).await? {
        return Ok(first);
    }
    let made = match scheduled_at.filter(|at| *at > cx.clock.now()) {
        None => publish_now(cx, actor, draft).await,
        Some(at) => scheduled_status::create(cx, actor, draft, at).await,
    };
    match made {
        Err(conflict @ Error::Conflict(_)) => {
            find_by_idempotency_key(cx, &cx.db, actor, key.as_deref()).await?.ok_or(conflict)
        }
        made => made,
    }
}

async fn publish_now(cx: &Cx, actor: &Actor, draft: Draft) -> Result<Made> {
    let prepared = prepare(cx, actor, draft).await?;
    let mut tx = cx.db.begin().await?;
    let id = write(cx, &mut tx, actor, prepared).await?;
    tx.commit().await?;
    Ok(Made::Status(id))
}

/// As [`validate`], and counts the status against the limit of statuses.
///
/// # Errors
/// As [`publish`].
#[model::use_case]
pub async fn prepare(cx: &Cx, actor: &Actor, draft: Draft) -> Result<Prepared> {
    let spent = rate_limits::family(cx, actor.id, Family::Statuses)?;
    Ok(Prepared { spent: Some(spent), ..validate(cx, actor, draft).await? })
}

/// Validates a draft without changing anything: all checks that are possible before the transaction.
///
/// # Errors
/// As [`publish`], without the limit of statuses.
#[boxed]
pub async fn validate(cx: &Cx, actor: &Actor, draft: Draft) -> Result<Prepared> {
    let has_media = !draft.media_ids.is_empty();
    let words = compose::words(cx, actor, &draft.text, &draft.spoiler_text, has_media, draft.markdown).await?;
    let poll = draft.poll.as_ref().map(poll::check).transpose()?;
    check_mentions(&words, draft.allowed_mentions.as_deref())?;
    let parent = parent(cx, actor, draft.in_reply_to_id).await?;
    let reach = reach(cx, actor, &draft, parent.as_ref()).await?;
    let mut prepared = Prepared { draft, words, poll, parent, references: References::default(), reach, spent: None };
    if cx.extensions().filters_drafts() {
        prepared = filtered(cx, actor, prepared).await?;
    }
    audience::settle(cx, actor, &mut prepared.reach, &prepared.words.mentions).await?;
    let Prepared { draft, words, .. } = &prepared;
    let asked = Asked { found: &words.references, named: &draft.status_reference_ids, quoted: draft.quoted_status_id };
    prepared.references = reference::resolve(cx, actor, asked, None).await?;
    let reach = &mut prepared.reach;
    if prepared.references.is_for_followers() && reach.visibility.is_wider_than_followers() {
        reach.visibility = Visibility::Private;
    }
    Ok(prepared)
}

/// Applies plugin filters; validates again when they changed the text.
async fn filtered(cx: &Cx, actor: &Actor, prepared: Prepared) -> Result<Prepared> {
    let Prepared { mut draft, mut words, poll, parent, references, reach, spent } = prepared;
    let pending = PendingStatus {
        text: words.text.clone(),
        spoiler_text: words.spoiler_text.clone(),
        visibility: reach.visibility,
        limited_scope: reach.scope,
        sensitive: draft.sensitive.unwrap_or(actor.preferences.default_sensitive),
        language: compose::language(cx, actor, draft.language.as_deref(), draft.request_language.as_deref()),
        in_reply_to_id: draft.in_reply_to_id,
        media: draft.media_ids.clone(),
        recipients: reach.audience,
        new_conversation: false,
        editing: None,
        extras: std::mem::take(&mut draft.extras),
    };
    let before = (pending.sensitive, pending.language.clone());
    let pending = cx.extensions().filter_draft(cx, actor, pending, &draft.params, draft.visibility.as_deref()).await?;
    if (&pending.text, &pending.spoiler_text) != (&words.text, &words.spoiler_text) {
        let has_media = !draft.media_ids.is_empty();
        let markdown = draft.markdown;
        words = compose::words(cx, actor, &pending.text, &pending.spoiler_text, has_media, markdown).await?;
        check_mentions(&words, draft.allowed_mentions.as_deref())?;
    }
    if pending.sensitive != before.0 {
        draft.sensitive = Some(pending.sensitive);
    }
    if pending.language != before.1 {
        draft.language = pending.language;
    }
    draft.extras = pending.extras;
    let reach = Reach {
        visibility: pending.visibility,
        scope: pending.limited_scope,
        audience: pending.recipients,
        new_conversation: pending.new_conversation,
    };
    Ok(Prepared { draft, words, poll, parent, references, reach, spent })
}

/// Writes a prepared status.
///
/// # Errors
/// [`Error::Invalid`] for media that cannot be attached (any more), [`Error::Conflict`] when another request with the
/// same idempotency key was faster: the transaction must not be committed.
#[model::use_case]
#[boxed]
pub async fn write(cx: &Cx, tx: &mut Tx, actor: &Actor, prepared: Prepared) -> Result<StatusId> {
    let Prepared { draft, words, poll, parent, mut references, reach, spent } = prepared;
    let id: StatusId = cx.ids.next();
    claim_key(cx, tx, actor, draft.idempotency_key.as_deref(), Made::Status(id)).await?;
    let media = media::attachable(cx, tx, actor, None, &draft.media_ids).await?;
    let (mentions, tags) = (words.mentions.clone(), words.tags.clone());
    let linked = cx.config.previews.enabled && card::link(cx, &words.text).is_some();
    reference::lock_for_new(tx, actor.id, parent.as_ref().map(|parent| parent.id), &mut references).await?;
    let new = Status {
        has_references: references.exist(),
        quote_id: references.quote(),
        expires_at: expiry::of_new(cx, words.lasts),
        ..new_status(cx, actor, &draft, id, words, &reach, parent.as_ref(), !media.is_empty())
    };
    let change = Change::StatusPublished { status: id, author: actor.id, traits: (&new).into() };
    let (referring, expires_at) = (Referring::from(&new), new.expires_at);
    let conversation = new.conversation_id;
    let indexed = new.clone();
    insert::insert(cx, tx, actor, new).await?;
    let media: Vec<MediaId> = media.iter().map(|media| media.id).collect();
    media::attach(cx, tx, id, &media).await?;
    if let Some(poll) = &poll {
        poll::insert(cx, tx, id, poll).await?;
    }
    index::insert(tx, &indexed).await?;
    compose::save_tags(cx, tx, id, actor.id, reach.visibility, &tags).await?;
    let mut mentioned = compose::save_mentions(cx, tx, id, &mentions, false).await?;
    let audience = reach.audience.into_iter().filter(|account| !mentions.contains(account));
    // Deduplicated.
    let audience: Vec<AccountId> = audience.collect::<BTreeSet<AccountId>>().into_iter().collect();
    let silent = compose::save_mentions(cx, tx, id, &audience, true).await?;
    let answered = parent.as_ref().map(|parent| parent.account_id).filter(|_| !reach.new_conversation);
    let told = audience::told(&mut *tx, conversation, answered, &audience).await?;
    mentioned.extend(silent.into_iter().filter(|(_, account)| told.contains(account)));
    for (plugin, value) in draft.extras {
        store::plugin_record::upsert_extra(tx, id, plugin, value).await?;
    }
    notify_mentioned(cx, tx, actor, id, &mentioned).await?;
    let audience: Vec<AccountId> = audience.into_iter().chain(mentions).collect();
    expiry::expire_later(cx, tx, id, expires_at).await?;
    reference::insert(cx, tx, referring, &references, &audience).await?;
    if reach.visibility == Visibility::Direct {
        conversation::receive(cx, tx, id).await?;
    }
    change::record(cx, tx, change).await?;
    if linked {
        change::record(cx, tx, Change::StatusLinked { status: id }).await?;
    }
    if let Some(spent) = spent {
        tx.after_commit(move || spent.keep());
    }
    Ok(id)
}

/// Stores the idempotency key of what is to be made before anything else is written, so that of requests at once all but
/// one wait here and then end.
///
/// # Errors
/// [`Error::Conflict`] for those.
pub async fn claim_key(cx: &Cx, tx: &mut Tx, actor: &Actor, key: Option<&str>, made: Made) -> Result<()> {
    let Some(key) = key else { return Ok(()) };
    let (now, since) = (cx.clock.now(), cx.clock.now() - IDEMPOTENCY_WINDOW);
    if store::idempotency_key::insert(tx, actor.id, key, made, now, since).await? {
        return Ok(());
    }
    Err(Error::Conflict("Another request with this Idempotency-Key was served meanwhile".into()))
}

/// What `actor` already published or scheduled with the idempotency key `key`.
///
/// # Errors
/// [`Error::Invalid`] for a key that is too long.
#[model::use_case]
pub async fn find_by_idempotency_key(
    cx: &Cx,
    db: impl Executor,
    actor: &Actor,
    key: Option<&str>,
) -> Result<Option<Made>> {
    let Some(key) = key else { return Ok(None) };
    if key.len() > IDEMPOTENCY_KEY_MAX {
        return Err(Error::invalid(format!("Idempotency-Key is longer than {IDEMPOTENCY_KEY_MAX} bytes")));
    }
    let since = cx.clock.now() - IDEMPOTENCY_WINDOW;
    let made = store::idempotency_key::find(db, actor.id, key, since).await?;
    if made.is_some() {
        // Readers see a commit before it is durable: the first request may not be answered yet.
        cx.db.synced().await?;
    }
    Ok(made)
}

/// Notifies the mentioned accounts, in the transaction that mentions them.
pub(super) async fn notify_mentioned(
    cx: &Cx,
    tx: &mut Tx,
    actor: &Actor,
    status: StatusId,
    mentioned: &[(RowId, AccountId)],
) -> Result<()> {
    let notice = |(mention, receiver): &(RowId, AccountId)| Notice {
        receiver: *receiver,
        from: actor.id,
        kind: NotificationType::Mention.into(),
        activity: i64::from(*mention),
        status: Some(status),
    };
    let notices: Vec<Notice> = mentioned.iter().map(notice).collect();
    notification::notify(cx, tx, &notices).await.map(drop)
}

fn check_mentions(words: &Words, allowed: Option<&[AccountId]>) -> Result<()> {
    let Some(allowed) = allowed else { return Ok(()) };
    let unexpected: Vec<AccountId> =
        words.mentions.iter().copied().filter(|account| !allowed.contains(account)).collect();
    if unexpected.is_empty() { Ok(()) } else { Err(Error::UnexpectedMentions(unexpected)) }
}

/// The status replied to; of a reblog its original.
async fn parent(cx: &Cx, actor: &Actor, id: Option<StatusId>) -> Result<Option<Status>> {
    let Some(id) = id else { return Ok(None) };
    let seen = visibility::status(cx, Some(actor), id).await?;
    store::status::find(&cx.db, seen.proper().id).await?.ok_or(Error::NotFound).map(Some)
}

/// The visibility of `actor`'s statuses when none is chosen: their preference, else private for a locked account and
/// public for others.
#[must_use]
pub fn default_visibility(actor: &Actor) -> Visibility {
    actor.preferences.visibility(actor.locked)
}

/// Who may find the status: as asked, or as its author prefers; of one addressed to few no more than those who reacted.
fn searchability(actor: &Actor, draft: &Draft, visibility: Visibility) -> Searchability {
    let default = actor.preferences.searchability();
    match (draft.searchability.unwrap_or(default), visibility) {
        (Searchability::Limited, _) => Searchability::Limited,
        (_, Visibility::Limited | Visibility::Direct) => Searchability::Direct,
        (asked, _) => asked,
    }
}

#[expect(clippy::too_many_arguments, reason = "everything a status is made of, gathered in one place")]
fn new_status(
    cx: &Cx,
    actor: &Actor,
    draft: &Draft,
    id: StatusId,
    words: Words,
    reach: &Reach,
    parent: Option<&Status>,
    has_media: bool,
) -> Status {
    let thread = parent.filter(|_| !reach.new_conversation);
    let in_reply_to_account_id = thread.map(|parent| match parent.in_reply_to_account_id {
        // A reply to one's own reply still addresses the same person.
        Some(answered) if parent.account_id == actor.id => answered,
        _ => parent.account_id,
    });
    let to_someone_else = in_reply_to_account_id.is_some_and(|account| account != actor.id);
    Status {
        url: Some(cx.urls.status(&actor.username, id)),
        sensitive: draft.sensitive.unwrap_or(actor.preferences.default_sensitive) || !words.spoiler_text.is_empty(),
        text: words.text,
        content: words.content,
        markdown: draft.markdown,
        spoiler_text: words.spoiler_text,
        visibility: reach.visibility,
        limited_scope: reach.scope,
        searchability: searchability(actor, draft, reach.visibility),
        language: compose::language(cx, actor, draft.language.as_deref(), draft.request_language.as_deref()),
        conversation_id: thread.and_then(|parent| parent.conversation_id),
        in_reply_to_id: parent.map(|parent| parent.id),
        in_reply_to_account_id,
        app_id: actor.app,
        quote_policy: draft.quote_approval_policy.unwrap_or(actor.preferences.default_quote_policy),
        listed: reach.visibility.is_listed() && !to_someone_else,
        has_media,
        has_poll: draft.poll.is_some(),
        ..Status::new(id, actor.id, cx.urls.note(&actor.username, id), cx.clock.now())
    }
}
