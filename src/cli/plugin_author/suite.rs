//! `rookery plugin test`: the files that `[[test]]` names. What stands in one:
//!
//! ```toml
//! [[account]]
//! name = "alice"
//!
//! [[status]]                       # written by the account; {first} is its id from then on
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
//! [[case]]                         # each on a server of its own, with all of the above
//! name = "a note is kept"
//!
//! [[case.step]]
//! as = "alice"                     # without it nobody is signed in
//! put = "/api/v1/notes/{bob}"      # {bob}: the account's id
//! form = { text = "hi" }           # or json = …
//! status = 200                     # 200 where nothing is said
//! expect = { text = "hi" }         # a part of the answer; lists are compared member by member
//! headers = { link = "rel=\"next\"" }   # parts of headers
//! save = { note = "/id" }          # {note} is what stands there from then on
//!
//! [[case.step]]
//! advance = "10m"                  # the clock stands still otherwise
//!
//! [[case.step]]
//! command = "rebuild"              # of the admin
//! args = {}
//! ```
//!
//! In texts of `expect`, `{any}` is anything. After every step, jobs that are due are done and events are delivered.

use std::path::Path;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::play;
use super::project::Project;
use crate::cli::output::{Failure, Output};
use crate::plugins::Package;

/// A file of tests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Suite {
    #[serde(default, rename = "account")]
    pub(super) accounts: Vec<Account>,
    #[serde(default, rename = "status")]
    pub(super) statuses: Vec<Status>,
    #[serde(default, rename = "follow")]
    pub(super) follows: Vec<Follow>,
    #[serde(default)]
    pub(super) config: Map<String, Value>,
    #[serde(default, rename = "case")]
    pub(super) cases: Vec<Case>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Account {
    pub(super) name: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Status {
    pub(super) id: String,
    pub(super) account: String,
    pub(super) text: String,
    #[serde(default)]
    pub(super) visibility: Option<String>,
    #[serde(default)]
    pub(super) in_reply_to: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Follow {
    pub(super) account: String,
    pub(super) target: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    #[serde(default, rename = "step")]
    pub(super) steps: Vec<Step>,
}

/// A request, a move of the clock or a command.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Step {
    #[serde(rename = "as")]
    pub(super) account: Option<String>,
    /// A token of these instead of every scope.
    pub(super) scopes: Option<String>,
    pub(super) get: Option<String>,
    pub(super) post: Option<String>,
    pub(super) put: Option<String>,
    pub(super) patch: Option<String>,
    pub(super) delete: Option<String>,
    pub(super) form: Option<Map<String, Value>>,
    pub(super) json: Option<Value>,
    pub(super) send_headers: Map<String, Value>,
    pub(super) status: Option<u16>,
    pub(super) expect: Option<Value>,
    pub(super) headers: Map<String, Value>,
    pub(super) save: std::collections::BTreeMap<String, String>,
    pub(super) advance: Option<String>,
    pub(super) command: Option<String>,
    pub(super) args: Option<Value>,
}

impl Suite {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text =
            std::fs::read_to_string(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(0, |span| text[..span.start].lines().count().max(1));
            Failure::usage(format!("{}, line {line}: {}", path.display(), error.message()))
        })
    }
}

/// All files that the manifest names, by path.
pub(super) fn all(project: &Project) -> Result<Vec<(String, Suite)>, Failure> {
    let files = project.manifest.tests.iter().map(|test| test.file.clone());
    files.map(|file| Ok((file.clone(), Suite::read(&project.folder.join(&file))?))).collect()
}

/// Runs every case; fails when one does.
pub(super) async fn run(project: &Project, only: Option<&str>, output: Output) -> Result<(), Failure> {
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
    output.answer(&results, || words(&results, failed, took.as_secs_f64()))?;
    if failed > 0 { Err(Failure::new(format!("{failed} of {} tests failed", results.len()))) } else { Ok(()) }
}

async fn one(project: &Project, package: &Package, file: &str, suite: &Suite, case: &Case) -> Result<Value, Failure> {
    let begun = Instant::now();
    let done = play::case(project, package, suite, case).await;
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
