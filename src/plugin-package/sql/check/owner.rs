//! Statements that `returns: owner`: a row lets the caller in, so that no row may come of nothing.
//!
//! An aggregate without GROUP BY is a row whatever it counts, and a second SELECT or VALUES may be one; a statement
//! without WHERE lets everybody in. Whether the conditions are the right ones is for its author.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Query, SetExpr, Statement, Visit as _, Visitor};
use sqlparser::tokenizer::Token;

use super::{Rules, deep, parse};
use database::confined::functions;

/// Checks a statement that `returns: owner`, beyond what every statement is checked for.
///
/// # Errors
/// The refusal and the remedy, as a clause.
pub fn owner(rules: Rules<'_>, tokens: Vec<Token>) -> Result<(), String> {
    deep(move || {
        let statements = parse(rules, tokens)?;
        let [Statement::Query(query)] = statements.as_slice() else {
            return Err("it returns: owner, and is no SELECT".to_owned());
        };
        match query.body.as_ref() {
            SetExpr::Select(select) if select.selection.is_some() => {}
            SetExpr::Select(_) => {
                return Err("it returns: owner, and has no WHERE: it would let everybody in".to_owned());
            }
            _ => {
                return Err(
                    "it returns: owner, and is not one plain SELECT: put the conditions into its WHERE".to_owned()
                );
            }
        }
        match query.visit(&mut Rows) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(refused) => Err(refused),
        }
    })
}

/// Refuses what makes a row of none.
struct Rows;

impl Visitor for Rows {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<String> {
        match query.body.as_ref() {
            SetExpr::Select(_) => ControlFlow::Continue(()),
            _ => ControlFlow::Break("it returns: owner, and joins queries or VALUES: write one SELECT".to_owned()),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<String> {
        match expr {
            Expr::Function(function) if functions::is_aggregate(&function.name.to_string()) => {
                ControlFlow::Break(format!(
                    "it returns: owner, and has {}(…), which is a row even when nothing was found: write EXISTS, or a \
                     condition in WHERE",
                    function.name
                ))
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
