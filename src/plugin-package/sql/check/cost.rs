//! Bounds the cost of a single call of a function, since the engines check their time limit between calls only.
//!
//! Called after the children of an expression were checked. On SQLite, functions whose time or memory nothing limits
//! become functions of the server; on PostgreSQL, patterns and results are wrapped in functions of `core_v1` that
//! refuse values that are too large (`migrations/postgres/0020_core_views.sql`). The limits of [`functions`] are the
//! same on both engines.

use sqlparser::ast::{
    BinaryOperator as Op, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, TrimWhereField, UnaryOperator, Value,
};

use database::Engine;
use database::confined::functions::{self, MAX_ARGUMENTS, MAX_PATTERN_BYTES};

/// Longest number that a statement may contain, digits: more would be calculated with exactly, digit by digit.
const MAX_DIGITS: usize = 40;

/// Checks an expression of which every part was checked before, and rewrites it.
pub(super) fn bound(engine: Engine, expr: &mut Expr) -> Result<(), String> {
    match expr {
        Expr::Function(function) => call(engine, function)?,
        Expr::Like { pattern, .. } | Expr::ILike { pattern, .. } => search(engine, pattern)?,
        Expr::Position { expr: part, .. } => search(engine, part)?,
        Expr::Trim { trim_what, trim_characters, .. } => {
            let sets = trim_what.iter_mut().map(|what| &mut **what).chain(trim_characters.iter_mut().flatten());
            sets.into_iter().try_for_each(|set| search(engine, set))?;
        }
        Expr::BinaryOp { op, .. } => operator(op)?,
        Expr::AnyOp { compare_op, .. } | Expr::AllOp { compare_op, .. } => operator(compare_op)?,
        Expr::UnaryOp { op, .. } => unary(*op)?,
        Expr::Value(value) => number(&value.value)?,
        _ => {}
    }
    match engine {
        Engine::Sqlite => replace(expr),
        Engine::Postgres if grows(expr) => wrap("bounded", expr),
        Engine::Postgres if multiplies(expr) => wrap("bounded_number", expr),
        Engine::Postgres => {}
    }
    Ok(())
}

/// True for an expression whose value may be a new text, allocated beside its operands.
pub(super) fn makes_text(expr: &Expr) -> bool {
    match expr {
        Expr::Function(function) => !functions::is_numeric(&function.name.to_string()),
        Expr::Trim { .. } | Expr::Substring { .. } | Expr::Case { .. } => true,
        Expr::Cast { data_type, .. } => {
            matches!(data_type, DataType::Text | DataType::JSONB | DataType::Blob(_) | DataType::Bytea)
        }
        Expr::BinaryOp { op, .. } => {
            matches!(op, Op::StringConcat | Op::Arrow | Op::LongArrow | Op::HashArrow | Op::HashLongArrow)
        }
        _ => false,
    }
}

/// Checks the arguments of a call.
fn call(engine: Engine, function: &mut Function) -> Result<(), String> {
    let name = function.name.to_string().to_ascii_lowercase();
    let mut args = arguments(function);
    if args.len() > MAX_ARGUMENTS {
        return Err(format!("it calls {name} with more than {MAX_ARGUMENTS} arguments: nest or join the results"));
    }
    for place in functions::patterns(&name) {
        if let Some(pattern) = args.get_mut(*place) {
            search(engine, pattern)?;
        }
    }
    if engine == Engine::Postgres && name == "power" {
        args.into_iter().for_each(as_double);
    }
    Ok(())
}

fn arguments(function: &mut Function) -> Vec<&mut Expr> {
    let FunctionArguments::List(list) = &mut function.args else { return Vec::new() };
    let args = list.args.iter_mut().filter_map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    args.collect()
}

/// Limits the pattern of a search: a literal now, anything else when the statement runs.
fn search(engine: Engine, pattern: &mut Expr) -> Result<(), String> {
    match pattern {
        Expr::Value(value) if !matches!(value.value, Value::Placeholder(_)) => match &value.value {
            Value::SingleQuotedString(text) if text.len() > MAX_PATTERN_BYTES => {
                Err(format!("it searches for a text longer than {MAX_PATTERN_BYTES} bytes: shorten that"))
            }
            _ => Ok(()),
        },
        _ => {
            if engine == Engine::Postgres {
                wrap("short", pattern);
            }
            Ok(())
        }
    }
}

