//! The routes of plugins in the server's OpenAPI document, as their manifests declare them: path, caller, scopes, paging, bodies
//! and responses. Entities of a plugin are components with its name before theirs: `notes.Note`.

use axum::http::Method;
use rookery_http::openapi;
use rookery_http::operation::{Caller, Operation, Parameter, Place};
use serde_json::{Map, Value, json};

use super::table::Table;
use crate::Active;
use plugin_package::manifest::{Auth, PageRule, ParamKind, Route, Shape, rename_references};

/// The path items of every route in `table`, of the streams named `channels`, and of what admins do about plugins.
pub fn paths<'a>(table: &Table, channels: impl IntoIterator<Item = &'a str>) -> Map<String, Value> {
    let mut paths = Map::new();
    openapi::add(&mut paths, &crate::mount::administration());
    for (plugin, route, methods) in table.declared() {
        methods.iter().for_each(|method| add(&mut paths, plugin, route, method));
    }
    channels.into_iter().for_each(|name| openapi::add_channel(&mut paths, name));
    paths
}

fn add(paths: &mut Map<String, Value>, plugin: &Active, route: &Route, method: &Method) {
    let mut operation = Operation::new(method.clone(), route.path.clone());
    for parameter in &mut operation.parameters {
        if super::table::kind(route, &parameter.name) == ParamKind::Id {
            parameter.schema = json!({ "type": "string", "pattern": "^-?[0-9]+$" });
        }
    }
    operation.parameters.extend(route.page.iter().flat_map(paging));
    let body = route.body.as_ref().map(|body| schema(plugin, body));
    let in_query = matches!(*method, Method::GET | Method::HEAD | Method::DELETE);
    operation.parameters.extend(body.iter().filter(|_| in_query).flat_map(|body| queried(plugin, body)));
    let caller = match route.auth {
        Auth::User => Caller::User,
        Auth::Optional => Caller::Optional,
        Auth::None => Caller::Public,
    };
    let scopes: Vec<&str> = route.scopes.iter().map(String::as_str).collect();
    let object = openapi::add_operation(paths, &operation, plugin.name());
    object["security"] = openapi::security(caller, &scopes).into();
    let role = route.role.as_ref().map(|role| format!(" For users who are at least {role}."));
    if let Some(body) = body.filter(|_| !in_query) {
        let kinds = ["application/json", "application/x-www-form-urlencoded"];
        let content: Map<String, Value> =
            kinds.iter().map(|kind| ((*kind).to_owned(), json!({ "schema": body }))).collect();
        object["requestBody"] = json!({ "content": content });
    }
    if let Some(response) = &route.response {
        object["responses"] = openapi::responses_of(&schema(plugin, response));
    }
    object["description"] = format!("Of the extension {}.{}", plugin.name(), role.unwrap_or_default()).into();
}

/// The entities of every plugin that serves.
pub fn entities(table: &Table) -> Map<String, Value> {
    let mut entities = Map::new();
    for (plugin, _, _) in table.declared() {
        for (name, schema) in &plugin.manifest.entities {
            entities.insert(component(plugin, name), referring(plugin, Value::Object(schema.clone())));
        }
    }
    entities
}

/// The name of a plugin's entity among the components of the document.
fn component(plugin: &Active, name: &str) -> String {
    format!("{}.{name}", plugin.name())
}

fn schema(plugin: &Active, shape: &Shape) -> Value {
    match shape {
        Shape::Named(text) => referring_to_own(plugin, openapi::schema_named(text)),
        Shape::Schema(members) => referring(plugin, Value::Object(members.clone())),
    }
}

/// `schema` with references to components instead of names.
fn referring(plugin: &Active, mut schema: Value) -> Value {
    rename_references(&mut schema, &|name| Some(reference(plugin, name)));
    schema
}

/// The same of a schema whose references are taken for the server's entities.
fn referring_to_own(plugin: &Active, mut schema: Value) -> Value {
    rename_references(&mut schema, &|to| Some(reference(plugin, to.rsplit('/').next().unwrap_or(to))));
    schema
}

fn reference(plugin: &Active, name: &str) -> String {
    if plugin.manifest.entities.contains_key(name) {
        openapi::component(&component(plugin, name))
    } else {
        openapi::component(name)
    }
}

/// The members of a body as parameters of a query.
fn queried(plugin: &Active, body: &Value) -> Vec<Parameter> {
    let own = body["$ref"].as_str().and_then(|to| to.rsplit('.').next());
    let body = match own.and_then(|name| plugin.manifest.entities.get(name)) {
        Some(schema) => Value::Object(schema.clone()),
        None => body.clone(),
    };
    let required = |name: &str| body["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let properties = body["properties"].as_object().into_iter().flatten();
    let parameter = |(name, schema): (&String, &Value)| Parameter {
        name: name.clone(),
        place: Place::Query,
        required: required(name),
        schema: referring(plugin, schema.clone()),
    };
    properties.map(parameter).collect()
}

fn paging(page: &PageRule) -> Vec<Parameter> {
    let optional =
        |name: &str, schema: Value| Parameter { name: name.to_owned(), place: Place::Query, required: false, schema };
    let id = |text: &str| json!({ "type": "string", "description": text });
    let least = if page.all { 0 } else { 1 };
    vec![
        optional("max_id", id("Only items older than this.")),
        optional("since_id", id("Only items newer than this.")),
        optional("min_id", id("The items immediately newer than this.")),
        optional("limit", json!({ "type": "integer", "default": page.default, "minimum": least, "maximum": page.max })),
    ]
}
