//! The first of three layers: validates SQL by its syntax tree. Everything that is not expressly allowed is refused.
//!
//! Called when statements and migrations are loaded. The tree is rewritten during the walk: bare names become
//! tables of the plugin's name-space, `core_v1.x` a view, names of common table expressions get a prefix of their own.
//! The engine is given this tree, printed again, never the author's text; so text that the parser and the engine read
//! differently gains nothing.

mod batch;
mod cost;
mod ddl;
mod exprs;
mod owner;
mod queries;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Delete, FromTable, Ident, Insert, ObjectName, ObjectNamePart, Query, SqliteOnConflict, Statement,
    TableAliasWithoutColumns, TableFactor, TableObject, TableWithJoins, Update, VisitMut as _, VisitorMut,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

pub use self::owner::owner;
use self::queries::Names;
use super::text;
use database::Engine;
use database::confined::{Scope, functions};

/// Stack size for parsing and walking, which recurse as deep as the text is nested.
const STACK: usize = 64 << 20;

/// Prefix of common table expressions in the SQL that is run: no table begins with it.
const COMMON: &str = "c__";

/// SQL that passed the check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The SQL for the engine.
    pub text: String,
    /// It changes rows or the schema.
    pub writes: bool,
    /// How it may grow the tables.
    pub growth: Growth,
    /// Tables and views that it reads: the plugin's own, and views as `core_v1.x`.
    pub reads: BTreeSet<String>,
    /// The plugin's own tables that it changes.
    pub changes: BTreeSet<String>,
    /// Expressions that make texts.
    pub texts: usize,
}

/// How a statement may grow the plugin's tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Growth {
    /// Not at all.
    #[default]
    Nothing,
    /// By the size of its parameters.
    Params,
    /// By an amount known only afterwards: it multiplies stored rows or its parameters.
    Any,
}

/// The context of a check.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The plugin's name-space and the views granted to it.
    pub scope: &'a Scope,
    /// The engine that will run it.
    pub engine: Engine,
}

/// Checks one statement that reads or changes rows. A query without a limit gets one of `most` rows plus one, which
/// tells the reader that there are more.
///
/// # Errors
/// The refusal and the remedy, as a clause: "it reads accounts in the schema public: …".
pub fn statement(
    rules: Rules<'_>,
    tokens: Vec<Token>,
    page: Option<(&str, &str, bool)>,
    most: usize,
) -> Result<Checked, String> {
    deep(move || {
        let mut statements = parse(rules, tokens)?;
        let (Some(mut statement), None) = (statements.pop(), statements.pop()) else {
            return Err("it is not exactly one statement: name each".to_owned());
        };
        if let Some((column, limit, ascending)) = page {
            queries::page(rules, &mut statement, column, limit, ascending)?;
        }
        queries::bound(&mut statement, most);
        checked(rules, statement, false)
    })
}

/// Checks the statements of a migration, in order.
///
/// # Errors
/// As [`statement`].
pub fn migration(rules: Rules<'_>, tokens: Vec<Token>) -> Result<Vec<Checked>, String> {
    deep(move || parse(rules, tokens)?.into_iter().map(|statement| checked(rules, statement, true)).collect())
}

/// Checks a migration of one UPDATE or DELETE, and makes it change `rows` rows at most.
///
/// # Errors
/// As [`statement`].
pub fn batched(rules: Rules<'_>, tokens: Vec<Token>, rows: u32) -> Result<Checked, String> {
    deep(move || {
        let mut statements = parse(rules, tokens)?;
        let (Some(mut statement), None) = (statements.pop(), statements.pop()) else {
            return Err("it is marked `-- batch:` and is not exactly one statement".to_owned());
        };
        batch::limit(rules, &mut statement, rows)?;
        checked(rules, statement, true)
    })
}

/// Runs `work` on a thread with a large enough stack.
fn deep<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("sql-check".to_owned()).stack_size(STACK);
        match thread.spawn_scoped(scope, work).map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(done)) => done,
            _ => Err("it cannot be understood".to_owned()),
        }
    })
}

fn parse(rules: Rules<'_>, tokens: Vec<Token>) -> Result<Vec<Statement>, String> {
    Parser::new(text::dialect(rules.engine))
        .with_tokens(tokens)
        .parse_statements()
        .map_err(|error| format!("it cannot be understood: {}", error.to_string().replace("sql parser error: ", "")))
}

fn checked(rules: Rules<'_>, mut statement: Statement, migrating: bool) -> Result<Checked, String> {
    let mut names = Names::default();
    let _ = sqlparser::ast::Visit::visit(&statement, &mut names);
    let mut walk = Walk { rules, migrating, common: names.common, found: Checked::default() };
    if let ControlFlow::Break(refused) = statement.visit(&mut walk) {
        return Err(refused);
    }
    let mut found = walk.found;
    let mut names = Names { rules: Some(rules), ..Names::default() };
    if let ControlFlow::Break(refused) = sqlparser::ast::Visit::visit(&statement, &mut names) {
        return Err(refused);
    }
    found.text = format!("/* p_{} */ {statement}", rules.scope.name);
    Ok(found)
}

