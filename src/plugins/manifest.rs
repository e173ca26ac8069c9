//! `plugin.toml`: what a plugin is, what it wants and where it attaches (PLUGINS.md section 1.3).
//!
//! Plain data. Reading it ([`parse()`]) refuses unknown keys with the nearest known one and checks everything that can be
//! known without looking at the component, the database or other plugins.

mod grants;
mod parse;
mod paths;
mod rules;
mod values;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use parse::{API, parse, parse_limits};
pub use rules::{EVENTS, check_schema, defaults, policies};
pub use values::{Resolved, duration, rate, size};

/// A whole manifest.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the tables of the manifest")]
pub struct Manifest {
    pub plugin: About,
    /// How the author's tools build it; the server does not read this.
    #[serde(default)]
    pub build: Option<Build>,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub permissions: Permissions,
    #[serde(default, rename = "route")]
    pub routes: Vec<Route>,
    #[serde(default, rename = "hook")]
    pub hooks: Vec<Hook>,
    #[serde(default, rename = "schedule")]
    pub schedules: Vec<Schedule>,
    #[serde(default, rename = "job")]
    pub jobs: Vec<JobKind>,
    #[serde(default, rename = "feed")]
    pub feeds: Vec<Feed>,
    #[serde(default, rename = "notification")]
    pub notifications: Vec<NotificationKind>,
    #[serde(default, rename = "command")]
    pub commands: Vec<Command>,
    #[serde(default)]
    pub sql: Option<Sql>,
    #[serde(default)]
    pub instance: Instance,
    /// The admin's configuration.
    #[serde(default)]
    pub config: Option<Schema>,
    /// What each account sets for itself.
    #[serde(default)]
    pub settings: Option<Schema>,
    #[serde(default, rename = "test")]
    pub tests: Vec<Test>,
}

/// `[plugin]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct About {
    /// `[a-z][a-z0-9_]{1,30}`: also the name-space of its tables, figures and logs.
    pub name: String,
    /// Semantic version.
    pub version: String,
    /// The contract it was built for: `0.1`.
    pub api: String,
    /// For people.
    pub title: String,
    /// One sentence for people.
    #[serde(default)]
    pub description: String,
    /// SPDX expression.
    pub license: String,
    /// The component's file, beside the manifest.
    pub wasm: String,
    /// Of the component, hexadecimal; written by `plugin pack`.
    #[serde(default)]
    pub sha256: Option<String>,
    /// The oldest migration that this version still runs on top of when the schema is newer.
    #[serde(default)]
    pub compatible_from: Option<u32>,
}

/// `[build]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Build {
    pub command: String,
    /// `rust`, `c`, `go`, `python`, `typescript`: what the author's tools prepare for the command.
    #[serde(default)]
    pub language: Option<String>,
    #[serde(default)]
    pub watch: Vec<String>,
}

/// `[limits]`: what the plugin asks for; the admin may set others. Sizes as `32MiB`, times as `50ms`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "PLUGINS.md section 2.6")]
pub struct Limits {
    pub memory: Option<String>,
    pub route_cpu: Option<String>,
    pub route_wall: Option<String>,
    pub hook_cpu: Option<String>,
    pub hook_wall: Option<String>,
    pub instances: Option<u32>,
    pub host_calls: Option<u32>,
    pub rows: Option<u32>,
    pub db_size: Option<String>,
    /// `fresh` or `pooled`, for routes, commands and jobs.
    pub routes: Option<String>,
    /// `fresh` or `pooled`, for hooks.
    pub hooks: Option<String>,
    /// Calls after which a warm instance is put aside for a new one.
    pub renew_calls: Option<u32>,
    /// Its age, likewise.
    pub renew_age: Option<String>,
}

/// `[permissions]`: everything the plugin may reach. What is not here is not linked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Permissions {
    /// Views of the server's data that its SQL may join: `statuses`, `accounts` …; `statuses:private` shows text of
    /// statuses that are not public.
    pub core_views: Vec<String>,
    /// `read`, `read-as-any`, `read-all`.
    pub core: Vec<String>,
    /// `create`, `delete`, `bookmark`, `notify`, `touch`, `widen`.
    pub core_write: Vec<String>,
    /// `custom`, `home`, `list`.
    pub feeds: Vec<String>,
    /// `https://host:port`; a leading `*.` stands for one or more labels.
    pub http: Vec<String>,
    /// Names of secrets.
    pub secrets: Vec<String>,
    /// Names of topics; `user` for the streams of people.
    pub topics: Vec<String>,
    /// `kv`, `cache`.
    pub storage: Vec<String>,
    /// `deliver`, `fetch`.
    pub federation: Vec<String>,
    /// May queue jobs.
    pub queue: bool,
    /// May read and change what accounts set for it.
    pub settings: bool,
    /// May run SQL that was made at run time.
    pub sql_dynamic: bool,
}

