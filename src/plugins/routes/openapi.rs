//! The routes of plugins in the server's OpenAPI document, as their manifests declare them: path, caller, scopes and paging. What
//! is in bodies and answers a manifest does not say.

use axum::http::Method;
use http::openapi;
use http::operation::{Caller, Operation, Parameter, Place};
use serde_json::{Map, Value, json};

use super::table::Table;
use crate::Active;
use crate::manifest::{Auth, PageRule, ParamKind, Route};

/// The path items of every route in `table`, and of what admins do about plugins.
pub fn paths(table: &Table) -> Map<String, Value> {
    let mut paths = Map::new();
    openapi::add(&mut paths, &crate::mount::administration());
    for (plugin, route, methods) in table.declared() {
        methods.iter().for_each(|method| add(&mut paths, plugin, route, method));
    }
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
    let caller = match route.auth {
        Auth::User => Caller::User,
        Auth::Optional => Caller::Optional,
        Auth::None => Caller::Public,
    };
    let scopes: Vec<&str> = route.scopes.iter().map(String::as_str).collect();
    let object = openapi::add_operation(paths, &operation, "", plugin.name());
    object["security"] = openapi::security(caller, &scopes).into();
    let role = route.role.as_ref().map(|role| format!(" For whoever is at least {role}."));
    object["description"] = format!("Of the extension {}.{}", plugin.name(), role.unwrap_or_default()).into();
}

fn paging(page: &PageRule) -> Vec<Parameter> {
    let optional =
        |name: &str, schema: Value| Parameter { name: name.to_owned(), place: Place::Query, required: false, schema };
    let id = |text: &str| json!({ "type": "string", "description": text });
    let least = if page.all { 0 } else { 1 };
    vec![
        optional("max_id", id("Only what is older than this.")),
        optional("since_id", id("Only what is newer than this.")),
        optional("min_id", id("What is newer than this, the oldest of it first.")),
        optional("limit", json!({ "type": "integer", "default": page.default, "minimum": least, "maximum": page.max })),
    ]
}
