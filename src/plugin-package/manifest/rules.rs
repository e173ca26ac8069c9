//! Validation of a manifest (docs/plugins.md#13-manifest and docs/plugins.md#14-hooks), as far as it needs nothing else.

use std::collections::BTreeSet;
use std::fmt::Display;

use serde_json::{Map, Value};

use super::paths::{self, is_word};
use super::{
    Auth, Hook, Manifest, Moment, Permissions, Policy, Route, Scope, contributions, instance, pages, schema_titles,
    shapes, values,
};
use config::nearest;
use model::{NotificationType, Scopes, Visibility, scope};

/// Kinds of events that a hook may subscribe to.
pub const EVENTS: &[&str] = &[
    "status.created",
    "status.updated",
    "status.deleted",
    "account.created",
    "account.updated",
    "account.suspended",
    "account.moved",
    "account.purged",
    "account.blocked",
    "account.muted",
    "follow.created",
    "follow.deleted",
    "favourite.created",
    "favourite.deleted",
    "bookmark.created",
    "bookmark.deleted",
    "emoji.deleted",
    "list.deleted",
    "token.revoked",
];

/// Kinds of entities that can be decorated, and trends, which get a weight.
const DECORATED: &[&str] = &["status", "account", "notification", "notification_group", "list", "trend"];

/// One of the lists of `[permissions]`.
type PermissionList = fn(&Permissions) -> &Vec<String>;

/// Lists of `[permissions]` with a fixed vocabulary; the others hold names that the plugin chooses.
const WORDS: &[(&str, PermissionList, &[&str])] = &[
    ("core", |asked| &asked.core, &["read", "read-as-any", "read-all"]),
    (
        "core-write",
        |asked| &asked.core_write,
        &["create", "delete", "bookmark", "notify", "touch", "profile", "follow", "as-any"],
    ),
    ("feeds", |asked| &asked.feeds, &["custom", "home", "list"]),
    ("storage", |asked| &asked.storage, &["kv", "cache"]),
];

/// Most characters of the title of a push, or of a visibility.
const MAX_TITLE: usize = 100;

/// Why a hook or permission that is not implemented yet is refused.
const NOT_IMPLEMENTED: &str = "plugins cannot take part in federation yet: leave it out";

type Checked = Result<(), String>;

/// Longest description of a scope, in characters.
const DESCRIPTION: usize = 200;

/// `[a-z][a-z0-9_]{1,30}`
pub(super) fn is_name(name: &str) -> bool {
    (2..=31).contains(&name.len()) && is_word(name) && !name.contains("__") && !name.ends_with('_')
}

pub(super) fn check(manifest: &Manifest) -> Checked {
    about(manifest)?;
    manifest.limits.resolve()?;
    permissions(&manifest.permissions)?;
    let ids = manifest.routes.iter().map(|route| &route.id);
    unique("routes with the id", ids.chain(manifest.pages.iter().map(|page| &page.id)))?;
    unique("jobs of the kind", manifest.jobs.iter().map(|job| &job.kind))?;
    unique("schedules of the job", manifest.schedules.iter().map(|schedule| &schedule.job))?;
    unique("feeds called", manifest.feeds.iter().map(|feed| &feed.name))?;
    feed_owners(manifest)?;
    unique("notifications of the type", manifest.notifications.iter().map(|kind| &kind.name))?;
    unique("commands called", manifest.commands.iter().map(|command| &command.name))?;
    unique("topics called", manifest.permissions.topics.iter())?;
    unique("scopes called", manifest.scopes.iter().map(|scope| &scope.name))?;
    served_twice(manifest)?;
    scopes(&manifest.scopes)?;
    for route in &manifest.routes {
        self::route(manifest, route).map_err(|problem| format!("route {:?}: {problem}", route.id))?;
    }
    for page in &manifest.pages {
        pages::check(page).map_err(|problem| format!("page {:?}: {problem}", page.id))?;
    }
    hooks(&manifest.hooks)?;
    decorated_types(manifest)?;
    contributions::check(manifest)?;
    pages::check_client(manifest)?;
    names(manifest)?;
    titles(manifest)?;
    instance::check(&manifest.instance)?;
    shapes::check(manifest)?;
    schedules(manifest)
}

