//! The invariants of the architecture, read from the source: which layer may know what.
//!
//! A rule is a row of [`RULES`]: words that must not stand in the code of some folders. Comments, string literals and
//! unit tests are not code. A place that must break a rule stands in [`EXCEPTIONS`], with its reason; an exception that
//! nothing needs any more fails as well, so the list stays true.

mod circles;
mod federation;
mod growth;
mod identifiers;
mod imports;
mod links;
mod names;
mod rooms;
mod services;
mod source;
mod words;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use source::code;

/// Words that must not stand in the code below some folders.
struct Rule {
    name: &'static str,
    /// Folders or files; "src" is all of it.
    within: &'static [&'static str],
    /// Folders or files inside those that are what the rule is about.
    but: &'static [&'static str],
    words: &'static [&'static str],
}

/// The crates below `src`, the lowest first: each may depend on those before it and on no other. `context`, `service` and
/// `entity` stand below every way in, so they cannot name one.
const LAYERS: &[&str] = &[
    "macros",
    "crypto",
    "model",
    "config",
    "text",
    "confine",
    "media",
    "mail",
    "outbound",
    "database",
    "store",
    "context",
    "service",
    "entity",
    "worker",
    "http",
    "federation",
    "streaming",
    "plugin-host",
    "plugin-package",
    "plugins",
    "server",
    "terminal",
    "author",
    "cli",
];

/// Pairs of crates that must stay strangers although their order would allow it: who, whom.
const STRANGERS: &[(&str, &str)] = &[
    ("http", "worker"),
    ("plugins", "worker"),
    ("streaming", "worker"),
    ("plugins", "streaming"),
    ("http", "outbound"),
    ("database", "config"),
    ("store", "config"),
    ("http", "store"),
    ("text", "model"),
    ("media", "model"),
    ("plugin-package", "context"),
    ("plugin-package", "store"),
    ("cli", "http"),
];

const RULES: &[Rule] = &[
    Rule {
        name: "model is not what clients see",
        within: &["src/model"],
        // Documents in a column are serialised by what they are.
        but: &["src/model/id.rs", "src/model/sqlite.rs", "src/model/text_enum.rs"],
        words: &["Serialize"],
    },
    Rule {
        name: "http reaches the database through services",
        within: &["src/http"],
        but: &[],
        words: &["database", "store"],
    },
    Rule {
        name: "SQL is written in store",
        within: &["src"],
        but: &["src/database", "src/store"],
        words: &["sql!", "sqlx::query", "sqlx::query_as", "sqlx::raw_sql", "execute_raw", "fetch_raw"],
    },
    Rule {
        name: "rows become models",
        within: &["src"],
        but: &["src/database", "src/store", "src/model", "src/macros"],
        words: &["FromRow", "model::Row", "model::row"],
    },
    Rule {
        name: "StatusCode is decided at the edge",
        within: &["src"],
        but: &[
            "src/http",
            "src/outbound",
            // The page of `rookery plugin dev`.
            "src/author/dashboard.rs",
            "src/streaming/routes.rs",
            "src/plugins/routes",
            "src/plugins/settings/page.rs",
            "src/server/federation_routes.rs",
        ],
        words: &["StatusCode"],
    },
    Rule {
        name: "pages are keyset pages",
        within: &["src/context", "src/service", "src/entity", "src/http", "src/worker"],
        but: &[],
        words: &["OFFSET"],
    },
    Rule {
        name: "wasmtime is in plugin-host",
        within: &["src", "plugin-sdk", "plugins"],
        but: &["src/plugin-host"],
        words: &["wasmtime"],
    },
    Rule {
        name: "what belongs to a request is in its context",
        within: &["src"],
        // SQLite calls a hook with nothing of ours, on the thread that commits.
        but: &["src/database/sqlite/log_sync.rs"],
        words: &["task_local", "thread_local"],
    },
    Rule {
        name: "the clock tells the time",
        within: &["src"],
        // The sandbox measures guests, and authors' tools themselves: neither is time that a server acts on.
        but: &["src/model/clock.rs", "src/plugin-host", "src/author"],
        words: &["Utc::now", "Local::now", "SystemTime::now", "SystemTime::elapsed", "std::time::Instant"],
    },
    Rule {
        name: "config reads the environment",
        within: &["src"],
        // Authors' tools run where their author stands; build scripts are told everything by the environment.
        but: &["src/config", "src/author", "src/plugin-package/build.rs", "src/http/build.rs"],
        words: &["std::env", "env::var", "env::vars", "env::var_os", "env::args", "env::args_os"],
    },
    Rule {
        name: "one client opens outgoing connections",
        within: &["src"],
        but: &["src/outbound"],
        words: &["reqwest", "TcpStream::connect", "UnixStream::connect", "TcpSocket", "hyper_util::client"],
    },
    Rule {
        name: "mail is sent in one place",
        within: &["src"],
        but: &["src/mail"],
        words: &["SmtpTransport", "AsyncSmtpTransport"],
    },
];

