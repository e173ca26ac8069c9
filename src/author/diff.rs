//! `rookery plugin diff`: the changes of an upgrade, for an admin to review.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::check;
use super::project::Project;
use plugin_package::{Package, package};
use terminal::{Failure, Output};

const LISTS: [(&str, &str); 6] = [
    ("permissions", "permission"),
    ("routes", "route"),
    ("scopes", "scope"),
    ("hooks", "hook"),
    ("tables", "table"),
    ("migrations", "migration"),
];

/// Compares two packages: folders (a project or an installed package) or `.plugin` files.
pub(crate) fn run(old: &Path, new: &Path, output: Output) -> Result<(), Failure> {
    let (old, new) = (check::summary(&read(old)?), check::summary(&read(new)?));
    let difference = difference(&old, &new);
    output.respond(&difference, || words(&old, &new, &difference))
}

fn read(path: &Path) -> Result<Package, Failure> {
    if path.is_dir() { Project::open(path)?.package() } else { package::read(path).map_err(Failure::new) }
}

/// Added and removed items of each list.
fn difference(old: &Value, new: &Value) -> Value {
    let items = |side: &Value, key: &str| side[key].as_array().cloned().unwrap_or_default();
    let mut all = Map::new();
    for (key, _) in LISTS {
        let (before, after) = (items(old, key), items(new, key));
        let added: Vec<&Value> = after.iter().filter(|item| !before.contains(item)).collect();
        let removed: Vec<&Value> = before.iter().filter(|item| !after.contains(item)).collect();
        all.insert(key.to_owned(), json!({ "added": added, "removed": removed }));
    }
    all.insert("component".to_owned(), json!({ "changed": old["sha256"] != new["sha256"] }));
    Value::Object(all)
}

fn words(old: &Value, new: &Value, difference: &Value) -> String {
    let version = |side: &Value| side["version"].as_str().unwrap_or_default().to_owned();
    let mut text = format!("{} → {}\n", version(old), version(new));
    for (key, title) in LISTS {
        for (sign, side) in [("+", "added"), ("-", "removed")] {
            for item in difference[key][side].as_array().into_iter().flatten().filter_map(Value::as_str) {
                text.push_str(&format!("{sign} {title} {item}\n"));
            }
        }
    }
    let changed = difference["component"]["changed"] == true;
    text.push_str(if changed { "the component changed" } else { "the component is the same" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_and_removals_are_listed() {
        let old = json!({ "version": "1.0.0", "sha256": "a", "permissions": ["core=read"], "routes": ["GET /a"] });
        let new = json!({ "version": "1.1.0", "sha256": "b", "permissions": ["core=read", "http=x"], "routes": [] });
        let text = words(&old, &new, &difference(&old, &new));
        assert_eq!(text, "1.0.0 → 1.1.0\n+ permission http=x\n- route GET /a\nthe component changed");
    }
}
