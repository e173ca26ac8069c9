//! Checks that the component matches the sources: each build writes a stamp of both, which is compared before the
//! component is tested, checked, measured or packed.
//!
//! A folder without sources is a package that was built elsewhere, and taken as it is.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::compile::{self, Purpose};
use super::project::Project;
use terminal::{Failure, Output};

/// The hashes of the sources and of the component.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    /// SHA-256 of the sources, and of the contract that they were built with.
    sources: String,
    /// SHA-256 of the component.
    component: String,
    purpose: Purpose,
}

/// Builds the component unless it matches the sources; `least` is the purpose of the build that is needed. Cargo knows
/// the sources of a crate best, so it always runs for a plugin in Rust.
///
/// # Errors
/// The errors of the build.
pub(crate) fn ensure(project: &Project, least: Purpose, output: Output) -> Result<(), Failure> {
    let Some(build) = &project.manifest.build else { return Ok(()) };
    if !project.has_sources()? {
        return Ok(());
    }
    let known = read(project);
    let last = known.as_ref().map_or(Purpose::Release, |stamp| stamp.purpose);
    let purpose = if least == Purpose::Release { Purpose::Release } else { last };
    let fresh = known.is_some() && known == stamp(project, purpose)?;
    if fresh && build.language.as_deref() != Some("rust") {
        return Ok(());
    }
    if !fresh {
        output.progress(&format!("building {}, whose sources changed since", project.manifest.plugin.wasm));
    }
    compile::build(project, purpose)
}

/// Writes the stamp of the present build.
pub(crate) fn remember(project: &Project, purpose: Purpose) -> Result<(), Failure> {
    let Some(stamp) = stamp(project, purpose)? else { return Ok(()) };
    let text = serde_json::to_string(&stamp).map_err(Failure::new)?;
    std::fs::write(path(project), text).map_err(Failure::new)
}

fn path(project: &Project) -> std::path::PathBuf {
    project.work().join("built.json")
}

fn read(project: &Project) -> Option<Stamp> {
    serde_json::from_slice(&std::fs::read(path(project)).ok()?).ok()
}

/// The stamp of the component as it is now; none where there is none.
fn stamp(project: &Project, purpose: Purpose) -> Result<Option<Stamp>, Failure> {
    let Ok(component) = std::fs::read(project.folder.join(&project.manifest.plugin.wasm)) else { return Ok(None) };
    let mut all = String::from(compile::CONTRACT);
    for (path, bytes) in project.sources()? {
        all.push_str(&format!("{} {path} {}\n", path.len(), crypto::sha256_hex(&bytes)));
    }
    let sources = crypto::sha256_hex(all.as_bytes());
    Ok(Some(Stamp { sources, component: crypto::sha256_hex(&component), purpose }))
}

/// True for files that a build creates or does not read.
pub(crate) fn is_made(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let made = ["target", "node_modules", "venv", "__pycache__", "Cargo.lock", "package-lock.json"];
    let packed = [".plugin", ".minisig", ".key", ".pub"];
    name.starts_with('.')
        || name.ends_with('~')
        || packed.iter().any(|ending| name.ends_with(ending))
        || made.contains(&name.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plugin whose build command copies `source.c`, and counts how often it ran.
    fn project(folder: &Path) -> Project {
        let manifest = "[plugin]\nname = \"notes\"\nversion = \"1.0.0\"\napi = \"0.1\"\ntitle = \"Notes\"\n\
                        license = \"MIT\"\nwasm = \"notes.wasm\"\n[build]\n\
                        command = 'cp source.c \"$ROOKERY_OUTPUT\" && echo x >> .built'\n";
        std::fs::write(folder.join("plugin.toml"), manifest).unwrap();
        Project::open(folder).unwrap()
    }

    fn built(folder: &Path) -> usize {
        std::fs::read_to_string(folder.join(".built")).map_or(0, |text| text.lines().count())
    }

    #[test]
    fn component_is_rebuilt_only_when_stale() {
        let folder = tempfile::tempdir().unwrap();
        let (project, output) = (project(folder.path()), Output::new(false));
        let source = folder.path().join("source.c");
        ensure(&project, Purpose::Trial, output).unwrap();
        assert_eq!(built(folder.path()), 0, "a package without sources is taken as it is");

        std::fs::write(&source, "one").unwrap();
        for _ in 0..2 {
            ensure(&project, Purpose::Trial, output).unwrap();
            assert_eq!(built(folder.path()), 1);
        }
        std::fs::write(&source, "two").unwrap();
        ensure(&project, Purpose::Trial, output).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("notes.wasm")).unwrap(), "two");
        std::fs::write(folder.path().join("notes.wasm"), "another").unwrap();
        ensure(&project, Purpose::Release, output).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("notes.wasm")).unwrap(), "two");
        assert_eq!(built(folder.path()), 3);

        compile::build(&project, Purpose::Trial).unwrap();
        ensure(&project, Purpose::Trial, output).unwrap();
        assert_eq!(built(folder.path()), 4);
        ensure(&project, Purpose::Release, output).unwrap();
        assert_eq!(built(folder.path()), 5, "a development build is not packed");
    }
}
