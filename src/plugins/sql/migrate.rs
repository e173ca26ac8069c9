//! Migrations of plugins: `migrations/NNNN_name.sql`, or a pair `.sqlite.sql` and `.postgres.sql`.
//!
//! They run in the caller's transaction, all or none; a candidate's are rolled back after its statements were prepared.
//! A migration that is marked `-- batch:` runs in separate transactions, each of which changes some rows
//! ([`Progress`]). An applied file is recorded with its checksum and never runs again. There are no down migrations: a
//! package that is older than the schema runs only where the newer migrations expand it, which was rehearsed with the
//! previous version, or where the newer package declares it (`compatible-from`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rookery_plugin_host::{LoadError, Stage};

use crate::PluginId;
use database::confined::{ConfinedError, Limits, Scope};
use database::{Engine, Tx};
use model::Time;
use plugin_package::Manifest;
use plugin_package::sql::check::{self, Checked, Rules};
use plugin_package::sql::{Files, text, utf8};
use store::plugin_schema::{self, AppliedMigration};

/// Limits of one statement; the time is what remains for the whole migration.
const LIMITS: Limits = Limits { time: Duration::ZERO, rows: 0, bytes: 1 << 20 };

/// The result of migrating.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migrated {
    /// The numbers of the migrations that were applied.
    pub applied: Vec<u32>,
    /// The schema version: the number of the last migration.
    pub version: u32,
    /// An applied migration is marked `-- contract`, and the schema is not new: the previous generation cannot run on
    /// the result.
    pub contract: bool,
    /// A migration in batches is not done: commit, and call again.
    pub more: bool,
}

/// How far migrations in batches are.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// One batch of each is tried, and everything rolled back afterwards.
    Rehearsal,
    /// They are applied.
    Apply {
        /// Batches so far of the migration that is under way.
        batches: u64,
        /// Most batches that it may have: as many as the table has rows for, and one that changes nothing.
        most: u64,
    },
}

impl Progress {
    /// Nothing was applied yet.
    #[must_use]
    pub fn begin() -> Self {
        Self::Apply { batches: 0, most: 0 }
    }
}

/// A migration: a file, or a pair of files.
#[derive(Debug, Default)]
struct Migration {
    name: String,
    sqlite: Option<Arc<[u8]>>,
    postgres: Option<Arc<[u8]>>,
}

/// A migration that is to be applied.
struct Pending<'a> {
    number: u32,
    migration: &'a Migration,
    statements: Vec<Checked>,
    contract: bool,
    /// Rows of a batch, if it is marked so.
    batch: Option<u32>,
}

