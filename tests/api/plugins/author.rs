//! Commands of plugin authors: `rookery plugin new, check, test, bench, pack, diff, doctor`. Building is tested in
//! `examples`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Runs the program as an author does: in a folder, without a server.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_rookery"));
    program.arg("plugin").args(arguments).current_dir(folder);
    program.env("ROOKERY_PLUGINS_CACHE_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/plugin-cache"));
    program.output().unwrap()
}

fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The one-line error of a command that fails.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.lines().count() == 1, "{arguments:?}: {text}");
    text
}

/// A copy of a built package, as an author's folder.
fn copy(name: &str, to: &Path) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/guests").join(name);
    let to = to.join(name);
    let done = Command::new("cp").arg("-r").arg(&from).arg(&to).status().unwrap();
    assert!(done.success(), "`make guests` builds {name}");
    to
}

#[test]
fn new_plugin_starts_in_every_language() {
    let folder = tempfile::tempdir().unwrap();
    for language in ["rust", "c", "go", "python", "typescript"] {
        let name = format!("in_{language}");
        let text = said(folder.path(), &["new", &name, "--lang", language]);
        assert!(text.contains("rookery plugin build") && text.contains("rookery plugin dev"), "{text}");
        let manifest = std::fs::read_to_string(folder.path().join(&name).join("plugin.toml")).unwrap();
        let manifest = plugin_package::manifest::parse(&manifest).unwrap();
        assert_eq!(manifest.plugin.name, name);
        assert!(!manifest.tests.is_empty() && !manifest.routes.is_empty(), "{language}");
        for file in std::fs::read_dir(folder.path().join(&name)).unwrap().map(Result::unwrap) {
            let text = std::fs::read_to_string(file.path()).unwrap_or_default();
            assert!(!text.contains("{{"), "{}: a word of the template is left", file.path().display());
        }
    }
    assert!(refused(folder.path(), &["new", "in_rust"]).contains("in_rust exists already"));
    assert!(refused(folder.path(), &["new", "Nope"]).contains("no name of a plugin"));
    assert!(refused(folder.path(), &["new", "other", "--lang", "cobol"]).contains("rust"), "which there are");
    assert!(!folder.path().join("other").exists());
    assert!(refused(folder.path(), &["check"]).contains("rookery plugin new"));
}

#[test]
fn package_check_matches_server() {
    let folder = tempfile::tempdir().unwrap();
    let deck = copy("reaction_deck", folder.path());
    let text = said(&deck, &["check"]);
    for part in ["a server would serve it", "POST /api/v1/reaction_deck", "migrations/0001_decks.sql", "core:read"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let queries = deck.join("sql/queries.sql");
    let whole = std::fs::read_to_string(&queries).unwrap();
    std::fs::write(&queries, format!("{whole}\n-- name: wrong returns: many\nSELECT password_hash FROM users;\n"))
        .unwrap();
    assert!(refused(&deck, &["check"]).contains("users"), "which table");
    std::fs::write(&queries, whole).unwrap();
    let component = deck.join("reaction_deck.wasm");
    let bytes = std::fs::read(&component).unwrap();
    std::fs::write(&component, &bytes[..bytes.len() / 2]).unwrap();
    let text = refused(&deck, &["check"]);
    assert!(text.contains("reaction_deck"), "{text}");
}

#[test]
fn tests_run_without_server_and_report_the_reason_of_failure() {
    let folder = tempfile::tempdir().unwrap();
    let deck = copy("reaction_deck", folder.path());
    let text = said(&deck, &["test"]);
    assert!(text.contains("2 passed, 0 failed"), "{text}");
    assert!(said(&deck, &["test", "--only", "a token"]).contains("1 passed, 0 failed"));

    let suite = deck.join("tests/reaction_deck.toml");
    let whole = std::fs::read_to_string(&suite).unwrap();
    assert!(whole.contains("status = 401"), "the suite asks without a token");
    std::fs::write(&suite, whole.replacen("status = 401", "status = 200", 1)).unwrap();
    let output = run(&deck, &["test"]);
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("401"), "{text}");

    let measured = said(&copy("notes", folder.path()), &["--json", "bench", "--times", "5"]);
    let lines: Vec<Value> = measured.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!lines.is_empty() && !lines[0].as_array().is_some_and(Vec::is_empty), "{measured}");
}

#[test]
fn package_build_is_reproducible_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let deck = copy("reaction_deck", folder.path());
    assert!(said(&deck, &["pack"]).contains("not signed"));
    let packed = deck.join("reaction_deck-0.1.0.plugin");
    let first = std::fs::read(&packed).unwrap();
    said(&deck, &["pack"]);
    assert_eq!(std::fs::read(&packed).unwrap(), first, "the same package, the same bytes");
    let whole = folder.path().join("whole.plugin");
    std::fs::rename(&packed, &whole).unwrap();
    let same = said(&deck, &["diff", whole.to_str().unwrap(), "."]);
    assert!(same.contains("the component is the same") && !same.contains('+'), "{same}");

    let manifest = deck.join("plugin.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let more = text.replace("core = [\"read\"]", "core = [\"read\", \"read-as-any\"]").replace("0.1.0", "0.2.0");
    assert_ne!(text, more);
    std::fs::write(&manifest, more).unwrap();
    let differs = said(&deck, &["diff", whole.to_str().unwrap(), "."]);
    assert!(differs.contains("0.1.0 → 0.2.0") && differs.contains("+ permission core:read-as-any"), "{differs}");

    std::fs::write(&whole, &first[..first.len() - 2_000]).unwrap();
    refused(&deck, &["diff", whole.to_str().unwrap(), "."]);
}

