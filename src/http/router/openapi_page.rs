//! The document as pages: `GET /about/api`, all operations by group, and `GET /about/api/{entity}`, the schema of an entity.

use serde::Serialize;
use serde_json::{Map, Value};

use super::openapi;
use crate::Cx;
use crate::error::Result;
use crate::extract::Path;
use crate::openapi::component;
use crate::web::Page;
use context::Error;

/// Operations that are listed under one name.
#[derive(Serialize)]
struct Group {
    name: String,
    operations: Vec<OperationRow>,
}

#[derive(Serialize)]
struct OperationRow {
    id: String,
    method: String,
    path: String,
    description: String,
    /// Who may ask, a sentence.
    caller: &'static str,
    scopes: Vec<String>,
    fields: Vec<Field>,
    /// The response: an entity's name, or a word.
    answer: String,
    /// The entity in it that has a page.
    entity: Option<String>,
}

/// A parameter, or a field of a body.
#[derive(Serialize)]
struct Field {
    name: String,
    place: String,
    kind: String,
    required: bool,
    description: String,
}

/// `GET /about/api`
pub(super) async fn show(cx: Cx) -> Result<Page> {
    let groups = groups(&openapi::paths(&cx));
    Page::render(&cx, "api.html", minijinja::context! { page_title => "API", groups })
}

/// `GET /about/api/{entity}`
pub(super) async fn entity(cx: Cx, Path(name): Path<String>) -> Result<Page> {
    let schema = openapi::schemas(&cx).remove(&name).ok_or(Error::NotFound)?;
    let text = serde_json::to_string_pretty(&schema).map_err(Error::internal)?;
    Page::render(&cx, "api_entity.html", minijinja::context! { page_title => name, name, text })
}

fn groups(paths: &Map<String, Value>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let name = operation["tags"][0].as_str().unwrap_or_default();
            let shown = OperationRow::of(method, path, operation);
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.operations.push(shown),
                None => groups.push(Group { name: name.to_owned(), operations: vec![shown] }),
            }
        }
    }
    groups.sort_by(|one, other| one.name.cmp(&other.name));
    groups
}

impl OperationRow {
    fn of(method: &str, path: &str, operation: &Value) -> Self {
        let answer = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        Self {
            id: text(&operation["operationId"]),
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            description: text(&operation["description"]),
            caller: caller(&operation["security"]),
            scopes: scopes(&operation["security"]),
            fields: beside_a_body(operation).chain(in_a_body(operation)).collect(),
            answer: schema_name(answer),
            entity: entity_in(answer),
        }
    }
}

fn caller(security: &Value) -> &'static str {
    let takes = |scheme: &str| security.as_array().is_some_and(|all| all.iter().any(|one| one.get(scheme).is_some()));
    let anybody = security.as_array().is_none_or(|all| all.is_empty() || all.contains(&Value::Object(Map::new())));
    match (anybody, takes("session"), takes("application")) {
        (true, _, true) => "Everybody; a token that is sent must be valid.",
        (true, ..) => "Everybody.",
        (false, true, _) => "Who signed in with a browser.",
        (false, _, true) => "A token, an application's own as well.",
        (false, ..) => "A person's token.",
    }
}

fn scopes(security: &Value) -> Vec<String> {
    let all = security.as_array().into_iter().flatten().filter_map(Value::as_object).flat_map(Map::values);
    let mut scopes: Vec<String> = all.filter_map(Value::as_array).flatten().map(text).collect();
    scopes.sort();
    scopes.dedup();
    scopes
}

fn beside_a_body(operation: &Value) -> impl Iterator<Item = Field> {
    operation["parameters"].as_array().into_iter().flatten().map(|parameter| Field {
        name: text(&parameter["name"]),
        place: text(&parameter["in"]),
        kind: schema_name(&parameter["schema"]),
        required: parameter["required"] == true,
        description: text(&parameter["description"]),
    })
}

/// The fields of the body that has most: a multipart one has the files besides.
fn in_a_body(operation: &Value) -> impl Iterator<Item = Field> {
    let content = &operation["requestBody"]["content"];
    let kinds = ["multipart/form-data", "application/json"];
    let schema = kinds.iter().find_map(|kind| content.get(kind)).map(|body| &body["schema"]);
    let fields = schema.and_then(|schema| schema["properties"].as_object()).into_iter().flatten();
    fields.map(move |(name, field)| Field {
        name: name.clone(),
        place: "body".to_owned(),
        kind: schema_name(field),
        required: schema
            .is_some_and(|schema| schema["required"].as_array().is_some_and(|all| all.contains(&name.as_str().into()))),
        description: text(&field["description"]),
    })
}

/// A schema in a word or two: `string`, `Status`, `array of Status`, `one of a, b`.
fn schema_name(schema: &Value) -> String {
    if let Some(name) = reference(schema) {
        return name.to_owned();
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(all) = schema[several].as_array() {
            return all.iter().map(schema_name).collect::<Vec<_>>().join(" or ");
        }
    }
    if let Some(values) = schema["enum"].as_array() {
        return format!("one of {}", values.iter().map(text).collect::<Vec<_>>().join(", "));
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" => format!("array of {}", schema_name(&schema["items"])),
        Value::Array(kinds) => kinds.iter().map(text).collect::<Vec<_>>().join(" or "),
        kind => text(kind),
    }
}

fn entity_in(schema: &Value) -> Option<String> {
    let element = schema.get("items").unwrap_or(schema);
    let first = element["anyOf"].get(0).unwrap_or(element);
    reference(first).map(str::to_owned)
}

fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix(&component(""))
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
