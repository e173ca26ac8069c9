//! How often crates go around the services: they name the store or begin a transaction themselves.
//!
//! Rules belong to `service`; reads without a rule may stay. The numbers only shrink: one that became smaller must be
//! entered.

use super::files;

/// A crate, how often it names the store outside of imports, and how many transactions it begins.
const DIRECT: &[(&str, usize, usize)] = &[
    ("entity", 84, 1),
    ("worker", 64, 12),
    ("http", 0, 0),
    ("federation", 148, 25),
    ("streaming", 8, 3),
    ("plugins", 72, 24),
    ("server", 4, 0),
    ("author", 2, 3),
    ("cli", 6, 4),
];

#[test]
fn ways_around_the_services_only_shrink() {
    let mut wrong = Vec::new();
    for (name, store, transactions) in DIRECT {
        let (mut calls, mut begun) = (0, 0);
        for file in files(&format!("src/{name}")) {
            let lines = file.code.lines().map(str::trim_start);
            for line in lines.filter(|line| !line.starts_with("use ") && !line.starts_with("pub use ")) {
                calls += line.matches("store::").count();
                begun += line.matches(".begin().await").count();
            }
        }
        if (calls, begun) != (*store, *transactions) {
            wrong.push(format!("(\"{name}\", {calls}, {begun}), and not {store} and {transactions}"));
        }
    }
    assert!(wrong.is_empty(), "direct uses of the store:\n  {}", wrong.join("\n  "));
}