#[test]
fn stray_files_are_left_out_of_a_package_unless_included() {
    let folder = tempfile::tempdir().unwrap();
    let deck = copy("reaction_deck", folder.path());
    for (name, text) in [("notes.txt", "mine"), ("dump.sqlite", "x"), ("LICENSE-MIT", "MIT"), ("assets/a.json", "{}")] {
        std::fs::create_dir_all(deck.join(name).parent().unwrap()).unwrap();
        std::fs::write(deck.join(name), text).unwrap();
    }
    let packed = |arguments: &[&str]| -> Value { serde_json::from_str(said(&deck, arguments).trim()).unwrap() };
    let plain = packed(&["--json", "pack"]);
    let names = |of: &Value| of.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    let (files, left): (Vec<String>, Vec<String>) = (names(&plain["files"]), names(&plain["left_out"]));
    assert_eq!(left, ["assets/a.json", "dump.sqlite", "notes.txt"]);
    assert!(files.contains(&"LICENSE-MIT".to_owned()) && files.contains(&"sql/queries.sql".to_owned()), "{files:?}");

    let manifest = deck.join("plugin.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let build = |include: &str| format!("{text}\n[build]\ncommand = \"true\"\ninclude = [{include}]\n");
    std::fs::write(&manifest, build("\"assets\"")).unwrap();
    let files: Vec<String> = names(&packed(&["--json", "pack"])["files"]);
    assert!(files.contains(&"assets/a.json".to_owned()) && !files.contains(&"notes.txt".to_owned()), "{files:?}");
    std::fs::write(&manifest, build("\"pictures\"")).unwrap();
    assert!(refused(&deck, &["pack"]).contains("build.include names pictures"));
}

#[test]
fn package_rejected_by_servers_is_not_packed() {
    let folder = tempfile::tempdir().unwrap();
    let deck = copy("reaction_deck", folder.path());
    let queries = deck.join("sql/queries.sql");
    let whole = std::fs::read_to_string(&queries).unwrap();
    std::fs::write(&queries, format!("{whole}\n-- name: wrong returns: many\nSELECT password_hash FROM users;\n"))
        .unwrap();
    assert!(refused(&deck, &["pack"]).contains("users"));
    assert!(!deck.join("reaction_deck-0.1.0.plugin").exists());
}

#[test]
fn row_with_column_that_no_statement_returns_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let categories = copy("bookmark_categories", folder.path());
    said(&categories, &["check"]);
    let queries = categories.join("sql/queries.sql");
    let text = std::fs::read_to_string(&queries).unwrap();
    assert!(text.contains(" AS entries\n"));
    std::fs::write(&queries, text.replace(" AS entries\n", " AS amount\n")).unwrap();
    let refused = refused(&categories, &["check"]);
    assert!(refused.contains("the row Counted reads entries, and no statement returns it"), "{refused}");
}

#[test]
fn busy_port_is_reported_before_the_build() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "[plugin]\nname = \"notes\"\nversion = \"1.0.0\"\napi = \"0.1\"\ntitle = \"Notes\"\n\
                    license = \"MIT\"\nwasm = \"notes.wasm\"\n[build]\ncommand = 'touch built'\n";
    std::fs::write(folder.path().join("plugin.toml"), manifest).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    assert!(refused(folder.path(), &["dev", "--port", &port]).contains(&format!("listens on port {port}")));
    assert!(!folder.path().join("built").exists());
}

#[test]
fn test_step_sets_plugin_settings_of_account() {
    let folder = tempfile::tempdir().unwrap();
    let cookbook = copy("cookbook", folder.path());
    let suite = |favourites: &str| {
        format!(
            "[[account]]\nname = \"alice\"\n[[case]]\nname = \"quiet\"\n[[case.step]]\nas = \"alice\"\n\
             settings = {{ favourites = \"{favourites}\" }}\n[[case.step]]\nas = \"alice\"\nget = \"/api/v1/shelves\"\n"
        )
    };
    let manifest = std::fs::read_to_string(cookbook.join("plugin.toml")).unwrap();
    let bare = manifest.split("[[test]]").next().unwrap();
    std::fs::write(cookbook.join("plugin.toml"), format!("{bare}\n[[test]]\nfile = \"settings.toml\"\n")).unwrap();
    std::fs::write(cookbook.join("settings.toml"), suite("quiet")).unwrap();
    assert!(said(&cookbook, &["test"]).contains("1 passed, 0 failed"));
    std::fs::write(cookbook.join("settings.toml"), suite("loud")).unwrap();
    let output = String::from_utf8(run(&cookbook, &["test"]).stdout).unwrap();
    assert!(output.contains("step 1: favourites") && output.contains("0 passed, 1 failed"), "{output}");
}

#[test]
fn shell_completes_author_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let output = Command::new(env!("CARGO_BIN_EXE_rookery")).args(["completion", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && script.contains("rollback") && script.contains("bench"),
            "{shell}: {script}"
        );
    }
}

#[test]
fn author_doctor_names_missing_tools_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_rookery"));
    // Without cargo and cc, which `sh` looks up.
    program.args(["plugin", "doctor"]).current_dir(folder.path()).env("PATH", "/nowhere");
    let output = program.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success());
    for (what, fix) in
        [("cargo", "rustup"), ("cc", "apt-get install build-essential"), ("target wasm32", "rustup target add")]
    {
        let line = text.lines().find(|line| line.starts_with("missing") && line.contains(what));
        assert!(line.is_some_and(|line| line.contains(fix)), "{what}: {text}");
    }
}