/// Rewrites names and refuses forbidden constructs.
struct Walk<'a> {
    rules: Rules<'a>,
    migrating: bool,
    /// Common table expressions of this statement.
    common: BTreeSet<String>,
    found: Checked,
}

type Flow = ControlFlow<String>;

/// Continues the walk, or stops it with the refusal.
fn flow(result: Result<(), String>) -> Flow {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(refused) => ControlFlow::Break(refused),
    }
}

impl VisitorMut for Walk<'_> {
    type Break = String;

    fn pre_visit_statement(&mut self, statement: &mut Statement) -> Flow {
        flow(self.statement(statement))
    }
    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        flow(self.query(query))
    }
    fn pre_visit_select(&mut self, select: &mut sqlparser::ast::Select) -> Flow {
        flow(queries::select(select))
    }
    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        flow(self.factor(factor))
    }
    fn pre_visit_expr(&mut self, expr: &mut sqlparser::ast::Expr) -> Flow {
        flow(exprs::check(self.rules.engine, expr))
    }
    fn post_visit_expr(&mut self, expr: &mut sqlparser::ast::Expr) -> Flow {
        self.found.texts += usize::from(cost::makes_text(expr));
        flow(cost::bound(self.rules.engine, expr))
    }
    fn pre_visit_ident(&mut self, ident: &mut Ident) -> Flow {
        flow(if database::confined::is_name(&ident.value) || ident.value.is_empty() {
            Ok(())
        } else {
            Err(format!("it has the name {ident}: use letters, digits and _"))
        })
    }
}

impl Walk<'_> {
    fn statement(&mut self, statement: &mut Statement) -> Result<(), String> {
        match statement {
            Statement::Query(_) => Ok(()),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            _ if self.migrating => {
                self.found.writes = true;
                ddl::statement(self.rules, statement, &mut self.found.changes)
            }
            _ => Err(format!("it is {}: only SELECT, INSERT, UPDATE and DELETE are allowed", verb(statement))),
        }
    }

    fn insert(&mut self, insert: &mut Insert) -> Result<(), String> {
        no_or(insert.or.as_ref())?;
        let growth = queries::growth(insert);
        let TableObject::TableName(name) = &mut insert.table else {
            return Err("it inserts into something that is no table".to_owned());
        };
        let plain = insert.optimizer_hints.is_empty()
            && !insert.ignore
            && !insert.overwrite
            && insert.assignments.is_empty()
            && insert.partitioned.is_none()
            && insert.after_columns.is_empty()
            && !insert.has_table_keyword
            && insert.output.is_none()
            && !insert.replace_into
            && insert.priority.is_none()
            && insert.insert_alias.is_none()
            && insert.settings.is_none()
            && insert.format_clause.is_none()
            && insert.multi_table_insert_type.is_none()
            && insert.multi_table_into_clauses.is_empty()
            && insert.multi_table_when_clauses.is_empty()
            && insert.multi_table_else_clause.is_none();
        if !plain || insert.columns.is_empty() && insert.source.is_some() {
            return Err("it inserts in a way that is not allowed: write INSERT INTO table (columns) …".to_owned());
        }
        self.found.growth = self.found.growth.max(growth);
        let alias = self.rules.target(name, &mut self.found)?;
        insert.table_alias.get_or_insert(TableAliasWithoutColumns { explicit: true, alias });
        queries::no_star(insert.returning.as_deref())
    }

    fn update(&mut self, update: &mut Update) -> Result<(), String> {
        no_or(update.or.as_ref())?;
        if update.output.is_some()
            || !update.optimizer_hints.is_empty()
            || !update.order_by.is_empty()
            || update.limit.is_some()
        {
            return Err("it updates in a way that is not allowed: write UPDATE table SET … WHERE …".to_owned());
        }
        self.found.growth = Growth::Any;
        self.changed(&update.table)?;
        queries::no_star(update.returning.as_deref())
    }

    fn delete(&mut self, delete: &mut Delete) -> Result<(), String> {
        let FromTable::WithFromKeyword(from) = &delete.from else {
            return Err("it deletes without FROM".to_owned());
        };
        let plain = delete.tables.is_empty()
            && delete.output.is_none()
            && delete.optimizer_hints.is_empty()
            && delete.order_by.is_empty()
            && delete.limit.is_none();
        let ([table], true) = (from.as_slice(), plain) else {
            return Err("it deletes in a way that is not allowed: write DELETE FROM table WHERE …".to_owned());
        };
        self.changed(table)?;
        queries::no_star(delete.returning.as_deref())
    }

    /// Checks the table of an UPDATE or DELETE; its name is rewritten when the walk reaches it.
    fn changed(&mut self, table: &TableWithJoins) -> Result<(), String> {
        let TableFactor::Table { name, args: None, .. } = &table.relation else {
            return Err("it changes something that is no table".to_owned());
        };
        if !table.joins.is_empty() {
            return Err("it changes a join: name one table".to_owned());
        }
        self.rules.target(&mut name.clone(), &mut self.found).map(drop)
    }

    fn query(&mut self, query: &mut Query) -> Result<(), String> {
        queries::query(query)?;
        if let Some(with) = &mut query.with {
            if with.recursive {
                return Err("it has WITH RECURSIVE: write it without recursion".to_owned());
            }
            for table in &mut with.cte_tables {
                table.alias.name = Ident::new(format!("{COMMON}{}", table.alias.name.value));
            }
        }
        Ok(())
    }

    fn factor(&mut self, factor: &mut TableFactor) -> Result<(), String> {
        queries::factor(factor)?;
        if let TableFactor::Table { name, alias, args: None, .. } = factor {
            let known = self.rules.resolve(name, &self.common, &mut self.found)?;
            alias.get_or_insert_with(|| queries::alias(known));
        }
        Ok(())
    }
}

