//! Publishing a status.
//!
//! Reached from `POST /api/v1/statuses`. Author, mentioned and counters are settled in the transaction; followers get it
//! by a job. Spec: contract rules, section 10.

use std::collections::BTreeSet;

use chrono::Duration;
use serde_json::{Map, Value};

use super::compose::{self, Words};
use crate::app::App;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::jobs::{self, feed::FanOut};
use crate::plugins::hooks::{self, Change, Kind, Pending, Traits};
use crate::service::limits::{self, Family, Spent};
use crate::service::notification::{self, Notice, Notified};
use crate::service::{media, visibility};
use model::NotificationType;
use model::PluginId;
use model::account::Searchability;
use model::status::{LimitedScope, Visibility};
use model::{AccountId, Actor, ConversationId, MediaId, RowId, Status, StatusId};
use store::publish::NewStatus;
use store::{Executor, Tx};

/// How long a repeated idempotency key gets the first answer.
const IDEMPOTENCY_WINDOW: Duration = Duration::hours(1);
/// Longest idempotency key, in bytes; the contract allows any string.
const IDEMPOTENCY_KEY_MAX: usize = 4096;

/// What someone wants to publish, as their client sent it.
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
    /// Whom the client expects to be mentioned; `None`: anyone.
    pub allowed_mentions: Option<Vec<AccountId>>,
    pub idempotency_key: Option<String>,
    /// Parameters that the server itself does not know: plugins may have declared them.
    pub params: Map<String, Value>,
    /// Whom a plugin has it reach by silent mention.
    pub recipients: Vec<AccountId>,
    /// What plugins keep with it: JSON objects.
    pub extras: Vec<(PluginId, Value)>,
}

/// Who may see the new status, and through what audience.
struct Reach {
    visibility: Visibility,
    scope: Option<LimitedScope>,
    /// Who may see it without being mentioned.
    audience: Vec<AccountId>,
}

/// A draft that passed every check and is ready to be written.
pub struct Prepared {
    draft: Draft,
    words: Words,
    parent: Option<Status>,
    reach: Reach,
    spent: Spent,
}

/// A status that was written in a transaction which is not committed yet.
#[derive(Debug)]
#[must_use = "tell of it after the commit"]
pub struct Published {
    /// The status, or the first one published with the same idempotency key.
    pub id: StatusId,
    author: AccountId,
    /// What is to be told of it; `None` when it was there already.
    new: Option<(Spent, Notified)>,
}

impl Published {
    /// Tells the rest of the server. Call it after the commit.
    pub fn tell(self, app: &App) {
        let Some((spent, notified)) = self.new else { return };
        spent.keep();
        app.events.publish(Event::StatusPublished { status: self.id, author: self.author });
        notified.publish(app);
    }
}

/// Publishes `draft` as `actor`; gives the status, or the first one published with the same idempotency key.
///
/// # Errors
/// [`Error::NotFound`] when what it answers is missing or hidden, [`Error::Invalid`] for what is wrong with the draft,
/// [`Error::Refused`] and [`Error::Plugin`] by a plugin's filter, [`Error::UnexpectedMentions`] when it would mention someone the client did not expect, [`Error::RateLimited`] after
/// too many of them.
pub async fn publish(app: &App, actor: &Actor, draft: Draft) -> Result<StatusId> {
    if let Some(first) = repeated(app, &app.db, actor, &draft).await? {
        return Ok(first);
    }
    let prepared = prepare(app, actor, draft).await?;
    let mut tx = app.db.begin().await?;
    let published = write(app, &mut tx, actor, prepared).await?;
    tx.commit().await?;
    let id = published.id;
    published.tell(app);
    Ok(id)
}

