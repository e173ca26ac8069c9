//! From a package to a plugin that is ready to be activated: every step of docs/plugins.md#22-loading up to the swap.
//!
//! Reached from `life` and from dry runs of the admin; runs off the request path. Requests see nothing of it: the
//! candidate's changes to the database are rolled back, and a fault leaves everything as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rookery_plugin_host::exports::lifecycle::Environment;
use rookery_plugin_host::host::{Core, CoreWrite, Feeds, Kv, Queue, Settings, Sql, Streaming};
use rookery_plugin_host::{self as sandbox, Engine, EngineOptions, Export, Host, LoadError, Stage};
use serde_json::Value;
use tokio::time::Instant;

use super::machine::State;
use super::{desired, source};
use crate::call::{self, Call};
use crate::quota::{Quota, Quotas};
use crate::settings::SettingsSchema;
use crate::sql::{self, Migrated, Progress, Statements};
use crate::{Active, Cx, PluginId};
use config::folder::TrustedFolder;
use crypto::Secret;
use database::Tx;
use model::clock::Clock;
use plugin_package::Package;
use plugin_package::manifest::{self, Limits, Resolved};
use store::plugin::Plugin;

/// A package to try, with the admin's desired state for it.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub plugin: Plugin,
    pub package: Package,
    pub generation: u64,
}

/// A candidate that passed every step.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub active: Arc<Active>,
    /// Its migrations contract the schema: the previous generation cannot run on the result.
    pub contract: bool,
}

/// Turns `candidate` into a plugin that could replace `old`; `passed` is called after each step.
///
/// # Errors
/// The stage that failed and one sentence; nothing changed.
pub(crate) async fn prepare(
    cx: &Cx,
    candidate: Candidate,
    old: Option<&Arc<Active>>,
    passed: impl Fn(State) + Send + Sync,
) -> Result<Prepared, LoadError> {
    let Candidate { plugin, package, generation } = candidate;
    source::check_denied(cx, &package)?;
    check_grants(&plugin, &package)?;
    let limits = limits(&plugin, &package)?;
    let config = config(&plugin, &package)?;
    let secrets = secrets(cx, &plugin, &package)?;
    passed(State::Validated);
    let environment = call::environment(cx, &package.manifest, generation, &config, false);
    let component = compile(cx, &package, &limits, environment).await?;
    passed(State::Compiled);
    let version = u64::try_from(plugin.config_version).unwrap_or_default();
    let quotas = Quotas::new(&cx.db, plugin.id, &package.manifest, &limits);
    quotas.measure();
    let budget = Budget::new(cx, &package);
    let mut attempts = Attempts::begin();
    let mut stage = loop {
        let begun = Rehearsal::begin(cx, &package, &limits, plugin.id, quotas.storage.clone(), &budget);
        match budget.spend(begun).await {
            Ok(stage) => break stage,
            Err(fault) => attempts.again(fault).await?,
        }
    };
    passed(State::Migrated);
    let active = Arc::new(Active {
        sql: stage.sql.take(),
        quotas,
        id: plugin.id,
        sha256: package.sha256.clone(),
        digest: package.digest.clone(),
        origin: package.origin.clone(),
        files: package.files.clone(),
        limits,
        secrets,
        settings: settings(&package)?,
        manifest: package.manifest,
        generation,
        config: (config, version),
        component,
        over: AtomicBool::new(false),
    });
    let (contract, migrates) = (stage.migrated.contract, !stage.migrated.applied.is_empty());
    let rehearsed = budget.spend(rehearse(cx, &active, old, stage, &budget)).await;
    // The migrations would run before every other attempt.
    rehearsed.map_err(|fault| if migrates { fault.lasting() } else { fault })?;
    passed(State::Tested);
    Ok(Prepared { active, contract })
}