/// Rule, path, reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "one client opens outgoing connections",
        "src/media/storage/tests/mod.rs",
        "the proxy of a test, which cuts connections to the bucket",
    ),
    (
        "http reaches the database through services",
        "src/http/error.rs",
        "a statement's failure is an error like any other",
    ),
    ("config reads the environment", "src/main.rs", "the words of the command line decide what the process becomes"),
    ("one client opens outgoing connections", "src/cli/socket.rs", "the command line asks the server of this machine"),
    ("model is not what clients see", "src/model/account.rs", "profile fields and settings are stored as JSON"),
    (
        "model is not what clients see",
        "src/model/notification.rs",
        "a kind is a word of the API and of the database alike",
    ),
    ("model is not what clients see", "src/model/interaction.rs", "rules are stored as JSON in a person's preferences"),
    ("model is not what clients see", "src/model/actor.rs", "a person's preferences are stored as JSON"),
    (
        "model is not what clients see",
        "src/model/settings.rs",
        "settings are stored as JSON and shown by the command line",
    ),
];

/// A source file and its code: comments, literals and unit tests blanked out, lines where they were.
struct File {
    path: String,
    text: String,
    code: String,
}

fn files(folder: &str) -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    collect(&root.join(folder), "rs", &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let path = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let code = if path.ends_with("tests.rs") { String::new() } else { without_tests(&code(&text)).to_owned() };
        File { path, text, code }
    };
    paths.into_iter().map(read).collect()
}

/// The documents and guides in English: below `docs`, of the SDKs, and at the top.
fn guides() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths =
        ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "FEDERATION.md"].map(|name| root.join(name)).to_vec();
    ["docs", "plugin-sdk"].into_iter().for_each(|folder| collect(&root.join(folder), "md", &mut paths));
    let read = |path: PathBuf| File {
        text: std::fs::read_to_string(&path).unwrap(),
        path: path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(),
        code: String::new(),
    };
    paths.into_iter().map(read).collect()
}

fn collect(folder: &Path, ending: &str, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, ending, paths);
        } else if path.extension().is_some_and(|extension| extension == ending) {
            paths.push(path);
        }
    }
}

/// Unit tests stand at the foot of a file.
fn without_tests(code: &str) -> &str {
    code.find("#[cfg(test)]\nmod tests {").map_or(code, |end| &code[..end])
}

/// Lines of `code` on which `word` stands as words do: `http` is in `http::Request` and not in `http_body`.
fn lines_with(code: &str, word: &str) -> Vec<usize> {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let stands = |line: &str| {
        line.match_indices(word)
            .any(|(at, _)| !inside(line[..at].chars().next_back()) && !inside(line[at + word.len()..].chars().next()))
    };
    code.lines().enumerate().filter(|(_, line)| stands(line)).map(|(at, _)| at + 1).collect()
}

