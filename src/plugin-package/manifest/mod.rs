//! `plugin.toml`: the name and version of a plugin, the permissions and limits that it requests, its routes and hooks
//! (docs/plugins.md#13-manifest).
//!
//! Plain data. Parsing ([`parse()`]) refuses unknown keys, suggesting the nearest known one, and checks everything that
//! can be checked without the component, the database or other plugins. `MANIFEST.md` of the SDK is the reference for
//! authors.

mod contributions;
mod grants;
mod instance;
mod pages;
mod parse;
mod paths;
mod printable;
mod rules;
mod schema_titles;
mod shapes;
mod values;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use contributions::{CleanupException, SearchMark};
pub use instance::is_reserved;
pub use pages::{ClientKind, ClientPart, CorePage, PageAuth, PageDeclaration, Title};
pub use parse::{API, parse, parse_limits};
pub use rules::{EVENTS, check_schema, defaults, policies, validator};
pub use shapes::{Shape, rename_references};
pub use values::{Resolved, duration, rate, size};

/// A whole manifest.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Manifest {
    pub plugin: About,
    /// How the author's tools build it; ignored by the server.
    #[serde(default)]
    pub build: Option<Build>,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub permissions: Permissions,
    #[serde(default, rename = "route")]
    pub routes: Vec<Route>,
    /// JSON Schemas of bodies and responses of its routes, by name.
    #[serde(default)]
    pub entities: BTreeMap<String, Map<String, Value>>,
    #[serde(default, rename = "scope")]
    pub scopes: Vec<Scope>,
    #[serde(default, rename = "page")]
    pub pages: Vec<PageDeclaration>,
    /// Its additions to the client in the browser.
    #[serde(default)]
    pub client: Vec<ClientPart>,
    #[serde(default, rename = "hook")]
    pub hooks: Vec<Hook>,
    #[serde(default, rename = "search")]
    pub searches: Vec<SearchMark>,
    #[serde(default, rename = "cleanup")]
    pub cleanups: Vec<CleanupException>,
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
    /// `[a-z][a-z0-9_]{1,30}`: also the name-space of its tables, metrics and logs.
    pub name: String,
    /// Semantic version.
    pub version: String,
    /// The contract it was built for: `0.1`.
    pub api: String,
    /// Shown to people.
    pub title: String,
    /// One sentence, shown to people.
    #[serde(default)]
    pub description: String,
    /// SPDX expression.
    pub license: String,
    /// The component's file, beside the manifest.
    pub wasm: String,
    /// SHA-256 of the component, hexadecimal; written by `plugin pack`.
    #[serde(default)]
    pub sha256: Option<String>,
    /// The last migration of the oldest package that may still run on this version's schema: how far back one may roll.
    #[serde(default)]
    pub compatible_from: Option<u32>,
}

/// `[build]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Build {
    pub command: String,
    /// `rust`, `c`, `go`, `python`, `typescript`: which toolchain the author's tools prepare for the command.
    #[serde(default)]
    pub language: Option<String>,
    #[serde(default)]
    pub watch: Vec<String>,
    /// Files and folders of the package that the manifest does not name elsewhere.
    #[serde(default)]
    pub include: Vec<String>,
}

/// `[limits]`: the limits that the plugin requests; the admin may override them. Sizes as `32MiB`, times as `50ms`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Limits {
    pub memory: Option<String>,
    pub route_cpu: Option<String>,
    pub route_wall: Option<String>,
    pub hook_cpu: Option<String>,
    pub hook_wall: Option<String>,
    pub instances: Option<u32>,
    pub host_calls: Option<u32>,
    /// Bytes that one call may receive from the server, in all.
    pub bytes_in: Option<String>,
    /// Bytes that one call may pass to the server, in all.
    pub bytes_out: Option<String>,
    pub rows: Option<u32>,
    pub db_size: Option<String>,
    /// Entries in all its feeds.
    pub feed_entries: Option<u32>,
    /// Notifications of its types that are kept, of all accounts together.
    pub notifications: Option<u32>,
    /// Notifications that it may give one account within an hour.
    pub notifications_per_hour: Option<u32>,
    /// Jobs that may wait, and as many dead letters.
    pub jobs: Option<u32>,
    /// Events that are kept for it until it handled them.
    pub events: Option<u32>,
    /// Log lines per second, with bursts of five times as many.
    pub log_lines: Option<u32>,
    /// Bytes of its newest log lines that are kept in memory.
    pub log_size: Option<String>,
    /// Time in the database within a minute.
    pub db_time: Option<String>,
    /// `fresh` or `pooled` instances, for routes, commands and jobs.
    pub routes: Option<String>,
    /// `fresh` or `pooled` instances, for hooks.
    pub hooks: Option<String>,
    /// Calls after which a pooled instance is recycled.
    pub renew_calls: Option<u32>,
    /// Age after which a pooled instance is recycled.
    pub renew_age: Option<String>,
}