/// Creates the plugin's name-space if necessary, and applies pending migrations, all of them within `time`.
///
/// # Errors
/// At [`Stage::Migrate`]; roll `tx` back then. [`LoadError::lasting`] when a migration itself failed or took too long, if
/// not [because others waited](Tx::has_yielded).
pub async fn migrate(
    tx: &mut Tx,
    plugin: PluginId,
    manifest: &Manifest,
    files: &Files,
    now: Time,
    time: Duration,
    progress: &mut Progress,
) -> Result<Migrated, LoadError> {
    let until = Instant::now() + time;
    let Some(sql) = &manifest.sql else { return Ok(Migrated::default()) };
    let fault = |what: String| LoadError::new(Stage::Migrate, format!("plugin {}: {what}", manifest.plugin.name));
    let scope = super::namespace::scope(&mut *tx, manifest).await.map_err(&fault)?;
    tx.ensure_namespace(&scope).await.map_err(|error| fault(no_namespace(&error)))?;
    let migrations = collect(&sql.migrations, files).map_err(&fault)?;
    let applied = plugin_schema::list(&mut *tx, plugin).await.map_err(|error| fault(error.to_string()))?;
    let engine = tx.engine();
    let last = check_applied(engine, &migrations, &applied).map_err(&fault)?;
    let scope = Arc::new(Scope { migrating: true, ..scope });
    let mut pending = Vec::new();
    for (number, migration) in migrations.range(last + 1..) {
        pending.push(translate(&scope, engine, *number, migration).map_err(&fault)?);
    }
    let contract = pending.iter().any(|one| one.contract);
    if let Some(one) = pending.iter().find(|one| contract && one.batch.is_some()) {
        let name = &one.migration.name;
        let sentence =
            format!("migration {name} is in batches beside one marked `-- contract`: put them into two versions");
        return Err(fault(sentence));
    }
    let compatible_from = compatible_from(manifest, last, contract);
    let mut done = Migrated { version: last, contract: contract && last > 0, ..Migrated::default() };
    for Pending { number, migration, statements, batch, .. } in pending {
        let begun = Instant::now();
        if batch.is_some() && !done.applied.is_empty() && !matches!(progress, Progress::Rehearsal) {
            done.more = true;
            return Ok(done);
        }
        let mut changed = 0;
        for statement in statements {
            let text: Arc<str> = statement.text.into();
            let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let ran = tx.confined(&scope, &text, Vec::new(), &Limits { time: left, ..LIMITS }).await;
            changed += ran
                .map_err(|error| {
                    let fault = fault(failed(migration, &error, time));
                    if matches!(error, ConfinedError::Unavailable(_)) { fault } else { fault.lasting() }
                })?
                .affected;
        }
        if let (Some(rows), Progress::Apply { batches, most }) = (batch, &mut *progress)
            && changed > 0
        {
            count_batch(tx, &scope, rows, batches, most).await.map_err(|error| fault(error.to_string()))?;
            if *batches > *most {
                let sentence = format!(
                    "migration {} goes on changing rows that it changed before: its WHERE must leave those out",
                    migration.name
                );
                return Err(fault(sentence).lasting());
            }
            done.more = true;
            return Ok(done);
        }
        if let (Some(_), Progress::Apply { batches, .. }) = (batch, &mut *progress) {
            *batches = 0;
        }
        let new = AppliedMigration {
            version: i64::from(number),
            name: migration.name.clone(),
            sha256: sha256(engine, migration),
            compatible_from,
        };
        plugin_schema::insert(tx, plugin, &new, now, begun.elapsed())
            .await
            .map_err(|error| fault(error.to_string()))?;
        done.applied.push(number);
        done.version = number;
    }
    if !done.applied.is_empty() {
        check_targets(tx, &scope, &manifest.plugin.name).await.map_err(&fault)?;
    }
    let feeds = manifest.feeds.iter().filter_map(|feed| Some((feed.of.clone()?, feed.name.clone()))).collect();
    let owned = plugin_schema::replace_owned(tx, plugin, &sql.owner_columns, &feeds).await;
    owned.map_err(|error| fault(error.to_string()))?;
    Ok(done)
}

/// Refuses foreign keys to tables that do not exist: SQLite notices them only when a row is written.
async fn check_targets(tx: &mut Tx, scope: &Scope, plugin: &str) -> Result<(), String> {
    let tables = tx.list_tables(scope).await.map_err(|error| error.to_string())?;
    let references = plugin_schema::list_references(tx, plugin).await.map_err(|error| error.to_string())?;
    let exists = |target: &str| {
        tables.iter().any(|table| table.strip_prefix(&*scope.prefix).unwrap_or(table).eq_ignore_ascii_case(target))
    };
    match references.iter().find(|reference| !exists(&reference.target)) {
        None => Ok(()),
        Some(reference) => {
            let (holder, target) = (&reference.holder, &reference.target);
            Err(format!("the table {holder} refers to the table {target}, which does not exist: create it first"))
        }
    }
}

/// Counts a batch; at the first one, how many there may be.
async fn count_batch(tx: &mut Tx, scope: &Scope, rows: u32, batches: &mut u64, most: &mut u64) -> database::Result<()> {
    if *batches == 0 {
        let mut total = 0;
        for table in tx.list_tables(scope).await? {
            total += u64::try_from(tx.count_rows(scope, &table).await?).unwrap_or(0);
        }
        *most = total / u64::from(rows) + 2;
    }
    *batches += 1;
    Ok(())
}