fn about(manifest: &Manifest) -> Checked {
    let about = &manifest.plugin;
    let name = &about.name;
    if !is_name(name) {
        return Err(format!("the name {name:?} is not of 2 to 31 small letters, digits and _, a letter first"));
    }
    let version = about.version.split(['-', '+']).next().unwrap_or_default();
    let numbers: Vec<_> = version.split('.').collect();
    if numbers.len() != 3 || numbers.iter().any(|number| number.parse::<u32>().is_err()) {
        return Err(format!("the version {:?} is not of three numbers, such as \"1.0.0\"", about.version));
    }
    if !about.wasm.ends_with(".wasm") || about.wasm.contains(['/', '\\']) || about.wasm.starts_with('.') {
        return Err(format!("wasm: {:?} is not the name of a .wasm file beside plugin.toml", about.wasm));
    }
    match &about.sha256 {
        Some(sum) if sum.len() != 64 || !sum.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) => {
            Err("sha256 is not of 64 hexadecimal digits in small letters".to_owned())
        }
        Some(_) | None => Ok(()),
    }
}

fn permissions(asked: &Permissions) -> Checked {
    for (key, list, known) in WORDS {
        for word in list(asked) {
            one_of(&format!("permissions, {key}"), word, known)?;
        }
    }
    if !asked.federation.is_empty() {
        return Err(format!("permissions, federation: {NOT_IMPLEMENTED}"));
    }
    for origin in &asked.http {
        check_origin(origin).map_err(|problem| format!("permissions, http: {origin:?} {problem}"))?;
    }
    for secret in &asked.secrets {
        let known = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if secret.is_empty() || !secret.bytes().all(known) {
            return Err(format!("permissions, secrets: {secret:?} is not of large letters, digits and _"));
        }
    }
    Ok(())
}

fn scopes(scopes: &[Scope]) -> Checked {
    for Scope { name, description } in scopes {
        if !scope::is_extension(name) {
            return Err(format!(
                "scope {name:?}: words of small letters, digits and _, with : between them, of which the first is none of the server's"
            ));
        }
        if description.trim().is_empty() || description.chars().count() > DESCRIPTION {
            return Err(format!("scope {name:?}: the description has 1 to {DESCRIPTION} characters"));
        }
    }
    Ok(())
}

/// `https://host:port`; the host may begin with `*.`.
fn check_origin(origin: &str) -> Checked {
    let takes = "is not a scheme, a host and a port, such as \"https://api.example.com:443\"";
    let rest = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://")).ok_or(takes)?;
    let (host, port) = rest.rsplit_once(':').ok_or(takes)?;
    let port = port.parse::<u16>().is_ok_and(|port| port != 0);
    let labels = host.strip_prefix("*.").unwrap_or(host);
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let host_ok = !labels.is_empty() && labels.bytes().all(fits) && labels.split('.').all(|label| !label.is_empty());
    if host.starts_with("*.") && !labels.contains('.') {
        return Err("covers a whole top-level domain: name a domain below it".to_owned());
    }
    if port && host_ok { Ok(()) } else { Err(takes.to_owned()) }
}

/// No two routes with the same method and path, whatever the names of their parameters.
fn served_twice(manifest: &Manifest) -> Checked {
    let mut seen = BTreeSet::new();
    for route in &manifest.routes {
        let plain: Vec<&str> =
            route.path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment }).collect();
        for method in route.method.all() {
            if !seen.insert((method.clone(), plain.clone())) {
                return Err(format!("two routes serve {method} {}", route.path));
            }
        }
    }
    Ok(())
}

fn route(manifest: &Manifest, route: &Route) -> Checked {
    if route.id.is_empty() {
        return Err("the id is empty".to_owned());
    }
    paths::check(route)?;
    let parameters: Vec<&str> = paths::parameters(&route.path).collect();
    let named = route.params.keys().map(|name| ("params", name));
    let named = named.chain(route.status_visible.iter().map(|name| ("status-visible", name)));
    for (key, name) in named.chain(route.account_exists.iter().map(|name| ("account-exists", name))) {
        if !parameters.contains(&name.as_str()) {
            return Err(format!("{key} names {name:?}, and the path {:?} has no such parameter", route.path));
        }
    }
    let declared = |word: &str| manifest.scopes.iter().any(|scope| scope.name == word);
    Scopes::parse_with(&route.scopes.join(" "), declared).map_err(|word| format!("there is no scope {word:?}"))?;
    if !route.scopes.is_empty() && route.auth == Auth::None {
        return Err("it has scopes, and auth = \"none\" looks at no token".to_owned());
    }
    if route.cache && (route.auth == Auth::User || route.method.all() != ["GET"]) {
        return Err("cache says nothing here: others may only keep what GET answers to anyone".to_owned());
    }
    if route.cache && !route.headers.is_empty() {
        return Err("cache and headers: a response that depends on headers cannot be shared: leave out one".to_owned());
    }
    if let Some(role) = &route.role {
        one_of("role", role, &["moderator", "admin"])?;
    }
    quantity("body-limit", route.body_limit.as_deref(), values::size, "a size, such as \"64KiB\"")?;
    quantity("rate", route.rate.as_deref(), values::rate, "a number and a time, such as \"300/5m\"")?;
    page(route)?;
    let sign_up = manifest.hooks.iter().find(|hook| hook.on == Moment::SignUp);
    pages::check_html(route, sign_up.map_or(&[], |hook| &hook.params))?;
    native(manifest, route)
}

