//! Statuses of accounts of other servers: storing new ones and deleting them.

use chrono::TimeDelta;

use super::account::clip_bytes;
use super::approval::{self, Decided};
use super::emoji::{self, RemoteEmoji};
use super::media::{self, RemoteMedia};
use super::poll::{self, RemotePoll};
use crate::feed::replies::AT_ONCE;
use crate::page::card;
use crate::rules::word;
use crate::status::consent;
use crate::status::new_status::{NewStatus, Parts};
use crate::status::quoting::Claim;
use crate::status::{self, mentions, reference};
use context::Cx;
use context::budget::Allowance;
use context::change::{self, Change};
use context::error::{Error, Result};
use context::queue::{self, AttachCard, FillParent, FillReplies, PublishReply, VerifyQuote};
use database::Tx;
use model::account::Searchability;
use model::clock::Ids;
use model::domain_policy::Flags;
use model::status::LimitedScope;
use model::{AccountId, Actor, Approval, ConversationId, InteractionPolicy, Status, StatusId, Time, Visibility};
use store::remote_thread::Waiting;

/// Longest text that is kept, in bytes of HTML.
const CONTENT_MAX: usize = 64 * 1024;
/// Longest content warning that is kept, in bytes.
const SPOILER_MAX: usize = 16 * 1024;
/// Most hashtags and mentions, and most accounts of an audience.
const TAGS_MAX: usize = 100;
const MENTIONS_MAX: usize = 1_000;
/// Most mentioned accounts of this server that are notified without following the author; the others may only see it.
pub(super) const STRANGERS_MAX: usize = 100;
/// How far ahead the clock of another server may be.
pub const AHEAD_MAX: TimeDelta = TimeDelta::hours(1);
/// How late a status may arrive and still get an id of its arrival, so that nobody who polls misses it.
const PUNCTUAL: TimeDelta = TimeDelta::minutes(15);
/// How old a status may be that enters home feeds although nobody sent it here.
const RECENT: TimeDelta = TimeDelta::hours(6);
/// How long a reply waits for its parent before it is published without it.
const PARENT_PATIENCE: TimeDelta = TimeDelta::seconds(5);
/// Most waiting replies that a new status receives.
const WAITING_MAX: i64 = 100;
/// Most unknown actors that are fetched for one ancestor or quoted status.
const STRANGERS_ABOVE: usize = 5;
/// Most ancestors that are fetched for one reply.
pub const DEPTH_MAX: u32 = 30;
/// How often an id of the past is drawn.
const DRAWS: usize = 8;

/// What the server of its author says of a status.
#[derive(Clone, Debug)]
pub struct RemoteStatus {
    pub uri: String,
    pub url: Option<String>,
    pub author: AccountId,
    /// HTML, as received.
    pub content: String,
    /// Text, as received.
    pub spoiler_text: String,
    pub sensitive: bool,
    pub language: Option<String>,
    pub visibility: Visibility,
    pub limited_scope: Option<LimitedScope>,
    pub searchability: Searchability,
    /// The status that it replies to, if it is known here.
    pub in_reply_to: Option<StatusId>,
    /// The URI of the status that it replies to, if that is not known here.
    pub missing_parent: Option<String>,
    /// The collection of replies to it.
    pub replies: Option<String>,
    /// The number of replies that led to it, if it was fetched as their parent.
    pub depth: u32,
    /// The URI of its thread.
    pub conversation: Option<String>,
    /// Accounts that its text mentions.
    pub mentions: Vec<AccountId>,
    /// URIs of mentioned actors that are not known here.
    pub unknown_mentions: Vec<String>,
    /// URIs of actors that it addresses otherwise and that are not known here.
    pub unknown_audience: Vec<String>,
    /// Further accounts that may see it.
    pub audience: Vec<AccountId>,
    /// Hashtags: normalised, and as written.
    pub tags: Vec<(String, String)>,
    pub media: Vec<RemoteMedia>,
    pub poll: Option<RemotePoll>,
    /// Custom emojis of its texts.
    pub emojis: Vec<RemoteEmoji>,
    /// The addresses of statuses that it refers to, and whether it quotes them. Unknown ones are ignored.
    pub references: Vec<text::Reference>,
    /// The authorization of its quote that was verified.
    pub quote_authorization: Option<String>,
    /// The authorization of its reply that was verified.
    pub reply_authorization: Option<String>,
    /// The authorization of its quote could not be fetched, and is to be tried again.
    pub verify_later: bool,
    /// Who may interact with it.
    pub interaction_policy: InteractionPolicy,
    pub created_at: Time,
    /// When it was last edited.
    pub edited_at: Option<Time>,
    /// It was sent here, not fetched.
    pub delivered: bool,
}

