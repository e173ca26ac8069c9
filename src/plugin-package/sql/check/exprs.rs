//! Validates expressions, by an allow-list of node types and functions.

use sqlparser::ast::{
    CastKind, DataType, Expr, Function, FunctionArguments, Ident, ObjectNamePart, Value, ValueWithSpan,
};

use database::Engine;
use database::confined::functions;

pub(super) fn check(engine: Engine, expr: &mut Expr) -> Result<(), String> {
    match expr {
        Expr::CompoundIdentifier(parts) => shorten(parts),
        Expr::Value(value) => literal(value),
        Expr::Function(function) => call(function),
        Expr::Cast { kind: CastKind::Cast | CastKind::DoubleColon, data_type, format: None, .. } => {
            *data_type = cast_type(engine, data_type)?;
            Ok(())
        }
        Expr::Identifier(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Between { .. }
        | Expr::BinaryOp { .. }
        | Expr::UnaryOp { .. }
        | Expr::Like { any: false, .. }
        | Expr::ILike { any: false, .. }
        | Expr::AnyOp { .. }
        | Expr::AllOp { .. }
        | Expr::Ceil { .. }
        | Expr::Floor { .. }
        | Expr::Position { .. }
        | Expr::Substring { .. }
        | Expr::Trim { .. }
        | Expr::Nested(_)
        | Expr::Case { .. }
        | Expr::Exists { .. }
        | Expr::Subquery(_)
        | Expr::Tuple(_) => Ok(()),
        other => Err(format!("it has {other}, which is not allowed in an expression")),
    }
}

/// `core_v1.statuses.id` becomes `statuses.id`, since the view has that alias in FROM.
fn shorten(parts: &mut Vec<Ident>) -> Result<(), String> {
    match parts.as_slice() {
        [_, _] => Ok(()),
        [schema, _, _] if schema.value.eq_ignore_ascii_case("core_v1") => {
            parts.remove(0);
            Ok(())
        }
        _ => {
            let name = parts.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
            Err(format!("it names {name}: write table.column"))
        }
    }
}

fn literal(value: &ValueWithSpan) -> Result<(), String> {
    match &value.value {
        Value::Number(..)
        | Value::SingleQuotedString(_)
        | Value::HexStringLiteral(_)
        | Value::Boolean(_)
        | Value::Null => Ok(()),
        Value::Placeholder(sign) if sign.starts_with('$') => Ok(()),
        other => Err(format!("it has {other}: write numbers, 'texts', x'blobs', TRUE, FALSE, NULL or :names")),
    }
}

fn call(function: &Function) -> Result<(), String> {
    let [ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else {
        return Err(format!("it calls {}, which is not among the functions for plugins", function.name));
    };
    let plain = matches!(function.parameters, FunctionArguments::None)
        && !function.uses_odbc_syntax
        && function.within_group.is_empty();
    if plain && functions::is_allowed(&name.value) {
        Ok(())
    } else {
        Err(format!("it calls {name}, which is not among the functions for plugins"))
    }
}

/// Portable type names in CAST, mapped to the engine's type names.
fn cast_type(engine: Engine, given: &DataType) -> Result<DataType, String> {
    let known = Portable::of(given)?;
    Ok(match engine {
        Engine::Sqlite => known.sqlite(),
        Engine::Postgres => known.postgres(),
    })
}

/// A column type that both engines have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Portable {
    Integer,
    Text,
    Blob,
    Boolean,
    Real,
    Json,
}

impl Portable {
    pub(super) fn of(given: &DataType) -> Result<Self, String> {
        let word = given.to_string().to_ascii_lowercase();
        Ok(match word.as_str() {
            "integer" | "int" | "bigint" => Self::Integer,
            "text" => Self::Text,
            "blob" | "bytea" => Self::Blob,
            "boolean" | "bool" => Self::Boolean,
            "real" | "double precision" => Self::Real,
            "json" | "jsonb" => Self::Json,
            _ => {
                return Err(format!(
                    "it has the type {word}, which is none of integer, text, blob, boolean, real and json"
                ));
            }
        })
    }

    pub(super) fn sqlite(self) -> DataType {
        match self {
            Self::Integer | Self::Boolean => DataType::Integer(None),
            Self::Text | Self::Json => DataType::Text,
            Self::Blob => DataType::Blob(None),
            Self::Real => DataType::Real,
        }
    }

    pub(super) fn postgres(self) -> DataType {
        match self {
            Self::Integer => DataType::BigInt(None),
            Self::Boolean => DataType::Boolean,
            Self::Text => DataType::Text,
            Self::Json => DataType::JSONB,
            Self::Blob => DataType::Bytea,
            Self::Real => DataType::DoublePrecision,
        }
    }
}
