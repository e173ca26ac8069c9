//! `rookery plugin check`: loads the plugin on an empty throw-away server, with every check a real server makes.

use serde_json::{Value, json};

use super::project::Project;
use super::rows;
use super::test_server::Stage;
use model::clock::Clock;
use plugin_package::Package;
use terminal::{Failure, Output};

/// Prints a summary of the plugin, or the server's own error message.
pub(crate) async fn run(project: &Project, output: Output) -> Result<(), Failure> {
    let package = project.package()?;
    load(project, &package).await?;
    let found = summary(&package);
    output.respond(&found, || words(&found))
}

/// Loads a package as a server would, and compares the rows of its code with its statements.
///
/// # Errors
/// The server's own.
pub(super) async fn load(project: &Project, package: &Package) -> Result<(), Failure> {
    let stage = Stage::open(project, Clock::system(), &[]).await?;
    let mut loaded = stage.load(package).await;
    if loaded.is_ok() {
        loaded = rows::check(&package.wasm, &stage.statements());
    }
    stage.close().await;
    loaded
}

/// The properties that an admin reviews before installing.
pub(crate) fn summary(package: &Package) -> Value {
    let manifest = &package.manifest;
    let routes = manifest.routes.iter().map(|route| format!("{} {}", route.method.all().join("|"), route.path));
    let hooks = manifest.hooks.iter().map(|hook| {
        let kinds = hook.kinds.join(" ");
        format!("{} {kinds}", hook.on.as_str()).trim_end().to_owned()
    });
    let migrations = manifest.sql.as_ref().map(|sql| format!("{}/", sql.migrations));
    let migrations =
        package.files.keys().filter(|path| migrations.as_ref().is_some_and(|folder| path.starts_with(folder)));
    json!({
        "name": package.name(),
        "version": manifest.plugin.version,
        "sha256": package.sha256,
        "digest": package.digest,
        "bytes": package.wasm.len(),
        "permissions": manifest.requested(),
        "routes": routes.collect::<Vec<_>>(),
        "scopes": manifest.scopes.iter().map(|scope| &scope.name).collect::<Vec<_>>(),
        "hooks": hooks.collect::<Vec<_>>(),
        "migrations": migrations.collect::<Vec<_>>(),
        "tables": manifest.sql.as_ref().map(|sql| sql.owner_columns.keys().cloned().collect::<Vec<_>>()).unwrap_or_default(),
    })
}

fn words(found: &Value) -> String {
    let list = |key: &str| {
        let items = found[key].as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_str).map(|item| format!("    {item}\n")).collect::<String>()
    };
    let kib = found["bytes"].as_u64().unwrap_or_default() / 1024;
    let (name, version) = (found["name"].as_str().unwrap_or_default(), found["version"].as_str().unwrap_or_default());
    let mut text = format!("{name} {version}, {kib} KiB: a server would serve it.\n");
    for (title, key) in [
        ("asks for", "permissions"),
        ("routes", "routes"),
        ("scopes", "scopes"),
        ("hooks", "hooks"),
        ("migrations", "migrations"),
    ] {
        let items = list(key);
        if !items.is_empty() {
            text.push_str(&format!("  {title}\n{items}"));
        }
    }
    text
}
