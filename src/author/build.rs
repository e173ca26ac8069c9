//! Build script: embeds the templates of `rookery plugin new` in the binary.

#![expect(clippy::disallowed_methods, reason = "cargo tells a build script everything by its environment")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    templates(&root.join("plugin-sdk/templates"))
}

/// Generates the table of templates: for each language, the files of its folder.
fn templates(folder: &Path) -> Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut languages: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    languages.sort();
    let mut list = String::new();
    for language in languages.iter().filter(|path| path.is_dir()) {
        let name = language.file_name().unwrap_or_default().to_string_lossy();
        let files = files(language)?.replace("include_bytes!", "include_str!");
        writeln!(list, "({name:?}, &[{files}]),")?;
    }
    let text = format!("const TEMPLATES: &[(&str, &[(&str, &str)])] = &[{list}];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("templates.rs"), text)?;
    Ok(())
}

/// One `("relative path", include_bytes!("absolute path")),` per file of a package.
fn files(package: &Path) -> Result<String> {
    let (mut found, mut folders) = (Vec::new(), vec![package.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
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