impl RemoteStatus {
    /// True when it addresses actors that are not known here.
    pub(super) fn addresses_strangers(&self) -> bool {
        !self.unknown_mentions.is_empty() || !self.unknown_audience.is_empty()
    }

    /// What its server states about its quote.
    pub(super) fn claim(&self) -> Claim<'_> {
        Claim { uri: &self.uri, authorization: self.quote_authorization.as_deref() }
    }

    /// Leaves out what the policy about the author's domain rejects.
    pub(super) fn obey(&mut self, flags: Flags) {
        if flags.reject_media {
            self.media.clear();
        }
        if flags.reject_hashtag {
            self.tags.clear();
        }
    }

    /// The hashtags that are kept.
    pub(super) fn tags(&self) -> Vec<(String, String)> {
        self.tags.iter().take(TAGS_MAX).cloned().collect()
    }
}

/// Stores a status; an existing one with the same URI stays as it is, but may be seen by `shown_to` too. Returns its id.
///
/// # Errors
/// [`Error::NotFound`] when the author is gone or suspended, [`Error::Gone`] when the status was deleted before,
/// [`Error::Forbidden`] when the URI is of another account's status, [`Error::Invalid`] for a text that is not allowed
/// here.
#[model::use_case]
pub async fn create(cx: &Cx, mut new: RemoteStatus, shown_to: &[AccountId]) -> Result<StatusId> {
    moderate(cx, &mut new)?;
    new.obey(super::flags(cx, new.author).await?);
    let actor = super::actor(cx, new.author).await?;
    let parent = match new.in_reply_to {
        Some(parent) => store::status::find(&cx.db, parent).await?,
        None => None,
    };
    new.in_reply_to = parent.as_ref().map(|parent| parent.id);
    let Decided { approval: hidden, request } = match &parent {
        Some(parent) => approval::reply(cx, &actor, parent, &new.uri, new.reply_authorization.as_deref()).await?,
        None => Decided::default(),
    };
    let id = new_id(cx, new.created_at).await?;
    emoji::save_of(cx, actor.id, &new.emojis).await?;
    let mut references =
        reference::resolve_remote(cx, &actor, &new.references, new.visibility, None, new.claim()).await?;
    let mut tx = cx.db.begin().await?;
    // Serialises the creation and the deletion of one author's statuses.
    store::account::lock(&mut tx, &[actor.id]).await?;
    if store::tombstone::exists(&mut tx, &new.uri, actor.id).await? {
        return Err(Error::Gone);
    }
    if let Some(known) = store::status::find_by_uri(&mut tx, &new.uri).await? {
        if store::status::find(&mut tx, known).await?.is_some_and(|status| status.account_id != actor.id) {
            return Err(Error::forbidden("the status is someone else's"));
        }
        mentions::show_to(cx, &mut tx, known, shown_to).await?;
        tx.commit().await?;
        return Ok(known);
    }
    let waiting = store::remote_thread::list_waiting(&mut tx, &new.uri, WAITING_MAX).await?;
    let conversation = match thread(cx, &mut tx, &new, parent.as_ref()).await? {
        None => waiting.iter().find_map(|reply| reply.conversation_id),
        found => found,
    };
    reference::lock_for_new(&mut tx, actor.id, new.in_reply_to, &mut references).await?;
    let row = Status { approval: hidden, ..row(cx, &new, id, conversation, references.shows_quote()) };
    let stored = NewStatus { author: &actor, row, thread: parent.as_ref(), references, tags: new.tags() };
    let row = stored.write(cx, &mut tx, RemoteParts(&new)).await?;
    adopt(&mut tx, id, &waiting).await?;
    match request {
        Some(request) => consent::ask(cx, &mut tx, actor.id, |_| new.uri.clone(), id, request).await?,
        None if hidden == Some(Approval::Pending) => consent::came(cx, &mut tx, &row).await?,
        None => {}
    }
    let publishes = hidden.is_none() && (new.delivered || cx.clock.now() - row.created_at < RECENT);
    if new.missing_parent.is_some() || new.replies.is_some() {
        let (parent, replies) = (new.missing_parent.as_deref(), new.replies.as_deref());
        store::remote_thread::insert(&mut tx, id, parent, replies).await?;
    }
    if new.verify_later {
        queue::enqueue(cx, &mut tx, &VerifyQuote { status: id }).await?;
    }
    if card::link_in_html(cx, &row.content).is_some() {
        queue::enqueue(cx, &mut tx, &AttachCard { status: id }).await?;
    }
    let waits = new.missing_parent.is_some() && new.depth < DEPTH_MAX;
    let seeks = waits || new.addresses_strangers();
    // The chain of ancestors goes on with the whole budget.
    let hand_on = || if waits && new.depth > 0 { cx.hand_on_all() } else { cx.hand_on() };
    match seeks.then(hand_on).flatten() {
        Some(allowance) => {
            seek(cx, &mut tx, id, &new, allowance).await?;
            if publishes && !waits {
                publish(cx, &mut tx, &row).await?;
            } else if publishes {
                let later = cx.clock.now() + PARENT_PATIENCE;
                queue::enqueue_at(cx, &mut tx, &PublishReply { status: id }, later).await?;
            }
        }
        None if publishes => publish(cx, &mut tx, &row).await?,
        None => {}
    }
    if new.replies.is_some()
        && !new.delivered
        && new.depth == 0
        && let Some(allowance) = cx.hand_on()
    {
        queue::enqueue(cx, &mut tx, &FillReplies { status: id, most: AT_ONCE, allowance: Some(allowance) }).await?;
    }
    tx.commit().await?;
    Ok(id)
}