/// `[permissions]`: everything the plugin may reach. Interfaces not asked for here are not linked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Permissions {
    /// Views of the server's data that its SQL may join: `statuses`, `accounts` …; `statuses:private` includes the text
    /// of statuses that are not public.
    pub core_views: Vec<String>,
    /// `read`, `read-as-any`, `read-all`.
    pub core: Vec<String>,
    /// `create`, `delete`, `bookmark`, `profile`, `follow`: as the caller, or with `as-any` as any local account; `notify`, `touch`.
    pub core_write: Vec<String>,
    /// `custom`, `home`, `list`.
    pub feeds: Vec<String>,
    /// `https://host:port`; a leading `*.` matches one or more labels.
    pub http: Vec<String>,
    /// Names of secrets.
    pub secrets: Vec<String>,
    /// Names of topics; `user` for the streams of accounts, `token` for the streams of single tokens.
    pub topics: Vec<String>,
    /// `kv`, `cache`.
    pub storage: Vec<String>,
    /// `deliver`, `fetch`.
    pub federation: Vec<String>,
    /// May queue jobs.
    pub queue: bool,
    /// May read and change what accounts set for it.
    pub settings: bool,
}

/// `[[route]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Route {
    /// The name by which the plugin receives the route; unique in the plugin.
    pub id: String,
    /// One or several: `GET`, or `["PUT", "PATCH"]`.
    pub method: OneOrMany,
    /// A template: `/api/v1/antennas/{id}`.
    pub path: String,
    /// Who may call it.
    pub auth: Auth,
    /// Any one of these scopes suffices.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The least role: `moderator` or `admin`.
    #[serde(default)]
    pub role: Option<String>,
    /// The type of each path parameter; `segment` by default.
    #[serde(default)]
    pub params: BTreeMap<String, ParamKind>,
    /// The core resource that the path is nested under: `statuses`, `accounts`, `timelines`.
    #[serde(default)]
    pub nested_under: Option<String>,
    /// The parameter that is the id of a status: 404 unless the caller may see it.
    #[serde(default)]
    pub status_visible: Option<String>,
    /// The parameter that is the id of an account: 404 unless it exists.
    #[serde(default)]
    pub account_exists: Option<String>,
    /// The caller removes a mark: the status of the response is shown although its author has blocked them since.
    #[serde(default)]
    pub unmarks: bool,
    /// The route is paginated: paging parameters are parsed and `Link` is written.
    #[serde(default)]
    pub page: Option<PageRule>,
    /// Answered by the host without calling the plugin.
    #[serde(default)]
    pub native: Option<Native>,
    /// The server's page for a browser that requests HTML.
    #[serde(default)]
    pub html: Option<CorePage>,
    /// Request headers that the plugin sees.
    #[serde(default)]
    pub headers: Vec<String>,
    /// Responses to anonymous requests may be cached briefly by proxies, as core's public pages are. Not together with
    /// `headers`.
    #[serde(default)]
    pub cache: bool,
    /// Largest request body; `64KiB` by default.
    #[serde(default)]
    pub body_limit: Option<String>,
    /// The body of a request, for the API's documentation; for GET and DELETE the query.
    #[serde(default)]
    pub body: Option<Shape>,
    /// The body of a successful response, for the API's documentation.
    #[serde(default)]
    pub response: Option<Shape>,
    /// A rate limit per account: `300/5m`. Routes with the same word, as in `300/3h reactions`, share the limit.
    #[serde(default)]
    pub rate: Option<String>,
}

/// A string or a list of strings.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
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
    /// A user token is required.
    User,
    /// Anyone; a user token is used if there is one.
    Optional,
    /// Anyone; tokens are ignored.
    None,
}

/// The type of a path parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParamKind {
    /// A decimal id; anything else is 404.
    Id,
    /// One path segment of any text.
    Segment,
}

/// How a route is paginated.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PageRule {
    /// The default of `limit`.
    pub default: u16,
    /// The maximum of `limit`.
    pub max: u16,
    /// The parameter of the `prev` link: `min_id` or `since_id`.
    #[serde(default)]
    pub prev: Option<String>,
    /// `limit=0` means everything, without links.
    #[serde(default)]
    pub all: bool,
}

/// A route that the host answers alone. `:name` in statements is a path parameter, `:caller` the caller's account.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Native {
    /// One of the plugin's own feeds: `antenna:{id}`.
    #[serde(default)]
    pub feed: Option<String>,
    /// A statement that `returns: page(status)` or `page(account)`.
    #[serde(default)]
    pub statement: Option<String>,
    /// A statement that returns a row when the caller may read this; no row is 404.
    #[serde(default)]
    pub owner_check: Option<String>,
}

/// `[[scope]]`: an OAuth scope of the plugin's own, which applications may ask people for while it is on.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scope {
    /// `crypto`, `crypto:read`: the first word is none of the server's.
    pub name: String,
    /// The access that it grants, in one sentence for the consent page.
    pub description: String,
}

