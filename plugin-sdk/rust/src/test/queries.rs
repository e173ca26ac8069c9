//! Parses `queries.sql` for SQLite: names, parameters, and the expansion of helpers in braces.

use std::collections::BTreeMap;

/// The paging parameters that `{page:…}` adds, unless the statement declares them.
const PAGE: [&str; 4] = ["max_id", "since_id", "min_id", "limit"];

/// A statement.
#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    /// Names of the parameters, in order.
    pub(super) params: Vec<String>,
    /// The integers among them.
    pub(super) integers: Vec<String>,
    /// `returns: page(account)`
    pub(super) accounts: bool,
    /// Most rows, if the statement has `max-rows:`.
    pub(super) max_rows: Option<usize>,
    pub(super) text: String,
}

/// All statements of the file, by name.
pub(super) fn read(text: &str) -> BTreeMap<String, Query> {
    let mut statements = BTreeMap::new();
    let (mut name, mut query, mut skipped) = (String::new(), Query::default(), false);
    for line in text.lines() {
        let annotation = line.trim_start().strip_prefix("--").map(str::trim);
        match annotation.and_then(|text| text.split_once(':')).map(|(key, rest)| (key.trim(), rest.trim())) {
            Some(("name", rest)) => {
                finish(&mut statements, &name, std::mem::take(&mut query));
                let mut words = rest.split_whitespace();
                name = words.next().unwrap_or_default().to_owned();
                query.accounts = rest.contains("page(account)");
                query.max_rows =
                    words.skip_while(|word| *word != "max-rows:").nth(1).and_then(|most| most.parse().ok());
                skipped = false;
            }
            Some(("params", rest)) => {
                for pair in rest.split(',') {
                    let mut words = pair.split_whitespace();
                    let (Some(kind), Some(name)) = (words.next(), words.next()) else { continue };
                    query.params.push(name.to_owned());
                    if kind == "integer" {
                        query.integers.push(name.to_owned());
                    }
                }
            }
            Some(("dialect", rest)) => {
                skipped = rest == "postgres";
                if rest == "sqlite" {
                    query.text.clear();
                }
            }
            _ if annotation.is_some() || skipped => {}
            _ => {
                query.text.push_str(line);
                query.text.push('\n');
            }
        }
    }
    finish(&mut statements, &name, query);
    statements
}

fn finish(statements: &mut BTreeMap<String, Query>, name: &str, mut query: Query) {
    if name.is_empty() {
        return;
    }
    if query.text.contains("{page:") {
        let added =
            PAGE.iter().filter(|name| !query.params.iter().any(|own| own == *name)).map(|name| (*name).to_owned());
        query.params.extend(added.collect::<Vec<_>>());
    }
    query.text = helpers(query.text.trim().trim_end_matches(';'));
    statements.insert(name.to_owned(), query);
}

/// The SQL of a migration, with the helpers expanded.
pub(super) fn migration(text: &str) -> String {
    helpers(text)
}

/// Expands `{now}`, `{in:list}`, `{not_in:list}`, `{each:list as e}` and `{page:column}` for SQLite.
fn helpers(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        done.push_str(before);
        let Some((inside, after)) = after.split_once('}') else {
            done.push('{');
            rest = after;
            continue;
        };
        let (helper, argument) = inside.split_once(':').unwrap_or((inside, ""));
        let argument = argument.trim();
        match helper.trim() {
            "now" => done.push_str(":__now"),
            "in" => done.push_str(&format!("IN (SELECT value FROM json_each(:{argument}))")),
            "not_in" => done.push_str(&format!("NOT IN (SELECT value FROM json_each(:{argument}))")),
            "each" => {
                let mut words = argument.split_whitespace();
                let (list, alias) = (words.next().unwrap_or_default(), words.nth(1).unwrap_or_default());
                done.push_str(&format!("json_each(:{list}) AS {alias}"));
            }
            "page" => done.push_str(&format!("({argument} < :__before AND {argument} > :__after)")),
            _ => done.push_str(&format!("{{{inside}}}")),
        }
        rest = after;
    }
    done.push_str(rest);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_read_with_their_parameters_for_sqlite() {
        let statements = read(
            "-- name: a  returns: many  max-rows: 5\n-- params: integer id, integers ids\n-- what it is for\n\
             SELECT x FROM t WHERE id = :id AND y {in:ids};\n\
             -- name: b returns: page(status)\n-- params: integer owner\n\
             SELECT id FROM t WHERE {page:t.id} AND at < {now} LIMIT :limit\n\
             -- name: c returns: exec\n-- dialect: postgres\nTRUNCATE t\n-- dialect: sqlite\nDELETE FROM t\n",
        );
        assert_eq!(statements["a"].params, ["id", "ids"]);
        assert_eq!((statements["a"].max_rows, statements["b"].max_rows), (Some(5), None));
        assert_eq!(statements["a"].text, "SELECT x FROM t WHERE id = :id AND y IN (SELECT value FROM json_each(:ids))");
        assert_eq!(statements["b"].params, ["owner", "max_id", "since_id", "min_id", "limit"]);
        assert_eq!(
            statements["b"].text,
            "SELECT id FROM t WHERE (t.id < :__before AND t.id > :__after) AND at < :__now LIMIT :limit"
        );
        assert_eq!(statements["c"].text, "DELETE FROM t");
    }
}