/// Checks a draft, without changing anything: everything that can be known before the transaction.
///
/// # Errors
/// As [`publish`].
pub async fn prepare(app: &App, actor: &Actor, draft: Draft) -> Result<Prepared> {
    let spent = limits::family(app, actor.id, Family::Statuses)?;
    let words = compose::words(app, actor, &draft.text, &draft.spoiler_text, !draft.media_ids.is_empty()).await?;
    check_mentions(&words, draft.allowed_mentions.as_deref())?;
    let parent = parent(app, actor, draft.in_reply_to_id).await?;
    let reach = reach(app, actor, &draft, parent.as_ref()).await?;
    let mut prepared = Prepared { draft, words, parent, reach, spent };
    if hooks::has_filters(app) {
        prepared = filtered(app, actor, prepared).await?;
    }
    if prepared.reach.visibility == Visibility::Limited && prepared.reach.scope.is_none() {
        return Err(Error::invalid("visibility: nobody said who is to see this status"));
    }
    Ok(prepared)
}

/// What was prepared, as plugins' filters leave it: checked once more where they changed the words.
async fn filtered(app: &App, actor: &Actor, prepared: Prepared) -> Result<Prepared> {
    let Prepared { mut draft, mut words, parent, mut reach, spent } = prepared;
    let pending = Pending {
        text: words.text.clone(),
        spoiler_text: words.spoiler_text.clone(),
        visibility: reach.visibility,
        limited_scope: reach.scope,
        sensitive: draft.sensitive.unwrap_or(actor.preferences.default_sensitive),
        language: compose::language(app, actor, draft.language.as_deref(), draft.request_language.as_deref()),
        in_reply_to_id: draft.in_reply_to_id,
        media: draft.media_ids.clone(),
        recipients: reach.audience.iter().copied().chain(std::mem::take(&mut draft.recipients)).collect(),
        editing: None,
        extras: std::mem::take(&mut draft.extras),
    };
    let before = (pending.sensitive, pending.language.clone());
    let pending = hooks::filter(app, actor, pending, &draft.params, draft.visibility.as_deref()).await?;
    if (&pending.text, &pending.spoiler_text) != (&words.text, &words.spoiler_text) {
        let has_media = !draft.media_ids.is_empty();
        words = compose::words(app, actor, &pending.text, &pending.spoiler_text, has_media).await?;
        check_mentions(&words, draft.allowed_mentions.as_deref())?;
    }
    if pending.sensitive != before.0 {
        draft.sensitive = Some(pending.sensitive);
    }
    if pending.language != before.1 {
        draft.language = pending.language;
    }
    draft.extras = pending.extras;
    reach = Reach { visibility: pending.visibility, scope: pending.limited_scope, audience: pending.recipients };
    if reach.visibility != Visibility::Limited {
        reach.scope = None;
    }
    Ok(Prepared { draft, words, parent, reach, spent })
}

/// Writes what was prepared.
///
/// # Errors
/// [`Error::Invalid`] for media that cannot be attached (any more).
pub async fn write(app: &App, tx: &mut Tx, actor: &Actor, prepared: Prepared) -> Result<Published> {
    let Prepared { draft, words, parent, reach, spent } = prepared;
    let media = media::attachable(app, tx, actor, None, &draft.media_ids).await?;
    if let Some(first) = repeated(app, &mut *tx, actor, &draft).await? {
        return Ok(Published { id: first, author: actor.id, new: None });
    }
    let id: StatusId = app.ids.next();
    let (mentions, tags) = (words.mentions.clone(), words.tags.clone());
    let new = new_status(app, actor, &draft, id, words, &reach, parent.as_ref(), !media.is_empty());
    let change = Change::status(Kind::StatusCreated, id, actor.id, Traits::from(&new));
    insert(app, tx, actor, new, parent.as_ref()).await?;
    let media: Vec<MediaId> = media.iter().map(|media| media.id).collect();
    media::attach(app, tx, id, &media).await?;
    compose::save_tags(app, tx, id, actor.id, &tags).await?;
    let mentioned = compose::save_mentions(app, tx, id, &mentions, false).await?;
    let audience = reach.audience.into_iter().chain(draft.recipients).filter(|account| !mentions.contains(account));
    // Each once.
    let audience: Vec<AccountId> = audience.collect::<BTreeSet<AccountId>>().into_iter().collect();
    compose::save_mentions(app, tx, id, &audience, true).await?;
    for (plugin, value) in draft.extras {
        store::record::upsert_kept(tx, id, plugin, value).await?;
    }
    if let Some(key) = &draft.idempotency_key {
        let (now, since) = (app.clock.now(), app.clock.now() - IDEMPOTENCY_WINDOW);
        store::publish::insert_idempotent(tx, actor.id, key, id, now, since).await?;
    }
    let notified = notify_mentioned(app, tx, actor, id, &mentioned).await?;
    jobs::enqueue(app, tx, &FanOut { status: id }).await?;
    hooks::record(app, tx, change).await?;
    Ok(Published { id, author: actor.id, new: Some((spent, notified)) })
}

