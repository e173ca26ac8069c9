//! The host functions of the contract, for the duration of one call.
//!
//! A [`Call`] is the server's half of one call of one plugin: the sandbox receives it as its
//! [`Host`](rookery_plugin_host::Host). It knows the caller and the grants, and holds the transaction that spans the
//! call; the server keeps it, and [`commit`](Call::commit)s when the call succeeded. Dropped without a commit, its
//! changes are rolled back. Every function checks permission and bounds first, and reads or writes whole lists.
//!
//! The contract is `plugin-sdk/wit/0.1/plugin.wit`, which documents cost, permission and result of each function.

mod budgets;
mod cache;
mod core;
mod database_time;
mod emojis;
pub mod feeds;
mod host;
mod http;
pub(crate) mod job_kind;
pub mod json;
mod kv;
mod log;
pub mod logs;
mod memory;
mod notification_limit;
mod plugin_metrics;
mod queue;
pub mod records;
mod result_budget;
mod sealing;
mod settings;
mod sql;
mod state;
mod streaming;
mod transaction;
mod viewer;
mod write;

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rookery_plugin_host::Part;
use rookery_plugin_host::exports::lifecycle::Environment;
use serde_json::Value;
use tokio::sync::MappedMutexGuard;

pub(crate) use self::database_time::Timed;
pub use self::state::Calls;
use self::state::State;
pub(crate) use self::streaming::is_person;
use self::transaction::{Deadline, Slot, TimeLimits};
use super::Active;
use crate::Cx;
pub(crate) use crate::failure::{OrFailure, log_cause, transaction_time};
use context::change::Change;
use context::{Error, Origin, Result};
use database::Tx;
use model::{AccountId, Actor};
use plugin_package::manifest::{Manifest, Permissions};

/// The version of the contract that this server implements.
pub const API_VERSION: &str = "0.1.0";

/// On whose behalf a call is made.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The authenticated account; none for hooks, jobs and anonymous requests.
    pub actor: Option<Arc<Actor>>,
    /// The scopes of the request's token.
    pub scopes: Vec<String>,
    /// 0 anonymous, 1 user, 2 moderator, 3 admin.
    pub role: u8,
    /// The language of the account or request.
    pub locale: String,
    /// The name of the application.
    pub app: Option<String>,
    /// The account whose act the call is about, in calls that the server makes by itself.
    pub author: Option<AccountId>,
    /// The request's id, for logs.
    pub request_id: String,
}

impl Caller {
    /// The server itself: for hooks and jobs.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }
}

/// How the changes of a call are grouped in transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each function commits its own transaction.
    Read,
    /// One transaction from the first change to [`Call::commit`].
    Ambient,
}

/// One call of one plugin.
#[derive(Debug)]
pub struct Call {
    cx: Cx,
    active: Arc<Active>,
    caller: Caller,
    mode: Mode,
    /// Whose budget for time in the database it uses.
    part: Part,
    state: Arc<State>,
    slot: Arc<tokio::sync::Mutex<Slot>>,
    /// The deadline of the open transaction: one at a time.
    deadline: Deadline,
    /// Messages to publish when the call is committed.
    messages: Mutex<Vec<Change>>,
    /// Bytes that the answer of the running host function may have ([`result_budget`]).
    allowed: AtomicUsize,
    /// Accounts that were loaded as viewers or authors.
    people: Mutex<HashMap<AccountId, Option<Arc<Actor>>>>,
}

impl Call {
    /// A call of a `part` of `active` that begins now.
    #[must_use]
    pub fn new(cx: &Cx, active: &Arc<Active>, part: Part, caller: Caller, mode: Mode) -> Arc<Self> {
        Arc::new(Self::idle(cx, active, part, caller, mode))
    }

    /// A call whose changes are made in `tx`, for `left` at most, or `contended` while others wait for it, and never
    /// committed: the self-test of a candidate.
    /// [`Call::take`] returns the transaction.
    #[must_use]
    pub fn rehearsal(cx: &Cx, active: &Arc<Active>, tx: Tx, left: Duration, contended: Duration) -> Arc<Self> {
        let mut call = Self::idle(cx, active, Part::Jobs, Caller::system(), Mode::Ambient);
        call.slot = Arc::new(tokio::sync::Mutex::new(Slot::bounded(
            tx,
            &call.deadline,
            TimeLimits { at_most: left, contended },
            None,
        )));
        Arc::new(call)
    }

    fn idle(cx: &Cx, active: &Arc<Active>, part: Part, caller: Caller, mode: Mode) -> Self {
        Self {
            cx: cx.with_origin(cx.origin().with(active.id)),
            active: Arc::clone(active),
            caller,
            mode,
            part,
            state: cx.plugins.calls.state(active.id),
            slot: Arc::default(),
            deadline: Deadline::default(),
            messages: Mutex::default(),
            allowed: AtomicUsize::new(usize::MAX),
            people: Mutex::default(),
        }
    }

    /// The transaction that spans this call, begun if necessary.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when there is no capacity for one, or it timed out and was rolled back.
    pub async fn ambient(&self) -> Result<MappedMutexGuard<'_, Tx>> {
        if self.mode != Mode::Ambient {
            return Err(Error::internal("this call has no transaction"));
        }
        Ok(self.opened().await?)
    }

    /// Commits the changes of this call, and publishes its messages.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the transaction timed out, [`Error::Conflict`] when one of its changes failed, else
    /// the database's: nothing was committed.
    pub async fn commit(&self) -> Result<()> {
        let slot = self.slot.lock().await.end();
        slot.commit().await?;
        let messages = std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner));
        messages.into_iter().for_each(|message| self.cx.live.tell(message));
        Ok(())
    }

    /// Takes the transaction out, if there is one: this call will not commit it.
    pub async fn take(&self) -> Option<Tx> {
        self.slot.lock().await.end().into_tx()
    }

    /// The account on whose behalf the plugin is called, whose failures alone neither open a breaker nor roll an upgrade
    /// back. `None` for strangers and for the server itself: their failures all count.
    pub(crate) fn on_behalf_of(&self) -> Option<AccountId> {
        self.caller.actor.as_ref().map(|actor| actor.id).or(self.caller.author)
    }

    /// The plugin that is called.
    #[must_use]
    pub fn active(&self) -> &Arc<Active> {
        &self.active
    }

    /// On whose behalf it is called.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The origin of changes by this call: this plugin is included.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        self.cx.origin()
    }

    fn granted(&self) -> &Permissions {
        &self.active.manifest.permissions
    }
}

/// The facts about the server that a new instance of a plugin receives.
#[must_use]
pub fn environment(cx: &Cx, manifest: &Manifest, generation: u64, config: &Value, test: bool) -> Environment {
    Environment {
        plugin: manifest.plugin.name.clone(),
        version: manifest.plugin.version.clone(),
        host_version: env!("CARGO_PKG_VERSION").to_owned(),
        api_version: API_VERSION.to_owned(),
        instance_domain: cx.urls.local_domain.clone(),
        generation,
        config: config.to_string(),
        test,
    }
}