/// Queues the search for the parent and the mentioned actors of `new`, which is the status `id`.
pub(super) async fn seek(cx: &Cx, tx: &mut Tx, id: StatusId, new: &RemoteStatus, allowance: Allowance) -> Result<()> {
    let most = if new.depth > 0 { STRANGERS_ABOVE } else { usize::MAX };
    let few = |actors: &[String]| actors.iter().take(most).cloned().collect();
    let job = FillParent {
        status: id,
        depth: new.depth,
        attempts: 0,
        publishes: false,
        mentions: few(&new.unknown_mentions),
        audience: few(&new.unknown_audience),
        allowance: Some(allowance),
    };
    queue::enqueue(cx, tx, &job).await
}

/// Adds accounts that became known after the status `id`, which mentions them, or addresses them without a mention
/// (`audience`).
#[model::use_case]
pub async fn add_mentions(
    cx: &Cx,
    tx: &mut Tx,
    id: StatusId,
    mentioned: &[AccountId],
    audience: &[AccountId],
) -> Result<()> {
    let any = !mentioned.is_empty() || !audience.is_empty();
    if any && store::status::lock(tx, id).await?.is_some() {
        mentions::save(cx, tx, id, mentioned, false).await?;
        mentions::save(cx, tx, id, audience, true).await?;
        store::status::bump_all(tx, &[id]).await?;
    }
    Ok(())
}

