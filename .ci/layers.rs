//! Prints the circles of imports inside the server's crates: `make layers` compiles and runs it.

#[path = "../tests/api/tidy/imports.rs"]
mod imports;

use std::path::Path;

fn main() {
    let names = std::env::args().skip(1).collect::<Vec<_>>();
    let mut folders: Vec<_> = std::fs::read_dir("src").expect("the root of the repository").flatten().map(|e| e.path()).collect();
    folders.sort();
    for folder in folders.iter().filter(|folder| folder.join("lib.rs").exists()) {
        print(folder, &names);
    }
}

/// One line for a crate, and the files of its circles when it is among `names`.
fn print(folder: &Path, names: &[String]) {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let read = imports::Crate::read(folder);
    let circles = read.circles();
    let largest = circles.first().map_or(0, Vec::len);
    println!("{name:<16} {:>4} files, {:>4} imports, {:>3} circles, largest {largest}", read.files.len(), read.imports.iter().map(std::collections::BTreeSet::len).sum::<usize>(), circles.len());
    if names.iter().any(|wanted| *wanted == name) {
        for circle in circles {
            println!("    {}", circle.join(" "));
        }
    }
}
