//! The named statements of one plugin: parsed, checked and prepared when it is loaded, looked up by name when they run.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rookery_plugin_host::{LoadError, Stage};

use super::namespace::limits;
use crate::hook_limits::HookLimits;
use crate::quota::Quota;
use database::confined::functions::MAX_VALUES;
use database::confined::{ConfinedError, Limits, ParamType, Scope};
use database::{Engine, Tx};
use model::clock::Clock;
use plugin_package::Manifest;
use plugin_package::manifest::Resolved;
use plugin_package::sql::check::{self, Checked, Growth, Rules};
use plugin_package::sql::source::{self, Source};
use plugin_package::sql::text::{self, Slot};
use plugin_package::sql::{Files, Returns, utf8};
use store::plugin_schema;
use tokio::sync::Semaphore;

/// The bytes of text that all reading statements of a plugin may hold together, in the connections that routes, jobs
/// and decorations share: 32 MiB. The connection of filters and, on SQLite, the connection of the one transaction add
/// another 16 MiB each, 64 MiB in all.
const TEXTS_AT_ONCE: usize = 2 * MAX_VALUES;

/// The pagination parameters that `{page:…}` adds, in this order, unless the statement declares them.
const PAGE: [&str; 4] = ["max_id", "since_id", "min_id", "limit"];

/// A checked statement.
#[derive(Debug)]
pub struct Statement {
    pub name: String,
    /// Names and types of its parameters, in order; pagination parameters included.
    pub params: Vec<(String, ParamType)>,
    /// It changes something.
    pub writes: bool,
    /// The shape of its result.
    pub returns: Returns,
    /// Most rows that it returns.
    pub max_rows: usize,
    /// Tables and views that it reads, for display.
    pub reads: Vec<String>,
    /// Tables that it changes, for display.
    pub changes: Vec<String>,
    /// How it may grow the tables.
    pub(super) growth: Growth,
    /// Names of its columns.
    pub(super) columns: Vec<String>,
    pub(super) text: Arc<str>,
    /// The text for the page above `min_id`, in ascending order.
    pub(super) ascending: Option<Arc<str>>,
    pub(super) slots: Vec<Slot>,
    /// The bytes of text that it may hold.
    pub(super) texts: u32,
    /// Indices of the pagination parameters.
    pub(super) page: Option<[usize; 4]>,
}

impl Statement {
    /// True when its rows have the column `name`.
    #[must_use]
    pub fn has_column(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column == name)
    }
}

/// All statements of a plugin.
#[derive(Debug)]
pub struct Statements {
    pub(super) scope: Arc<Scope>,
    pub(super) clock: Clock,
    pub(super) limits: Limits,
    pub(super) quota: Quota,
    /// A permit for each text that statements which read may hold.
    pub(super) memory: Semaphore,
    by_name: HashMap<String, Statement>,
}

impl Statement {
    /// The names of the columns of its result, in order.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }
}

impl Statements {
    /// Parses the statements of a package, checks them for both engines and prepares each on this one, in `tx`: on the
    /// schema that the package's migrations leave. None when the manifest has no `[sql]`.
    ///
    /// # Errors
    /// At [`Stage::Statements`], with the first statement that is refused.
    pub(super) async fn load(
        (clock, hook_limits): (&Clock, &HookLimits),
        quota: Quota,
        manifest: &Manifest,
        resolved: &Resolved,
        files: &Files,
        tx: &mut Tx,
    ) -> Result<Option<Self>, LoadError> {
        let Some(sql) = &manifest.sql else { return Ok(None) };
        let name = &manifest.plugin.name;
        let fault = |what: String| LoadError::new(Stage::Statements, format!("plugin {name}: {what}"));
        let scope = super::namespace::scope(&mut *tx, manifest)
            .await
            .map_err(|what| fault(format!("its statements cannot be prepared: {what}")))?;
        let mut limits = limits(resolved);
        limits.time = hook_limits.stretch(limits.time);
        let text = files.get(&sql.statements).ok_or_else(|| fault(format!("{} is missing", sql.statements)))?;
        let text = utf8(text).map_err(|what| fault(format!("{}: {what}", sql.statements)))?;
        let sources = source::read(text).map_err(|what| fault(format!("{}: {what}", sql.statements)))?;
        let (engine, scope) = (tx.engine(), Arc::new(scope));
        let mut by_name = HashMap::with_capacity(sources.len());
        for source in &sources {
            let statement = compile(&scope, engine, source, &limits)
                .map_err(|what| fault(format!("statement {}: {what}", source.name)))?;
            let columns = prepare(tx, &scope, &statement).await;
            let columns = columns.map_err(|error| fault(format!("statement {}: {}", source.name, refused(&error))))?;
            by_name.insert(source.name.clone(), Statement { columns, ..statement });
        }
        for (table, column) in &sql.owner_columns {
            let texts = store::plugin_data::Texts::new(engine, &scope, table, column, false).map_err(&fault)?;
            let checked = tx.prepare_confined(&scope, &texts.select, &[ParamType::Integer]).await;
            let columns = checked
                .map_err(|error| fault(format!("sql.owner-columns names {table}.{column}: {}", refused(&error))))?;
            let feeds = manifest.feeds.iter().any(|feed| feed.of.as_ref() == Some(table));
            if feeds && !columns.iter().any(|column| column == "id") {
                return Err(fault(format!("a feed is of {table}, which has no column id")));
            }
        }
        if !sql.owner_columns.is_empty() {
            let references =
                plugin_schema::list_references(tx, name).await.map_err(|error| fault(error.to_string()))?;
            super::account::check_references(&sql.owner_columns, &references).map_err(&fault)?;
        }
        let memory = Semaphore::new(TEXTS_AT_ONCE);
        Ok(Some(Self { scope, clock: clock.clone(), limits, quota, memory, by_name }))
    }

