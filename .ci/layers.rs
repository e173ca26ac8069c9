//! Prints the imports between the files of each of the server's crates, and the circles among them: see `.ci/layers`.

#[path = "../tests/api/platform/tidy/imports.rs"]
mod imports;
#[path = "../tests/api/platform/tidy/source.rs"]
mod source;

use std::env;
use std::path::Path;

fn main() {
    for name in env::args().skip(1) {
        let read = imports::Crate::read(&Path::new("src").join(&name));
        let imports: usize = read.imports.iter().map(std::collections::BTreeSet::len).sum();
        let circles = read.circles();
        let largest = circles.first().map_or(0, Vec::len);
        println!("{name:<15} {:>4} files {imports:>5} imports, largest circle {largest:>3}", read.files.len());
        for circle in circles {
            println!("    {}", circle.join(" "));
        }
    }
}
