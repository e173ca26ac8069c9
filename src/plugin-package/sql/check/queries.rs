//! Validates queries and their FROM clauses.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Ident, Insert, Join, JoinConstraint, JoinOperator, LimitClause, ObjectName, OnConflictAction, OnInsert,
    Query, Select, SelectFlavor, SelectItem, SetExpr, Statement, TableAlias, TableFactor, Value, Visitor,
};

use super::{Growth, Rules, parse};
use crate::sql::text;
use database::confined::functions;

/// Collects the names of common table expressions, or verifies every table name after the rewrite, in any position.
///
/// One type for both, because the traversal of every kind of expression is compiled for each.
#[derive(Default)]
pub(super) struct Names<'a> {
    /// The names of common table expressions so far.
    pub(super) common: BTreeSet<String>,
    /// What every table is verified against, if at all.
    pub(super) rules: Option<Rules<'a>>,
}

impl Visitor for Names<'_> {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<String> {
        let tables = query.with.iter().flat_map(|with| &with.cte_tables);
        self.common.extend(tables.map(|table| table.alias.name.value.to_ascii_lowercase()));
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<String> {
        match self.rules {
            Some(rules) if !rules.is_resolved(name) => {
                ControlFlow::Break(format!("it names {name} in a place where no table may stand"))
            }
            Some(_) | None => ControlFlow::Continue(()),
        }
    }
}

pub(super) fn alias(name: Ident) -> TableAlias {
    TableAlias { explicit: true, name, columns: Vec::new(), at: None }
}

pub(super) fn query(query: &Query) -> Result<(), String> {
    if !query.locks.is_empty() {
        return Err("it has FOR UPDATE or FOR SHARE: leave it out, a transaction suffices".to_owned());
    }
    let plain = query.fetch.is_none()
        && query.for_clause.is_none()
        && query.settings.is_none()
        && query.format_clause.is_none()
        && query.pipe_operators.is_empty()
        && !matches!(&query.limit_clause, Some(LimitClause::LimitOffset { limit_by, .. }) if !limit_by.is_empty());
    if plain {
        body(&query.body)
    } else {
        Err("it ends in a clause that is not allowed: use ORDER BY and LIMIT".to_owned())
    }
}

fn body(part: &SetExpr) -> Result<(), String> {
    match part {
        SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) => Ok(()),
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) => Ok(()),
        SetExpr::SetOperation { left, right, .. } => body(left).and_then(|()| body(right)),
        SetExpr::Table(_) => Err("it has TABLE as a query: write SELECT columns FROM".to_owned()),
        SetExpr::Merge(_) => Err("it is MERGE: write INSERT … ON CONFLICT".to_owned()),
    }
}

/// Longest literal that does not count as growth: a longer one is stored with every row.
const SHORT: usize = 64;

/// The growth by an INSERT: the size of its parameters if each is stored once, otherwise unbounded.
pub(super) fn growth(insert: &Insert) -> Growth {
    let mut brought = BTreeSet::new();
    let mut plain = |value: &Expr| match value {
        Expr::Value(value) => match &value.value {
            Value::Placeholder(sign) => brought.insert(sign.clone()),
            Value::SingleQuotedString(text) | Value::HexStringLiteral(text) => text.len() <= SHORT,
            _ => true,
        },
        Expr::CompoundIdentifier(parts) => {
            parts.first().is_some_and(|part| part.value.eq_ignore_ascii_case("excluded"))
        }
        _ => false,
    };
    let rows = match insert.source.as_ref().map(|source| &*source.body) {
        None => true,
        Some(SetExpr::Values(values)) => values.rows.iter().flat_map(|row| &row.content).all(&mut plain),
        Some(_) => false,
    };
    let updates = match &insert.on {
        None => true,
        Some(OnInsert::OnConflict(conflict)) => match &conflict.action {
            OnConflictAction::DoNothing => true,
            OnConflictAction::DoUpdate(update) => update.assignments.iter().all(|one| plain(&one.value)),
        },
        Some(_) => false,
    };
    if rows && updates { Growth::Params } else { Growth::Any }
}

pub(super) fn no_star(items: Option<&[SelectItem]>) -> Result<(), String> {
    let star = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    if items.unwrap_or_default().iter().any(star) {
        return Err("it has * for columns: name them, so that a later column changes nothing".to_owned());
    }
    Ok(())
}

pub(super) fn select(select: &Select) -> Result<(), String> {
    no_star(Some(&select.projection))?;
    if select.into.is_some() {
        return Err("it is SELECT INTO: write INSERT … SELECT".to_owned());
    }
    let plain = select.optimizer_hints.is_empty()
        && select.select_modifiers.is_none()
        && select.top.is_none()
        && select.exclude.is_none()
        && select.lateral_views.is_empty()
        && select.prewhere.is_none()
        && select.connect_by.is_empty()
        && select.cluster_by.is_empty()
        && select.distribute_by.is_empty()
        && select.sort_by.is_empty()
        && select.qualify.is_none()
        && select.value_table_mode.is_none()
        && select.flavor == SelectFlavor::Standard;
    if !plain {
        return Err("it has a clause that is not allowed in a SELECT".to_owned());
    }
    let joins = select.from.iter().skip(1).all(|table| is_function(&table.relation));
    if !joins || !select.from.iter().flat_map(|table| &table.joins).all(is_bound) {
        return Err("it joins tables without saying how: write JOIN … ON".to_owned());
    }
    Ok(())
}