/// `[[route]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Route {
    /// What the plugin is told; unique in the plugin.
    pub id: String,
    /// One or several: `GET`, or `["PUT", "PATCH"]`.
    pub method: OneOrMany,
    /// A template: `/api/v1/antennas/{id}`.
    pub path: String,
    /// Who may call it.
    pub auth: Auth,
    /// Any of these suffices.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// `moderator` or `admin`: the least role.
    #[serde(default)]
    pub role: Option<String>,
    /// What each parameter of the path must be; `segment` where nothing is said.
    #[serde(default)]
    pub params: BTreeMap<String, ParamKind>,
    /// The core resource that the path goes on from: `statuses`, `accounts`, `timelines`.
    #[serde(default)]
    pub nested_under: Option<String>,
    /// The parameter that is the id of a status: 404 unless the caller may see it.
    #[serde(default)]
    pub status_visible: Option<String>,
    /// The parameter that is the id of an account: 404 unless there is one.
    #[serde(default)]
    pub account_exists: Option<String>,
    /// Paging parameters are read and `Link` is written.
    #[serde(default)]
    pub page: Option<PageRule>,
    /// Answered by the host alone.
    #[serde(default)]
    pub native: Option<Native>,
    /// Request headers that the plugin sees.
    #[serde(default)]
    pub headers: Vec<String>,
    /// What is answered without a token may be kept by others for a moment, as core's public pages are.
    #[serde(default)]
    pub cache: bool,
    /// `64KiB` where nothing is said.
    #[serde(default)]
    pub body_limit: Option<String>,
    /// A limit of its own for each account: `300/5m`. Routes that say `300/3h reactions` share it.
    #[serde(default)]
    pub rate: Option<String>,
    /// `auto`: one transaction for methods that change things; `none`.
    #[serde(default)]
    pub transaction: Option<String>,
}

/// A text or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
#[expect(missing_docs, reason = "what the names say")]
pub enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Auth {
    /// A token of a person.
    User,
    /// Anyone; a person's token is looked at.
    Optional,
    /// Anyone; tokens are not looked at.
    None,
    /// A token of an application.
    App,
}

/// What a parameter of a path must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParamKind {
    /// An id; anything else is 404.
    Id,
    /// Anything but `/`.
    Segment,
}

/// How a route pages.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PageRule {
    /// `limit` when the client names none.
    pub default: u16,
    /// The largest `limit`.
    pub max: u16,
    /// The parameter of the link back: `min_id` or `since_id`.
    #[serde(default)]
    pub prev: Option<String>,
    /// `limit=0` means everything, without a link.
    #[serde(default)]
    pub all: bool,
}

/// A route that needs no call of the plugin. `:name` in statements is a path parameter, `:caller` the caller's account.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Native {
    /// A feed of the plugin's own: `antenna:{id}`.
    #[serde(default)]
    pub feed: Option<String>,
    /// A statement that `returns: page(status)` or `page(account)`.
    #[serde(default)]
    pub statement: Option<String>,
    /// A statement that gives a row when the caller may read this; none is 404.
    #[serde(default)]
    pub owner_check: Option<String>,
}