/// The status that was published first with the idempotency key of `draft`.
///
/// # Errors
/// [`Error::Invalid`] for a key that is too long.
pub async fn repeated(app: &App, db: impl Executor, actor: &Actor, draft: &Draft) -> Result<Option<StatusId>> {
    let Some(key) = &draft.idempotency_key else { return Ok(None) };
    if key.len() > IDEMPOTENCY_KEY_MAX {
        return Err(Error::invalid(format!("Idempotency-Key is longer than {IDEMPOTENCY_KEY_MAX} bytes")));
    }
    let since = app.clock.now() - IDEMPOTENCY_WINDOW;
    Ok(store::publish::find_idempotent(db, actor.id, key, since).await?)
}

/// Tells the mentioned, in the transaction that mentions them.
pub(super) async fn notify_mentioned(
    app: &App,
    tx: &mut Tx,
    actor: &Actor,
    status: StatusId,
    mentioned: &[(RowId, AccountId)],
) -> Result<Notified> {
    let notice = |(mention, receiver): &(RowId, AccountId)| Notice {
        receiver: *receiver,
        from: actor.id,
        kind: NotificationType::Mention.into(),
        activity: i64::from(*mention),
        status: Some(status),
    };
    let notices: Vec<Notice> = mentioned.iter().map(notice).collect();
    notification::notify(app, tx, &notices).await
}

fn check_mentions(words: &Words, allowed: Option<&[AccountId]>) -> Result<()> {
    let Some(allowed) = allowed else { return Ok(()) };
    let unexpected: Vec<AccountId> =
        words.mentions.iter().copied().filter(|account| !allowed.contains(account)).collect();
    if unexpected.is_empty() { Ok(()) } else { Err(Error::UnexpectedMentions(unexpected)) }
}

/// What is answered: the original, when a reblog is answered.
async fn parent(app: &App, actor: &Actor, id: Option<StatusId>) -> Result<Option<Status>> {
    let Some(id) = id else { return Ok(None) };
    let seen = visibility::status(app, Some(actor), id).await?;
    store::status::find(&app.db, seen.proper().id).await?.ok_or(Error::NotFound).map(Some)
}

async fn reach(app: &App, actor: &Actor, draft: &Draft, parent: Option<&Status>) -> Result<Reach> {
    let plain = |visibility| Reach { visibility, scope: None, audience: Vec::new() };
    let limited = |scope, audience| Reach { visibility: Visibility::Limited, scope: Some(scope), audience };
    let reach = match draft.visibility.as_deref() {
        None | Some("") => plain(default_visibility(actor)),
        Some("limited") if draft.recipients.is_empty() => limited(LimitedScope::Personal, Vec::new()),
        Some("limited") => limited(LimitedScope::Circle, Vec::new()),
        Some("mutual") => limited(LimitedScope::Mutual, store::publish::mutuals(&app.db, actor.id).await?),
        Some("reply") => limited(LimitedScope::Reply, audience_of(app, parent).await?),
        Some(word) if hooks::has_visibility(app, word) => {
            Reach { visibility: Visibility::Limited, scope: None, audience: Vec::new() }
        }
        Some("circle") => return Err(Error::invalid("visibility: circles are not switched on here")),
        Some(word) => plain(word.parse().map_err(|expected| Error::invalid(format!("visibility: {expected}")))?),
    };
    Ok(if actor.limited && reach.visibility.is_listed() { plain(Visibility::Unlisted) } else { reach })
}

