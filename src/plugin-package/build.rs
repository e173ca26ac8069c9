//! Embeds the packages of the repository's own plugins in the server, from where `make guests` leaves them, and lists the names
//! of the entities in `docs/contract/entities`.
//!
//! A missing package is an error in a release build. A debug build continues without it and warns, so that `cargo
//! check` and rust-analyzer work on a fresh clone.

#![expect(clippy::disallowed_methods, reason = "cargo tells a build script everything by its environment")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    let guests = root.join("target/guests");
    fs::create_dir_all(&guests)?;
    let release = env::var("PROFILE")? == "release";
    let profile = guests.join(".profile");
    if profile.exists() {
        println!("cargo::rerun-if-changed={}", profile.display());
    }
    if release && fs::read_to_string(&profile).is_ok_and(|profile| profile.trim() != "guest") {
        println!("cargo::warning=The plugins were built for development. Run: make plugins GUEST_PROFILE=guest");
    }
    let mut embedded = String::new();
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("entities.rs"), format!("&{:?}", entities(&root.join("docs/contract/entities"))?))?;

    println!("cargo::rerun-if-changed=build.rs");
    for name in plugins(&root.join("plugins"))? {
        let package = guests.join(&name);
        if package.join("plugin.toml").exists() {
            println!("cargo::rerun-if-changed={}", package.display());
            writeln!(embedded, "({name:?}, &[{}]),", files(&package)?)?;
            continue;
        }
        println!("cargo::rerun-if-changed={}", guests.display());
        if release {
            println!("cargo::error=The plugin {name} is not built. Run: make guests");
        }
        println!("cargo::warning=The plugin {name} is not built and will be missing. Run: make guests");
    }
    let text = format!("/// All of them.\npub(super) static EMBEDDED: &[Package] = &[{embedded}];\n");
    fs::write(out.join("embedded.rs"), text)?;
    Ok(())
}

/// The names of the entities that have a schema in `folder`, sorted.
fn entities(folder: &Path) -> Result<Vec<String>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".schema.json").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// The names of the plugins in a folder, sorted: each has a folder of its name.
fn plugins(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let manifest = entry.path().join("plugin.toml");
        if manifest.exists() {
            println!("cargo::rerun-if-changed={}", manifest.display());
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Each file of a package as `("relative path", include_bytes!("absolute path")),`; without `target`, the build folder
/// of the author tools.
fn files(package: &Path) -> Result<String> {
    let (mut found, mut folders) = (Vec::new(), vec![package.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            match path.is_dir() {
                true if path == package.join("target") => {}
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    found.sort();
    let mut list = String::new();
    for path in found {
        let relative = path.strip_prefix(package)?.to_string_lossy().replace('\\', "/");
        write!(list, "({relative:?}, include_bytes!({path:?})), ")?;
    }
    Ok(list)
}