/// Comparisons, arithmetic, and access to JSON and lists. Not regular expressions and paths of JSON, whose cost nothing
/// limits, and not exact powers.
fn operator(op: &Op) -> Result<(), String> {
    match op {
        Op::Plus | Op::Minus | Op::Multiply | Op::Divide | Op::Modulo | Op::StringConcat => Ok(()),
        Op::Gt | Op::Lt | Op::GtEq | Op::LtEq | Op::Eq | Op::NotEq | Op::And | Op::Or => Ok(()),
        Op::BitwiseOr | Op::BitwiseAnd | Op::PGBitwiseShiftLeft | Op::PGBitwiseShiftRight => Ok(()),
        Op::Arrow | Op::LongArrow | Op::HashArrow | Op::HashLongArrow | Op::AtArrow | Op::ArrowAt => Ok(()),
        Op::PGOverlap | Op::Question => Ok(()),
        other => Err(format!("it has the operator {other}, which is not among those for plugins")),
    }
}

fn unary(op: UnaryOperator) -> Result<(), String> {
    match op {
        UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Not | UnaryOperator::BitwiseNot => Ok(()),
        other => Err(format!("it has the operator {other}, which is not among those for plugins")),
    }
}

fn number(value: &Value) -> Result<(), String> {
    match value {
        Value::Number(digits, _) if digits.len() > MAX_DIGITS || digits.contains(['e', 'E']) => Err(format!(
            "it has the number {digits:.MAX_DIGITS$}: write at most {MAX_DIGITS} digits, without an exponent"
        )),
        _ => Ok(()),
    }
}

/// Puts the server's own function in the place of one of SQLite's.
fn replace(expr: &mut Expr) {
    match expr {
        Expr::Function(function) => {
            if let Some(own) = functions::replacement(&function.name.to_string()) {
                function.name = ObjectName::from(vec![Ident::new(own)]);
            }
        }
        Expr::Trim { trim_where, trim_what, expr: text, trim_characters } => {
            let name = match trim_where {
                Some(TrimWhereField::Leading) => "ltrim",
                Some(TrimWhereField::Trailing) => "rtrim",
                Some(TrimWhereField::Both) | None => "trim",
            };
            let set =
                trim_what.take().map(|what| *what).into_iter().chain(trim_characters.take().into_iter().flatten());
            let args = std::iter::once(std::mem::replace(&mut **text, null())).chain(set).collect();
            *expr = made(&[functions::replacement(name).unwrap_or(name)], args);
        }
        _ => {}
    }
}

/// True for an expression whose value may be larger than its operands on PostgreSQL.
fn grows(expr: &Expr) -> bool {
    match expr {
        Expr::Function(function) => functions::is_growing(&function.name.to_string()),
        Expr::BinaryOp { op: Op::StringConcat, .. } => !is_given(expr),
        // A blob as a text is twice as long, and may be made a blob again.
        Expr::Cast { expr, .. } => matches!(inner(expr), Expr::Cast { .. } | Expr::Function(_)),
        _ => false,
    }
}

/// True for a product of calculated numbers, which PostgreSQL may calculate with as many digits as both have together.
fn multiplies(expr: &Expr) -> bool {
    matches!(expr, Expr::BinaryOp { left, op: Op::Multiply, right } if !is_given(left) && !is_given(right))
}

/// True for literals and parameters, and for texts that are put together of these alone.
fn is_given(expr: &Expr) -> bool {
    match inner(expr) {
        Expr::Value(_) => true,
        Expr::BinaryOp { left, op: Op::StringConcat, right } => is_given(left) && is_given(right),
        _ => false,
    }
}

fn inner(mut expr: &Expr) -> &Expr {
    while let Expr::Nested(nested) = expr {
        expr = nested;
    }
    expr
}

/// Puts a call of a function of `core_v1` around an expression.
fn wrap(function: &str, expr: &mut Expr) {
    let arg = std::mem::replace(expr, null());
    *expr = made(&["core_v1", function], vec![arg]);
}

fn as_double(expr: &mut Expr) {
    let arg = std::mem::replace(expr, null());
    *expr = Expr::Cast {
        kind: sqlparser::ast::CastKind::Cast,
        expr: Box::new(arg),
        data_type: DataType::DoublePrecision,
        format: None,
    };
}

fn null() -> Expr {
    Expr::Value(Value::Null.into())
}

fn made(name: &[&str], args: Vec<Expr>) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    Expr::Function(Function {
        name: ObjectName::from(name.iter().map(|part| Ident::new(*part)).collect::<Vec<_>>()),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}
