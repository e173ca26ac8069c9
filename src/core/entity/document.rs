//! Documents that are the same for everyone, kept as finished bytes until what they are made of changes.
//!
//! Reached from the instance routes and those under `/.well-known/`. Every request compares what a document depends on
//! with what the kept bytes were made of; so nothing has to be told of a change. Documents for a particular viewer are
//! not here, nor are headers: what a document is sent as is decided by `http`.

use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use serde::Serialize;

use super::emoji::CustomEmoji;
use super::instance::{self, Document, Instance, InstanceV1, Language, rules};
use super::server_metadata::ServerMetadata;
use super::well_known::{HostMeta, NodeInfo, NodeInfoDiscovery};
use crate::Cx;
use crate::error::Result;
use crate::extension::{self, Described};
use crate::json::Fragment;
use crate::service::instance::{Usage, usage};
use crate::service::translation::{self, Languages};

/// A document that is the same for everyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
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
    NodeInfoDiscovery,
    HostMetaXml,
    HostMetaJson,
    ServerMetadata,
}

/// How many there are.
const DOCUMENTS: usize = PublicDocument::ServerMetadata as usize + 1;

/// A document as it is sent.
#[derive(Debug)]
pub struct Rendered {
    /// The document.
    pub body: Bytes,
    /// The same with gzip, once somebody asked for it.
    pub gzip: OnceLock<Bytes>,
}

/// The documents of this process.
#[derive(Debug, Default)]
pub struct Documents {
    public: [ArcSwapOption<Kept>; DOCUMENTS],
    openapi: ArcSwapOption<Kept>,
}

#[derive(Debug)]
struct Kept {
    made_of: Sources,
    rendered: Arc<Rendered>,
}

/// What a document is made of. Addresses and configuration do not change while a server runs.
#[derive(Debug, Default, PartialEq)]
struct Sources {
    /// The generation of settings, rules and emojis.
    settings: i64,
    /// The generation of extensions, where they add to it.
    extensions: u64,
    /// The statistics in it.
    usage: Option<Usage>,
    /// The contact account in it, as it is shown.
    contact: Option<Arc<str>>,
    /// How many kinds of still pictures are known to be accepted.
    stills: usize,
    /// The languages of translations in it.
    languages: Option<Arc<Languages>>,
}

impl PublicDocument {
    /// The document of now: as kept, or made anew when something that it is made of changed.
    pub async fn render(self, cx: &Cx) -> Result<Arc<Rendered>> {
        let made_of = Sources::of(cx, self).await?;
        let slot = &cx.documents.public[self as usize];
        if let Some(rendered) = found(slot, &made_of) {
            return Ok(rendered);
        }
        let Described { text, complete } = self.write(cx).await?;
        let rendered = Arc::new(Rendered { body: text.into(), gzip: OnceLock::new() });
        if complete {
            slot.store(Some(Arc::new(Kept { made_of, rendered: Arc::clone(&rendered) })));
        }
        Ok(rendered)
    }

    async fn write(self, cx: &Cx) -> Result<Described> {
        let text = match self {
            Self::InstanceV1 => json(&InstanceV1::render(cx).await?),
            Self::InstanceV2 => json(&Instance::render(cx).await?),
            Self::NodeInfo => json(&NodeInfo::render(cx).await?),
            Self::Rules => json(&rules(cx)),
            Self::PrivacyPolicy => json(&Document::privacy_policy(cx)),
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

    /// What extensions know it as, where they add to it.
    fn extended(self) -> Option<extension::Document> {
        match self {
            Self::InstanceV1 => Some(extension::Document::InstanceV1),
            Self::InstanceV2 => Some(extension::Document::InstanceV2),
            Self::NodeInfo => Some(extension::Document::NodeInfo),
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

impl Documents {
    /// The OpenAPI document, as `write` made it when other extensions served, or anew.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn openapi(cx: &Cx, write: impl FnOnce() -> Result<String>) -> Result<Arc<Rendered>> {
        let made_of = Sources { extensions: cx.extensions().generation(), ..Sources::default() };
        let slot = &cx.documents.openapi;
        if let Some(rendered) = found(slot, &made_of) {
            return Ok(rendered);
        }
        let rendered = Arc::new(Rendered { body: write()?.into(), gzip: OnceLock::new() });
        slot.store(Some(Arc::new(Kept { made_of, rendered: Arc::clone(&rendered) })));
        Ok(rendered)
    }
}

/// What is kept, unless it was made of something else.
fn found(slot: &ArcSwapOption<Kept>, made_of: &Sources) -> Option<Arc<Rendered>> {
    let kept = slot.load();
    let kept = kept.as_deref().filter(|kept| kept.made_of == *made_of)?;
    Some(Arc::clone(&kept.rendered))
}

impl Sources {
    async fn of(cx: &Cx, document: PublicDocument) -> Result<Self> {
        let settings = cx.generation();
        if document == PublicDocument::TranslationLanguages {
            return Ok(Self { settings, languages: Some(translation::languages(cx).await?), ..Self::default() });
        }
        if document == PublicDocument::ServerMetadata {
            // It lists the scopes that extensions declare.
            return Ok(Self { settings, extensions: cx.extensions().generation(), ..Self::default() });
        }
        let Some(extended) = document.extended() else { return Ok(Self { settings, ..Self::default() }) };
        let contact = match extended {
            extension::Document::InstanceV1 | extension::Document::InstanceV2 => instance::contact(cx).await?,
            extension::Document::NodeInfo => None,
        };
        let extensions = cx.extensions().generation();
        let stills = cx.converter.stills().len();
        Ok(Self { settings, extensions, usage: Some(*usage(cx).await?), contact, stills, languages: None })
    }
}

fn json<T: Serialize>(entity: &T) -> Result<String> {
    Fragment::of(entity).map(Fragment::into_string)
}
