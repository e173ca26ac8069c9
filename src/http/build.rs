//! Embeds the schemas of the API's entities, for the OpenAPI document: one file for each, `docs/contract/entities`.

#![expect(clippy::disallowed_methods, reason = "cargo tells a build script everything by its environment")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

const END: &str = ".schema.json";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../docs/contract/entities").canonicalize()?;
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let files: Result<Vec<PathBuf>, _> = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut files = files?;
    files.sort();
    let mut list = String::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(name) = name.strip_suffix(END) {
            writeln!(list, "({name:?}, include_str!({file:?})),")?;
        }
    }
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("entities.rs"), format!("&[{list}]"))?;
    Ok(())
}