/// The oldest package that may run on the new schema, by its last migration. An expanding migration is rehearsed with
/// the previous version, whose last migration is `last`; for a contracting or first one only the author knows.
fn compatible_from(manifest: &Manifest, last: u32, contract: bool) -> Option<i64> {
    let tried = (last > 0 && !contract).then_some(i64::from(last));
    let declared = manifest.plugin.compatible_from.map(i64::from);
    tried.into_iter().chain(declared).min()
}

fn failed(migration: &Migration, error: &ConfinedError, time: Duration) -> String {
    let name = &migration.name;
    match error {
        ConfinedError::Time(_) | ConfinedError::TransactionTime => format!(
            "migration {name} and those before it took longer than {} s, or on SQLite kept others who write waiting for longer \
             than plugins.contended_migration_ms each time that it was tried: let it work in batches (`-- batch: 1000`), split it over several versions, \
             or raise plugins.migration_timeout_seconds or that key",
            time.as_millis().div_ceil(1_000)
        ),
        error => format!("migration {name} failed: {}", error.to_string().replace('\n', " ")),
    }
}

fn no_namespace(error: &database::Error) -> String {
    if error.is_denied() {
        "its tables have no place: the server's role of the database may not make roles and schemas, so give it CREATEROLE, \
         and CREATE on the database"
            .to_owned()
    } else {
        format!("its tables have no place: {error}")
    }
}

/// The package's migrations by number.
fn collect(folder: &str, files: &Files) -> Result<BTreeMap<u32, Migration>, String> {
    let folder = format!("{}/", folder.trim_end_matches('/'));
    let mut found: BTreeMap<u32, Migration> = BTreeMap::new();
    for (path, text) in files {
        let Some(file) = path.strip_prefix(&folder) else { continue };
        let Some(stem) = file.strip_suffix(".sql") else { continue };
        let (name, engine) = match stem.rsplit_once('.') {
            Some((name, "sqlite")) => (name, Some(Engine::Sqlite)),
            Some((name, "postgres")) => (name, Some(Engine::Postgres)),
            _ => (stem, None),
        };
        let number = name.split('_').next().and_then(|digits| digits.parse().ok()).filter(|number| *number > 0);
        let number: u32 = number.ok_or_else(|| format!("{path} has no number: call it 0001_what.sql"))?;
        let migration = found.entry(number).or_default();
        if !migration.name.is_empty() && migration.name != name {
            return Err(format!("two migrations have the number {number}: {} and {name}", migration.name));
        }
        name.clone_into(&mut migration.name);
        if engine != Some(Engine::Postgres) {
            migration.sqlite = Some(Arc::clone(text));
        }
        if engine != Some(Engine::Sqlite) {
            migration.postgres = Some(Arc::clone(text));
        }
    }
    match found.values().find(|migration| migration.sqlite.is_none() || migration.postgres.is_none()) {
        Some(half) => Err(format!("migration {} is there for one database only: add the other file", half.name)),
        None => Ok(found),
    }
}

/// The number of the last applied migration, after checking that this package and the schema are compatible.
fn check_applied(
    engine: Engine,
    migrations: &BTreeMap<u32, Migration>,
    applied: &[AppliedMigration],
) -> Result<u32, String> {
    let newest = migrations.keys().next_back().copied().unwrap_or(0);
    for ran in applied {
        let number = u32::try_from(ran.version).unwrap_or(u32::MAX);
        match migrations.get(&number) {
            Some(migration) if sha256(engine, migration) != ran.sha256 => {
                return Err(format!(
                    "migration {} was edited after it ran: restore it, and change the schema in a new one",
                    ran.name
                ));
            }
            None if number <= newest => {
                return Err(format!("migration {} ran and is not in this package: restore it", ran.name));
            }
            _ => {}
        }
    }
    if let Some(why) = incompatibility(newest, applied) {
        return Err(why);
    }
    let Some(last) = applied.last() else { return Ok(0) };
    let version = u32::try_from(last.version).unwrap_or(u32::MAX);
    let skipped = migrations
        .keys()
        .find(|number| **number < version && !applied.iter().any(|ran| ran.version == i64::from(**number)));
    match skipped {
        Some(number) => {
            Err(format!("migration {number} comes before {}, which ran already: give it a higher number", last.name))
        }
        None => Ok(version),
    }
}

