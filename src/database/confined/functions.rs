//! The allow-list of SQL functions that plugins may call: numbers, texts, JSON, aggregates and window functions; none
//! of them accesses a file, a setting or a session.
//!
//! Used by the parser's check in `plugin_package::sql` and by SQLite's [`authorizer`](super::authorizer). The engines
//! check their time limit only between rows and instructions, so no single call may take long: patterns are limited
//! to [`MAX_PATTERN_BYTES`], arguments to [`MAX_ARGUMENTS`], values to [`MAX_VALUE_BYTES`].

/// The largest value that a plugin's statement may accept or produce, in bytes.
pub const MAX_VALUE_BYTES: usize = 256 << 10;

/// Longest pattern, substring to find, or set of characters, in bytes: the cost of such a function is the product of
/// this and of the length of the text.
pub const MAX_PATTERN_BYTES: usize = 100;

/// Most arguments of a function: its result is in memory before the size limit of values applies.
pub const MAX_ARGUMENTS: usize = 32;

/// Most values of a statement in memory at the same time: each use of a text parameter, and each result of a function
/// or operator that creates texts. Together they take 16 MiB at most.
pub const MAX_VALUES: usize = 64;

/// Functions with numeric results, whose memory is negligible.
const NUMERIC: &[&str] = &[
    "abs",
    "avg",
    "bool_and",
    "bool_or",
    "ceil",
    "char_length",
    "count",
    "cume_dist",
    "dense_rank",
    "exists",
    "floor",
    "glob",
    "instr",
    "json_array_length",
    "json_valid",
    "jsonb_array_length",
    "length",
    "like",
    "mod",
    "ntile",
    "percent_rank",
    "position",
    "power",
    "rank",
    "round",
    "row_number",
    "sign",
    "sqrt",
    "starts_with",
    "strpos",
    "sum",
    "total",
    "trunc",
];

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
    "unnest",
    "upper",
];

/// The aggregate functions in [`ALLOWED`]: without GROUP BY they return one row even for an empty input.
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

/// The table-valued functions in [`ALLOWED`].
const TABLES: &[&str] = &["json_each", "jsonb_array_elements", "jsonb_array_elements_text", "unnest"];

/// Functions that are replaced by a function of the server on SQLite ([`bounded`](super::bounded)): SQLite's own
/// versions have no limit of time or memory.
const REPLACED: &[(&str, &str)] = &[
    ("instr", "rookery_instr"),
    ("json_group_array", "rookery_json_group_array"),
    ("json_group_object", "rookery_json_group_object"),
    ("ltrim", "rookery_ltrim"),
    ("replace", "rookery_replace"),
    ("rtrim", "rookery_rtrim"),
    ("trim", "rookery_trim"),
];

/// Functions whose cost is the product of two arguments, with the positions of the pattern arguments.
const SEARCHING: &[(&str, &[usize])] = &[
    ("glob", &[0]),
    ("instr", &[1]),
    ("like", &[0]),
    ("ltrim", &[1]),
    ("replace", &[1, 2]),
    ("rtrim", &[1]),
    ("strpos", &[1]),
];

/// Functions and aggregates whose result may be larger than their arguments: PostgreSQL limits it only to 1 GB.
const GROWING: &[&str] = &[
    "concat",
    "jsonb_agg",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_object_agg",
    "jsonb_set",
    "replace",
    "string_agg",
    "to_json",
    "to_jsonb",
];

/// Functions that SQLite calls internally during a schema change: allowed in migrations only.
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

/// The name of the function that SQLite runs in place of `name`, if it is replaced.
#[must_use]
pub fn replacement(name: &str) -> Option<&'static str> {
    REPLACED.iter().find(|(replaced, _)| replaced.eq_ignore_ascii_case(name)).map(|(_, own)| *own)
}

/// The positions of the arguments of `name` that are patterns: at most [`MAX_PATTERN_BYTES`] long.
#[must_use]
pub fn patterns(name: &str) -> &'static [usize] {
    SEARCHING.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or(&[], |(_, patterns)| patterns)
}

/// True for a function with numeric results.
#[must_use]
pub fn is_numeric(name: &str) -> bool {
    NUMERIC.binary_search(&name.to_ascii_lowercase().as_str()).is_ok()
}

/// True for a function whose result may be larger than its arguments.
#[must_use]
pub fn is_growing(name: &str) -> bool {
    GROWING.contains(&name.to_ascii_lowercase().as_str())
}

/// True for a function that a plugin's statement may call on SQLite, where some are renamed.
pub(super) fn is_allowed_in_sqlite(name: &str) -> bool {
    (is_allowed(name) && replacement(name).is_none()) || REPLACED.iter().any(|(_, own)| *own == name)
}

/// Every function that plugins may call.
#[must_use]
pub fn all() -> &'static [&'static str] {
    ALLOWED
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
        assert!(NUMERIC.is_sorted() && NUMERIC.iter().all(|name| is_allowed(name)));
        assert!(TABLES.iter().chain(ALLOWED).all(|name| is_allowed(name)));
        assert!(
            is_allowed("COUNT") && !is_allowed("unhex") && !is_allowed("load_extension") && !is_allowed("pg_read_file")
        );
        assert!(SEARCHING.iter().map(|(name, _)| name).chain(GROWING).all(|name| is_allowed(name)));
        assert!(!is_allowed_in_sqlite("REPLACE") && is_allowed_in_sqlite("rookery_replace"));
    }
}
