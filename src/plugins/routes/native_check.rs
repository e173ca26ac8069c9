//! Checks of routes that the server answers by a feed or a statement of the plugin.

use crate::active::Active;
use plugin_package::manifest::Route;
use plugin_package::sql::Returns;

/// Checks the native rule of a route against the plugin's statements and feeds.
///
/// # Errors
/// The fault, as a clause about the route.
pub(super) fn check(plugin: &Active, route: &Route) -> Result<(), String> {
    let Some(rule) = &route.native else { return Ok(()) };
    match (&rule.feed, &rule.statement) {
        (Some(feed), None) => {
            let (name, key) =
                parts(feed).ok_or_else(|| format!("has the feed {feed:?}: write it as \"notes:{{id}}\""))?;
            let declared = plugin.manifest.feeds.iter().any(|feed| feed.name == name);
            let known = route.path.contains(&format!("{{{key}}}"));
            match (declared, known) {
                (false, _) => return Err(format!("reads the feed {name}: declare it by [[feed]]")),
                (true, false) => return Err(format!("has no parameter {key}: write {{{key}}} into the path")),
                (true, true) => {}
            }
        }
        (None, Some(name)) => statement(plugin, route, name, &[Returns::Statuses, Returns::Accounts])?,
        (Some(_), Some(_)) | (None, None) => return Err("is native: give it a feed or a statement".to_owned()),
    }
    rule.owner_check.as_ref().map_or(Ok(()), |name| statement(plugin, route, name, &[Returns::Owner]))
}

fn statement(plugin: &Active, route: &Route, name: &str, wanted: &[Returns]) -> Result<(), String> {
    let statement = plugin.sql.as_ref().and_then(|sql| sql.find(name));
    let statement = statement.ok_or_else(|| format!("names the statement {name}: write it into sql/queries.sql"))?;
    if !wanted.contains(&statement.returns) {
        return Err(format!("cannot be answered by the statement {name}: its returns: is another"));
    }
    let known = |param: &str| {
        matches!(param, "caller" | "max_id" | "since_id" | "min_id" | "limit")
            || route.path.contains(&format!("{{{param}}}"))
    };
    match statement.params.iter().find(|(param, _)| !known(param)) {
        None => Ok(()),
        Some((param, _)) => Err(format!("gives the statement {name} no {param}: name it as a parameter of the path")),
    }
}

/// Splits `antenna:{id}` into `antenna` and `id`.
pub(super) fn parts(feed: &str) -> Option<(&str, &str)> {
    let (name, key) = feed.split_once(':')?;
    Some((name, key.strip_prefix('{')?.strip_suffix('}')?))
}