/// A dry run: prepares what `plugin`, a desired state, would load in place of the active generation. Changes nothing.
///
/// # Errors
/// Why it could not be loaded.
pub(crate) async fn dry_run(cx: &Cx, plugin: Plugin) -> Result<(), LoadError> {
    let name = plugin.name.clone();
    let packages = source::packages(cx).await?;
    let package = source::choose(cx, &plugin, &packages).await?;
    let package = package.ok_or_else(|| LoadError::new(Stage::Read, format!("there is no package of {name}")))?;
    let _one_at_a_time = cx.plugins.load_lock.lock().await;
    let registry = cx.plugins.latest();
    let candidate = Candidate { plugin, package, generation: registry.generation + 1 };
    prepare(cx, candidate, registry.find(&name), |_| ()).await.map(drop)
}

/// Every permission that the package asks for must have been granted.
pub(crate) fn check_grants(plugin: &Plugin, package: &Package) -> Result<(), LoadError> {
    let missing = missing(plugin, package);
    if missing.is_empty() {
        return Ok(());
    }
    let name = &plugin.name;
    let list = missing.into_iter().collect::<Vec<_>>().join(", ");
    Err(LoadError::new(
        Stage::Grants,
        format!(
            "{name} {} asks for more than was granted: {list}: `rookery plugin grant {name}` grants it",
            package.manifest.plugin.version
        ),
    ))
}

/// The permissions that `package` asks for and was not granted.
pub(crate) fn missing(plugin: &Plugin, package: &Package) -> BTreeSet<String> {
    let granted: BTreeSet<&String> = plugin.granted.0.iter().collect();
    package.manifest.requested().into_iter().filter(|wanted| !granted.contains(wanted)).collect()
}

/// The manifest's limits, overridden by the admin's.
fn limits(plugin: &Plugin, package: &Package) -> Result<Resolved, LoadError> {
    let fault = |problem: String| LoadError::new(Stage::Validate, format!("{}: {problem}", plugin.name));
    let own: Limits = serde_json::from_value(plugin.limits.0.clone()).map_err(|error| fault(error.to_string()))?;
    own.over(&package.manifest.limits).resolve().map_err(fault)
}

/// The defaults, overridden by the admin's configuration.
pub(crate) fn config(plugin: &Plugin, package: &Package) -> Result<Value, LoadError> {
    let Some(schema) = package.config_schema() else { return Ok(Value::Object(serde_json::Map::new())) };
    let mut config = manifest::defaults(&schema);
    for (key, value) in &plugin.config.0 {
        // A key that a later version of the plugin dropped is ignored.
        if config.contains_key(key) {
            config.insert(key.clone(), value.clone());
        }
    }
    let config = Value::Object(config);
    let validator = manifest::validator(&schema).map_err(|problem| {
        LoadError::new(Stage::Validate, format!("{}: the schema of its configuration: {problem}", plugin.name))
    })?;
    validator.validate(&config).map_err(|error| {
        let path = error.instance_path().to_string();
        let problem = format!("{}: the configuration does not fit at {path:?}: {error}: set it again", plugin.name);
        LoadError::new(Stage::Validate, problem)
    })?;
    Ok(config)
}

/// The schema of each account's settings, ready to validate by.
fn settings(package: &Package) -> Result<Option<SettingsSchema>, LoadError> {
    let schema = package.settings_schema().map(SettingsSchema::new).transpose();
    schema.map_err(|problem| LoadError::new(Stage::Validate, format!("{}: settings: {problem}", package.name())))
}

/// The secrets that are set and that the manifest names.
fn secrets(cx: &Cx, plugin: &Plugin, package: &Package) -> Result<BTreeMap<String, Secret>, LoadError> {
    let mut secrets = BTreeMap::new();
    for name in &package.manifest.permissions.secrets {
        let Some(sealed) = plugin.secrets.0.get(name).and_then(Value::as_str) else { continue };
        let secret = desired::open(cx, &plugin.name, name, sealed).ok_or_else(|| {
            let plugin = &plugin.name;
            let sentence = format!(
                "{plugin}: its secret {name} was sealed with another key than this server's secret.key: set it again: \
                 `rookery plugin secret {plugin} {name}`"
            );
            LoadError::new(Stage::Validate, sentence)
        })?;
        secrets.insert(name.clone(), secret);
    }
    Ok(secrets)
}

