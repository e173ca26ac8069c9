//! The interface contract for tests: entity schemas and the table of routes, from `docs/contract`.
//!
//! [`check`] validates a document against a shape in the notation of the table's column `response`: `Status`,
//! `Status[]`, `Status | ScheduledStatus`, `string[]`, `boolean`, `{}`. [`routes`] reads the table.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::{Draft, Registry, Resource, Validator};
use serde_json::{Value, json};

/// Base URL of the schemas, which refer to each other by file name.
const BASE: &str = "https://contract.test/entities/";

/// Length of an invalid document in a failure message, in characters.
const SHOWN: usize = 6_000;

/// A row of `routes.csv`. Where the columns are explained: docs/contract/rules.md#0-how-to-read-the-files.
#[derive(Clone, Debug)]
pub struct Route {
    pub group: String,
    pub method: String,
    /// With `:id` for parameters.
    pub path: String,
    /// `public`, `optional`, `app` or `user`.
    pub auth: String,
    /// Alternatives; one suffices.
    pub scopes: Vec<String>,
    pub params: String,
    pub success_status: u16,
    pub response: String,
    pub paginated: String,
    pub errors: String,
    pub notes: String,
}

impl Route {
    /// `GET /api/v1/accounts/:id`: the name of a row.
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// Fails the test if `document` is not a `shape`, with the place of every fault.
#[track_caller]
pub fn check(shape: &str, document: &Value) {
    let faults = faults(shape, document);
    if !faults.is_empty() {
        let mut text = serde_json::to_string_pretty(document).unwrap();
        if let Some((end, _)) = text.char_indices().nth(SHOWN) {
            text.truncate(end);
            text.push_str("\n… (cut)");
        }
        panic!("this is no {shape}:\n  {}\n{text}", faults.join("\n  "));
    }
}

/// Faults of `document` as a `shape`, one per line; empty if it is valid.
pub fn faults(shape: &str, document: &Value) -> Vec<String> {
    let validator = validator(shape);
    let line = |error: jsonschema::ValidationError<'_>| {
        let place = error.instance_path().to_string();
        format!("{}: {error}", if place.is_empty() { "the document" } else { &place })
    };
    validator.iter_errors(document).map(line).map(short).collect()
}

/// Faults often quote a whole entity: the place and the beginning suffice.
fn short(line: String) -> String {
    match line.char_indices().nth(300) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// True if a response of the table is JSON that [`check`] can validate.
pub fn is_json(shape: &str) -> bool {
    shape.split('|').map(str::trim).all(|one| {
        let element = one.strip_suffix("[]").unwrap_or(one);
        matches!(element, "{}" | "string" | "boolean") || SCHEMAS.contains_key(element)
    })
}

/// True if a document of `shape` contains `entity` at any depth. `StatusEdit` and `StatusSource` count as statuses.
pub fn shows(shape: &str, entity: &str) -> bool {
    let mut waiting: Vec<String> = shape.split('|').map(|one| one.trim().trim_end_matches("[]").to_owned()).collect();
    let mut seen = Vec::new();
    while let Some(name) = waiting.pop() {
        if name == entity || (entity == "Status" && matches!(name.as_str(), "StatusEdit" | "StatusSource")) {
            return true;
        }
        if let Some(schema) = SCHEMAS.get(&name).filter(|_| !seen.contains(&name)) {
            let text = schema.to_string();
            let named = text.split("\"$ref\":\"").skip(1).filter_map(|rest| rest.split(".schema.json").next());
            waiting.extend(named.map(str::to_owned));
            seen.push(name);
        }
    }
    false
}

/// The table of the core's routes.
pub fn routes() -> Vec<Route> {
    table("routes.csv")
}

/// The table of the routes of extension groups.
pub fn extensions() -> Vec<Route> {
    table("extensions.csv")
}

/// The table of the admin API.
pub fn admin() -> Vec<Route> {
    table("admin.csv")
}

fn table(file: &str) -> Vec<Route> {
    let text = std::fs::read_to_string(folder().join(file)).unwrap();
    let mut rows = records(&text).into_iter();
    let names = rows.next().unwrap();
    let columns: HashMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    rows.map(|row| {
        let text = |name: &str| row[columns[name]].clone();
        Route {
            group: text("group"),
            method: text("method"),
            path: text("path"),
            auth: text("auth"),
            scopes: text("scopes").split_whitespace().map(str::to_owned).collect(),
            params: text("params"),
            success_status: text("success_status").parse().unwrap(),
            response: text("response"),
            paginated: text("paginated"),
            errors: text("errors"),
            notes: text("notes"),
        }
    })
    .collect()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/contract")
}

static SCHEMAS: LazyLock<HashMap<String, Value>> = LazyLock::new(|| {
    let files = std::fs::read_dir(folder().join("entities")).unwrap();
    let read = |file: std::fs::DirEntry| {
        let name = file.file_name().into_string().unwrap();
        let schema = serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap();
        (name.strip_suffix(".schema.json").unwrap().to_owned(), schema)
    };
    files.map(|file| read(file.unwrap())).collect()
});

static REGISTRY: LazyLock<Registry<'static>> = LazyLock::new(|| {
    let mut registry = Registry::new().draft(Draft::Draft202012);
    for (name, schema) in &*SCHEMAS {
        let resource = Resource::from_contents(schema.clone());
        registry = registry.add(format!("{BASE}{name}.schema.json"), resource).unwrap();
    }
    registry.prepare().unwrap()
});

