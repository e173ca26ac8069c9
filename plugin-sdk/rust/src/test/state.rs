//! The state of the fake server: its data, and a record of the plugin's actions.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value};

use super::calls::Calls;
use super::sql::Database;
use crate::contract::core::Emoji;
use crate::contract::core_write::{NewNotification, NewStatus};
use crate::contract::feeds::Feed;
use crate::contract::http_client::{HttpError, Request, Response};
use crate::contract::queue::Job;
use crate::contract::streaming::Message;
use crate::contract::types::{Account, Caller, Status};
use crate::{Package, Plugin};

/// 2024-01-01 12:00:00 UTC.
const NOON: i64 = 1_704_110_400_000;

thread_local! {
    static CURRENT: RefCell<Option<Rc<RefCell<State>>>> = const { RefCell::new(None) };
}

/// The data of the fake server and the effects of the plugin. Tests read and change it through [`Fake::state`].
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "named as in the contract")]
pub struct State {
    pub now: i64,
    /// Milliseconds that every call has taken so far.
    pub elapsed: u64,
    pub accounts: Vec<Account>,
    /// Access tokens and their accounts: each local account has one with the account's id, and the tokens of
    /// [`Fake::token`].
    pub tokens: BTreeMap<i64, i64>,
    pub statuses: Vec<Status>,
    /// The counters of statuses by their ids; zero for other statuses.
    pub status_counts: BTreeMap<i64, StatusCounts>,
    /// Names of the applications that statuses were posted with, by the ids of statuses.
    pub status_applications: BTreeMap<i64, String>,
    /// Accounts that want to be discovered: the column `discoverable` of the view `accounts`.
    pub discoverable: BTreeSet<i64>,
    /// Pairs of follower and followed.
    pub follows: BTreeSet<(i64, i64)>,
    /// When a pair was made by [`Fake::follow`], in milliseconds.
    pub followed_at: BTreeMap<(i64, i64), i64>,
    /// By which the ids of those follows differ, in the view `follows`: a pair that is made again has another.
    pub follow_numbers: BTreeMap<(i64, i64), i64>,
    /// Pairs of blocking and blocked.
    pub blocks: BTreeSet<(i64, i64)>,
    pub mutes: BTreeSet<(i64, i64)>,
    pub emojis: Vec<Emoji>,
    /// Accounts and the images (`avatar`, `header`) that their profiles have.
    pub profile_images: BTreeSet<(i64, String)>,
    pub config: Map<String, Value>,
    /// Grows with each [`Fake::configure`].
    pub config_version: u64,
    pub secrets: BTreeMap<String, String>,
    pub settings: BTreeMap<i64, Map<String, Value>>,
    /// Defaults of settings, from the schema.
    pub setting_defaults: Map<String, Value>,
    pub kv: BTreeMap<String, (Vec<u8>, Option<i64>)>,
    pub cache: BTreeMap<String, Vec<u8>>,
    pub feeds: Vec<(Feed, BTreeSet<i64>)>,
    pub bookmarks: BTreeSet<(i64, i64)>,
    pub notifications: Vec<NewNotification>,
    pub touched: Vec<(String, i64)>,
    pub created: Vec<NewStatus>,
    pub deleted: Vec<i64>,
    pub published: Vec<Message>,
    pub jobs: Vec<Job>,
    /// Level and message of each line.
    pub logs: Vec<(String, String)>,
    pub counters: BTreeMap<String, u64>,
    /// The HTTP requests that the plugin sent; `web` has the response of each URL.
    pub fetched: Vec<Request>,
    pub web: BTreeMap<String, Result<Response, HttpError>>,
    /// Number of calls of each host function: `sql.query`, `core.statuses`.
    pub calls: BTreeMap<&'static str, u32>,
    pub(super) caller: Option<Caller>,
    pub(super) next_id: i64,
    pub(super) seed: u64,
    pub(super) database: Database,
}

/// The counters of a status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "columns of the view statuses")]
pub struct StatusCounts {
    pub replies: u32,
    pub reblogs: u32,
    pub favourites: u32,
}

impl State {
    /// The feed's statuses, newest first.
    #[must_use]
    pub fn feed(&self, feed: &Feed) -> Vec<i64> {
        let ids = self.feeds.iter().find(|(known, _)| known == feed).map(|(_, ids)| ids);
        ids.into_iter().flatten().rev().copied().collect()
    }

    pub(super) fn feed_mut(&mut self, feed: &Feed) -> &mut BTreeSet<i64> {
        let place = self.feeds.iter().position(|(known, _)| known == feed).unwrap_or_else(|| {
            self.feeds.push((feed.clone(), BTreeSet::new()));
            self.feeds.len() - 1
        });
        &mut self.feeds[place].1
    }

    pub(super) fn next_id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id
    }
}

/// The fake server of this thread, until this is dropped.
#[derive(Debug)]
pub struct Fake {
    state: Rc<RefCell<State>>,
    pub(super) calls: Calls,
    pub(super) package: Package,
}

impl Fake {
    /// A server with the plugin `P` and no data: its migrations are applied, and its configuration has the defaults of
    /// the schema.
    ///
    /// # Panics
    /// When a migration or statement is not valid, naming it, or `init` refuses.
    #[must_use]
    pub fn new<P: Plugin>() -> Self {
        let fake = Self::with(Calls::of::<P>(), P::PACKAGE);
        fake.init();
        fake
    }

    /// A server without a plugin, for testing functions that only call the host.
    #[must_use]
    pub fn bare() -> Self {
        Self::with(Calls::none(), Package::default())
    }

    fn with(calls: Calls, package: Package) -> Self {
        let (config, settings) = package.schemas;
        let state = State {
            now: NOON,
            config: defaults(config),
            setting_defaults: defaults(settings),
            database: Database::open(&package),
            next_id: 100,
            ..State::default()
        };
        let state = Rc::new(RefCell::new(state));
        CURRENT.with(|current| *current.borrow_mut() = Some(Rc::clone(&state)));
        Self { state, calls, package }
    }

    /// Reads or changes the server's state.
    pub fn state<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.borrow_mut())
    }

    /// Moves the clock forward.
    pub fn advance(&self, milliseconds: i64) {
        self.state(|state| state.now += milliseconds);
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        CURRENT.with(|current| {
            let mut current = current.borrow_mut();
            if current.as_ref().is_some_and(|current| Rc::ptr_eq(current, &self.state)) {
                *current = None;
            }
        });
    }
}

/// Runs `look` on the state of this thread's server, and counts the call of `function`.
pub(super) fn current<T>(function: &'static str, look: impl FnOnce(&mut State) -> T) -> T {
    let state = CURRENT.with(|current| current.borrow().clone());
    let Some(state) = state else {
        panic!("{function} needs a server. In a test, begin with: let fake = Fake::new::<MyPlugin>();")
    };
    let mut state = state.borrow_mut();
    *state.calls.entry(function).or_default() += 1;
    look(&mut state)
}

/// The default of each property of a JSON Schema.
fn defaults(schema: &str) -> Map<String, Value> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    properties.into_iter().filter_map(|(name, property)| Some((name, property.get("default")?.clone()))).collect()
}