    /// The statement called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Statement> {
        self.by_name.get(name)
    }

    /// All statements, sorted by name.
    #[must_use]
    pub fn all(&self) -> Vec<&Statement> {
        let ordered: BTreeMap<&str, &Statement> = self.by_name.iter().map(|(name, one)| (name.as_str(), one)).collect();
        ordered.into_values().collect()
    }
}

/// An engine's error as an admin reads it.
fn refused(error: &ConfinedError) -> String {
    format!("the database refuses it: {}", error.to_string().replace('\n', " "))
}

async fn prepare(tx: &mut Tx, scope: &Arc<Scope>, statement: &Statement) -> Result<Vec<String>, ConfinedError> {
    let kinds = statement.bound();
    if let Some(ascending) = &statement.ascending {
        tx.prepare_confined(scope, ascending, &kinds).await?;
    }
    tx.prepare_confined(scope, &statement.text, &kinds).await
}

impl Statement {
    /// The SQL that the engine runs, for display and for query plans.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The types of the values bound to its placeholders, in order.
    #[must_use]
    pub fn bound(&self) -> Vec<ParamType> {
        self.slots.iter().map(|slot| self.kind(*slot)).collect()
    }

    fn kind(&self, slot: Slot) -> ParamType {
        match slot {
            Slot::Param(index) => self.params.get(index).map_or(ParamType::Text, |(_, kind)| *kind),
            Slot::Now | Slot::Before | Slot::After => ParamType::Integer,
        }
    }
}

/// Checks the text for both engines, and keeps the text for `engine`.
fn compile(scope: &Scope, engine: Engine, source: &Source, limits: &Limits) -> Result<Statement, String> {
    let params = params(source);
    let most = source.max_rows.unwrap_or(limits.rows).min(limits.rows);
    let other = if engine == Engine::Sqlite { Engine::Postgres } else { Engine::Sqlite };
    translate(Rules { scope, engine: other }, source, &params, most)?;
    let Translated { down, up, slots, texts } = translate(Rules { scope, engine }, source, &params, most)?;
    let at = |name: &str| params.iter().position(|(known, _)| known == name);
    let page = match (up.is_some(), PAGE.map(at)) {
        (true, [Some(a), Some(b), Some(c), Some(d)]) => Some([a, b, c, d]),
        _ => None,
    };
    let paged = matches!(source.returns, Returns::Statuses | Returns::Accounts);
    if paged && page.is_none() {
        return Err("it returns a page and has no {page:column}: write it into its WHERE".to_owned());
    }
    Ok(Statement {
        name: source.name.clone(),
        writes: down.writes,
        returns: source.returns,
        max_rows: most,
        reads: down.reads.into_iter().collect(),
        changes: down.changes.into_iter().collect(),
        growth: down.growth,
        columns: Vec::new(),
        text: down.text.into(),
        ascending: up.map(|up| up.text.into()),
        slots,
        texts,
        page,
        params,
    })
}

fn params(source: &Source) -> Vec<(String, ParamType)> {
    let mut params = source.params.clone();
    let paged = [Engine::Sqlite, Engine::Postgres]
        .iter()
        .any(|engine| source.text(*engine).is_some_and(|text| text.contains("{page:")));
    for name in PAGE {
        if paged && !params.iter().any(|(known, _)| known == name) {
            params.push((name.to_owned(), ParamType::Integer));
        }
    }
    params
}

struct Translated {
    down: Checked,
    up: Option<Checked>,
    slots: Vec<Slot>,
    texts: u32,
}

fn translate(
    rules: Rules<'_>,
    source: &Source,
    params: &[(String, ParamType)],
    most: usize,
) -> Result<Translated, String> {
    let read = text::read(source.text(rules.engine).unwrap_or_default(), params, rules.engine)?;
    if source.returns == Returns::Owner {
        check::owner(rules, read.tokens.clone())?;
    }
    let page = read.page.as_ref().map(|page| (page.column.as_str(), page.limit.as_str()));
    let check = |ascending| {
        check::statement(rules, read.tokens.clone(), page.map(|(column, limit)| (column, limit, ascending)), most)
    };
    let down = check(false)?;
    let up = page.map(|_| check(true)).transpose()?;
    let texts = read.texts + down.texts;
    if texts > MAX_VALUES {
        return Err(format!(
            "it holds {texts} texts at once (parameters where they are named, and results of functions), and the limit is \
             {MAX_VALUES}: split it"
        ));
    }
    Ok(Translated { down, up, slots: read.slots, texts: u32::try_from(texts).unwrap_or(u32::MAX) })
}