/// Applies the word lists of the staff: refuses the status, or makes it sensitive.
///
/// # Errors
/// [`Error::Invalid`] for a text that is not allowed here.
pub(super) fn moderate(cx: &Cx, new: &mut RemoteStatus) -> Result<()> {
    let options = new.poll.iter().flat_map(|poll| &poll.options).map(|(title, _)| text::plain(title));
    let texts: Vec<String> = [text::plain(clip_bytes(&new.content, CONTENT_MAX)), spoiler(&new.spoiler_text)]
        .into_iter()
        .chain(options)
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    if let Some(warning) = word::moderate(cx, &texts)? {
        new.sensitive = true;
        if new.spoiler_text.is_empty() {
            new.spoiler_text = warning;
        }
    }
    Ok(())
}

/// Makes replies that came before the status `id` replies to it.
async fn adopt(tx: &mut Tx, id: StatusId, waiting: &[Waiting]) -> Result<()> {
    if waiting.is_empty() {
        return Ok(());
    }
    let parent = store::status::find(&mut *tx, id).await?.ok_or(Error::NotFound)?;
    for reply in waiting {
        store::remote_thread::adopt(tx, reply.id, &parent).await?;
    }
    let counted = waiting.iter().filter(|reply| reply.visibility.is_anonymous()).count();
    Ok(store::status::add_counts(tx, id, i64::try_from(counted).unwrap_or(0), 0, 0).await?)
}

/// Makes replies that wait for the status `uri` replies to it: `id`, which is here now.
#[model::use_case]
pub async fn adopt_waiting(tx: &mut Tx, id: StatusId, uri: &str) -> Result<()> {
    let waiting = store::remote_thread::list_waiting(&mut *tx, uri, WAITING_MAX).await?;
    adopt(tx, id, &waiting).await
}

async fn publish(cx: &Cx, tx: &mut Tx, row: &Status) -> Result<()> {
    let published = Change::StatusPublished { status: row.id, author: row.account_id, traits: row.into() };
    change::record(cx, tx, published).await
}

/// Publishes a reply that waited for its parent; nothing when it was deleted meanwhile.
#[model::use_case]
pub async fn publish_late(cx: &Cx, tx: &mut Tx, id: StatusId) -> Result<()> {
    match store::status::lock(tx, id).await? {
        Some(row) => publish(cx, tx, &row).await,
        None => Ok(()),
    }
}

/// Deletes the status `uri` of a remote account, and remembers that: it cannot be created later. False when it was not
/// known.
#[model::use_case]
pub async fn delete(cx: &Cx, author: AccountId, uri: &str) -> Result<bool> {
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[author]).await?;
    let found = store::remote::find_status(&mut tx, uri).await?;
    if found.as_ref().is_some_and(|status| status.account_id != author) {
        return Err(Error::forbidden("the status is someone else's"));
    }
    match &found {
        Some(status) => {
            store::tombstone::replace(&mut tx, uri, author, cx.clock.now()).await?;
            status::remove(cx, &mut tx, author, status.id).await?;
        }
        None => store::tombstone::insert(&mut tx, uri, author, cx.clock.now()).await?,
    }
    tx.commit().await?;
    Ok(found.is_some())
}

/// An id for a status of this time: the next one for a recent status, so that clients which poll do not miss it, otherwise
/// an unused one of that time, so that it does not appear among newer ones.
pub(super) async fn new_id(cx: &Cx, created_at: Time) -> Result<StatusId> {
    if cx.clock.now() - created_at < PUNCTUAL {
        return Ok(cx.ids.next());
    }
    for _ in 0..DRAWS {
        let mut low = [0; 2];
        crypto::fill_random(&mut low);
        let id = StatusId::from(Ids::first_at(created_at).max(0) | i64::from(u16::from_le_bytes(low)));
        if store::status::find(&cx.db, id).await?.is_none() {
            return Ok(id);
        }
    }
    Err(Error::Unavailable("no id is free at this time".into()))
}