fn page(route: &Route) -> Checked {
    let Some(page) = &route.page else { return Ok(()) };
    if page.default > page.max || page.max == 0 || page.max > 1000 {
        return Err("page: default is at most max, and max from 1 to 1000".to_owned());
    }
    page.prev.as_ref().map_or(Ok(()), |prev| one_of("page, prev", prev, &["min_id", "since_id"]))
}

fn native(manifest: &Manifest, route: &Route) -> Checked {
    let Some(native) = &route.native else { return Ok(()) };
    match (&native.feed, &native.statement) {
        (Some(feed), None) => {
            let name = feed.split(':').next().unwrap_or_default();
            if !manifest.feeds.iter().any(|known| known.name == name) {
                return Err(format!("native: there is no [[feed]] called {name:?}"));
            }
        }
        (None, Some(_)) => {}
        (Some(_), Some(_)) | (None, None) => return Err("native: name a feed or a statement, one of them".to_owned()),
    }
    if manifest.sql.is_none() && (native.statement.is_some() || native.owner_check.is_some()) {
        return Err("native: it names a statement, and there is no [sql]".to_owned());
    }
    Ok(())
}

/// The policies of each moment, the default first.
#[must_use]
pub fn policies(moment: Moment) -> &'static [Policy] {
    match moment {
        Moment::StatusFilter => &[Policy::Refuse, Policy::Skip],
        Moment::Events | Moment::ActivityHandler => &[Policy::Retry],
        Moment::NotificationFilter | Moment::Fanout => &[Policy::Skip],
        Moment::SignUp => &[Policy::Skip, Policy::Refuse],
        Moment::ActivityFilter => &[Policy::Skip, Policy::Drop, Policy::Retry, Policy::Hold],
        Moment::Decorate => &[Policy::Omit],
        Moment::Channels => &[Policy::Refuse],
    }
}

fn hooks(hooks: &[Hook]) -> Checked {
    let key = |hook: &Hook| {
        let kind = hook.kinds.first().filter(|_| hook.on == Moment::Decorate);
        (hook.on, kind.cloned())
    };
    let mut seen = BTreeSet::new();
    for hook in hooks {
        let on = hook.on.as_str();
        self::hook(hook).map_err(|problem| format!("hook on {on:?}: {problem}"))?;
        if !seen.insert(key(hook)) {
            return Err(format!("there are two hooks on {on:?}: join them"));
        }
    }
    Ok(())
}

