//! The OpenAPI 3.1 document of everything that this server serves: `GET /api/openapi.json`, and as a page `GET /about/api`.
//!
//! Operations come from the signatures of handlers and the policies of their routes ([`operation`](crate::operation)),
//! operations of plugins from their manifests, and entities from the schemas that the tests check every response
//! against. [Streams](streams) have a separate table, which the tests check events against.
//!
//! Spec: <https://spec.openapis.org/oas/v3.1.1.html>

mod entities;
mod page;
mod streams;

use std::sync::LazyLock;

use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::json::rendered;
use crate::operation::Operation;
pub use crate::operation::openapi::{responses_of, schema_named, security};
use crate::policy::{Policy, RouteKind};
use crate::table::Routes;
use crate::web::cookies::Name;
use crate::{Cx, router};
use config::Scheme;
use entities::ENTITIES;
pub use entities::component;
pub use page::{entity, show as page};
pub use streams::add_extension as add_channel;

/// The path items of the core.
static PATHS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let mut paths = Map::new();
    router::core().iter().for_each(|routes| add(&mut paths, routes));
    streams::add(&mut paths);
    paths
});

/// `GET /api/openapi.json`
pub async fn show(cx: Cx) -> Result<Response> {
    let write = || serde_json::to_string(&document(&cx)).map_err(context::Error::internal);
    Ok(rendered(entity::document::openapi(&cx, write)?))
}

/// The document of what serves now.
#[must_use]
pub fn document(cx: &context::Cx) -> Value {
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": cx.config.server.local_domain.as_str(),
            "summary": "The API of a Rookery server, which Mastodon's apps use as well.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
        },
        "servers": [{ "url": cx.urls.origin }],
        "paths": paths(cx),
        "components": { "schemas": schemas(cx), "securitySchemes": security_schemes(cx) },
    })
}

/// The schemas of entities, the entities and notification types of extensions included.
fn schemas(cx: &context::Cx) -> Map<String, Value> {
    let mut schemas = ENTITIES.clone();
    schemas.extend(cx.extensions().openapi_entities());
    let types: Vec<Value> = cx.extensions().notification_types().into_iter().map(Value::from).collect();
    for entity in ["Notification", "NotificationGroup"] {
        let known = schemas.get_mut(entity).and_then(|schema| schema.pointer_mut("/properties/type/enum"));
        if let Some(Value::Array(known)) = known {
            let new = types.iter().filter(|name| !known.contains(name)).cloned().collect::<Vec<_>>();
            known.extend(new);
        }
    }
    schemas
}

/// Paths of the core and of extensions, sorted.
fn paths(cx: &context::Cx) -> Map<String, Value> {
    let mut paths = PATHS.clone();
    for (path, item) in cx.extensions().openapi_paths() {
        match (paths.get_mut(&path).and_then(Value::as_object_mut), item) {
            (Some(own), Value::Object(added)) => own.extend(added),
            (_, item) => drop(paths.insert(path, item)),
        }
    }
    paths.sort_keys();
    paths
}

/// Adds every operation of `routes` to the path items in `paths`.
pub fn add(paths: &mut Map<String, Value>, routes: &Routes) {
    for (operation, policy) in routes.declared() {
        add_operation(paths, &operation, tag(&policy, &operation.path));
    }
}

/// Adds an operation, which is listed under `tag`.
pub fn add_operation<'a>(paths: &'a mut Map<String, Value>, operation: &Operation, tag: &str) -> &'a mut Value {
    let mut object = operation.openapi();
    object["tags"] = json!([tag]);
    object["operationId"] = operation_id(operation).into();
    // A name with a star matches the rest of a path, which OpenAPI cannot express.
    let path = operation.path.replace("{*", "{");
    let item = paths.entry(path).or_insert_with(|| Map::new().into());
    let own = &mut item[operation.method.as_str().to_ascii_lowercase()];
    *own = object;
    own
}

/// `getApiV1AccountsById`: what generated clients name a function by.
fn operation_id(operation: &Operation) -> String {
    let mut id = operation.method.as_str().to_ascii_lowercase();
    for word in operation.path.split(['/', '.', '_', '-', '@']).filter(|word| !word.is_empty()) {
        let name = word.trim_start_matches(['{', '*']).trim_end_matches('}');
        if word.starts_with('{') {
            id.push_str("By");
        }
        for part in name.split('_') {
            let mut letters = part.chars();
            id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            id.extend(letters);
        }
    }
    id
}

/// The group that a route of the core is listed under: `accounts` of `/api/v1/accounts/{id}`.
fn tag<'a>(policy: &Policy, path: &'a str) -> &'a str {
    if policy.kind == RouteKind::Page {
        return "pages";
    }
    let mut parts = path.split('/').skip(1);
    match parts.next().unwrap_or_default() {
        "api" => match parts.find(|part| !is_version(part)) {
            Some("openapi.json") | None => "instance",
            Some(group) => group,
        },
        "oauth" => "oauth",
        ".well-known" | "nodeinfo" => "well-known",
        "health" | "livez" | "readyz" => "health",
        "media" | "assets" => "files",
        _ => "pages",
    }
}

fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|number| number.parse::<u8>().is_ok())
}

fn security_schemes(cx: &context::Cx) -> Value {
    let url = |path: &str| format!("{}{path}", cx.urls.origin);
    let own = model::scope::ALL.iter().map(|name| ((*name).to_owned(), "".into()));
    let declared = cx.extensions().scopes().into_iter().map(|scope| (scope.name, scope.description.into()));
    let scopes: Map<String, Value> = own.chain(declared).collect();
    json!({
        "user": {
            "type": "oauth2",
            "description": "A token of a user who authorized the application.",
            "flows": { "authorizationCode": {
                "authorizationUrl": url("/oauth/authorize"),
                "tokenUrl": url("/oauth/token"),
                "scopes": scopes,
            } },
        },
        "application": {
            "type": "oauth2",
            "description": "A token of the application itself.",
            "flows": { "clientCredentials": { "tokenUrl": url("/oauth/token"), "scopes": scopes } },
        },
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": Name::Session.text(cx.config.server.scheme == Scheme::Https),
            "description": "Who signed in with a browser.",
        },
    })
}