/// Checks, compiles and links the component and instantiates it once, on a blocking thread.
async fn compile(
    cx: &Cx,
    package: &Package,
    limits: &Resolved,
    environment: Environment,
) -> Result<sandbox::Plugin, LoadError> {
    let engine = engine(cx).await?;
    let config: Value = serde_json::from_str(&environment.config).unwrap_or_default();
    let package = sandbox::Package {
        name: package.name().to_owned(),
        version: package.manifest.plugin.version.clone(),
        wasm: Arc::clone(&package.wasm),
        exports: package.manifest.exports(),
        granted: package.manifest.imports(),
        limits: limits.host.clone(),
        environment,
    };
    let host: Arc<dyn Host> = Arc::new(CandidateHost { clock: cx.clock.clone(), config });
    let runtime = tokio::runtime::Handle::current();
    let load = move || runtime.block_on(engine.load(package, host));
    let name = "the thread that compiles failed";
    tokio::task::spawn_blocking(load).await.map_err(|_| LoadError::new(Stage::Compile, name))?
}

/// The engine shared by all plugins of this process.
async fn engine(cx: &Cx) -> Result<Engine, LoadError> {
    let make = || async {
        let config = &cx.config.plugins;
        let folder = config.cache_dir.join("compiled");
        // Also by a link that root must not follow.
        let cache = TrustedFolder::create(&folder).map(|_| folder);
        let cache = cache.inspect_err(|error| tracing::warn!(%error, "compiled plugins are not kept")).ok();
        let options = EngineOptions {
            cache,
            key: cx.keys.bytes("plugin-cache"),
            quick: cx.config.server.development,
            instances: config.instances,
            memory: config.memory_limit_bytes,
            compiler: Some(cx.sandbox.executable().to_owned()),
        };
        Engine::new(options)
    };
    cx.plugins.engine.get_or_try_init(make).await.cloned()
}

/// How often migrations are tried that are broken off since others wait for them. Each time these wait for no longer than
/// `plugins.contended_migration_ms`.
const ATTEMPTS: u32 = 6;
/// The pause before the second attempt; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The attempts at work that is broken off when others wait for it.
struct Attempts {
    left: u32,
    pause: Duration,
}

impl Attempts {
    fn begin() -> Self {
        Self { left: ATTEMPTS - 1, pause: FIRST_PAUSE }
    }

    /// Waits until it is time for another attempt.
    ///
    /// # Errors
    /// `fault`, when it did not come of others waiting; [`LoadError::lasting`] when they waited each time.
    async fn again(&mut self, fault: LoadError) -> Result<(), LoadError> {
        if !fault.contended {
            return Err(fault);
        }
        if self.left == 0 {
            return Err(fault.lasting());
        }
        tracing::info!("others waited for migrations, which are tried again: {fault}");
        tokio::time::sleep(self.pause).await;
        self.left -= 1;
        self.pause *= 2;
        Ok(())
    }
}

/// `fault`, marked if other writers that waited for `tx` caused it: then it is not a fault of the package.
fn broken_off(tx: &Tx, fault: LoadError) -> LoadError {
    if tx.has_yielded() { LoadError { lasting: false, ..fault.contended() } } else { fault }
}

/// Added to a timeout, because a migration or self-test that runs out of time reports that itself, slightly later.
const GRACE: Duration = Duration::from_secs(1);

/// For how much longer than migrations the preparation of statements may keep others waiting.
const PREPARING: Duration = Duration::from_secs(2);

/// The total time that a candidate may use on the database: no other writer can proceed meanwhile.
struct Budget {
    until: Instant,
    time: Duration,
    /// Name and version of the candidate.
    of: String,
}