/// `[[hook]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hook {
    /// The moment.
    pub on: Moment,
    /// Small numbers first.
    #[serde(default = "Hook::default_priority")]
    pub priority: i32,
    /// Plugins that come after this one.
    #[serde(default)]
    pub before: Vec<String>,
    /// Plugins that come before this one.
    #[serde(default)]
    pub after: Vec<String>,
    /// What happens when the plugin gives no answer; the moment's own default where nothing is said.
    #[serde(default)]
    pub policy: Option<Policy>,
    /// How calls are gathered.
    #[serde(default)]
    pub batch: Option<Batch>,
    /// Which statuses the host asks about at all.
    #[serde(default)]
    pub when: When,
    /// Time on the clock, `200ms`.
    #[serde(default)]
    pub timeout: Option<String>,
    /// `status-filter`: parameters of the request that the plugin is shown.
    #[serde(default)]
    pub params: Vec<String>,
    /// `events`: kinds; `decorate`: one kind of entity; `activity-*`: types; `channels`: streams; `status-filter`: words of
    /// `visibility` that mean something to the plugin alone.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// `decorate`: the members that are added.
    #[serde(default)]
    pub fields: Vec<String>,
    /// `decorate`: what a member is when the plugin says nothing; one without a default is left out.
    #[serde(default)]
    pub defaults: BTreeMap<String, Value>,
    /// `decorate`, statuses: whether what the plugin says is kept.
    #[serde(default)]
    pub cache: Option<Keep>,
}

/// What decides whether something that a plugin said still stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// The status, its author and who looks.
    Viewer,
}

impl Hook {
    fn default_priority() -> i32 {
        100
    }
}

/// When a hook is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "named as in the contract")]
pub enum Moment {
    StatusFilter,
    Events,
    NotificationFilter,
    ActivityFilter,
    ActivityHandler,
    Fanout,
    Decorate,
    Channels,
}

/// What happens when a hook gives no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// As if the plugin were not there.
    Skip,
    /// The user is answered with 503.
    Refuse,
    /// Members get their defaults.
    Omit,
    /// The whole answer fails.
    Fail,
    /// Again later.
    Retry,
    /// What it was about is dropped.
    Drop,
    /// What it was about waits.
    Hold,
}

impl Policy {
    /// As a manifest writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Refuse => "refuse",
            Self::Omit => "omit",
            Self::Fail => "fail",
            Self::Retry => "retry",
            Self::Drop => "drop",
            Self::Hold => "hold",
        }
    }
}

/// How calls are gathered.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Batch {
    pub max: usize,
    #[serde(default)]
    pub wait: Option<String>,
}

/// What the host looks at before it asks; empty means any.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[expect(missing_docs, reason = "what the names say")]
pub struct When {
    /// Words as in `visibility_ex`, with `-` or `_`.
    pub visibility: Vec<String>,
    pub local: Option<bool>,
    pub reblog: Option<bool>,
    pub reply: Option<bool>,
    pub media: Option<bool>,
}

/// `[[schedule]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Schedule {
    pub job: String,
    /// Five fields, UTC.
    pub cron: String,
    #[serde(default)]
    pub jitter: Option<String>,
    #[serde(default)]
    pub overlap: bool,
}

/// `[[job]]`: a kind that the plugin may queue.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "what the names say")]
pub struct JobKind {
    pub kind: String,
}

/// `[[feed]]`: feeds of the plugin's own.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Feed {
    pub name: String,
    /// The table with rows of accounts whose `id` the feed's keys are: its entries go with the account.
    #[serde(default)]
    pub of: Option<String>,
}

/// `[[notification]]`: a type of notification that the plugin makes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NotificationKind {
    /// As clients see it.
    #[serde(rename = "type")]
    pub name: String,
    /// Several about one status become one group.
    #[serde(default)]
    pub groupable: bool,
    /// The receiver's policy may hold it back.
    #[serde(default)]
    pub filterable: bool,
}

/// `[[command]]`: for `rookery plugin run`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Command {
    pub name: String,
    #[serde(default)]
    pub description: String,
}

/// `[sql]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sql {
    /// The folder of migrations.
    pub migrations: String,
    /// The file of named statements.
    pub statements: String,
    /// For each table with rows that belong to an account: the column that says to whose. Deleted and exported with it.
    #[serde(default)]
    pub owner_columns: BTreeMap<String, String>,
}

/// `[instance]`: what the server says of itself while the plugin is on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Instance {
    /// Joins `fedibird_capabilities`.
    pub capabilities: Vec<String>,
    /// Joins `api_versions`.
    pub api_versions: BTreeMap<String, i64>,
    /// Joins NodeInfo's `metadata.features`.
    pub nodeinfo_features: Vec<String>,
    /// Joins `configuration`.
    pub configuration: BTreeMap<String, Value>,
}

/// `[config]` and `[settings]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Schema {
    /// A JSON Schema (2020-12) of an object, every property with a default.
    pub schema: String,
}

/// `[[test]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Test {
    pub file: String,
}
