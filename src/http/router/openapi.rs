//! The OpenAPI document of what this process serves: see [`openapi`](crate::openapi).

use std::sync::LazyLock;

use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::Cx;
use crate::error::Result;
use crate::json::rendered;
use crate::openapi::{add, security_schemes, streams};
use crate::operation::entities::ENTITIES;

/// The path items of the core.
static PATHS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let mut paths = Map::new();
    super::core().iter().for_each(|routes| add(&mut paths, routes));
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
pub(super) fn schemas(cx: &context::Cx) -> Map<String, Value> {
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
pub(super) fn paths(cx: &context::Cx) -> Map<String, Value> {
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
