//! The port for extensions: what a use case asks of whatever runs beyond the core.
//!
//! The core knows this trait and nothing above it. The crate `plugins` implements it; a server without the platform
//! has [`NoExtensions`]. Questions that a hot path asks first ("is anything interested?") have synchronous answers, so
//! that a server with no plugin on pays for a look and no more. Nothing here calls a plugin: see `plugins::hooks`.
//!
//! A request asks the extensions of its own [`Cx`], which are [pinned](Extensions::pinned): an answer never mixes
//! two generations of a plugin.

mod members;

use std::any::Any;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

pub use members::{Decorations, Members};

use crate::change::{self, Change};
use crate::messages::Language;
use crate::queue::{Done, Failure};
use crate::{Cx, Origin, Result};
use database::Tx;
use model::notification::NotificationKind;
use model::status::LimitedScope;
use model::{AccountId, Actor, MediaId, PluginId, StatusId, Visibility};
use store::feed::Feed;
use store::job::JobRow;

/// What runs beyond the core, as the core sees it. The default of every method is what a server without extensions does.
#[async_trait]
pub trait Extensions: Any + Debug + Send + Sync {
    /// These extensions for the length of one request or job: what is switched on, off or reloaded meanwhile is not seen,
    /// and one budget covers all hooks that it waits for.
    fn pinned(&self) -> Arc<dyn Extensions>;

    /// Changes whenever other extensions serve: part of the key of what is cached with their members.
    fn generation(&self) -> u64 {
        0
    }

    /// True when some extension listens to changes of `kind`; what is read only to tell it may be left out otherwise.
    fn listens_to(&self, _kind: change::ChangeKind) -> bool {
        false
    }

    /// Writes `changes` to the outbox of every extension that listens, in `tx`: one statement, or none.
    async fn record(&self, _cx: &Cx, _tx: &mut Tx, _changes: &[Change]) -> Result<()> {
        Ok(())
    }

    /// True when some extension is asked about statuses before they are saved.
    fn filters_drafts(&self) -> bool {
        false
    }

    /// True when `word` is a visibility that an extension defines: the status is limited, and the extension says to whom.
    fn owns_visibility(&self, word: &str) -> bool {
        self.visibilities().iter().any(|own| own == word)
    }

    /// The visibilities that extensions define.
    fn visibilities(&self) -> Vec<String> {
        Vec::new()
    }

    /// What people read of a visibility that an extension defines: in `language`, else in English; `None` where it says nothing.
    fn visibility_title(&self, _word: &str, _language: Language) -> Option<String> {
        None
    }

    /// Asks every filter in turn about a status that is about to be saved; no transaction is open. `params` are the
    /// request's parameters that the core does not know, `visibility` is the word that the client sent.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) in the words of the extension that refuses,
    /// [`Error::Plugin`](crate::Error::Plugin) when one whose answer is needed gives none.
    async fn filter_draft(
        &self,
        _cx: &Cx,
        _actor: &Actor,
        draft: PendingStatus,
        _params: &Map<String, Value>,
        _visibility: Option<&str>,
    ) -> Result<PendingStatus> {
        Ok(draft)
    }

    /// The parameters of sign-ups that extensions are asked about.
    fn sign_up_params(&self) -> Vec<String> {
        Vec::new()
    }

    /// What an extension says of somebody who signs up with `params`, of [`Extensions::sign_up_params`]; no transaction is
    /// open.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) when one whose answer is needed gives none.
    async fn judge_sign_up(&self, _cx: &Cx, _params: &Map<String, Value>) -> Result<Option<Admission>> {
        Ok(None)
    }

    /// Has the extension that gave `admission` count the sign-up, in the transaction in which `account` is made next. None,
    /// and nothing counted, when what it said does not hold any more.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) when it gives no answer, [`Error::Unavailable`](crate::Error::Unavailable) when
    /// the database is busy.
    async fn claim_sign_up(
        &self,
        _cx: &Cx,
        _admission: &Admission,
        _params: &Map<String, Value>,
        _account: AccountId,
    ) -> Result<Option<(Tx, Admission)>> {
        Ok(None)
    }

    /// True when some extension adds members to entities of `kind` (`status`, `account`, `notification`,
    /// `notification_group`, `list`), or weight to trends (`trend`).
    fn decorates(&self, _kind: &str) -> bool {
        false
    }

    /// The members that extensions add to `targets`, which are of `kind`, for `viewer`. With `versions`, one for each
    /// target, an answer may come from a cache.
    ///
    /// Of a `notification_group` every sample is a target, side by side and newest first, with the `id` of the newest: what is
    /// said of the first is added to the group.
    ///
    /// A `trend` is a status that may trend: the member `weight` says how much is added to its reblogs and favourites.
    async fn decorate(
        &self,
        _cx: &Cx,
        _viewer: Option<&Actor>,
        _kind: &str,
        _targets: Vec<Target>,
        _versions: &[Versions],
    ) -> Decorations {
        Decorations::default()
    }