impl Budget {
    fn new(cx: &Cx, package: &Package) -> Self {
        let time = migration_time(cx);
        let of = format!("{} {}", package.name(), package.manifest.plugin.version);
        Self { until: Instant::now() + time, time, of }
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    async fn spend<T>(&self, work: impl Future<Output = Result<T, LoadError>>) -> Result<T, LoadError> {
        let late = |_| {
            let sentence = format!(
                "{}: its migrations, statements and self-test took longer than {} s together, for which everyone who writes \
                 may have to wait: shorten them, or raise plugins.migration_timeout_seconds",
                self.of,
                self.time.as_secs()
            );
            Err(LoadError::new(Stage::Migrate, sentence).lasting())
        };
        tokio::time::timeout_at(self.until + GRACE, Box::pin(work)).await.unwrap_or_else(late)
    }
}

pub(crate) fn migration_time(cx: &Cx) -> Duration {
    Duration::from_secs(cx.config.plugins.migration_timeout_seconds)
}

/// The database as the candidate's migrations would leave it, in a transaction that is always rolled back.
#[derive(Default)]
struct Rehearsal {
    tx: Option<Tx>,
    migrated: Migrated,
    sql: Option<Statements>,
}

impl Rehearsal {
    /// Runs the migrations and prepares the statements; does nothing for a plugin without SQL.
    async fn begin(
        cx: &Cx,
        package: &Package,
        limits: &Resolved,
        id: PluginId,
        quota: Quota,
        budget: &Budget,
    ) -> Result<Self, LoadError> {
        let (manifest, files) = (&package.manifest, &package.files);
        if manifest.sql.is_none() {
            return Ok(Self::default());
        }
        let mut tx = cx.db.begin().await.map_err(|error| LoadError::new(Stage::Migrate, error.to_string()))?;
        tx.bound(budget.left(), Some(contended(cx)));
        let (now, progress) = (cx.clock.now(), &mut Progress::Rehearsal);
        let migrated = sql::migrate(&mut tx, id, manifest, files, now, budget.left(), progress).await;
        let migrated = migrated.map_err(|fault| broken_off(&tx, fault))?;
        // Preparing changes nothing, and on a busy machine it may take longer than a migration may keep others waiting.
        tx.bound(budget.left(), Some(contended(cx) + PREPARING));
        let sql = sql::load(cx, quota, manifest, limits, files, &mut tx).await;
        let sql = sql.map_err(|fault| if migrated.applied.is_empty() { fault } else { fault.lasting() });
        let sql = sql.map_err(|fault| broken_off(&tx, fault))?;
        Ok(Self { tx: Some(tx), migrated, sql })
    }
}

/// Applies and commits the pending migrations of `active`, and ends the pause that other servers were `told` about, if
/// any.
///
/// # Errors
/// At [`Stage::Migrate`]; nothing changed, unless by migrations in batches and those before them.
pub(crate) async fn migrate(cx: &Cx, active: &Active, announced: Option<i64>) -> Result<Migrated, LoadError> {
    if active.manifest.sql.is_none() {
        return Ok(Migrated::default());
    }
    let (mut progress, mut attempts) = (Progress::begin(), Attempts::begin());
    loop {
        let begun = Instant::now();
        let migrated = match migrate_once(cx, active, announced, &mut progress).await {
            Ok(migrated) => migrated,
            Err(fault) => {
                attempts.again(fault).await?;
                continue;
            }
        };
        attempts = Attempts::begin();
        if !migrated.more {
            return Ok(migrated);
        }
        // Others write meanwhile.
        tokio::time::sleep(begun.elapsed()).await;
    }
}

/// Applies pending migrations in one transaction: all, or those up to the end of a batch.
async fn migrate_once(
    cx: &Cx,
    active: &Active,
    announced: Option<i64>,
    progress: &mut Progress,
) -> Result<Migrated, LoadError> {
    let failed = |error: database::Error| LoadError::new(Stage::Migrate, format!("{}: {error}", active.name()));
    let mut tx = cx.db.begin().await.map_err(failed)?;
    let (now, time) = (cx.clock.now(), migration_time(cx));
    tx.bound(time, Some(contended(cx)));
    let migrated = sql::migrate(&mut tx, active.id, &active.manifest, &active.files, now, time, progress).await;
    let migrated = migrated.map_err(|fault| broken_off(&tx, fault))?;
    if let Some(by) = announced {
        let changed = !migrated.applied.is_empty();
        if changed && !store::plugin::is_paused(&mut tx, active.id, cx.clock.now()).await.map_err(failed)? {
            let sentence = format!("{}: other servers waited too long for its migrations: try again", active.name());
            return Err(LoadError::new(Stage::Migrate, sentence));
        }
        store::plugin::resume(&mut tx, active.id, by).await.map_err(failed)?;
        store::settings::bump_generation(&mut tx, now).await.map_err(failed)?;
    }
    tx.commit().await.map_err(failed)?;
    Ok(migrated)
}

/// Tries the candidate on the real database, and the old generation on the schema that the candidate's migrations
/// leave.
async fn rehearse(
    cx: &Cx,
    active: &Arc<Active>,
    old: Option<&Arc<Active>>,
    stage: Rehearsal,
    budget: &Budget,
) -> Result<(), LoadError> {
    let mut stage = stage;
    let expands = !stage.migrated.contract && !stage.migrated.applied.is_empty();
    let old = old.filter(|_| expands);
    if let (Some(old), Some(tx)) = (old, &mut stage.tx) {
        let loaded = sql::load(cx, old.quotas.storage.clone(), &old.manifest, &old.limits, &old.files, tx).await;
        loaded.map_err(|fault| still_serves(active, &fault))?;
    }
    if !tests_itself(active) && old.is_none_or(|old| !tests_itself(old)) {
        return Ok(());
    }
    let tx = match stage.tx {
        Some(tx) => tx,
        None => cx.db.begin().await.map_err(|error| LoadError::new(Stage::SelfTest, error.to_string()))?,
    };
    let tx = self_test(cx, active, tx, budget.left()).await?;
    if let Some(old) = old.filter(|old| tests_itself(old)) {
        self_test(cx, old, tx, budget.left()).await.map_err(|fault| still_serves(active, &fault))?;
    }
    Ok(())
}

/// Both generations run for a moment, so the old one must work on the new schema.
fn still_serves(active: &Active, fault: &LoadError) -> LoadError {
    let sentence = format!(
        "the generation of {} that serves would fail on the new tables: mark the migration with `-- contract` ({})",
        active.name(),
        fault.message
    );
    LoadError::new(Stage::SelfTest, sentence)
}

fn tests_itself(active: &Active) -> bool {
    active.component.interfaces().exports.contains(&Export::Lifecycle)
}

/// How long a migration may keep others waiting.
fn contended(cx: &Cx) -> Duration {
    Duration::from_millis(cx.config.plugins.contended_migration_ms)
}

async fn self_test(cx: &Cx, active: &Arc<Active>, tx: Tx, left: Duration) -> Result<Tx, LoadError> {
    let name = active.name();
    let call = Call::rehearsal(cx, active, tx, left, contended(cx));
    let tested = active.component.self_test(call.clone()).await;
    tested.map_err(|error| {
        let why = error.failure.map_or(error.message, |failure| failure.message);
        LoadError::new(
            Stage::SelfTest,
            format!("{name} {}: its self-test failed: {why}", active.manifest.plugin.version),
        )
    })?;
    let lost = || LoadError::new(Stage::SelfTest, format!("{name}: its self-test took longer than a transaction may"));
    call.take().await.ok_or_else(lost)
}

/// The host functions of a component that is not active yet: time, randomness and its configuration.
struct CandidateHost {
    clock: Clock,
    config: Value,
}

impl Core for CandidateHost {}
impl CoreWrite for CandidateHost {}
impl Feeds for CandidateHost {}
impl Kv for CandidateHost {}
impl Queue for CandidateHost {}
impl Settings for CandidateHost {}
impl Sql for CandidateHost {}
impl Streaming for CandidateHost {}

impl Host for CandidateHost {
    fn now(&self) -> i64 {
        self.clock.now().timestamp_millis()
    }
    fn random(&self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        crypto::fill_random(&mut bytes);
        bytes
    }
    fn config_get(&self, key: &str) -> Option<String> {
        self.config.get(key).map(Value::to_string)
    }
    fn config_all(&self) -> String {
        self.config.to_string()
    }
}
