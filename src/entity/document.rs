//! Documents that are the same for everyone, cached as finished bytes until their sources change.
//!
//! Reached from the instance routes and the routes under `/.well-known/`. Every request compares the current sources
//! of a document with the sources of the cached bytes, so changes need no notification. Documents for a particular
//! viewer are not here; `http` sets the headers.

use std::sync::{Arc, OnceLock};

use serde::Serialize;

use super::emoji::CustomEmoji;
use super::instance::{self, Document, Instance, InstanceV1, Language};
use super::rule::rules;
use super::server_metadata::ServerMetadata;
use super::well_known::{HostMeta, NodeInfo, NodeInfoDiscovery, NodeInfoVersion};
use context::Cx;
use context::caches::{DocumentSources, Rendered};
use context::error::Result;
use context::extension::{self, Described};
use context::json::Fragment;
use service::instance::{reported_year, usage};
use service::{registration, translation};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicDocument {
    InstanceV1,
    InstanceV2,
    Rules,
    PrivacyPolicy,
    ExtendedDescription,
    TranslationLanguages,
    Languages,
    CustomEmojis,
    NodeInfo,
    NodeInfo21,
    NodeInfoDiscovery,
    HostMetaXml,
    HostMetaJson,
    ServerMetadata,
}

/// The name of the OpenAPI document among the cached documents.
const OPENAPI: &str = "openapi";

impl PublicDocument {
    /// The current document: cached, or rendered again when its sources changed.
    pub async fn render(self, cx: &Cx) -> Result<Arc<Rendered>> {
        let sources = sources(cx, self).await?;
        if let Some(rendered) = cached(cx, self.name(), &sources) {
            return Ok(rendered);
        }
        let Described { text, complete } = self.write(cx).await?;
        let rendered = Arc::new(Rendered { body: text.into(), gzip: OnceLock::new() });
        if complete {
            cx.caches.documents.insert(self.name(), Arc::new((sources, Arc::clone(&rendered))));
        }
        Ok(rendered)
    }

    /// Its key in the cache.
    fn name(self) -> &'static str {
        match self {
            Self::InstanceV1 => "instance_v1",
            Self::InstanceV2 => "instance_v2",
            Self::Rules => "rules",
            Self::PrivacyPolicy => "privacy_policy",
            Self::ExtendedDescription => "extended_description",
            Self::TranslationLanguages => "translation_languages",
            Self::Languages => "languages",
            Self::CustomEmojis => "custom_emojis",
            Self::NodeInfo => "node_info",
            Self::NodeInfo21 => "node_info_2_1",
            Self::NodeInfoDiscovery => "node_info_discovery",
            Self::HostMetaXml => "host_meta_xml",
            Self::HostMetaJson => "host_meta_json",
            Self::ServerMetadata => "server_metadata",
        }
    }

    async fn write(self, cx: &Cx) -> Result<Described> {
        let text = match self {
            Self::InstanceV1 => json(&InstanceV1::render(cx).await?),
            Self::InstanceV2 => json(&Instance::render(cx).await?),
            Self::NodeInfo => json(&NodeInfo::render(cx, NodeInfoVersion::V20).await?),
            Self::NodeInfo21 => json(&NodeInfo::render(cx, NodeInfoVersion::V21).await?),
            Self::Rules => json(&rules(cx)),
            Self::PrivacyPolicy => json(&Document::privacy_policy(cx, context::Language::English)),
            Self::ExtendedDescription => json(&Document::extended_description(cx)),
            Self::TranslationLanguages => json(&translation::languages(cx).await?.0),
            Self::Languages => json(&Language::all()),
            Self::CustomEmojis => json(&CustomEmoji::picker(cx)),
            Self::NodeInfoDiscovery => json(&NodeInfoDiscovery::new(cx)),
            Self::HostMetaXml => Ok(HostMeta::to_xml(cx)),
            Self::HostMetaJson => json(&HostMeta::new(cx)),
            Self::ServerMetadata => json(&ServerMetadata::new(cx)),
        }?;
        Ok(match self.extended() {
            Some(document) => cx.extensions().describe(cx, document, text).await,
            None => Described { text, complete: true },
        })
    }

    /// Its name for extensions, if they can add to it.
    fn extended(self) -> Option<extension::Document> {
        match self {
            Self::InstanceV1 => Some(extension::Document::InstanceV1),
            Self::InstanceV2 => Some(extension::Document::InstanceV2),
            Self::NodeInfo | Self::NodeInfo21 => Some(extension::Document::NodeInfo),
            Self::Rules
            | Self::PrivacyPolicy
            | Self::ExtendedDescription
            | Self::TranslationLanguages
            | Self::Languages
            | Self::CustomEmojis
            | Self::NodeInfoDiscovery
            | Self::HostMetaXml
            | Self::HostMetaJson
            | Self::ServerMetadata => None,
        }
    }
}

/// The OpenAPI document: from the cache, or from `write` for the current generation of extensions.
///
/// # Errors
/// Any error of `write`.
pub fn openapi(cx: &Cx, write: impl FnOnce() -> Result<String>) -> Result<Arc<Rendered>> {
    let sources = DocumentSources { extensions: cx.extensions().generation(), ..DocumentSources::default() };
    if let Some(rendered) = cached(cx, OPENAPI, &sources) {
        return Ok(rendered);
    }
    let rendered = Arc::new(Rendered { body: write()?.into(), gzip: OnceLock::new() });
    cx.caches.documents.insert(OPENAPI, Arc::new((sources, Arc::clone(&rendered))));
    Ok(rendered)
}

/// The cached document `name`, unless its sources changed.
fn cached(cx: &Cx, name: &'static str, sources: &DocumentSources) -> Option<Arc<Rendered>> {
    let cached = cx.caches.documents.get(&name)?;
    (cached.0 == *sources).then(|| Arc::clone(&cached.1))
}

/// The current sources of `document`.
async fn sources(cx: &Cx, document: PublicDocument) -> Result<DocumentSources> {
    let settings = cx.generation();
    if document == PublicDocument::TranslationLanguages {
        return Ok(DocumentSources {
            settings,
            languages: Some(translation::languages(cx).await?),
            ..DocumentSources::default()
        });
    }
    if document == PublicDocument::ServerMetadata {
        // It lists the scopes that extensions declare.
        return Ok(DocumentSources {
            settings,
            extensions: cx.extensions().generation(),
            ..DocumentSources::default()
        });
    }
    let Some(extended) = document.extended() else {
        return Ok(DocumentSources { settings, ..DocumentSources::default() });
    };
    let contact = match extended {
        extension::Document::InstanceV1 | extension::Document::InstanceV2 => instance::contact(cx).await?,
        extension::Document::NodeInfo => None,
    };
    let extensions = cx.extensions().generation();
    let stills = cx.converter.stills().len();
    Ok(DocumentSources {
        settings,
        extensions,
        usage: Some(*usage(cx).await?),
        contact,
        registrations: Some(registration::mode(cx).await?),
        reported_year: reported_year(cx),
        stills,
        languages: None,
    })
}

fn json<T: Serialize>(entity: &T) -> Result<String> {
    Fragment::of(entity).map(Fragment::into_string)
}
