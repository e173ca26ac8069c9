//! One plugin in five languages, `examples/`: each is built as its author would build it, passes the same story, and
//! reports the place of a failure.
//!
//! A build takes up to a minute, so one build serves both: one statement is inserted, which fails for one text. Each
//! is built with the packed SDK (`plugin-sdk/tools/pack-sdks.sh`), the Rust one by `make guests`. `make languages`
//! provides the compilers of the other languages. The stories of the languages whose components take longest are left to
//! `make nightly`; `make test` compiles their sources against the contract.

use std::path::{Path, PathBuf};
use std::process::Command;

use plugin_package::manifest;
use plugins::admin;
use plugins::life::{self, Outcome};
use rookery_plugin_build::{Build, World};
use serde_json::{Value, json};

use crate::harness::{Client, NO_PLUGIN_YET, TestApp};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A file, a text in it, and the text that is inserted before it.
type Edit = (&'static str, &'static str, &'static str);

/// Builds the example in `language` into `dir/notes`, from a copy of its folder with `edit` applied.
fn build(language: &str, dir: &Path, edit: Option<Edit>) {
    build_by(None, language, dir, edit).unwrap();
}

/// As [`build`], by another command than the manifest's.
fn build_by(command: Option<&str>, language: &str, dir: &Path, edit: Option<Edit>) -> rookery_plugin_build::Result<()> {
    let package = dir.join("notes");
    let source = PathBuf::from(ROOT).join("examples").join(language);
    copy(&source, &package);
    if let Some((file, before, inserted)) = edit {
        let text = std::fs::read_to_string(package.join(file)).unwrap();
        let place = text.find(before).unwrap_or_else(|| panic!("{file} has no {before:?}"));
        std::fs::write(package.join(file), format!("{}{inserted}{}", &text[..place], &text[place..])).unwrap();
    }
    let text = std::fs::read_to_string(package.join("plugin.toml")).unwrap();
    let manifest = manifest::parse(&text).unwrap();
    if language == "rust" {
        let guest = PathBuf::from(ROOT).join("target/guests/notes/notes.wasm");
        std::fs::copy(guest, package.join("notes.wasm")).expect("`make guests` builds the example in Rust");
        return Ok(());
    }
    let tools = PathBuf::from(ROOT).join("target/tools/bin");
    assert!(tools.join("zig").exists(), "`make languages` gets the compilers of other languages");
    let build = manifest.build.as_ref().unwrap();
    let (imports, exports) = (manifest.imports(), manifest.exports());
    let imports: Vec<&str> = imports.iter().map(|import| import.name()).collect();
    let exports: Vec<&str> = exports.iter().map(|export| export.name()).collect();
    let world = World::new(&imports, &exports).unwrap();
    // Takes the modules of the SDK from the package instead of from the program that builds.
    let sdk = packed(language);
    let modules = "(cd \"$SDK\" && find . -type f) | while read -r file; do rm -f \"$ROOKERY_BINDINGS/$file\"; done";
    let path = format!("export PATH='{}':\"$PATH\" SDK='{}'", tools.display(), sdk.display());
    let command =
        format!("{path}; {modules}; cp -R \"$SDK/.\" \"$ROOKERY_BINDINGS/\"; {}", command.unwrap_or(&build.command));
    Build { folder: &package, language: build.language.as_deref(), command: &command, wasm: &manifest.plugin.wasm }
        .run(&world)
        .map(drop)
}

/// The SDK of `language` as authors get it: packed, then unpacked into the returned folder.
fn packed(language: &str) -> PathBuf {
    let root = PathBuf::from(ROOT);
    let done = Command::new(root.join("plugin-sdk/tools/pack-sdks.sh")).arg(language).output().unwrap();
    assert!(done.status.success(), "{language}: {}", String::from_utf8_lossy(&done.stderr));
    root.join("target/sdks/unpacked").join(language)
}

/// Copies a folder recursively.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// A server with the example in `language` enabled and `edit` applied.
async fn served(language: &str, edit: Option<Edit>) -> (TestApp, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_owned();
    let name = language.to_owned();
    tokio::task::spawn_blocking(move || build(&name, &dir, edit)).await.unwrap();
    let development = if edit.is_some() { "true" } else { "false" };
    let keys = [("ROOKERY_PLUGINS_DIR", folder.path().to_str().unwrap()), ("ROOKERY_SERVER_DEVELOPMENT", development)];
    let app = TestApp::with(&[keys.as_slice(), &NO_PLUGIN_YET].concat()).await;
    plugins::start(&app.plugins()).await;
    admin::enable(&app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    let loaded = life::reload(&app.plugins(), "notes").await;
    assert!(matches!(loaded, Ok(Outcome::Loaded(_))), "{language}: {loaded:?}");
    (app, folder)
}

fn note_about(person: &Client) -> String {
    format!("/api/v1/notes/{}", person.id())
}

fn texts(notes: &Value) -> Vec<(&str, &str)> {
    notes
        .as_array()
        .unwrap()
        .iter()
        .map(|note| (note["account"]["acct"].as_str().unwrap(), note["text"].as_str().unwrap()))
        .collect()
}

/// Runs the story of the example in `language`, then makes the statement added by `edit` fail: the log must name
/// `place`, the words and the route.
async fn story_of(language: &str, edit: Edit, place: &str, words: &str) {
    let (app, _folder) = served(language, Some(edit)).await;
    story(&app).await;
    let [dave] = app.accounts(["dave"]).await;
    let failed = dave.put(&note_about(&dave)).form(&[("text", "!")]).send().await;
    assert_eq!(failed.status, 500, "{language}");
    let lines: Vec<String> =
        app.plugins().plugins.logs.after("notes", 0).into_iter().map(|line| line.message).collect();
    let all = lines.join("\n");
    assert!(all.contains(place) && all.contains(words) && all.contains("route update"), "{language}: {all}");
}

/// User story of the example `notes`, served by `app`.
pub async fn story(app: &TestApp) {
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;

    assert_eq!(alice.get("/api/v1/notes").ok().await, json!([]));
    let saved = alice.put(&note_about(&bob)).json(&json!({ "text": "owes me \"a\" book\n\u{1f426}" })).ok().await;
    assert_eq!(saved["text"], "owes me \"a\" book\n\u{1f426}");
    assert_eq!(saved["account"]["acct"], "bob", "the host puts the account into the answer");
    let again = alice.put(&note_about(&bob)).form(&[("text", "owes me two books")]).ok().await;
    assert_eq!(again["text"], "owes me two books");
    alice.put(&note_about(&carol)).form(&[("text", "")]).ok().await;
    let all = alice.get("/api/v1/notes").ok().await;
    assert_eq!(texts(&all), [("bob", "owes me two books"), ("carol", "")]);
    assert_eq!(alice.get(&note_about(&bob)).ok().await, again);
    assert_eq!(bob.get("/api/v1/notes").ok().await, json!([]), "a note is private to its author");
    assert_eq!(bob.get(&note_about(&bob)).ok().await["text"], "");

    assert_eq!(alice.put(&note_about(&bob)).fails(422).await, "text: is missing");
    let long = "\u{e9}".repeat(2001);
    let refused = alice.put(&note_about(&bob)).form(&[("text", &long)]).fails(422).await;
    assert_eq!(refused, "text: is longer than 2000 characters");
    alice.put(&note_about(&bob)).form(&[("text", &long[..4000])]).ok().await;
    alice.put("/api/v1/notes/1").form(&[("text", "nobody")]).fails(404).await;
    alice.get("/api/v1/notes/rook").fails(404).await;
    app.anonymous().get("/api/v1/notes").fails(401).await;
    let narrow = Client::new(app.clone(), Some(alice.id()), "alice", Some(app.token(Some(alice.id()), "read").await));
    narrow.delete(&note_about(&bob)).fails(403).await;

    assert_eq!(alice.delete(&note_about(&carol)).ok().await, json!({}));
    assert_eq!(alice.delete(&note_about(&carol)).ok().await, json!({}), "once more changes nothing");
    alice.block(&bob).ok().await;
    app.run_jobs().await;
    assert_eq!(alice.get("/api/v1/notes").ok().await, json!([]), "a block deletes the note");
}

#[tokio::test]
async fn example_in_rust() {
    let (app, _folder) = served("rust", None).await;
    story(&app).await;
}

#[tokio::test]
async fn example_in_c_and_its_failures() {
    let before = "    if (characters(text.bytes, text.length) > LONGEST) {";
    let trap = "    if (text.length == 1) __builtin_trap();\n";
    story_of("c", ("notes.c", before, trap), "notes.c:115", "unreachable").await;
}

#[tokio::test]
#[ignore = "a minute of its compiler: make nightly"]
async fn example_in_python_and_its_failures() {
    let before = "    if len(text) > LONGEST:";
    let raise = "    if text == \"!\":\n        raise ValueError(\"out of ink\")\n";
    story_of("python", ("app.py", before, raise), "app.py:", "ValueError: out of ink").await;
}

#[tokio::test]
async fn example_in_go_and_its_failures() {
    let before = "\tif utf8.RuneCountInString(text) > longest {";
    let panic = "\tif text == \"!\" {\n\t\tpanic(\"out of ink\")\n\t}\n";
    story_of("go", ("notes.go", before, panic), "notes.go:116", "out of ink").await;
}

#[tokio::test]
#[ignore = "a minute of its compiler: make nightly"]
async fn example_in_typescript_and_its_failures() {
    let before = "  if ([...text].length > LONGEST) {";
    let throw = "  if (text === '!') throw new Error('out of ink');\n";
    story_of("typescript", ("notes.ts", before, throw), "notes.ts:35", "out of ink").await;
}

#[test]
fn sources_that_no_component_is_made_of_compile_against_the_contract() {
    let commands = [
        ("typescript", "npm run --silent prebuild"),
        (
            "python",
            "python3 -m py_compile app.py && componentize-py --quiet --wit-path \"$ROOKERY_WIT\" --world plugin bindings made",
        ),
    ];
    for (language, command) in commands {
        let folder = tempfile::tempdir().unwrap();
        // A build that stops before there is a component.
        let command = format!("{command} && touch compiled && exit 1");
        build_by(Some(&command), language, folder.path(), None).unwrap_err();
        assert!(folder.path().join("notes/compiled").exists(), "{language}");
    }
}

#[test]
fn examples_differ_only_in_language() {
    let read = |language: &str, file: &str| {
        std::fs::read_to_string(PathBuf::from(ROOT).join("examples").join(language).join(file)).unwrap()
    };
    let bare = |language: &str| {
        let mut manifest: toml::Table = read(language, "plugin.toml").parse().unwrap();
        manifest.remove("build");
        manifest.remove("test");
        manifest
    };
    for language in ["c", "go", "python", "typescript"] {
        assert_eq!(bare(language), bare("rust"), "{language}");
        for file in ["sql/queries.sql", "migrations/0001_notes.sql"] {
            assert_eq!(read(language, file), read("rust", file), "{language}: {file}");
        }
    }
}