    /// Every notification type that extensions declare.
    fn notification_types(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the notification type `name` is like, if an extension declares it.
    fn notification_type(&self, _name: &str) -> Option<NotificationTraits> {
        None
    }

    /// What a push of the notification type `name` says, with `{name}` for its sender's name: in `language`, else in English.
    fn notification_title(&self, _name: &str, _language: Language) -> Option<String> {
        None
    }

    /// True when some extension has a say in notifications of `kind` that `origin` is behind.
    fn judges(&self, _kind: &NotificationKind, _origin: &Origin) -> bool {
        false
    }

    /// What extensions say of each of `notices`, in order; the strictest wins. No transaction is open.
    async fn judge(&self, _cx: &Cx, notices: &[(Notice, Origin)]) -> Vec<Judgement> {
        vec![Judgement::default(); notices.len()]
    }

    /// The values of the search operator `my:` that extensions serve: each is a way in which people mark statuses.
    fn search_words(&self) -> Vec<String> {
        Vec::new()
    }

    /// Those of `statuses` that `viewer` marked in the way that `word` stands for, or in any way that extensions know. One
    /// statement for each extension.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) when the extension that `word` belongs to cannot say. Without a word such an
    /// extension is left out.
    async fn marked(
        &self,
        _cx: &Cx,
        _viewer: AccountId,
        _word: Option<&str>,
        _statuses: &[StatusId],
    ) -> Result<HashSet<StatusId>> {
        Ok(HashSet::new())
    }

    /// The statuses of `page` that `viewer` marked in the way that `word` stands for, or in any, in the order of the page.
    ///
    /// # Errors
    /// As [`Extensions::marked`].
    async fn list_marked(
        &self,
        _cx: &Cx,
        _viewer: AccountId,
        _word: Option<&str>,
        _page: MarkedPage,
    ) -> Result<Vec<StatusId>> {
        Ok(Vec::new())
    }

    /// The exceptions of automatic deletion that extensions offer to people, sorted by their names.
    fn cleanup_exceptions(&self) -> Vec<CleanupException> {
        Vec::new()
    }

    /// Those of `statuses`, which `account` wrote, that an exception keeps from automatic deletion: one of `chosen`, names of
    /// exceptions with the number that was chosen, 1 where none is. No transaction is open.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) when the extension of one of them cannot say: nothing may be deleted then.
    async fn kept_from_cleanup(
        &self,
        _cx: &Cx,
        _account: AccountId,
        _chosen: &BTreeMap<String, i64>,
        _statuses: &[StatusId],
    ) -> Result<HashSet<StatusId>> {
        Ok(HashSet::new())
    }

    /// `json`, which is `document`, with what extensions add to it.
    async fn describe(&self, _cx: &Cx, _document: Document, json: String) -> Described {
        Described { text: json, complete: true }
    }

    /// The generation of the extension that serves the channel of streams `name`, if one does.
    fn channel_generation(&self, _name: &str) -> Option<u64> {
        None
    }

    /// What the channel `name` shows `actor`, who asks for it with `params`.
    ///
    /// # Errors
    /// In the words of the extension that refuses, or [`Error::Plugin`](crate::Error::Plugin) when it gives no answer.
    async fn open_channel(
        &self,
        _cx: &Cx,
        _actor: &Arc<Actor>,
        _name: &str,
        _params: Vec<(String, String)>,
    ) -> Result<Vec<Topic>> {
        Err(crate::Error::NotFound)
    }

    /// The operations that extensions serve: the `paths` of an OpenAPI document.
    fn openapi_paths(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The JSON Schemas of what these operations take and answer, by name: among the `components` of an OpenAPI document.
    fn openapi_entities(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The kinds of extensions' jobs that can run now, after their schedules were queued; empty where none serves.
    async fn job_kinds(&self, _cx: &Cx) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// The OAuth scopes that extensions declare, each once, in the order of the extensions' names. Applications may ask for
    /// them while the extension is on; tokens keep them when it is not.
    fn scopes(&self) -> Vec<DeclaredScope> {
        Vec::new()
    }

    /// As [`Extensions::scopes`], also in a program beside the server, where no extension runs: as the server stored them.
    async fn stored_scopes(&self, _cx: &Cx) -> Result<Vec<DeclaredScope>> {
        Ok(self.scopes())
    }

    /// True when there is a page of settings of extensions.
    fn has_pages(&self) -> bool {
        false
    }

    /// True when `kind` is that of an extension's job.
    fn owns_job(&self, _kind: &str) -> bool {
        false
    }

    /// Runs a job whose kind is one of [`Extensions::job_kinds`].
    async fn run_job(&self, _cx: &Cx, row: JobRow) -> Result<Done, Failure> {
        Err(Failure::Retry(format!("nothing here runs jobs of the kind {}", row.kind)))
    }
}

/// A server without the platform.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExtensions;

impl Extensions for NoExtensions {
    fn pinned(&self) -> Arc<dyn Extensions> {
        Arc::new(Self)
    }
}

/// An OAuth scope that an extension declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredScope {
    /// As applications ask for it: [`model::scope::is_extension`].
    pub name: String,
    /// What it allows, for the person who is asked.
    pub description: String,
}

/// A status that is about to be saved: the contract's draft.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the members of the contract's draft")]
pub struct PendingStatus {
    pub text: String,
    pub spoiler_text: String,
    pub visibility: Visibility,
    pub limited_scope: Option<LimitedScope>,
    pub sensitive: bool,
    pub language: Option<String>,
    pub in_reply_to_id: Option<StatusId>,
    pub media: Vec<MediaId>,
    /// Who gets it without being mentioned.
    pub recipients: Vec<AccountId>,
    /// A reply opens a conversation of its own.
    pub new_conversation: bool,
    /// The status that is edited.
    pub editing: Option<StatusId>,
    /// What extensions keep with it: JSON objects.
    pub extras: Vec<(PluginId, Value)>,
}

/// What an extension says of somebody who signs up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The extension.
    pub plugin: PluginId,
    /// They may sign up although registrations are closed.
    pub opens: bool,
    /// They need neither approval nor a reason.
    pub approves: bool,
    /// Whoever invited them.
    pub invited_by: Option<AccountId>,
}

/// A page of the statuses that somebody marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkedPage {
    /// Statuses after this one.
    pub after: StatusId,
    /// Statuses before this one.
    pub before: StatusId,
    /// Most statuses.
    pub limit: i64,
    /// From the oldest on.
    pub oldest_first: bool,
}

