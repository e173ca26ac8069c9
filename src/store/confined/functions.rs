//! The allow-list of SQL functions that plugins may call: numbers, texts, JSON, aggregates and window functions; none
//! that reaches a file, a setting or a session.
//!
//! Used by the parser's check in `plugins::sql` and by SQLite's [`authorizer`](super::authorizer).

/// Sorted, for binary search. Includes the operators that SQLite reports as functions.
const ALLOWED: &[&str] = &[
    "->",
    "->>",
    "abs",
    "avg",
    "bool_and",
    "bool_or",
    "ceil",
    "char_length",
    "coalesce",
    "concat",
    "count",
    "cume_dist",
    "dense_rank",
    "exists",
    "first_value",
    "floor",
    "glob",
    "greatest",
    "group_concat",
    "hex",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_length",
    "json_each",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_object",
    "json_set",
    "json_type",
    "json_valid",
    "jsonb_agg",
    "jsonb_array_elements",
    "jsonb_array_elements_text",
    "jsonb_array_length",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_object_agg",
    "jsonb_set",
    "jsonb_typeof",
    "lag",
    "last_value",
    "lead",
    "least",
    "length",
    "like",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "percent_rank",
    "position",
    "power",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sqrt",
    "starts_with",
    "string_agg",
    "strpos",
    "substr",
    "substring",
    "sum",
    "to_json",
    "to_jsonb",
    "total",
    "trim",
    "trunc",
    "unhex",
    "unnest",
    "upper",
];

/// The aggregate functions among [`ALLOWED`]: without GROUP BY they make a row of none.
const AGGREGATES: &[&str] = &[
    "avg",
    "bool_and",
    "bool_or",
    "count",
    "group_concat",
    "json_group_array",
    "json_group_object",
    "jsonb_agg",
    "jsonb_object_agg",
    "max",
    "min",
    "string_agg",
    "sum",
    "total",
];

/// The table-valued functions among [`ALLOWED`].
const TABLES: &[&str] = &["json_each", "jsonb_array_elements", "jsonb_array_elements_text", "unnest"];

/// Functions that SQLite itself calls while it changes a schema: allowed in migrations only.
const INTERNAL: &[&str] = &[
    "format",
    "printf",
    "sqlite_add_constraint",
    "sqlite_drop_column",
    "sqlite_drop_constraint",
    "sqlite_fail",
    "sqlite_rename_column",
    "sqlite_rename_quotefix",
    "sqlite_rename_table",
    "sqlite_rename_test",
];

/// True for a function that plugins may call.
#[must_use]
pub fn is_allowed(name: &str) -> bool {
    ALLOWED.binary_search(&name.to_ascii_lowercase().as_str()).is_ok()
}

/// True for an aggregate function.
#[must_use]
pub fn is_aggregate(name: &str) -> bool {
    AGGREGATES.contains(&name.to_ascii_lowercase().as_str())
}

/// True for a table-valued function.
#[must_use]
pub fn is_table(name: &str) -> bool {
    TABLES.contains(&name.to_ascii_lowercase().as_str())
}

pub(super) fn is_internal(name: &str) -> bool {
    INTERNAL.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found() {
        assert!(ALLOWED.is_sorted());
        assert!(TABLES.iter().chain(ALLOWED).all(|name| is_allowed(name)));
        assert!(is_allowed("COUNT") && !is_allowed("load_extension") && !is_allowed("pg_read_file"));
    }
}
