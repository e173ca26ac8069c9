//! The OpenAPI 3.1 document of everything that this server serves: `GET /api/openapi.json`, and as a page `GET /about/api`.
//!
//! Operations come from the signatures of handlers and the policies of their routes ([`operation`](crate::operation)),
//! operations of plugins from their manifests, and entities from the schemas that the tests check every response
//! against. [Streams](streams) have a separate table, which the tests check events against.
//!
//! Spec: <https://spec.openapis.org/oas/v3.1.1.html>

pub(crate) mod streams;

use serde_json::{Map, Value, json};

use crate::deprecation;
use crate::operation::Operation;
pub use crate::operation::entities::component;
pub use crate::operation::openapi::{responses_of, schema_named, security};
use crate::policy::{Policy, RouteKind};
use crate::table::Routes;
use crate::web::cookies::Name;
use config::Scheme;
pub use streams::add_extension as add_channel;

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
    if deprecation::since(&operation.path).is_some() {
        object["deprecated"] = true.into();
    }
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
    let number = part.strip_prefix('v').map(|number| number.trim_end_matches("_alpha"));
    number.is_some_and(|number| number.parse::<u8>().is_ok())
}

pub(crate) fn security_schemes(cx: &context::Cx) -> Value {
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
