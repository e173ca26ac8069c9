//! The order of the rooms, the folders of one crate: a room imports those before it, and no other.
//!
//! The files beside the folders are open to all rooms. A new folder needs a place in the order; docs/architecture.md
//! describes the rooms of `service`.

use std::collections::BTreeSet;
use std::path::Path;

use super::imports::Crate;

/// The rooms of each crate, the lowest first.
const ROOMS: &[(&str, &[&str])] = &[
    ("store", &["account", "server", "oauth", "feed", "status", "notification", "moderation", "federation", "plugin"]),
    (
        "service",
        &[
            "rules",
            "media",
            "access",
            "page",
            "notification",
            "feed",
            "status",
            "auth",
            "account",
            "moderation",
            "server",
            "remote",
        ],
    ),
    ("http", &["operation", "extract", "api", "web", "oauth", "openapi", "router"]),
    ("federation", &["signature", "vocabulary", "reading", "fetch", "documents", "deliver", "inbox"]),
    ("plugins", &["settings", "sql", "call", "jobs", "life", "routes", "admin", "hooks", "install"]),
];

#[test]
fn rooms_import_only_rooms_before_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (name, rooms) in ROOMS {
        let read = Crate::read(&src.join(name));
        let room = |file: usize| read.files[file].split_once('/').map(|(room, _)| room);
        let place = |room: &str| rooms.iter().position(|one| *one == room);
        let mut found = BTreeSet::new();
        for (file, imports) in read.imports.iter().enumerate() {
            let Some(from) = room(file) else { continue };
            found.insert(from);
            for to in imports.iter().filter_map(|to| room(*to)) {
                if place(to) > place(from) {
                    wrong.push(format!("{name}: {} imports the room {to}, which is above {from}", read.files[file]));
                }
            }
        }
        if found != BTreeSet::from_iter(rooms.iter().copied()) {
            wrong.push(format!("{name}: its folders are {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "rooms:\n  {}", wrong.join("\n  "));
}