fn below(path: &str, folders: &[&str]) -> bool {
    folders.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// What breaks a rule: (rule, path, line to show).
fn faults() -> Vec<(&'static str, String, String)> {
    let files: Vec<File> = ["src", "plugin-sdk", "plugins"].into_iter().flat_map(files).collect();
    let mut faults = Vec::new();
    for rule in RULES {
        for file in files.iter().filter(|file| below(&file.path, rule.within) && !below(&file.path, rule.but)) {
            for word in rule.words {
                for line in lines_with(&file.code, word) {
                    faults.push((rule.name, file.path.clone(), format!("{}:{line}: {word}", file.path)));
                }
            }
        }
    }
    faults
}

#[test]
fn layers_know_only_what_they_may() {
    let faults = faults();
    let excepted = |rule: &str, path: &str| EXCEPTIONS.iter().any(|(name, place, _)| *name == rule && *place == path);
    let broken: Vec<String> = faults
        .iter()
        .filter(|(rule, path, _)| !excepted(rule, path))
        .map(|(rule, _, place)| format!("{rule}\n      {place}"))
        .collect();
    assert!(broken.is_empty(), "the architecture (see EXCEPTIONS in this file):\n  {}", broken.join("\n  "));
    let needed: BTreeSet<(&str, &str)> = faults.iter().map(|(rule, path, _)| (*rule, path.as_str())).collect();
    let stale: Vec<_> = EXCEPTIONS.iter().filter(|(rule, path, _)| !needed.contains(&(*rule, *path))).collect();
    assert!(stale.is_empty(), "exceptions that nothing needs: {stale:?}");
}

/// The other crates of `src` that the crate in `folder` depends on.
fn dependencies(folder: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder).join("Cargo.toml");
    let manifest: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let names = manifest["dependencies"].as_table().unwrap().keys();
    let folders = names.map(|name| name.strip_prefix("rookery-").unwrap_or(name).to_owned());
    folders.filter(|name| LAYERS.contains(&name.as_str())).collect()
}

#[test]
fn crates_depend_on_lower_layers_only() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folders = std::fs::read_dir(src).unwrap().map(|entry| entry.unwrap().path());
    let crates: BTreeSet<String> = folders
        .filter(|path| path.join("Cargo.toml").exists())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(crates, LAYERS.iter().map(|name| (*name).to_owned()).collect(), "every crate has its layer");
    for (height, layer) in LAYERS.iter().enumerate() {
        for below in dependencies(layer) {
            assert!(LAYERS[..height].contains(&below.as_str()), "{layer} depends on {below}, which is not below it");
            let strangers = STRANGERS.contains(&(*layer, below.as_str()));
            assert!(!strangers, "{layer} depends on {below}, which it must not know");
        }
    }
}

#[test]
fn every_module_says_what_it_is() {
    let silent: Vec<String> = ["src", "tests"]
        .into_iter()
        .flat_map(files)
        .filter(|file| !file.text.trim_start().starts_with("//!"))
        .map(|file| file.path)
        .collect();
    assert!(silent.is_empty(), "no //! at the top of {silent:?}");
}

#[test]
fn only_store_names_core_tables() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite");
    let schema: String =
        std::fs::read_dir(folder).unwrap().map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    let tables: Vec<&str> =
        schema.lines().filter_map(|line| line.strip_prefix("CREATE TABLE ")?.split_whitespace().next()).collect();
    assert!(tables.contains(&"accounts") && tables.contains(&"plugins"), "the schema was understood");
    let mut named = Vec::new();
    for file in
        files("src").iter().filter(|file| !below(&file.path, &["src/database", "src/store"]) && !file.code.is_empty())
    {
        for (at, line) in file.text.lines().enumerate() {
            let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let sql = words.windows(2).any(|pair| {
                matches!(pair[0], "FROM" | "JOIN" | "INTO" | "UPDATE" | "TABLE") && tables.contains(&pair[1])
            });
            if sql {
                named.push(format!("{}:{}: {}", file.path, at + 1, line.trim()));
            }
        }
    }
    assert!(named.is_empty(), "SQL about core tables outside src/store:\n  {}", named.join("\n  "));
}

#[test]
fn repository_names_no_machine() {
    // Written apart, so that this file is no hit of its own.
    let marks = [["/wo", "rk/"], ["/ro", "ot/"], ["/home", "/"]].map(|parts| parts.concat());
    let named: Vec<String> = ["src", "tests", "plugins", "plugin-sdk"]
        .into_iter()
        .flat_map(files)
        .filter(|file| marks.iter().any(|mark| file.text.contains(mark)))
        .map(|file| file.path)
        .collect();
    assert!(named.is_empty(), "a local path in {named:?}");
}

#[test]
fn scanner_sees_only_code() {
    let text = "let a = \"axum \\\" axum\"; // axum\nlet b = 'x'; let c: &'a str; axum::x(r#\"axum\"#);\n";
    assert_eq!(lines_with(&code(text), "axum"), [2]);
    assert_eq!(lines_with("use http_body;\nhttp::x();", "http"), [2]);
    assert!(below("src/store/feed/list.rs", &["src/store"]) && !below("src/stores.rs", &["src/store"]));
}
