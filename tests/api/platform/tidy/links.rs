//! Follows the references to documents: paths below `docs/` in any file, and relative links of Markdown files.
//!
//! A reference is a path from the root of the repository with the anchor of a heading, as GitHub makes it
//! (`docs/contract/rules.md#4-pagination`). A file or heading that does not exist fails with the line that names it.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

/// Endings of the files that are read, beside `Makefile`.
const READ: &[&str] = &["rs", "md", "toml", "wit", "sql", "csv"];

/// Folders that are not searched: build output, the repository itself, and files that must never change.
const SKIPPED: &[&str] = &["target", ".git", "node_modules", "frozen"];

/// Names of documents that were merged into `docs/`, written apart so that this file does not match itself.
const GONE: &[[&str; 2]] =
    &[["DESI", "GN"], ["PLUGINS", ".md"], ["STYLE", ".md"], ["WORDS", ".md"], ["contract rules", ", section"]];

struct Text {
    /// From the root, with `/`.
    path: String,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of the repository that may refer to documents.
fn texts() -> Vec<Text> {
    let mut paths = Vec::new();
    collect(root(), &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).ok()?;
        let path = path.strip_prefix(root()).ok()?.to_str()?.to_owned();
        Some(Text { path, text })
    };
    paths.into_iter().filter_map(read).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_str().unwrap_or_default();
        if entry.file_type().unwrap().is_dir() {
            if !SKIPPED.contains(&name) {
                collect(&path, paths);
            }
        } else if name == "Makefile" || path.extension().is_some_and(|ending| READ.iter().any(|read| ending == *read)) {
            paths.push(path);
        }
    }
}

/// The anchor that GitHub gives to the first heading of this text.
fn slug(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    without_links(heading).trim().to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// `text` with each link replaced by the text that it shows.
fn without_links(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let Some(end) = rest[middle..].find(')') else { break };
        shown.push_str(&rest[..middle].replacen('[', "", 1));
        rest = &rest[middle + end + 1..];
    }
    shown.push_str(rest);
    shown
}

/// The lines of a Markdown text that are not within a fence, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fence && !fenced).then_some((at + 1, line))
    })
}

/// The anchors of a Markdown text; a heading that repeats gets `-1`, `-2` and so on.
fn anchors(text: &str) -> HashSet<String> {
    let mut times: HashMap<String, usize> = HashMap::new();
    let mut anchors = HashSet::new();
    for (_, line) in prose(text) {
        let heading = line.trim_start_matches('#');
        let depth = line.len() - heading.len();
        if depth == 0 || depth > 6 || !heading.starts_with(' ') {
            continue;
        }
        let slug = slug(heading);
        let before = times.entry(slug.clone()).or_default();
        anchors.insert(if *before == 0 { slug } else { format!("{slug}-{before}") });
        *before += 1;
    }
    anchors
}

/// The paths below `docs/` that a line names from the root, each with its anchor.
fn documents(line: &str) -> Vec<String> {
    let stands = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "/._-@".contains(c));
    let inside = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let mut found = Vec::new();
    for (at, _) in line.match_indices("docs/").filter(|(at, _)| stands(*at)) {
        let rest = &line[at..];
        let path = rest[..rest.find(|c| !inside(c)).unwrap_or(rest.len())].trim_end_matches('.');
        if ![".md", ".csv", ".json"].iter().any(|ending| path.ends_with(ending)) {
            continue;
        }
        let anchor = rest[path.len()..].strip_prefix('#').unwrap_or_default();
        let end = anchor.find(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').unwrap_or(anchor.len());
        found.push(if end == 0 { path.to_owned() } else { format!("{path}#{}", &anchor[..end]) });
    }
    found
}

/// The targets of the relative links in a line of Markdown.
fn links(line: &str) -> Vec<&str> {
    let targets = line.match_indices("](").filter_map(|(at, mark)| {
        let rest = &line[at + mark.len()..];
        Some(&rest[..rest.find(')')?])
    });
    targets
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:") && !target.contains(' '))
        .collect()
}

/// `target`, a relative link in the file `from`, as a path from the root.
fn resolved(from: &str, target: &str) -> String {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let whole = if path.is_empty() { PathBuf::from(from) } else { Path::new(from).parent().unwrap().join(path) };
    let mut parts = Vec::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::Normal(part) => parts.push(part.to_str().unwrap()),
            _ => {}
        }
    }
    let path = parts.join("/");
    match anchor {
        Some(anchor) => format!("{path}#{anchor}"),
        None => path,
    }
}

/// Whether `target`, a path from the root with or without an anchor, exists; remembers the anchors of files in `known`.
fn exists(target: &str, known: &mut HashMap<String, HashSet<String>>) -> bool {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = root().join(path);
    if anchor.is_empty() || !path.ends_with(".md") {
        return file.exists();
    }
    let read = || std::fs::read_to_string(file).map(|text| anchors(&text)).unwrap_or_default();
    known.entry(path.to_owned()).or_insert_with(read).contains(anchor)
}

#[test]
fn references_lead_to_documents() {
    let mut known = HashMap::new();
    let mut broken = Vec::new();
    for Text { path, text } in texts() {
        let mut check = |line: usize, target: String| {
            if !exists(&target, &mut known) {
                broken.push(format!("{path}:{line}: {target}"));
            }
        };
        let markdown = path.ends_with(".md");
        for (at, line) in text.lines().enumerate() {
            // In Markdown `docs/` may be the part of a link, which is relative.
            let named = if markdown && line.contains("](") { Vec::new() } else { documents(line) };
            named.into_iter().for_each(|target| check(at + 1, target));
        }
        if markdown {
            for (at, line) in prose(&text) {
                links(line).into_iter().for_each(|target| check(at, resolved(&path, target)));
            }
        }
    }
    assert!(broken.is_empty(), "references to nothing:\n  {}", broken.join("\n  "));
}

#[test]
fn documents_have_one_name() {
    let gone: Vec<String> = GONE.iter().map(|parts| parts.concat()).collect();
    let mut named = Vec::new();
    for Text { path, text } in texts() {
        for (at, line) in text.lines().enumerate() {
            let old = gone.iter().filter(|name| line.contains(name.as_str()));
            named.extend(old.map(|name| format!("{path}:{}: {name}", at + 1)));
        }
    }
    assert!(named.is_empty(), "write the path below docs/ instead:\n  {}", named.join("\n  "));
}

#[test]
fn anchors_are_those_of_github() {
    assert_eq!(slug("2.6 Running: pools, limits & `breaker`"), "26-running-pools-limits--breaker");
    assert_eq!(slug("host-meta `GET /.well-known/host-meta`"), "host-meta-get-well-knownhost-meta");
    assert_eq!(slug("See [the rules](rules.md), user_settings"), "see-the-rules-user_settings");
    let text = "# A b\n```sh\n# no heading\n```\n## A b\n#hashtag\n";
    assert_eq!(anchors(text), HashSet::from(["a-b".to_owned(), "a-b-1".to_owned()]));
}

#[test]
fn references_are_found_in_lines() {
    let line = "//! Spec: docs/style.md#names, docs/contract/entities/Status.schema.json. https://x.y/docs/none.md";
    assert_eq!(documents(line), ["docs/style.md#names", "docs/contract/entities/Status.schema.json"]);
    assert_eq!(links("[a](../b.md#c) and [d](https://x.y)"), ["../b.md#c"]);
    assert_eq!(resolved("plugin-sdk/README.md", "../docs/style.md#names"), "docs/style.md#names");
    assert_eq!(resolved("docs/style.md", "#names"), "docs/style.md#names");
}
