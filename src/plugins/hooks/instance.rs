//! What the server says of itself, with what plugins add to it: nothing of a plugin that is switched off.
//!
//! What never changes stands in manifests; what depends on configuration or settings plugins are asked for once, until
//! one of the two changes. A plugin adds members and items of lists, and changes nothing that is there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rookery_plugin_host::Export;
use serde_json::json;

use super::budget;
use super::field::{Field, is_value};
use crate::app::App;
use crate::entity::splice;
use crate::plugins::call::{Call, Caller, Mode};
use crate::plugins::{Active, Registry};

/// A document that plugins add to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Document {
    /// `GET /api/v1/instance`
    InstanceV1,
    /// `GET /api/v2/instance`
    InstanceV2,
    /// NodeInfo
    NodeInfo,
}

impl Document {
    fn word(self) -> &'static str {
        match self {
            Self::InstanceV1 => "instance-v1",
            Self::InstanceV2 => "instance-v2",
            Self::NodeInfo => "nodeinfo",
        }
    }
}

/// Members to add: where (`configuration.reactions`), and JSON.
type Members = Vec<(String, String)>;

/// How long what a plugin failed to say is left out before it is asked again.
const PAUSE: Duration = Duration::from_secs(30);

/// What plugins said when they were asked, for as long as it holds.
#[derive(Debug, Default)]
pub struct Said(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The registry's and the settings' generation.
    of: (u64, i64),
    /// Until when, where somebody gave no answer.
    members: HashMap<Document, (Arc<Members>, Option<Instant>)>,
}

/// `json`, which is `document`, with what plugins add.
pub async fn described(app: &App, document: Document, json: String) -> String {
    let registry = app.plugins.current();
    if registry.plugins.is_empty() {
        return json;
    }
    let said = said(app, &registry, document).await;
    let declared = registry.plugins.iter().flat_map(|active| declared(active, document));
    declared.chain(said.iter().cloned()).fold(json, |json, (path, value)| {
        let (parent, name) = path.split_once('.').map_or((None, path.as_str()), |(parent, name)| (Some(parent), name));
        splice::add(&json, parent, name, &value)
    })
}

/// What a manifest says for good.
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

/// What plugins say now, asked when it may have changed.
async fn said(app: &App, registry: &Registry, document: Document) -> Arc<Members> {
    let asked = |active: &&Arc<Active>| active.component.shape().exports.contains(&Export::InstanceInfo);
    if !registry.plugins.iter().any(|active| asked(&active)) {
        return Arc::default();
    }
    let of = (registry.generation, app.emojis().generation);
    if let Some(members) = app.plugins.said.find(of, document) {
        return members;
    }
    let (mut members, mut whole) = (Members::new(), true);
    for active in registry.plugins.iter().filter(asked) {
        let asked = async {
            app.plugins.pauses.check(active)?;
            let call = Call::new(app, active, Caller::system(), Mode::Read);
            active.component.instance_info(call, document.word()).await
        };
        let answer = budget::spend(asked);
        match app.plugins.patience.within(answer).await {
            Ok(fields) => members.extend(fields.into_iter().filter(|(name, value)| fits(document, name, value))),
            Err(error) => {
                whole = false;
                app.plugins.report(active, "hook", "instance-info", &error);
            }
        }
    }
    let members = Arc::new(members);
    let until = (!whole).then(|| Instant::now() + PAUSE);
    app.plugins.said.keep(of, document, (Arc::clone(&members), until));
    members
}

/// What may be added at all. The schema of NodeInfo is closed but for its metadata.
fn fits(document: Document, name: &str, value: &str) -> bool {
    let open = document != Document::NodeInfo || name.starts_with("metadata.");
    open && Field::new(name, None).is_well_named() && is_value(value)
}

impl Said {
    fn find(&self, of: (u64, i64), document: Document) -> Option<Arc<Members>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (members, until) = kept.members.get(&document).filter(|_| kept.of == of)?;
        until.is_none_or(|until| Instant::now() < until).then(|| Arc::clone(members))
    }

    fn keep(&self, of: (u64, i64), document: Document, members: (Arc<Members>, Option<Instant>)) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.of != of {
            *kept = Kept { of, members: HashMap::new() };
        }
        kept.members.insert(document, members);
    }
}