/// An exception of automatic deletion that an extension offers to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanupException {
    /// The extension.
    pub plugin: PluginId,
    /// Its name among those of all extensions: `emoji_reactions.own`.
    pub name: String,
    /// What the person reads, by language, English among them.
    pub titles: BTreeMap<String, String>,
    /// The person gives a number; otherwise it holds or does not.
    pub counts: bool,
    /// It holds for people who did not choose.
    pub default: bool,
}

impl CleanupException {
    /// What a person reads in `language`.
    #[must_use]
    pub fn title(&self, language: Language) -> &str {
        self.titles.get(language.code()).or_else(|| self.titles.get("en")).map_or("", String::as_str)
    }
}

/// What a channel of an extension's shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The statuses that enter a feed of its own.
    Feed(Feed),
    /// Its messages to a topic: see [`Change::TopicMessage`].
    Messages(String),
}

/// An entity of an answer that extensions may add members to.
#[derive(Clone, Debug)]
pub struct Target {
    /// The entity's id; of a sample of a group, that of the group's newest notification.
    pub id: i64,
    /// The account whose it is.
    pub owner: i64,
    /// Of a notification, also as a sample: the status.
    pub subject: Option<i64>,
    /// As above, the row that stands for what happened.
    pub activity: Option<i64>,
    /// As above, its type.
    pub code: String,
}

/// The row versions of a status and of its author: the key under which what was said of it may be said again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Versions {
    /// The status's.
    pub status: i64,
    /// Its author's.
    pub author: i64,
}

/// What a notification type is like.
#[derive(Clone, Copy, Debug)]
pub struct NotificationTraits {
    /// Several of it may share a group.
    pub groupable: bool,
    /// The receiver's policy may hold it back.
    pub filterable: bool,
    /// It may be about the receiver's own doing.
    pub from_self: bool,
}

/// A possible notification.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Who would be notified; ignored unless a local person.
    pub receiver: AccountId,
    /// The account that caused it.
    pub from: AccountId,
    /// The notification type.
    pub kind: NotificationKind,
    /// The id of the row it is about: the favourite, follow, follow request, mention or reblog; the status itself for
    /// `status`, `update` and `poll`. Works as an idempotency key, and `service::notification::retract` finds notifications
    /// by it.
    pub activity: i64,
    /// The status shown; for a reblog the original.
    pub status: Option<StatusId>,
}

/// What extensions say of a notification; the later, the stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// It is made as it is.
    #[default]
    Deliver,
    /// It is made, and nobody is told.
    Silent,
    /// It is not made.
    Drop,
}

/// A document with what extensions added to it.
#[derive(Clone, Debug)]
pub struct Described {
    /// The document.
    pub text: String,
    /// False when an extension gave no answer: its members are missing for now, so the document must not be kept.
    pub complete: bool,
}

/// A document about the server that extensions add to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Document {
    /// `GET /api/v1/instance`
    InstanceV1,
    /// `GET /api/v2/instance`
    InstanceV2,
    /// NodeInfo
    NodeInfo,
}