/// `[[hook]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hook {
    /// When it is called.
    pub on: Moment,
    /// Smaller is earlier; of equal ones, the plugin whose name comes first.
    #[serde(default = "Hook::default_priority")]
    pub priority: i32,
    /// The policy when the call fails; by default the policy of the moment.
    #[serde(default)]
    pub policy: Option<Policy>,
    /// How items are batched into calls.
    #[serde(default)]
    pub batch: Option<Batch>,
    /// Predicate on statuses, evaluated by the host before any call.
    #[serde(default)]
    pub when: When,
    /// `status-filter`, `sign-up`: request parameters that are passed to the plugin.
    #[serde(default)]
    pub params: Vec<String>,
    /// `status-filter`: the parameters in `params` that name an audience: with one of them the visibilities `limited`
    /// and `reply` are the plugin's too.
    #[serde(default)]
    pub audience: Vec<String>,
    /// `events`: kinds; `decorate`: one kind of entity; `activity-*`: types; `channels`: streams; `status-filter`:
    /// values of `visibility` that the plugin defines.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// `status-filter`: what people read of the visibilities in `kinds`, by language.
    #[serde(default)]
    pub titles: BTreeMap<String, BTreeMap<String, String>>,
    /// `decorate`, notifications and their groups: the types that the plugin is asked about; all without any.
    #[serde(default)]
    pub types: Vec<String>,
    /// `decorate`: the members it adds to the entity.
    #[serde(default)]
    pub fields: Vec<String>,
    /// `decorate`: the value of a member that the plugin does not set; a member without a default is left out.
    #[serde(default)]
    pub defaults: BTreeMap<String, Value>,
    /// `decorate`, statuses: how results are cached.
    #[serde(default)]
    pub cache: Option<Keep>,
}

/// The dependencies of a cached result: it is stale when any of them changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// The status, its author and the viewer.
    Viewer,
    /// As [`Viewer`](Self::Viewer), for statuses that changed since they were published, as a plugin's touch makes them. Of
    /// the others the viewer alone decides: they are all decorated alike.
    Touched,
}

impl Hook {
    fn default_priority() -> i32 {
        100
    }

    /// The key by which the hooks of one moment are sorted; `plugin` is the name of this one's.
    pub fn order<'a>(&self, plugin: &'a str) -> (i32, &'a str) {
        (self.priority, plugin)
    }
}

/// The moment at which a hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    StatusFilter,
    SignUp,
    Events,
    NotificationFilter,
    ActivityFilter,
    ActivityHandler,
    Fanout,
    Decorate,
    Channels,
}

/// What happens when the call of a hook fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Go on as if the plugin were not there.
    Skip,
    /// Answer the user with 503.
    Refuse,
    /// Members get their defaults.
    Omit,
    /// Retry with back-off.
    Retry,
    /// Drop the item.
    Drop,
    /// Hold the item back.
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
            Self::Retry => "retry",
            Self::Drop => "drop",
            Self::Hold => "hold",
        }
    }
}

/// How items are batched into calls.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Batch {
    pub max: usize,
    #[serde(default)]
    pub wait: Option<String>,
}

/// The condition on a status for a call of the plugin; an empty list matches any.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct When {
    /// Visibilities as in `visibility_ex`, with `-` or `_`.
    pub visibility: Vec<String>,
    pub local: Option<bool>,
    pub reblog: Option<bool>,
    pub reply: Option<bool>,
    pub media: Option<bool>,
}

/// `[[schedule]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Schedule {
    pub job: String,
    /// Cron expression of five fields, UTC.
    pub cron: String,
    #[serde(default)]
    pub jitter: Option<String>,
}

/// `[[job]]`: a kind of job that the plugin may queue.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct JobKind {
    pub kind: String,
}

/// `[[feed]]`: a feed of the plugin's own.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Feed {
    pub name: String,
    /// The table, owned by accounts, whose `id` is the feed's key: the feed's entries are deleted with the account.
    #[serde(default)]
    pub of: Option<String>,
}

/// `[[notification]]`: a type of notification that the plugin creates.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NotificationKind {
    /// Its `type` as clients see it.
    #[serde(rename = "type")]
    pub name: String,
    /// Notifications of this type about the same status are grouped.
    #[serde(default)]
    pub groupable: bool,
    /// The recipient's notification policy may filter it.
    #[serde(default)]
    pub filterable: bool,
    /// The text of its push message, by language: a sentence with `{name}` for the sender's name. English is the
    /// fallback for missing languages.
    #[serde(default)]
    pub titles: BTreeMap<String, String>,
}

/// `[[command]]`: for `rookery plugin run`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
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
    /// For each table with rows that belong to an account: the column with the account's id. The rows are deleted and
    /// exported with the account.
    #[serde(default)]
    pub owner_columns: BTreeMap<String, String>,
}

/// `[instance]`: additions to the server's instance documents while the plugin is active.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Instance {
    /// Merged into `fedibird_capabilities`.
    pub capabilities: Vec<String>,
    /// Merged into `api_versions`.
    pub api_versions: BTreeMap<String, i64>,
    /// Merged into NodeInfo's `metadata.features`.
    pub nodeinfo_features: Vec<String>,
    /// Merged into `configuration`.
    pub configuration: BTreeMap<String, Value>,
}

/// `[config]` and `[settings]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Schema {
    /// A JSON Schema (2020-12) of an object, with a default for every property.
    pub schema: String,
}

/// `[[test]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Test {
    pub file: String,
}