fn is_function(factor: &TableFactor) -> bool {
    match factor {
        TableFactor::Table { args, .. } => args.is_some(),
        TableFactor::Function { .. } | TableFactor::UNNEST { .. } => true,
        _ => false,
    }
}

fn is_bound(join: &Join) -> bool {
    use JoinOperator as Op;
    match &join.join_operator {
        Op::Join(on)
        | Op::Inner(on)
        | Op::Left(on)
        | Op::LeftOuter(on)
        | Op::Right(on)
        | Op::RightOuter(on)
        | Op::FullOuter(on) => {
            matches!(on, JoinConstraint::On(_) | JoinConstraint::Using(_)) || is_function(&join.relation)
        }
        Op::CrossJoin(_) => is_function(&join.relation),
        _ => false,
    }
}

pub(super) fn factor(factor: &TableFactor) -> Result<(), String> {
    let function = |name: &ObjectName| {
        let known = name.0.as_slice().first().and_then(|part| part.as_ident()).filter(|_| name.0.len() == 1);
        if known.is_some_and(|name| functions::is_table(&name.value)) {
            Ok(())
        } else {
            Err(format!("it calls {name} in FROM, which is not allowed there"))
        }
    };
    match factor {
        TableFactor::Table {
            name,
            args,
            with_hints,
            version,
            with_ordinality,
            partitions,
            json_path,
            sample,
            index_hints,
            ..
        } => {
            if !with_hints.is_empty()
                || version.is_some()
                || *with_ordinality
                || !partitions.is_empty()
                || json_path.is_some()
                || sample.is_some()
                || !index_hints.is_empty()
            {
                return Err(format!("it has something after {name} that is not allowed"));
            }
            if args.is_some() { function(name) } else { Ok(()) }
        }
        TableFactor::Derived { lateral: _, sample: None, .. } => Ok(()),
        TableFactor::Function { name, with_ordinality: false, .. } => function(name),
        TableFactor::UNNEST { with_offset: false, with_ordinality: false, .. } => Ok(()),
        _ => Err("it has something in FROM that is no table, view or subquery".to_owned()),
    }
}

/// Adds ORDER BY and LIMIT to a statement with `{page:…}`. The author's own clauses must agree with them.
pub(super) fn page(
    rules: Rules<'_>,
    statement: &mut Statement,
    column: &str,
    limit: &str,
    ascending: bool,
) -> Result<(), String> {
    let Statement::Query(query) = statement else {
        return Err("it has {page:…} and is no SELECT".to_owned());
    };
    if !matches!(query.body.as_ref(), SetExpr::Select(_)) {
        return Err("it has {page:…} in a UNION: page a SELECT of one".to_owned());
    }
    let written = [
        query.order_by.as_ref().map(ToString::to_string),
        query.limit_clause.as_ref().map(|clause| clause.to_string().trim().to_owned()),
    ];
    let model = |direction: &str| {
        let source = format!("SELECT 1 ORDER BY {column} {direction} LIMIT {limit}");
        let tokens = text::tokens(&source, rules.engine)?;
        match parse(rules, tokens)?.pop() {
            Some(Statement::Query(model)) => Ok(*model),
            _ => Err(format!("{{page:{column}}} names no column")),
        }
    };
    let expected = model("DESC")?;
    let same = [
        expected.order_by.as_ref().map(ToString::to_string),
        expected.limit_clause.as_ref().map(|clause| clause.to_string().trim().to_owned()),
    ];
    if written.iter().zip(&same).any(|(written, same)| written.is_some() && written != same) {
        return Err(format!("it has an order or limit beside {{page:{column}}}: leave them out"));
    }
    let model = if ascending { model("ASC")? } else { expected };
    query.order_by = model.order_by;
    query.limit_clause = model.limit_clause;
    Ok(())
}

/// Gives a query without a LIMIT one, so that the engine does not produce rows that are never read.
pub(super) fn bound(statement: &mut Statement, most: usize) {
    let Statement::Query(query) = statement else { return };
    let reads = matches!(query.body.as_ref(), SetExpr::Select(_) | SetExpr::SetOperation { .. });
    if reads && query.limit_clause.is_none() && query.fetch.is_none() {
        let limit = Expr::Value(Value::Number(most.saturating_add(1).to_string(), false).into());
        query.limit_clause = Some(LimitClause::LimitOffset { limit: Some(limit), offset: None, limit_by: Vec::new() });
    }
}
