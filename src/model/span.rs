//! Names of tracing spans, from paths of functions.
//!
//! Spans of use cases have the target `rookery::use_case` and are created by [`use_case`](macro@crate::use_case);
//! spans of SQL statements have `rookery::statement` and are created in `database`.

/// The target of the spans of use cases.
pub const USE_CASE: &str = "rookery::use_case";
/// The target of the spans of SQL statements.
pub const STATEMENT: &str = "rookery::statement";

/// The prefix of crate names, which dependents omit.
const PREFIX: &str = "rookery_";

/// The path as written in the source: `service::status::publish`.
#[must_use]
pub const fn name(path: &str) -> &str {
    match path.split_at_checked(PREFIX.len()) {
        Some((prefix, rest)) if is(prefix, PREFIX) => rest,
        Some(_) | None => path,
    }
}

/// The name of the function whose body contains an item named `item` with the path `path`.
#[must_use]
pub fn enclosing<'a>(path: &'a str, item: &str) -> &'a str {
    let function = path.split_once("::{{closure}}").map_or(path, |(function, _)| function);
    let end = function.find(item).unwrap_or(function.len());
    name(function[..end].trim_end_matches("::"))
}

/// Equality of strings in constant expressions.
const fn is(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    one.len() == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_without_the_prefix_of_crates() {
        const NAME: &str = name("rookery_service::status::publish");
        assert_eq!(NAME, "service::status::publish");
        assert_eq!(name("rookery::main"), "rookery::main");
        assert_eq!(name("a"), "a");
    }

    #[test]
    fn enclosing_function_of_an_item() {
        for path in
            ["rookery_store::tag::find::{{closure}}::STATEMENT::{{closure}}", "rookery_store::tag::find::STATEMENT"]
        {
            assert_eq!(enclosing(path, "STATEMENT"), "store::tag::find");
        }
        assert_eq!(enclosing("find", "STATEMENT"), "find");
    }
}