fn hook(hook: &Hook) -> Checked {
    let moment = hook.on;
    if matches!(moment, Moment::ActivityFilter | Moment::ActivityHandler) {
        return Err(NOT_IMPLEMENTED.to_owned());
    }
    if let Some(policy) = hook.policy.filter(|policy| !policies(moment).contains(policy)) {
        let known: Vec<String> = policies(moment).iter().map(|policy| format!("{:?}", policy.as_str())).collect();
        return Err(format!("the policy {:?} is not one of {}", policy.as_str(), known.join(", ")));
    }
    let asks_when = !hook.when.visibility.is_empty()
        || [hook.when.local, hook.when.reblog, hook.when.reply, hook.when.media].iter().any(Option::is_some);
    let batches = matches!(moment, Moment::Fanout | Moment::Events);
    let kinds = matches!(moment, Moment::Events | Moment::Decorate | Moment::Channels | Moment::StatusFilter);
    for (key, given, fits) in [
        ("params", !hook.params.is_empty(), matches!(moment, Moment::StatusFilter | Moment::SignUp)),
        ("audience", !hook.audience.is_empty(), moment == Moment::StatusFilter),
        ("titles", !hook.titles.is_empty(), moment == Moment::StatusFilter),
        ("kinds", !hook.kinds.is_empty(), kinds),
        ("types", !hook.types.is_empty(), moment == Moment::Decorate),
        ("fields", !hook.fields.is_empty(), moment == Moment::Decorate),
        ("defaults", !hook.defaults.is_empty(), moment == Moment::Decorate),
        ("cache", hook.cache.is_some(), moment == Moment::Decorate),
        ("batch", hook.batch.is_some(), batches),
        ("when", asks_when, batches || moment == Moment::StatusFilter),
    ] {
        if given && !fits {
            return Err(format!("{key} says nothing at this moment: leave it out"));
        }
    }
    for word in &hook.when.visibility {
        word.replace('-', "_").parse::<Visibility>().map_err(|_| format!("when: there is no visibility {word:?}"))?;
    }
    if let Some(batch) = &hook.batch {
        quantity("batch, wait", batch.wait.as_deref(), values::duration, "a time, such as \"50ms\"")?;
        if !(1..=1024).contains(&batch.max) {
            return Err("batch: max is not a number from 1 to 1024".to_owned());
        }
    }
    if let Some(name) = hook.audience.iter().find(|name| !hook.params.contains(name)) {
        return Err(format!("audience names {name:?}, and params does not"));
    }
    for (word, texts) in &hook.titles {
        if !hook.kinds.contains(word) {
            return Err(format!("titles names {word:?}, and kinds does not"));
        }
        if !texts.contains_key("en") {
            return Err(format!("the titles of {word:?} have none in English (en)"));
        }
        if texts.values().any(|text| text.trim().is_empty() || text.chars().count() > MAX_TITLE) {
            return Err(format!("a title of {word:?} is not of 1 to {MAX_TITLE} characters"));
        }
    }
    match moment {
        Moment::Events => events(hook),
        Moment::Decorate => decorate(hook),
        Moment::SignUp if hook.params.is_empty() => {
            Err("params is empty: name the parameters of sign-ups that it is about".to_owned())
        }
        _ => Ok(()),
    }
}

fn events(hook: &Hook) -> Checked {
    if hook.kinds.is_empty() {
        return Err("kinds is empty: name the events to receive".to_owned());
    }
    hook.kinds.iter().try_for_each(|kind| one_of("kinds", kind, EVENTS))
}

fn decorate(hook: &Hook) -> Checked {
    let [kind] = hook.kinds.as_slice() else {
        return Err("kinds names one kind of entity; write a hook for each".to_owned());
    };
    one_of("kinds", kind, DECORATED)?;
    if hook.cache.is_some() && kind != "status" {
        return Err("cache is for statuses only: decorations of accounts are always cached".to_owned());
    }
    if !hook.types.is_empty() && !matches!(kind.as_str(), "notification" | "notification_group") {
        return Err("types are types of notifications: leave them out for other entities".to_owned());
    }
    if hook.fields.is_empty() {
        return Err("fields is empty: name the members that are added".to_owned());
    }
    if kind == "trend" && hook.fields != ["weight"] {
        return Err("fields of a trend are [\"weight\"]: how much is added to its use".to_owned());
    }
    unique("fields called", hook.fields.iter())?;
    match hook.defaults.keys().find(|name| !hook.fields.contains(name)) {
        Some(name) => Err(format!("defaults names {name:?}, and fields does not")),
        None => Ok(()),
    }
}

/// The types of notifications that hooks decorate are the server's or the plugin's own.
fn decorated_types(manifest: &Manifest) -> Checked {
    let known = |name: &&String| {
        name.parse::<NotificationType>().is_ok() || manifest.notifications.iter().any(|kind| kind.name == **name)
    };
    match manifest.hooks.iter().flat_map(|hook| &hook.types).find(|name| !known(name)) {
        Some(name) => Err(format!("hook on \"decorate\": types: there is no notification of the type {name:?}")),
        None => Ok(()),
    }
}

/// A feed deleted with accounts must refer to a table that is.
fn feed_owners(manifest: &Manifest) -> Checked {
    unique("feeds of", manifest.feeds.iter().filter_map(|feed| feed.of.as_ref()))?;
    let owned = manifest.sql.as_ref().map(|sql| &sql.owner_columns);
    let known = |table: &str| owned.is_some_and(|owned| owned.contains_key(table));
    match manifest.feeds.iter().find_map(|feed| feed.of.as_ref().filter(|table| !known(table))) {
        Some(table) => Err(format!("feed: of names {table:?}, and sql.owner-columns does not")),
        None => Ok(()),
    }
}

