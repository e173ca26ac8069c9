//! Turns the statement of a migration in batches into one that changes a limited number of rows.
//!
//! Rows are selected by the engine's own row identifier (`rowid`, `ctid`), so no table needs a key for it. The
//! statement runs repeatedly until it changes nothing, so its WHERE must exclude changed rows.

use sqlparser::ast::{Expr, FromTable, SetExpr, Statement, TableWithJoins};

use super::{Rules, parse};
use crate::sql::text;
use database::Engine;

/// Adds to an UPDATE or DELETE that it changes at most `rows` rows.
pub(super) fn limit(rules: Rules<'_>, statement: &mut Statement, rows: u32) -> Result<(), String> {
    let (table, selection) = match statement {
        Statement::Update(update) if update.from.is_none() => (update.table.clone(), &mut update.selection),
        Statement::Delete(delete) => match &delete.from {
            FromTable::WithFromKeyword(from) if from.len() == 1 => (from[0].clone(), &mut delete.selection),
            FromTable::WithFromKeyword(_) | FromTable::WithoutKeyword(_) => return Err(refused()),
        },
        _ => return Err(refused()),
    };
    let Some(condition) = selection.take() else {
        return Err("it changes every row in batches: say in WHERE which rows are still to be changed".to_owned());
    };
    *selection = Some(chosen(rules, table, condition, rows)?);
    Ok(())
}

fn refused() -> String {
    "it is marked `-- batch:` and is not one plain UPDATE or DELETE: put anything else into another migration"
        .to_owned()
}

/// The condition that a row is among the first ones that fulfil `condition`.
fn chosen(rules: Rules<'_>, table: TableWithJoins, condition: Expr, rows: u32) -> Result<Expr, String> {
    let name = match rules.engine {
        Engine::Sqlite => "rowid",
        Engine::Postgres => "ctid",
    };
    let model = format!("SELECT 1 WHERE {name} IN (SELECT {name} FROM t WHERE TRUE LIMIT {rows})");
    let model = parse(rules, text::tokens(&model, rules.engine)?)?.pop();
    if let Some(Statement::Query(mut query)) = model
        && let SetExpr::Select(outer) = query.body.as_mut()
        && let Some(Expr::InSubquery { mut subquery, expr, negated }) = outer.selection.take()
        && let SetExpr::Select(inner) = subquery.body.as_mut()
    {
        inner.from = vec![table];
        inner.selection = Some(condition);
        return Ok(Expr::InSubquery { expr, subquery, negated });
    }
    Err(refused())
}