/// The visibility of `actor`'s statuses when they choose none: private for a locked account, else public.
#[must_use]
pub fn default_visibility(actor: &Actor) -> Visibility {
    let fallback = if actor.locked { Visibility::Private } else { Visibility::Public };
    actor.preferences.default_visibility.unwrap_or(fallback)
}

/// Whoever could see the limited status that is answered, and its author.
async fn audience_of(app: &App, parent: Option<&Status>) -> Result<Vec<AccountId>> {
    let parent = parent.filter(|parent| parent.visibility == Visibility::Limited);
    let parent = parent.ok_or_else(|| Error::invalid("visibility: reply answers a limited status"))?;
    let mentions = store::publish::list_mentions(&app.db, parent.id).await?;
    Ok(mentions.into_iter().map(|(_, account, _)| account).chain([parent.account_id]).collect())
}

#[expect(clippy::too_many_arguments, reason = "everything a status is made of, gathered in one place")]
fn new_status(
    app: &App,
    actor: &Actor,
    draft: &Draft,
    id: StatusId,
    words: Words,
    reach: &Reach,
    parent: Option<&Status>,
    has_media: bool,
) -> NewStatus {
    let in_reply_to_account_id = parent.map(|parent| match parent.in_reply_to_account_id {
        // Going on with one's own answer still answers the same person.
        Some(answered) if parent.account_id == actor.id => answered,
        _ => parent.account_id,
    });
    let to_someone_else = in_reply_to_account_id.is_some_and(|account| account != actor.id);
    NewStatus {
        id,
        account_id: actor.id,
        uri: app.urls.note(&actor.username, id),
        url: app.urls.status(&actor.username, id),
        sensitive: draft.sensitive.unwrap_or(actor.preferences.default_sensitive) || !words.spoiler_text.is_empty(),
        text: words.text,
        content: words.content,
        spoiler_text: words.spoiler_text,
        visibility: reach.visibility,
        limited_scope: reach.scope,
        searchability: draft.searchability.unwrap_or(Searchability::Direct),
        language: compose::language(app, actor, draft.language.as_deref(), draft.request_language.as_deref()),
        conversation_id: parent.and_then(|parent| parent.conversation_id),
        in_reply_to_id: parent.map(|parent| parent.id),
        in_reply_to_account_id,
        reblog_of_id: None,
        app_id: actor.app,
        listed: reach.visibility.is_listed() && !to_someone_else,
        has_media,
        now: app.clock.now(),
    }
}

/// Inserts the status, its thread, its author's own feed entry, and counts it.
async fn insert(app: &App, tx: &mut Tx, actor: &Actor, mut new: NewStatus, parent: Option<&Status>) -> Result<()> {
    let (id, visibility, now) = (new.id, new.visibility, new.now);
    if new.conversation_id.is_none() {
        let conversation: ConversationId = app.ids.next();
        store::publish::insert_conversation(tx, conversation, actor.id, now).await?;
        new.conversation_id = Some(conversation);
    }
    store::publish::insert(tx, new).await?;
    if visibility != Visibility::Direct {
        store::publish::count_for_author(tx, actor.id, 1, Some(now)).await?;
    }
    if let Some(parent) = parent
        && visibility.is_anonymous()
    {
        store::status::add_counts(tx, parent.id, 1, 0, 0).await?;
    }
    if actor.feed_live {
        store::feed::insert(tx, actor.id, id, actor.id, id).await?;
    }
    Ok(())
}