/// Titles of pushes are short sentences by language, one of them English.
fn titles(manifest: &Manifest) -> Checked {
    for kind in manifest.notifications.iter().filter(|kind| !kind.titles.is_empty()) {
        let name = &kind.name;
        if !kind.titles.contains_key("en") {
            return Err(format!("the notification {name:?} has titles, and none in English (en)"));
        }
        for (language, title) in &kind.titles {
            if language.len() > 8 || !language.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
                return Err(format!("the notification {name:?}: {language:?} is not the code of a language, as en"));
            }
            if title.trim().is_empty() || title.chars().count() > MAX_TITLE {
                return Err(format!(
                    "the notification {name:?}: its title in {language} is not of 1 to {MAX_TITLE} characters"
                ));
            }
        }
    }
    Ok(())
}

/// Names that become part of names elsewhere must be plain words.
fn names(manifest: &Manifest) -> Checked {
    let feeds = manifest.feeds.iter().map(|feed| ("feed", &feed.name));
    let jobs = manifest.jobs.iter().map(|job| ("job", &job.kind));
    let commands = manifest.commands.iter().map(|command| ("command", &command.name));
    let kinds = manifest.notifications.iter().map(|kind| ("notification", &kind.name));
    for (what, name) in feeds.chain(jobs).chain(commands).chain(kinds) {
        let plain = name.replace(['-', '.'], "_");
        if !is_word(&plain) || name.len() > 64 {
            return Err(format!("the {what} {name:?} is not of small letters, digits and _, a letter first"));
        }
    }
    Ok(())
}

fn schedules(manifest: &Manifest) -> Checked {
    for schedule in &manifest.schedules {
        let (job, cron) = (&schedule.job, &schedule.cron);
        let five = cron.split_whitespace().count() == 5;
        if !five || cron.parse::<croner::Cron>().is_err() {
            return Err(format!(
                "schedule {job:?}: {cron:?} is not five fields of a cron table, such as \"*/10 * * * *\""
            ));
        }
        quantity("jitter", schedule.jitter.as_deref(), values::duration, "a time, such as \"60s\"")
            .map_err(|problem| format!("schedule {job:?}: {problem}"))?;
    }
    Ok(())
}

/// Checks the JSON Schema of `[config]` or `[settings]`: of an object, every property with a valid default, titles in
/// further languages as texts.
///
/// # Errors
/// A message about the mistake.
pub fn check_schema(schema: &Value) -> Checked {
    let validator = validator(schema)?;
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("it is not the schema of an object: say \"type\": \"object\"".to_owned());
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    if let Some((name, _)) = properties.into_iter().flatten().find(|(_, of)| of.get("default").is_none()) {
        return Err(format!("the property {name:?} has no default"));
    }
    schema_titles::check(schema)?;
    validator.validate(&Value::Object(defaults(schema))).map_err(|error| format!("the defaults do not fit: {error}"))
}

/// The validator of a schema (2020-12). Its patterns are matched in linear time, whatever they are: a plugin writes
/// them, and people the texts.
///
/// # Errors
/// A message about the mistake.
pub fn validator(schema: &Value) -> Result<jsonschema::Validator, String> {
    jsonschema::draft202012::options()
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(schema)
        .map_err(|error| format!("it is no JSON Schema: {error}"))
}

/// Each property's default.
#[must_use]
pub fn defaults(schema: &Value) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.filter_map(|(name, of)| Some((name.clone(), of.get("default")?.clone()))).collect()
}

fn one_of(key: &str, word: &str, known: &[&str]) -> Checked {
    if known.contains(&word) {
        return Ok(());
    }
    match nearest(word, known.iter().map(|known| (*known).to_owned())) {
        Some(near) => Err(format!("{key}: there is no {word:?}; did you mean {near:?}?")),
        None => Err(format!("{key}: {word:?} is not one of {}", known.join(", "))),
    }
}

fn unique<T: Display + Ord>(what: &str, names: impl Iterator<Item = T>) -> Checked {
    let mut seen = BTreeSet::new();
    for name in names {
        let text = name.to_string();
        if !seen.insert(name) {
            return Err(format!("there are two {what} {text:?}"));
        }
    }
    Ok(())
}

fn quantity<T>(key: &str, text: Option<&str>, read: fn(&str) -> Option<T>, takes: &str) -> Checked {
    match text.filter(|text| read(text).is_none()) {
        Some(text) => Err(format!("{key}: {text:?} is not {takes}")),
        None => Ok(()),
    }
}
