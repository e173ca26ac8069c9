//! `rookery plugin build`: runs the command of `[build]` and puts the component next to the manifest.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::project::Project;
use super::{rust, staleness};
use terminal::{Failure, Output};

/// The plugin contract in WIT, for tools that generate bindings.
pub(crate) const CONTRACT: &str = include_str!("../../plugin-sdk/wit/0.1/plugin.wit");

/// Builds, and prints size and duration.
pub(crate) fn run(project: &Project, purpose: Purpose, output: Output) -> Result<(), Failure> {
    let begun = Instant::now();
    build(project, purpose)?;
    let file = &project.manifest.plugin.wasm;
    let bytes = std::fs::metadata(project.folder.join(file)).map_err(Failure::new)?.len();
    let took = begun.elapsed();
    let answer =
        json!({ "wasm": file, "bytes": bytes, "took_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX) });
    output.respond(&answer, || format!("{file}: {} KiB in {:.1} s", bytes / 1024, took.as_secs_f64()))
}

/// The purpose of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Purpose {
    /// For distribution: optimised.
    Release,
    /// For `rookery plugin build`, `check`, `test` and `dev`, which share build artifacts: faster to build, slower to run.
    Trial,
}

/// Environment variables that make cargo builds faster.
const TRIAL: [(&str, &str); 4] = [
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
    ("CARGO_PROFILE_RELEASE_INCREMENTAL", "true"),
];

/// Builds the component: writes the contract for the build command, runs it and puts its output into place.
pub(crate) fn build(project: &Project, purpose: Purpose) -> Result<(), Failure> {
    let manifest = &project.manifest;
    let Some(build) = &manifest.build else {
        return Err(Failure::new("plugin.toml has no [build]: write the command that makes the component under it"));
    };
    match build.language.as_deref() {
        Some("c" | "go" | "python" | "typescript") => supplied(project)?,
        Some("rust") => {
            let mut environment = rust::environment(&project.work())?;
            if purpose == Purpose::Trial {
                environment.extend(TRIAL.map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
            plain(project, &build.command, environment)?;
        }
        _ => plain(project, &build.command, Vec::new())?,
    }
    staleness::remember(project, purpose)
}

/// Builds in a language that needs only the contract.
fn plain(project: &Project, command: &str, mut environment: Vec<(String, String)>) -> Result<(), Failure> {
    let (wit, output) = (project.work().join("wit"), project.work().join("output.wasm"));
    write(&wit.join("world.wit"), &world(project))?;
    write(&wit.join("deps/rookery-plugin/plugin.wit"), CONTRACT)?;
    // The output of an earlier build must not be mistaken for the output of this one.
    let _ = std::fs::remove_file(&output);
    environment.push(("ROOKERY_WIT".to_owned(), wit.display().to_string()));
    environment.push(("ROOKERY_OUTPUT".to_owned(), output.display().to_string()));
    let status = Command::new("sh")
        .args(["-c", command])
        .current_dir(&project.folder)
        .envs(environment)
        .status()
        .map_err(|error| Failure::new(format!("sh cannot be run: {error}")))?;
    if !status.success() {
        return Err(Failure::new(format!("the build command failed ({status}): {command}")));
    }
    let wasm = project.folder.join(&project.manifest.plugin.wasm);
    if output.exists() {
        return std::fs::rename(&output, &wasm).map_err(Failure::new);
    }
    if wasm.exists() { Ok(()) } else { Err(Failure::new("the build command wrote no $ROOKERY_OUTPUT")) }
}

/// The WIT world `plugin`, with the imports and exports that the manifest declares.
fn world(project: &Project) -> String {
    let imports = project.manifest.imports().into_iter().map(|import| ("import", import.name()));
    let exports = project.manifest.exports().into_iter().map(|export| ("export", export.name()));
    let lines = imports.chain(exports).map(|(word, name)| format!("  {word} rookery:plugin/{name}@0.1.0;\n"));
    format!("package author:guest;\n\nworld plugin {{\n{}}}\n", lines.collect::<String>())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let made = std::fs::create_dir_all(path.parent().unwrap_or(path)).and_then(|()| std::fs::write(path, text));
    made.map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// Builds in a language that needs generated bindings or modules, or whose core module is made into a component.
#[cfg(feature = "languages")]
fn supplied(project: &Project) -> Result<(), Failure> {
    use rookery_plugin_build::{Build, World};

    let manifest = &project.manifest;
    let build = manifest.build.as_ref().ok_or_else(|| Failure::new("plugin.toml has no [build]"))?;
    let imports: Vec<&str> = manifest.imports().into_iter().map(|import| import.name()).collect();
    let exports: Vec<&str> = manifest.exports().into_iter().map(|export| export.name()).collect();
    let world = World::new(&imports, &exports).map_err(Failure::new)?;
    let (language, wasm) = (build.language.as_deref(), manifest.plugin.wasm.as_str());
    let build = Build { folder: &project.folder, language, command: &build.command, wasm };
    build.run(&world).map_err(Failure::new)?;
    Ok(())
}

#[cfg(not(feature = "languages"))]
fn supplied(_: &Project) -> Result<(), Failure> {
    Err(Failure::new(
        "this rookery was built without its feature `languages`, which C, Go, Python and TypeScript need: build it with that",
    ))
}