/// Compiling takes longer than checking, so each shape is compiled once.
fn validator(shape: &str) -> Arc<Validator> {
    static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    // A failed test poisons the lock; other tests continue.
    let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let compile = || {
        let options = jsonschema::options().with_draft(Draft::Draft202012).with_registry(&REGISTRY);
        Arc::new(options.should_validate_formats(true).build(&schema(shape)).unwrap())
    };
    Arc::clone(validators.entry(shape.to_owned()).or_insert_with(compile))
}

fn schema(shape: &str) -> Value {
    if shape.contains('|') {
        return json!({ "anyOf": shape.split('|').map(|one| schema(one.trim())).collect::<Vec<_>>() });
    }
    if let Some(element) = shape.strip_suffix("[]") {
        return json!({ "type": "array", "items": schema(element) });
    }
    match shape {
        "{}" => json!({ "const": {} }),
        "string" | "boolean" => json!({ "type": shape }),
        entity => {
            assert!(SCHEMAS.contains_key(entity), "the contract has no schema of {entity}");
            json!({ "$ref": format!("{BASE}{entity}.schema.json") })
        }
    }
}

/// Comma-separated values as RFC 4180 has them, without a crate for one file.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            other => field.push(other),
        }
    }
    if !record.is_empty() || !field.is_empty() {
        record.push(field);
        records.push(record);
    }
    records
}

#[test]
fn contract_table_parses() {
    let routes = routes();
    assert!(routes.len() >= 200);
    let create = routes.iter().find(|route| route.name() == "POST /api/v1/statuses").unwrap();
    assert_eq!(create.response, "Status | ScheduledStatus");
    assert_eq!(create.scopes, ["write", "write:statuses"]);
    assert!(shows("Context", "Status") && shows("Notification[]", "Status") && !shows("Account[]", "Status"));
}

#[test]
fn every_schema_compiles_and_rejects_invalid_documents() {
    for name in SCHEMAS.keys() {
        validator(name);
    }
    check("string[]", &json!(["a"]));
    check("{}", &json!({}));
    assert!(!faults("{}", &json!({ "id": "1" })).is_empty());
    assert!(!faults("Status[]", &json!([{ "id": "1" }])).is_empty());
    let marker = |time: &str| json!({ "last_read_id": "1", "version": 1, "updated_at": time });
    check("Marker", &marker("2026-01-15T12:00:00.000Z"));
    assert_eq!(faults("Marker", &marker("yesterday")).len(), 1, "formats are asserted");
}

#[tokio::test]
async fn account_matches_its_schema() {
    let app = crate::harness::TestApp::new().await;
    let alice = app.account("alice").await;
    check("Account", &app.anonymous().get(&format!("/api/v1/accounts/{}", alice.id())).ok().await);
    check("Error", &app.anonymous().get("/api/v1/accounts/1").expect(axum::http::StatusCode::NOT_FOUND).await);
}