/// The conversation of a status: its parent's, the one that its server names, or a new one.
async fn thread(cx: &Cx, tx: &mut Tx, new: &RemoteStatus, parent: Option<&Status>) -> Result<Option<ConversationId>> {
    if let Some(conversation) = parent.and_then(|parent| parent.conversation_id) {
        return Ok(Some(conversation));
    }
    let Some(uri) = &new.conversation else { return Ok(None) };
    if let Some(known) = store::remote::find_conversation(&mut *tx, uri).await? {
        return Ok(Some(known));
    }
    store::remote::insert_conversation(tx, cx.ids.next(), uri, new.created_at).await?;
    Ok(store::remote::find_conversation(&mut *tx, uri).await?)
}

/// The row of the status `id`, without what [`NewStatus`] fills in.
fn row(cx: &Cx, new: &RemoteStatus, id: StatusId, conversation: Option<ConversationId>, quotes: bool) -> Status {
    Status {
        url: new.url.clone(),
        local: false,
        content: content(&new.content, quotes),
        spoiler_text: spoiler(&new.spoiler_text),
        sensitive: new.sensitive || !new.spoiler_text.is_empty(),
        visibility: new.visibility,
        limited_scope: new.limited_scope,
        searchability: new.searchability,
        language: new.language.clone(),
        conversation_id: conversation,
        in_reply_to_id: new.in_reply_to,
        has_media: !new.media.is_empty(),
        has_poll: new.poll.is_some(),
        interaction_policy: new.interaction_policy,
        edited_at: new.edited_at.filter(|edited| *edited > new.created_at && *edited <= cx.clock.now() + AHEAD_MAX),
        ..Status::new(id, new.author, new.uri.clone(), new.created_at.min(cx.clock.now()))
    }
}

/// The parts of a status of another server.
struct RemoteParts<'a>(&'a RemoteStatus);

impl Parts for RemoteParts<'_> {
    async fn attach(&mut self, cx: &Cx, tx: &mut Tx, new: &Status) -> Result<()> {
        media::insert(cx, tx, new.account_id, new.id, &self.0.media).await?;
        match &self.0.poll {
            Some(poll) => poll::insert(cx, tx, new.id, poll).await,
            None => Ok(()),
        }
    }

    async fn address(self, cx: &Cx, tx: &mut Tx, author: &Actor, new: &Status) -> Result<Vec<AccountId>> {
        address(cx, tx, author, new, self.0).await
    }
}

/// The text as it is shown. A status that `quotes` another needs no link to it.
pub(super) fn content(received: &str, quotes: bool) -> String {
    let sanitise = if quotes { text::sanitise_quoting } else { text::sanitise };
    sanitise(clip_bytes(received, CONTENT_MAX)).replace('\0', "")
}

/// The content warning as it is shown: plain text.
pub(super) fn spoiler(received: &str) -> String {
    text::plain(clip_bytes(received, SPOILER_MAX)).replace('\0', "")
}

/// Stores the mentions and the audience, and notifies the mentioned accounts of this server. Returns all of them.
async fn address(cx: &Cx, tx: &mut Tx, actor: &Actor, row: &Status, new: &RemoteStatus) -> Result<Vec<AccountId>> {
    let id = row.id;
    let loud: Vec<AccountId> = new.mentions.iter().take(MENTIONS_MAX).copied().collect();
    let silent = new.audience.iter().filter(|account| !loud.contains(account)).take(MENTIONS_MAX).copied();
    let silent: Vec<AccountId> = silent.collect();
    let mentioned = mentions::save(cx, tx, id, &loud, false).await?;
    mentions::save(cx, tx, id, &silent, true).await?;
    if row.approval.is_none() {
        let notified = mentions::notifiable(tx, actor.id, mentioned, STRANGERS_MAX).await?;
        mentions::notify(cx, tx, actor, id, &notified).await?;
    }
    Ok([loud, silent].concat())
}
