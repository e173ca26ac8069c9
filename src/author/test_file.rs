//! `rookery plugin test`: runs the test files that `[[test]]` in the manifest names. Their format:
//!
//! ```toml
//! [[account]]
//! name = "alice"
//!
//! [[status]]                       # published by the account; {first} is its id from here on
//! id = "first"
//! account = "alice"
//! text = "hello"
//! visibility = "public"
//!
//! [[follow]]
//! account = "bob"
//! target = "alice"
//!
//! [config]                         # the plugin's configuration
//! limit = 3
//!
//! [[case]]                         # each runs on its own server, with all of the above
//! name = "a note is kept"
//!
//! [[case.step]]
//! as = "alice"                     # anonymous without it
//! put = "/api/v1/notes/{bob}"      # {bob} is the account's id
//! form = { text = "hi" }           # or json = …
//! status = 200                     # the default
//! expect = { text = "hi" }         # part of the response; lists are compared element by element
//! headers = { link = "rel=\"next\"" }   # substrings of headers
//! save = { note = "/id" }          # {note} is the value at this JSON pointer from here on
//!
//! [[case.step]]
//! advance = "10m"                  # the clock is fixed otherwise
//!
//! [[case.step]]
//! as = "alice"
//! settings = { digest = "weekly" } # the person's settings for the plugin
//!
//! [[case.step]]
//! command = "rebuild"              # a plugin command, run as an admin
//! args = {}
//! ```
//!
//! In `expect`, `{any}` matches anything. After every step, due jobs are run and events are delivered.

use std::path::Path;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::project::Project;
use super::test_runner;
use plugin_package::Package;
use terminal::{Failure, Output};

/// A test file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Suite {
    #[serde(default, rename = "account")]
    pub(crate) accounts: Vec<Account>,
    #[serde(default, rename = "status")]
    pub(crate) statuses: Vec<Status>,
    #[serde(default, rename = "follow")]
    pub(crate) follows: Vec<Follow>,
    #[serde(default)]
    pub(crate) config: Map<String, Value>,
    #[serde(default, rename = "case")]
    pub(crate) cases: Vec<Case>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Account {
    pub(crate) name: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Status {
    pub(crate) id: String,
    pub(crate) account: String,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) visibility: Option<String>,
    #[serde(default)]
    pub(crate) in_reply_to: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Follow {
    pub(crate) account: String,
    pub(crate) target: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    #[serde(default, rename = "step")]
    pub(crate) steps: Vec<Step>,
}

/// One step of a case: a request, a change of a person's settings, an advance of the clock or a command.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Step {
    #[serde(rename = "as")]
    pub(crate) account: Option<String>,
    /// Scopes of the token, instead of all.
    pub(crate) scopes: Option<String>,
    pub(crate) get: Option<String>,
    pub(crate) post: Option<String>,
    pub(crate) put: Option<String>,
    pub(crate) patch: Option<String>,
    pub(crate) delete: Option<String>,
    pub(crate) form: Option<Map<String, Value>>,
    pub(crate) json: Option<Value>,
    pub(crate) send_headers: Map<String, Value>,
    pub(crate) status: Option<u16>,
    pub(crate) expect: Option<Value>,
    pub(crate) headers: Map<String, Value>,
    pub(crate) save: std::collections::BTreeMap<String, String>,
    pub(crate) settings: Option<Map<String, Value>>,
    pub(crate) advance: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) args: Option<Value>,
}

impl Suite {
    /// Parses a test file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text =
            std::fs::read_to_string(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(0, |span| text[..span.start].lines().count().max(1));
            Failure::usage(format!("{}, line {line}: {}", path.display(), error.message()))
        })
    }
}

/// All test files of the manifest, with their paths.
pub(crate) fn all(project: &Project) -> Result<Vec<(String, Suite)>, Failure> {
    let files = project.manifest.tests.iter().map(|test| test.file.clone());
    files.map(|file| Ok((file.clone(), Suite::read(&project.folder.join(&file))?))).collect()
}

/// Runs every case, or those whose names contain `only`; fails when one does.
pub(crate) async fn run(project: &Project, only: Option<&str>, output: Output) -> Result<(), Failure> {
    let suites = all(project)?;
    if suites.is_empty() {
        return Err(Failure::new("plugin.toml names no tests: add [[test]] file = \"tests/x.toml\""));
    }
    let package = project.package()?;
    let begun = Instant::now();
    let mut results = Vec::new();
    for (file, suite) in &suites {
        for case in suite.cases.iter().filter(|case| only.is_none_or(|only| case.name.contains(only))) {
            results.push(one(project, &package, file, suite, case).await?);
        }
    }
    let failed = results.iter().filter(|result| !result["error"].is_null()).count();
    let took = begun.elapsed();
    output.respond(&results, || words(&results, failed, took.as_secs_f64()))?;
    if failed > 0 { Err(Failure::new(format!("{failed} of {} tests failed", results.len()))) } else { Ok(()) }
}

async fn one(project: &Project, package: &Package, file: &str, suite: &Suite, case: &Case) -> Result<Value, Failure> {
    let begun = Instant::now();
    let done = test_runner::case(project, package, suite, case).await;
    let took = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let error = done.err().map(|failed| json!({ "what": failed.what, "story": failed.story }));
    Ok(json!({ "file": file, "case": case.name, "took_ms": took, "error": error }))
}

fn words(results: &[Value], failed: usize, seconds: f64) -> String {
    let mut text = String::new();
    for result in results {
        let (name, took) = (result["case"].as_str().unwrap_or_default(), &result["took_ms"]);
        match result["error"].as_object() {
            None => text.push_str(&format!("ok    {name} ({took} ms)\n")),
            Some(error) => {
                let file = result["file"].as_str().unwrap_or_default();
                let part = |key: &str| error[key].as_str().unwrap_or_default();
                text.push_str(&format!("FAIL  {name} ({file})\n      {}\n{}", part("what"), part("story")));
            }
        }
    }
    text.push_str(&format!("{} passed, {failed} failed in {seconds:.2} s", results.len() - failed));
    text
}
