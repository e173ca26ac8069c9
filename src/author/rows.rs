//! Rows of the Rust SDK: whether a statement returns the columns that each of them reads.
//!
//! `#[derive(Row)]` writes a line `Name:column,column` into the custom section `rookery-rows` of the component, which
//! [`check`] compares with the columns of the prepared statements. Other languages read columns by name as they like.

use wasmparser::{Parser, Payload};

use terminal::Failure;

const SECTION: &str = "rookery-rows";

/// A row, and the columns that it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    name: String,
    columns: Vec<String>,
}

/// Checks the rows of a component against the `statements`, each with its columns.
///
/// # Errors
/// The first row that reads columns which no statement returns together.
pub(super) fn check(wasm: &[u8], statements: &[(String, Vec<String>)]) -> Result<(), Failure> {
    for row in rows(wasm) {
        let missing = |columns: &[String]| row.columns.iter().filter(|column| !columns.contains(column)).count();
        let Some((name, columns)) = statements.iter().min_by_key(|(_, columns)| missing(columns)) else { continue };
        let lacking: Vec<&str> =
            row.columns.iter().filter(|column| !columns.contains(column)).map(String::as_str).collect();
        if !lacking.is_empty() {
            return Err(Failure::new(format!(
                "the row {} reads {}, and no statement returns it: the nearest is {name}, with the columns {}",
                row.name,
                lacking.join(", "),
                columns.join(", ")
            )));
        }
    }
    Ok(())
}

/// The rows of a component; none where it cannot be read, which loading it reports.
fn rows(wasm: &[u8]) -> Vec<Row> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        let Ok(payload) = payload else { break };
        if let Payload::CustomSection(section) = payload
            && section.name() == SECTION
        {
            found.extend(String::from_utf8_lossy(section.data()).lines().filter_map(row));
        }
    }
    found
}

fn row(line: &str) -> Option<Row> {
    let (name, columns) = line.split_once(':')?;
    Some(Row {
        name: name.to_owned(),
        columns: columns.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(lines: &str) -> Vec<u8> {
        // A core module in a component, as compilers make them: the preamble, and a custom section.
        let name_length = u8::try_from(SECTION.len()).unwrap();
        let section = [&[name_length][..], SECTION.as_bytes(), lines.as_bytes()].concat();
        let section = [&[0, u8::try_from(section.len()).unwrap()][..], &section].concat();
        let module = [&b"\0asm\x01\0\0\0"[..], &section].concat();
        let module = [&[1, u8::try_from(module.len()).unwrap()][..], &module].concat();
        [&b"\0asm\x0d\0\x01\0"[..], &module].concat()
    }

    #[test]
    fn row_that_no_statement_returns_is_refused() {
        let statement =
            |name: &str, columns: &[&str]| (name.to_owned(), columns.iter().map(ToString::to_string).collect());
        let statements = [statement("titles", &["title"]), statement("notes", &["id", "title"])];
        let wasm = component("Note:id,title\nTitle:title\n");
        assert!(check(&wasm, &statements).is_ok());
        assert_eq!(rows(&wasm).len(), 2);
        let refused = check(&component("Note:id,titel\n"), &statements).unwrap_err();
        let refused = refused.text();
        assert!(
            refused.contains("Note reads titel") && refused.contains("notes, with the columns id, title"),
            "{refused}"
        );
        assert!(check(b"nonsense", &statements).is_ok(), "loading reports it");
    }
}
