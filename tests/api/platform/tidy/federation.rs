//! `FEDERATION.md` against the code: its tables of activities, and the proposals that it lists.
//!
//! Received types are the rows of `inbox/kinds.rs`. Sent types are the names of activity types in the code that renders
//! documents and deliveries, as string literals or as types that serde tags with their name.

use std::collections::BTreeSet;
use std::path::Path;

use super::{File, files};

/// Folders whose code renders activities.
const SENDERS: [&str; 3] = ["src/federation/deliver", "src/federation/documents", "src/entity/activity"];

/// The types of activities: of the vocabulary of ActivityStreams, and of later proposals.
const TYPES: [&str; 33] = [
    "LikeRequest",
    "ReplyRequest",
    "AnnounceRequest",
    "Accept",
    "Add",
    "Announce",
    "Arrive",
    "Block",
    "Create",
    "Delete",
    "Dislike",
    "EmojiReact",
    "Flag",
    "Follow",
    "Ignore",
    "Invite",
    "Join",
    "Leave",
    "Like",
    "Listen",
    "Move",
    "Offer",
    "QuoteRequest",
    "Read",
    "Reject",
    "Remove",
    "TentativeAccept",
    "TentativeReject",
    "Travel",
    "Undo",
    "Update",
    "View",
    "EmojiReaction",
];

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap_or_else(|_| panic!("{path}"))
}

/// The first cells of the table below the heading `heading` of `FEDERATION.md`.
fn table(text: &str, heading: &str) -> BTreeSet<String> {
    let (_, section) = text.split_once(&format!("\n### {heading}\n")).unwrap_or_else(|| panic!("no `### {heading}`"));
    let section = section.split("\n#").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = rows.filter_map(|row| row.split('|').nth(1)).map(|cell| cell.trim().trim_matches('`').to_owned());
    let mut found = BTreeSet::new();
    for cell in cells {
        assert!(found.insert(cell.clone()), "FEDERATION.md has two rows of {cell} below `### {heading}`");
    }
    assert!(!found.is_empty(), "no table below `### {heading}`");
    found
}

/// The types of activities that an inbox takes: the rows of the macro.
fn received() -> BTreeSet<String> {
    let text = read("src/federation/inbox/kinds.rs");
    let (_, rows) = text.split_once("\nactivities! {\n").expect("the rows of inbox/kinds.rs");
    let rows = rows.split("\n}").next().unwrap_or_default();
    rows.lines().filter_map(|row| row.split_once(" => ")).map(|(name, _)| name.trim().to_owned()).collect()
}

/// The types of activities that the code of `file` renders.
fn rendered(file: &File) -> BTreeSet<String> {
    let lines: Vec<&str> = file.text.lines().take(file.code.lines().count()).collect();
    let mut found = BTreeSet::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
        let tagged = at > 0 && lines[at - 1].contains("serde(tag = \"type\"") && !lines[at - 1].contains("rename = ");
        let declared = line
            .split("struct ")
            .nth(1)
            .map(|rest| rest.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default());
        for name in TYPES {
            if line.contains(&format!("\"{name}\"")) || (tagged && declared == Some(name)) {
                found.insert(name.to_owned());
            }
        }
    }
    found
}

fn sent() -> BTreeSet<String> {
    SENDERS.iter().flat_map(|folder| files(folder)).flat_map(|file| rendered(&file)).collect()
}

/// Both differences of a table and the code, as sentences.
fn differences(heading: &str, stated: &BTreeSet<String>, code: &BTreeSet<String>, place: &str) -> Vec<String> {
    let missing = code
        .difference(stated)
        .map(|name| format!("FEDERATION.md lacks a row of `{name}` below `### {heading}`, which {place} has"));
    let stale = stated
        .difference(code)
        .map(|name| format!("FEDERATION.md has a row of `{name}` below `### {heading}`, which {place} does not have"));
    missing.chain(stale).collect()
}

#[test]
fn federation_document_lists_the_activities_of_the_code() {
    let text = read("FEDERATION.md");
    let mut wrong = Vec::new();
    let heading = "Received activities";
    wrong.extend(differences(heading, &table(&text, heading), &received(), "src/federation/inbox/kinds.rs"));
    let heading = "Sent activities";
    wrong.extend(differences(heading, &table(&text, heading), &sent(), &SENDERS.join(" or ")));
    assert!(wrong.is_empty(), "\n  {}", wrong.join("\n  "));
}

#[test]
fn federation_document_lists_proposals_of_the_contract() {
    let (text, contract) = (read("FEDERATION.md"), read("docs/contract/federation.md"));
    let (_, section) = text.split_once("\n## Supported FEPs\n").expect("the section of FEPs");
    let section = section.split("\n## ").next().unwrap_or_default();
    let listed: Vec<&str> =
        section.lines().filter_map(|line| line.strip_prefix("- [FEP-")?.split(']').next()).collect();
    assert!(listed.len() > 5, "the list was understood: {listed:?}");
    for slug in listed {
        assert!(contract.contains(&format!("FEP-{slug}")), "docs/contract/federation.md does not name FEP-{slug}");
        assert!(section.contains(&format!("/fep/{slug}/fep-{slug}.md)")), "the link of FEP-{slug} leads elsewhere");
    }
}

#[test]
fn missing_rows_are_named() {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let text = "# x\n\n### Sent activities\n\n| type | objects |\n|---|---|\n| Like | x |\n| `Undo` | x |\n\n### Other\n| a | b |";
    assert_eq!(table(text, "Sent activities"), set(&["Like", "Undo"]));
    let found = differences("Sent activities", &set(&["Like", "Undo"]), &set(&["Like", "Flag"]), "src");
    let expected = ["FEDERATION.md lacks a row of `Flag`", "FEDERATION.md has a row of `Undo`"];
    assert!(found.iter().zip(expected).all(|(line, beginning)| line.starts_with(beginning)), "{found:?}");
    let text = "#[serde(tag = \"type\")]\nstruct Follow<'a> {}\n// \"Move\"\nlet kind = \"Flag\";\nstruct Block;\n";
    let file = File { path: String::new(), text: text.to_owned(), code: super::code(text) };
    assert_eq!(rendered(&file), set(&["Flag", "Follow"]));
}
