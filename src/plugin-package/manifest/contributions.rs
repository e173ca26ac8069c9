//! Declarations in a manifest of statements that the server runs by itself, for a page of statuses: `[[search]]`
//! selects marked statuses for the search, `[[cleanup]]` statuses that automatic deletion keeps.
//!
//! That the statements exist and fit is checked when the plugin is loaded: `plugins::hooks`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Manifest;
use super::paths::is_word;

/// Longest title, in characters.
const TITLE_MAX: usize = 100;
/// Longest id and word.
const NAME_MAX: usize = 31;

/// `[[search]]`: a way in which people mark statuses.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SearchMark {
    /// Values of the operator `my:` that stand for it.
    pub my: Vec<String>,
    /// The statement that says which of `statuses` the `caller` marked.
    pub among: String,
    /// The statement that pages through all that the `caller` marked.
    pub newest: String,
}

/// `[[cleanup]]`: an exception of automatic deletion that people may choose.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CleanupException {
    /// The name under which a person's choice is kept; unique in the plugin.
    pub id: String,
    /// The title for users, by language; `en` is the fallback for missing languages.
    pub title: BTreeMap<String, String>,
    /// The statement that says which of `statuses`, all of them the `caller`'s, are kept.
    pub statement: String,
    /// The person gives a number, which the statement gets as `least`.
    #[serde(default)]
    pub counts: bool,
    /// It holds for people who did not choose; one that counts does not.
    #[serde(default)]
    pub default: bool,
}

/// Checks both; the error is a whole clause.
pub(super) fn check(manifest: &Manifest) -> Result<(), String> {
    let asks = !manifest.searches.is_empty() || !manifest.cleanups.is_empty();
    if asks && manifest.sql.is_none() {
        return Err("search and cleanup name statements, and there is no [sql]".to_owned());
    }
    let mut words = BTreeSet::new();
    for search in &manifest.searches {
        if search.my.is_empty() {
            return Err("search: my is empty: name the values that people search by".to_owned());
        }
        for word in &search.my {
            name("search: my", word)?;
            if !words.insert(word) {
                return Err(format!("search: {word:?} is listed twice"));
            }
        }
    }
    let mut ids = BTreeSet::new();
    for CleanupException { id, title, counts, default, .. } in &manifest.cleanups {
        name("cleanup: id", id)?;
        if *counts && *default {
            return Err(format!("cleanup {id:?}: it counts, and default gives no number: leave it out"));
        }
        if !ids.insert(id) {
            return Err(format!("there are two cleanup with the id {id:?}"));
        }
        if !title.contains_key("en") {
            return Err(format!("cleanup {id:?}: title has no \"en\", the fallback for all other languages"));
        }
        if title.values().any(|text| text.trim().is_empty() || text.chars().count() > TITLE_MAX) {
            return Err(format!("cleanup {id:?}: title is not of 1 to {TITLE_MAX} characters"));
        }
    }
    Ok(())
}

fn name(key: &str, text: &str) -> Result<(), String> {
    if is_word(text) && text.len() <= NAME_MAX {
        return Ok(());
    }
    Err(format!("{key}: {text:?} is not of 1 to {NAME_MAX} small letters, digits and _, a letter first"))
}

#[cfg(test)]
mod tests {
    use crate::manifest;

    fn parsed(rest: &str) -> Result<(), String> {
        let about = "[plugin]\nname = \"shelves\"\nversion = \"1.0.0\"\napi = \"0.1\"\ntitle = \"T\"\nlicense = \"MIT\"\nwasm = \"x.wasm\"\n";
        manifest::parse(&format!("{about}{rest}")).map(drop).map_err(|fault| fault.message)
    }

    const SQL: &str = "[sql]\nmigrations = \"migrations\"\nstatements = \"sql/queries.sql\"\n";
    const SEARCH: &str = "[[search]]\nmy = [\"shelved\"]\namong = \"a\"\nnewest = \"b\"\n";
    const CLEANUP: &str = "[[cleanup]]\nid = \"shelved\"\ntitle = { en = \"On a shelf\" }\nstatement = \"a\"\n";

    #[test]
    fn contributions_name_statements_and_have_titles() {
        assert_eq!(parsed(&format!("{SQL}{SEARCH}{CLEANUP}")), Ok(()));
        for (rest, wanted) in [
            (SEARCH.to_owned(), "there is no [sql]"),
            (format!("{SQL}{SEARCH}{SEARCH}"), "\"shelved\" is listed twice"),
            (format!("{SQL}{}", SEARCH.replace("\"shelved\"", "")), "my is empty"),
            (format!("{SQL}{}", SEARCH.replace("shelved", "On Shelf")), "small letters"),
            (format!("{SQL}{CLEANUP}{CLEANUP}"), "two cleanup with the id"),
            (format!("{SQL}{}", CLEANUP.replace("en =", "de =")), "has no \"en\""),
            (format!("{SQL}{}", CLEANUP.replace("On a shelf", " ")), "1 to 100 characters"),
            (format!("{SQL}{}", CLEANUP.replace("id = \"shelved\"", "id = \"\"")), "small letters"),
            (format!("{SQL}{CLEANUP}counts = true\ndefault = true\n"), "default gives no number"),
        ] {
            let error = parsed(&rest).expect_err(&rest);
            assert!(error.contains(wanted), "{rest}: {error}");
        }
    }
}
