//! The recipes of `plugin-sdk/COOKBOOK.md`. A test compares its code with the compiled code here.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a command's arguments are its own, whether it takes them apart or not"
)]

mod filters;
mod hooks;
mod later;
mod outside;
mod pages;
mod routes;
mod sharing;
mod stored;
mod timeline;
mod tokens;
mod work;

use rookery_plugin::prelude::*;

/// The plugin.
#[plugin]
pub struct Cookbook;

#[cfg(test)]
mod tests {
    /// Every block of the cookbook is in the sources, line by line.
    #[test]
    fn cookbook_matches_the_compiled_code() {
        let book = include_str!("../../../plugin-sdk/COOKBOOK.md");
        let sources = [
            include_str!("filters.rs"),
            include_str!("hooks.rs"),
            include_str!("later.rs"),
            include_str!("outside.rs"),
            include_str!("pages.rs"),
            include_str!("routes.rs"),
            include_str!("sharing.rs"),
            include_str!("stored.rs"),
            include_str!("timeline.rs"),
            include_str!("tokens.rs"),
            include_str!("work.rs"),
            include_str!("../sql/queries.sql"),
            include_str!("../migrations/0003_look.sql"),
            include_str!("../migrations/0004_without_colour.sql"),
            include_str!("../plugin.toml"),
        ];
        let blocks: Vec<&str> = book.split("```").skip(1).step_by(2).collect();
        assert!(blocks.len() >= 20, "{} blocks", blocks.len());
        for block in blocks {
            let (_, code) = block.split_once('\n').unwrap();
            for part in code.trim().split("\n\n") {
                assert!(sources.iter().any(|source| source.contains(part)), "not compiled:\n{part}");
            }
        }
    }
}