impl Rules<'_> {
    /// Rewrites the name of a table that is changed; returns the name by which the statement refers to it.
    fn target(&self, name: &mut ObjectName, found: &mut Checked) -> Result<Ident, String> {
        let [ObjectNamePart::Identifier(table)] = name.0.as_slice() else {
            return Err(format!("it changes {name}: only tables of the plugin's own may be changed"));
        };
        let table = table.clone();
        found.writes = true;
        found.changes.insert(table.value.to_ascii_lowercase());
        *name = self.own(&table)?;
        Ok(table)
    }

    /// Rewrites the name of a table that is read; returns the name by which the statement refers to it.
    fn resolve(&self, name: &mut ObjectName, common: &BTreeSet<String>, found: &mut Checked) -> Result<Ident, String> {
        let parts: Option<Vec<Ident>> = name.0.iter().map(|part| part.as_ident().cloned()).collect();
        match parts.as_deref() {
            Some([table]) if common.contains(&table.value.to_ascii_lowercase()) => {
                *name = ObjectName::from(vec![Ident::new(format!("{COMMON}{}", table.value))]);
                Ok(table.clone())
            }
            Some([table]) => {
                found.reads.insert(table.value.to_ascii_lowercase());
                *name = self.own(table)?;
                Ok(table.clone())
            }
            Some([schema, view]) if schema.value.eq_ignore_ascii_case("core_v1") => {
                let view = view.value.to_ascii_lowercase();
                *name = self.view(&view)?;
                found.reads.insert(format!("core_v1.{view}"));
                Ok(Ident::new(view))
            }
            _ => Err(format!(
                "it reads {name}: there are the plugin's own tables by their bare names, and the views of core_v1"
            )),
        }
    }

    fn own(&self, table: &Ident) -> Result<ObjectName, String> {
        let name = table.value.to_ascii_lowercase();
        if name.starts_with("sqlite_") || name.starts_with("pg_") {
            return Err(format!("it names {table}, a table of the database itself: use the plugin's own tables"));
        }
        Ok(match self.engine {
            Engine::Sqlite => ObjectName::from(vec![Ident::new(format!("{}{name}", self.scope.prefix))]),
            Engine::Postgres => {
                ObjectName::from(vec![Ident::new(self.scope.schema.clone()), Ident::with_quote('"', name)])
            }
        })
    }

    fn view(&self, view: &str) -> Result<ObjectName, String> {
        if !self.scope.views.contains(view) {
            return Err(format!("it reads core_v1.{view}, which is not granted: add it to permissions.core-views"));
        }
        Ok(match self.engine {
            Engine::Sqlite => ObjectName::from(vec![Ident::new("main"), Ident::new(format!("core_v1__{view}"))]),
            Engine::Postgres => ObjectName::from(vec![Ident::new("core_v1"), Ident::new(view)]),
        })
    }

    /// True for a name that was rewritten.
    fn is_resolved(&self, name: &ObjectName) -> bool {
        let parts: Option<Vec<&str>> =
            name.0.iter().map(|part| part.as_ident().map(|part| part.value.as_str())).collect();
        match (self.engine, parts.as_deref()) {
            (_, Some([name])) if functions::is_table(name) || name.starts_with(COMMON) => true,
            (Engine::Sqlite, Some([table])) => table.starts_with(&self.scope.prefix),
            (Engine::Sqlite, Some(["main", view])) => view.starts_with("core_v1__"),
            (Engine::Postgres, Some([schema, _])) => *schema == self.scope.schema || *schema == "core_v1",
            _ => false,
        }
    }
}

/// Refuses `OR …`: SQLite's `OR ROLLBACK` aborts a transaction that others share, and the other forms exist on one
/// engine only.
fn no_or(or: Option<&SqliteOnConflict>) -> Result<(), String> {
    match or {
        None => Ok(()),
        Some(or) => Err(format!("it has {or}: write ON CONFLICT … DO NOTHING or DO UPDATE")),
    }
}

/// The first words of a refused statement.
fn verb(statement: &Statement) -> String {
    let text = statement.to_string();
    text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}