/// Why a package whose last migration is `newest` cannot run on a schema with `applied`, if it cannot.
fn incompatibility(newest: u32, applied: &[AppliedMigration]) -> Option<String> {
    let last = applied.last().filter(|last| last.version > i64::from(newest))?;
    (!reaches(applied, i64::from(newest))).then(|| {
        format!(
            "its tables are at migration {}, this package ends at {newest} and was not tried with what came since, and no \
             package declared by compatible-from that this one may run on it: install that version or a newer one",
            last.name
        )
    })
}

/// Why an active package cannot run any more, after another server applied migrations to its tables.
#[must_use]
pub fn incompatible(manifest: &Manifest, files: &Files, applied: &[AppliedMigration]) -> Option<String> {
    let migrations = collect(&manifest.sql.as_ref()?.migrations, files).ok()?;
    let newest = migrations.keys().next_back().copied().unwrap_or(0);
    incompatibility(newest, applied).map(|why| format!("plugin {}: {why}", manifest.plugin.name))
}

/// True when a package that ends at `newest` may run on the schema, following `compatible_from` back from the last
/// applied migration.
fn reaches(applied: &[AppliedMigration], newest: i64) -> bool {
    let mut at = applied.last().map_or(0, |last| last.version);
    while at > newest {
        let before = applied.iter().find(|ran| ran.version == at).and_then(|ran| ran.compatible_from);
        match before {
            Some(before) if before < at => at = before,
            _ => return false,
        }
    }
    true
}

fn file(engine: Engine, migration: &Migration) -> &[u8] {
    let file = match engine {
        Engine::Sqlite => &migration.sqlite,
        Engine::Postgres => &migration.postgres,
    };
    file.as_deref().unwrap_or_default()
}

fn sha256(engine: Engine, migration: &Migration) -> String {
    crypto::sha256_hex(file(engine, migration))
}

/// Checks a migration for both engines; keeps what `engine` runs.
fn translate<'a>(scope: &Scope, engine: Engine, number: u32, migration: &'a Migration) -> Result<Pending<'a>, String> {
    let refused = |what: String| format!("migration {}: {what}", migration.name);
    let batch =
        mark(utf8(file(engine, migration)).map_err(refused)?, "batch:").map(rows).transpose().map_err(refused)?;
    let mut kept = Vec::new();
    for each in [Engine::Sqlite, Engine::Postgres] {
        let source = utf8(file(each, migration)).map_err(refused)?;
        let read = text::read(source, &[], each).map_err(refused)?;
        if !read.slots.is_empty() {
            return Err(refused("it has {…}, which migrations have not".to_owned()));
        }
        let rules = Rules { scope, engine: each };
        let statements = match batch {
            Some(rows) => check::batched(rules, read.tokens, rows).map(|statement| vec![statement]),
            None => check::migration(rules, read.tokens),
        };
        let statements = statements.map_err(refused)?;
        if each == engine {
            kept = statements;
        }
    }
    let source = utf8(file(engine, migration)).map_err(refused)?;
    Ok(Pending { number, migration, statements: kept, contract: mark(source, "contract") == Some(""), batch })
}

/// What follows `word` in a comment that begins with it.
fn mark<'a>(source: &'a str, word: &str) -> Option<&'a str> {
    source.lines().find_map(|line| line.trim().strip_prefix("--")?.trim().strip_prefix(word)).map(str::trim)
}

/// The rows of a batch.
fn rows(text: &str) -> Result<u32, String> {
    let rows = text.parse().ok().filter(|rows| (1..=10_000).contains(rows));
    rows.ok_or_else(|| format!("-- batch: {text} is no number of rows from 1 to 10000"))
}
