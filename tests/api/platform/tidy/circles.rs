//! How large the circles of imports inside a crate may be, and how long its files.
//!
//! Both lists only shrink: a circle or a file that became smaller must be entered with its new size. `make layers` prints
//! which files are in the circles.

use std::collections::BTreeMap;
use std::path::Path;

use super::imports::Crate;
use super::{LAYERS, files};

/// The aim: a circle of more files has no order in which a newcomer can read it.
const MOST: usize = 10;

/// The largest circle of each crate that has one, in files.
const CIRCLES: &[(&str, usize)] = &[
    ("author", 3),
    ("cli", 3),
    ("config", 4),
    ("context", 10),
    ("database", 5),
    ("entity", 4),
    ("http", 6),
    ("plugin-host", 5),
    ("plugin-package", 9),
    ("plugins", 4),
    ("service", 4),
    ("store", 2),
    ("text", 2),
    ("worker", 4),
];

/// The longest file, in lines: a longer one is two modules.
const LINES: usize = 450;

/// The files that are longer, with the hundred of lines below which they stay.
const LONG: &[(&str, usize)] = &[
    ("plugin-sdk/rust/src/test/imports.rs", 600),
    ("plugins/antennas/src/index.rs", 500),
    ("plugins/crypto/src/tests.rs", 600),
    ("src/config/kinds.rs", 600),
    ("src/confine/lib.rs", 600),
    ("src/database/db.rs", 500),
    ("src/plugin-package/manifest/mod.rs", 600),
    ("src/plugin-package/manifest/rules.rs", 600),
    ("src/plugins/life/machine.rs", 500),
    ("src/plugins/life/pipeline.rs", 600),
    ("src/plugins/life/reconcile.rs", 500),
    ("src/server/listener.rs", 500),
    ("src/service/media/mod.rs", 500),
];

#[test]
fn circles_of_imports_only_shrink() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let listed: BTreeMap<&str, usize> = CIRCLES.iter().copied().collect();
    let mut wrong = Vec::new();
    for layer in LAYERS {
        let read = Crate::read(&src.join(layer));
        let circles = read.circles();
        let largest = circles.first().map_or(0, Vec::len);
        let may = listed.get(layer).copied().unwrap_or_default();
        if largest > may {
            wrong.push(format!("{layer}: {largest} files, and not {may}: {}", circles[0].join(" ")));
        } else if largest < may {
            wrong.push(format!("{layer}: only {largest} files; enter that instead of {may}"));
        }
    }
    assert!(wrong.is_empty(), "circles of imports (`make layers`):\n  {}", wrong.join("\n  "));
    assert!(CIRCLES.iter().all(|(_, files)| *files <= MOST));
}

#[test]
fn long_files_only_shrink() {
    let listed: BTreeMap<&str, usize> = LONG.iter().copied().collect();
    let mut wrong = Vec::new();
    let mut long = Vec::new();
    for file in ["src", "plugin-sdk", "plugins"].into_iter().flat_map(files) {
        let lines = file.text.lines().count();
        if lines <= LINES {
            continue;
        }
        let below = lines.div_ceil(100) * 100;
        match listed.get(file.path.as_str()) {
            Some(may) if *may == below => {}
            Some(may) => wrong.push(format!("{}: {lines} lines, entered as below {may}", file.path)),
            None => wrong.push(format!("{}: {lines} lines are two modules", file.path)),
        }
        long.push(file.path);
    }
    let stale = LONG.iter().filter(|(path, _)| !long.iter().any(|long| long == path));
    wrong.extend(stale.map(|(path, _)| format!("{path}: {LINES} lines at most by now; take it off the list")));
    assert!(wrong.is_empty(), "long files:\n  {}", wrong.join("\n  "));
}

#[test]
fn imports_are_followed_to_their_definition() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("lib.rs", "pub mod a;\nmod b;\nmod c;\npub use b::Bee;\n"),
        ("a.rs", "use crate::Bee;\nfn bee(_: Bee) { super::c::cee(); }\n// crate::c::nothing\n"),
        ("b.rs", "pub struct Bee;\nimpl Bee { fn a() { crate::a::x(\"crate::c::y\"); } }\n"),
        ("c.rs", "pub fn cee() {}\n#[cfg(test)]\nmod tests { use crate::b::Bee; }\n"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let read = Crate::read(folder.path());
    let of = |name: &str| {
        let at = read.files.iter().position(|file| file == name).unwrap();
        read.imports[at].iter().map(|at| read.files[*at].as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of("a.rs"), ["b.rs", "c.rs"]);
    assert_eq!(of("b.rs"), ["a.rs"]);
    assert_eq!(of("c.rs"), [""; 0]);
    assert_eq!(read.circles(), [["a.rs", "b.rs"]]);
}
