//! What plugins may ask the server for, during one call.
//!
//! A [`Call`] is the server's half of one call of one plugin: it is what the sandbox takes for its
//! [`Host`](rookery_plugin_host::Host). It knows who asks, what was granted, and holds the transaction that spans the
//! call; the server keeps it, and [`commit`](Call::commit)s when the call ended well. Dropped without that, nothing
//! happened. Every function checks its permission and bounds first, and reads or writes for the whole list at once.
//!
//! The contract is `plugin-sdk/wit/0.1/plugin.wit`, which says what each function costs, needs and answers.

mod ambient;
mod cache;
mod core;
mod emojis;
mod failure;
pub mod feeds;
mod figures;
mod host;
mod http;
mod kv;
mod log;
mod queue;
mod settings;
mod sql;
mod state;
mod streaming;
mod viewer;
mod write;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rookery_plugin_host::exports::lifecycle::Environment;
use serde_json::Value;
use tokio::sync::MappedMutexGuard;

use self::ambient::{Deadline, Effect, Slot};
pub(in crate::plugins) use self::failure::OrFailure;
pub use self::state::Calls;
use self::state::State;
use super::Active;
use super::manifest::{Manifest, Permissions};
use super::origin::Origin;
use crate::app::App;
use crate::error::{Error, Result};
use model::{AccountId, Actor};
use store::Tx;

/// The version of the contract that this server speaks.
pub const API_VERSION: &str = "0.1.0";

/// Who is behind a call.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The person of the request; nobody for hooks, jobs and anonymous requests.
    pub actor: Option<Arc<Actor>>,
    /// What the token of the request allows.
    pub scopes: Vec<String>,
    /// 0 anonymous, 1 user, 2 moderator, 3 admin.
    pub role: u8,
    /// The language of the person or request.
    pub locale: String,
    /// The name of the application.
    pub app: Option<String>,
    /// The request, for logs.
    pub request_id: String,
}

impl Caller {
    /// The server itself: hooks, jobs.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }
}

/// How what a call changes is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each function is a transaction of its own.
    Read,
    /// One transaction from the first change to [`Call::commit`].
    Ambient,
}

/// A transaction that a plugin opened by itself, one at a time.
#[derive(Debug, Default)]
struct Explicit {
    slot: Arc<tokio::sync::Mutex<Slot>>,
    /// Of the newest.
    number: AtomicU32,
    read_only: AtomicBool,
}

/// One call of one plugin, as the server sees it.
#[derive(Debug)]
pub struct Call {
    app: App,
    active: Arc<Active>,
    caller: Caller,
    mode: Mode,
    /// Whose doing it is that this plugin is called, and this plugin.
    origin: Origin,
    state: Arc<State>,
    slot: Arc<tokio::sync::Mutex<Slot>>,
    /// The transaction that the plugin itself opened.
    explicit: Explicit,
    /// Of whichever transaction is open: one at a time.
    deadline: Deadline,
    /// What is told after the commit.
    effects: Mutex<Vec<Effect>>,
    /// Bytes of answers from outside, and those that requests under way may bring.
    fetched: AtomicUsize,
    /// People that were looked up as viewers or authors.
    people: Mutex<HashMap<AccountId, Option<Arc<Actor>>>>,
}

impl Call {
    /// A call of `active` that begins now.
    #[must_use]
    pub fn new(app: &App, active: &Arc<Active>, caller: Caller, mode: Mode) -> Arc<Self> {
        Arc::new(Self::idle(app, active, caller, mode))
    }

    /// A call whose changes are made in `tx`, for `left` at the most, and never committed: the self-test of a candidate.
    /// [`Call::take`] gives the transaction back.
    #[must_use]
    pub fn rehearsal(app: &App, active: &Arc<Active>, tx: Tx, left: Duration) -> Arc<Self> {
        let mut call = Self::idle(app, active, Caller::system(), Mode::Ambient);
        call.slot = Arc::new(tokio::sync::Mutex::new(Slot::bounded(tx, &call.deadline, left)));
        Arc::new(call)
    }

    fn idle(app: &App, active: &Arc<Active>, caller: Caller, mode: Mode) -> Self {
        Self {
            app: app.clone(),
            active: Arc::clone(active),
            caller,
            mode,
            origin: Origin::current().with(active.id),
            state: app.plugins.calls.state(active.id),
            slot: Arc::default(),
            explicit: Explicit::default(),
            deadline: Deadline::default(),
            effects: Mutex::default(),
            fetched: AtomicUsize::new(0),
            people: Mutex::default(),
        }
    }

    /// The transaction that spans this call; begins it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when there is no place for one, or it was open for too long and is undone.
    pub async fn ambient(&self) -> Result<MappedMutexGuard<'_, Tx>> {
        if self.mode != Mode::Ambient {
            return Err(Error::internal("this call has no transaction of its own"));
        }
        Ok(self.opened().await?)
    }

    /// Makes what this call changed happen, and tells of it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the transaction was open for too long, [`Error::Conflict`] when one of its changes
    /// failed, else the database's: nothing happened then.
    pub async fn commit(&self) -> Result<()> {
        let slot = self.slot.lock().await.end();
        slot.commit().await?;
        let effects = std::mem::take(&mut *self.effects.lock().unwrap_or_else(PoisonError::into_inner));
        for effect in effects {
            effect.tell(&self.app);
        }
        Ok(())
    }

    /// Takes the transaction out, if there is one: nothing of this call will be committed by it.
    pub async fn take(&self) -> Option<Tx> {
        self.slot.lock().await.end().into_tx()
    }

    /// The plugin that is called.
    #[must_use]
    pub fn active(&self) -> &Arc<Active> {
        &self.active
    }

    /// Who is behind it.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Whose doing it is, this plugin included: what follows from it has this origin.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    fn granted(&self) -> &Permissions {
        &self.active.manifest.permissions
    }
}

/// What a new instance of a plugin is told of the world around it.
#[must_use]
pub fn environment(app: &App, manifest: &Manifest, generation: u64, config: &Value, test: bool) -> Environment {
    Environment {
        plugin: manifest.plugin.name.clone(),
        version: manifest.plugin.version.clone(),
        host_version: env!("CARGO_PKG_VERSION").to_owned(),
        api_version: API_VERSION.to_owned(),
        instance_domain: app.urls.local_domain.clone(),
        generation,
        config: config.to_string(),
        test,
    }
}
