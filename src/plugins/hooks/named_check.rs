//! Checks of the statements that a manifest names for searches and automatic deletion.

use std::sync::Arc;

use rookery_plugin_host::{LoadError, Stage};

use crate::active::Active;
use database::confined::ParamType;
use plugin_package::manifest::{self, Manifest, SearchMark};
use plugin_package::sql::Returns;
use service::search::MARKS;

/// Ids of one statement: of the longest page of a search.
pub(super) const MOST: usize = 4_000;

/// Checks the manifest's declarations of such statements against the statements, and against the `others`.
///
/// # Errors
/// At [`Stage::Validate`] for a statement that cannot answer, at [`Stage::Conflict`] for a word that is taken.
pub(super) fn check(active: &Active, others: &[Arc<Active>]) -> Result<(), LoadError> {
    let plugin = active.name();
    let refuse = |stage: Stage, why: String| Err(LoadError::new(stage, format!("plugin {plugin}: {why}")));
    for search in &active.manifest.searches {
        for (key, name, is_paged) in [("among", &search.among, false), ("newest", &search.newest, true)] {
            if let Err(why) = fits(active, name, is_paged, false) {
                return refuse(Stage::Validate, format!("search, {key} names the statement {name}, {why}"));
            }
        }
        for word in &search.my {
            let taken = others.iter().filter(|other| other.id != active.id);
            let owner = taken.into_iter().find(|other| of_word(&other.manifest, word).is_some());
            if MARKS.contains(&word.as_str()) {
                return refuse(Stage::Conflict, format!("it claims my:{word}, which the server itself has"));
            }
            if let Some(owner) = owner {
                let (owner, both) = (owner.name(), "switch one of the two off");
                return refuse(Stage::Conflict, format!("it claims my:{word}, which is {owner}'s: {both}"));
            }
        }
    }
    for manifest::CleanupException { id, statement, counts, .. } in &active.manifest.cleanups {
        if let Err(why) = fits(active, statement, false, *counts) {
            return refuse(Stage::Validate, format!("cleanup {id:?} names the statement {statement}, {why}"));
        }
    }
    Ok(())
}

/// Whether the statement can be asked.
fn fits(active: &Active, name: &str, is_paged: bool, counts: bool) -> Result<(), String> {
    let statement = active.sql.as_ref().and_then(|sql| sql.find(name));
    let statement = statement.ok_or("which is not in sql/queries.sql")?;
    if statement.writes {
        return Err("which changes something".to_owned());
    }
    if is_paged != (statement.returns == Returns::Statuses) || (!is_paged && statement.returns != Returns::Many) {
        let wanted = if is_paged { "page(status)" } else { "many" };
        return Err(format!("whose returns: is not {wanted}"));
    }
    if !statement.has_column("id") {
        return Err("which has no column id".to_owned());
    }
    if statement.max_rows < MOST {
        return Err(format!("which may have {} rows at most, and is asked for up to {MOST}", statement.max_rows));
    }
    let known: &[(&str, ParamType)] = match (is_paged, counts) {
        (true, _) => &[
            ("caller", ParamType::Integer),
            ("max_id", ParamType::Integer),
            ("since_id", ParamType::Integer),
            ("min_id", ParamType::Integer),
            ("limit", ParamType::Integer),
        ],
        (false, false) => &[("caller", ParamType::Integer), ("statuses", ParamType::Integers)],
        (false, true) => {
            &[("caller", ParamType::Integer), ("statuses", ParamType::Integers), ("least", ParamType::Integer)]
        }
    };
    if let Some((param, _)) = statement.params.iter().find(|(param, kind)| !known.contains(&(param.as_str(), *kind))) {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        return Err(format!("whose parameter {param} is none of {}, or of another type", names.join(", ")));
    }
    let missing = known.iter().find(|(name, _)| {
        matches!(*name, "statuses" | "least") && !statement.params.iter().any(|(param, _)| param == name)
    });
    missing.map_or(Ok(()), |(name, _)| Err(format!("which has no parameter {name}")))
}

/// The declaration of `my:word` in this manifest.
pub(super) fn of_word<'a>(manifest: &'a Manifest, word: &str) -> Option<&'a SearchMark> {
    manifest.searches.iter().find(|search| search.my.iter().any(|own| own == word))
}
