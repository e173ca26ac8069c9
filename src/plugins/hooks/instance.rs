//! Instance documents (instance API, NodeInfo) with the additions of active plugins.
//!
//! Static additions come from manifests; additions that depend on configuration or settings come from the export
//! `instance-info`, which is called once and cached until the registry or the settings change. Plugins add members and
//! list items, and do not change existing values.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use rookery_plugin_host::{Export, Part};
use serde_json::json;

use super::field::{Field, is_value};
use crate::call::{Call, Caller, Mode};
use crate::cx::Session;
use crate::hooks::instance_cache::{Additions, Members};
use crate::{Active, Cx, Registry, routes};
use async_trait::async_trait;
use context::extension::{DescribeServer, Described, Document};
use context::json::splice;
use plugin_package::manifest::is_reserved;
use serde_json::{Map, Value};

#[async_trait]
impl DescribeServer for Session {
    async fn describe(&self, cx: &context::Cx, document: Document, json: String) -> Described {
        match Cx::of(cx) {
            Ok(cx) => described(&cx, document, json).await,
            Err(_) => Described { text: json, complete: false },
        }
    }

    fn serves(&self, path: &str) -> bool {
        self.ask(|registry| {
            let mut routes = registry.plugins.iter().flat_map(|active| &active.manifest.routes);
            routes.any(|route| route.path == path)
        })
    }

    fn openapi_paths(&self) -> Map<String, Value> {
        self.ask(|registry| routes::openapi::paths(&registry.routes, registry.hooks.channels()))
    }

    fn openapi_entities(&self) -> Map<String, Value> {
        self.ask(|registry| routes::openapi::entities(&registry.routes))
    }
}

/// The contract's name of a document.
fn word(document: Document) -> &'static str {
    match document {
        Document::InstanceV1 => "instance-v1",
        Document::InstanceV2 => "instance-v2",
        Document::NodeInfo => "nodeinfo",
    }
}

/// How long a failed answer is left out before the plugin is called again.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// `json`, which is `document`, with the additions of plugins.
pub async fn described(cx: &Cx, document: Document, json: String) -> Described {
    let registry = cx.registry();
    if registry.plugins.is_empty() {
        return Described { text: json, complete: true };
    }
    let additions = additions(cx, &registry, document).await;
    let declared = registry.plugins.iter().flat_map(|active| declared(active, document));
    let text = declared.chain(additions.members.iter().cloned()).fold(json, |json, (path, value)| {
        let (parent, name) = path.split_once('.').map_or((None, path.as_str()), |(parent, name)| (Some(parent), name));
        splice::add(&json, parent, name, &value)
    });
    Described { text, complete: additions.until.is_none() }
}

/// The static additions of a manifest.
fn declared(active: &Active, document: Document) -> Members {
    let instance = &active.manifest.instance;
    let mut members = Members::new();
    match document {
        Document::NodeInfo => {
            members.push(("metadata.features".to_owned(), json!(instance.nodeinfo_features).to_string()));
        }
        Document::InstanceV1 | Document::InstanceV2 => {
            members.push(("fedibird_capabilities".to_owned(), json!(instance.capabilities).to_string()));
            let configuration = instance.configuration.iter();
            members.extend(configuration.map(|(name, value)| (format!("configuration.{name}"), value.to_string())));
        }
    }
    if document == Document::InstanceV2 {
        let versions = instance.api_versions.iter();
        members.extend(versions.map(|(name, version)| (format!("api_versions.{name}"), version.to_string())));
    }
    members
}

/// The dynamic additions of all plugins, from the cache where that is current.
async fn additions(cx: &Cx, registry: &Registry, document: Document) -> Additions {
    let asked = |active: &&Arc<Active>| active.component.interfaces().exports.contains(&Export::InstanceInfo);
    if !registry.plugins.iter().any(|active| asked(&active)) {
        return Additions::default();
    }
    let of = (registry.generation, cx.emojis().generation);
    if let Some(additions) = cx.plugins.instance_documents.find(of, document) {
        return additions;
    }
    let (mut members, mut whole) = (Members::new(), true);
    for active in registry.plugins.iter().filter(asked) {
        let asked = async {
            cx.plugins.pauses.check(active)?;
            let call = Call::new(cx, active, Part::Decorations, Caller::system(), Mode::Read);
            active.component.instance_info(call, word(document)).await
        };
        let answer = cx.plugins.hook_limits.limited(cx.hook_time_left(), asked);
        match cx.spend_hook_time(answer).await {
            Ok(fields) => members.extend(fields.into_iter().filter(|(name, value)| fits(document, name, value))),
            Err(error) => {
                whole = false;
                cx.plugins.report(active, "hook", "instance-info", &error);
            }
        }
    }
    let additions = Additions { members: Arc::new(members), until: (!whole).then(|| Instant::now() + RETRY_AFTER) };
    cx.plugins.instance_documents.keep(of, document, additions.clone());
    additions
}

/// True for additions that the document permits. The schema of NodeInfo is closed except for its metadata.
fn fits(document: Document, name: &str, value: &str) -> bool {
    let open = document != Document::NodeInfo || name.starts_with("metadata.");
    open && !is_reserved(name) && Field::new(name, None).is_well_named() && is_value(value)
}
