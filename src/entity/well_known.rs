//! Discovery documents for other servers and clients: WebFinger, host-meta, NodeInfo.
//!
//! Spec: docs/contract/federation.md#1-discovery-documents; <https://www.rfc-editor.org/rfc/rfc7033>,
//! <http://nodeinfo.diaspora.software/>

use serde::Serialize;

use super::instance::{UPSTREAM_VERSION, VERSION};
use context::Cx;
use context::error::Result;
use media::storage::Key;
use model::Account;
use model::settings::RegistrationsMode;
use service::webfinger::{SERVER_NAME, Subject};
use service::{instance, registration};

/// The software name in NodeInfo, unless the setting `compat.nodeinfo_name` overrides it.
const SOFTWARE: &str = "rookery";

/// Features beyond the reference implementation, by the names that other servers look for.
const FEATURES: &[&str] = &[
    "mastodon_api",
    "enable_wide_emoji",
    "emoji_keywords",
    "kmyblue_limited_scope",
    "kmyblue_list_notification",
    "kmyblue_searchability",
    "kmyblue_visibility_login",
    "status_reference",
    "quote",
    "visibility_limited",
    "visibility_mutual",
];

/// The relation of a server to its own actor.
const SERVICE: &str = "https://www.w3.org/ns/activitystreams#Service";

/// A JSON resource descriptor (JRD).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Webfinger {
    pub subject: String,
    pub aliases: Vec<String>,
    pub links: Vec<Link>,
}

/// A link of a [`Webfinger`] or [`HostMeta`].
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Link {
    pub rel: &'static str,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
}

impl Webfinger {
    /// The descriptor of `subject`.
    #[must_use]
    pub fn new(cx: &Cx, subject: &Subject) -> Self {
        let urls = &cx.urls;
        match subject {
            Subject::Server => Self {
                subject: format!("acct:{SERVER_NAME}@{}", urls.local_domain),
                aliases: vec![urls.path("/actor")],
                links: vec![
                    Link::to("http://webfinger.net/rel/profile-page", "text/html", urls.path("/about")),
                    Link::to("self", "application/activity+json", urls.path("/actor")),
                    // FEP-d556.
                    Link::to(SERVICE, "application/activity+json", urls.path("/actor")),
                ]
                .into_iter()
                .chain(pages(cx))
                .collect(),
            },
            Subject::Account(account) => {
                let (page, actor) = (urls.profile(&account.username), account.uri.clone());
                let mut links = vec![
                    Link::to("http://webfinger.net/rel/profile-page", "text/html", page.clone()),
                    Link::to("self", "application/activity+json", actor.clone()),
                ];
                links.extend(pages(cx));
                links.extend(avatar(cx, account));
                Self {
                    subject: format!("acct:{}@{}", account.username, urls.local_domain),
                    aliases: vec![page, actor],
                    links,
                }
            }
        }
    }
}

impl Link {
    fn to(rel: &'static str, kind: &'static str, href: String) -> Self {
        Self { rel, kind: Some(kind), href: Some(href), template: None }
    }
}

/// The pages on which people of this server act on things of other servers: by the older relation, and by intent
/// (FEP-3b86).
const PAGES: [(&str, &str); 6] = [
    ("http://ostatus.org/schema/1.0/subscribe", "/authorize_interaction?uri={uri}"),
    ("https://w3id.org/fep/3b86/Object", "/authorize_interaction?uri={object}"),
    ("https://w3id.org/fep/3b86/Follow", "/authorize_interaction?uri={object}"),
    ("https://w3id.org/fep/3b86/Like", "/authorize_interaction?uri={object}"),
    ("https://w3id.org/fep/3b86/Announce", "/authorize_interaction?uri={object}"),
    ("https://w3id.org/fep/3b86/Create", "/share?text={content}"),
];

/// The links to [`PAGES`].
fn pages(cx: &Cx) -> impl Iterator<Item = Link> {
    let link = |(rel, page)| Link { rel, template: Some(cx.urls.path(page)), ..Link::default() };
    PAGES.into_iter().map(link)
}

/// The avatar link, only where anonymous visitors may see it.
fn avatar(cx: &Cx, account: &Account) -> Option<Link> {
    let access = &cx.config.access;
    if access.disallow_unauthenticated_api || access.limited_federation || account.is_suspended() {
        return None;
    }
    let key: Key = account.avatar.as_deref()?.parse().ok()?;
    Some(Link::to("http://webfinger.net/rel/avatar", key.mime(), cx.urls.media(key.as_str())))
}

/// The JSON form of host-meta (RFC 6415).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HostMeta {
    pub links: Vec<Link>,
}

impl HostMeta {
    /// The host-meta document, which points to WebFinger.
    #[must_use]
    pub fn new(cx: &Cx) -> Self {
        Self { links: vec![Link { rel: "lrdd", template: Some(lrdd(cx)), ..Link::default() }] }
    }

    /// The same in XML (XRD).
    #[must_use]
    pub fn to_xml(cx: &Cx) -> String {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <XRD xmlns=\"http://docs.oasis-open.org/ns/xri/xrd-1.0\">\n  \
             <Link rel=\"lrdd\" template=\"{}\"/>\n</XRD>\n",
            text::escape(&lrdd(cx))
        )
    }
}

fn lrdd(cx: &Cx) -> String {
    format!("{}/.well-known/webfinger?resource={{uri}}", cx.urls.origin)
}

/// Links to the [`NodeInfo`] documents.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NodeInfoDiscovery {
    pub links: [NodeInfoLink; 3],
}

/// One version of the document.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NodeInfoLink {
    pub rel: &'static str,
    pub href: String,
}

impl NodeInfoDiscovery {
    /// Version 2.0 first, since some clients read the first link whatever it is; the server's actor (FEP-2677); version 2.1.
    #[must_use]
    pub fn new(cx: &Cx) -> Self {
        let link = |rel, path| NodeInfoLink { rel, href: cx.urls.path(path) };
        Self {
            links: [
                link("http://nodeinfo.diaspora.software/ns/schema/2.0", "/nodeinfo/2.0"),
                link("https://www.w3.org/ns/activitystreams#Application", "/actor"),
                link("http://nodeinfo.diaspora.software/ns/schema/2.1", "/nodeinfo/2.1"),
            ],
        }
    }
}

/// A version of the [`NodeInfo`] document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeInfoVersion {
    V20,
    V21,
}

/// The NodeInfo document.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeInfo {
    pub version: &'static str,
    pub software: Software,
    pub protocols: [&'static str; 1],
    pub services: Services,
    pub usage: NodeUsage,
    pub open_registrations: bool,
    pub metadata: Metadata,
}

/// Name and version of the software.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Software {
    pub name: String,
    pub version: &'static str,
    /// Where its source code is, if that is configured; since version 2.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
}

/// Bridged networks: none.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Services {
    pub inbound: [&'static str; 0],
    pub outbound: [&'static str; 0],
}

/// Usage statistics.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeUsage {
    pub users: NodeUsers,
    pub local_posts: i64,
}

/// User statistics.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeUsers {
    pub total: i64,
    pub active_month: i64,
    pub active_halfyear: i64,
}

/// Extensions, which the schema leaves open.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    pub node_name: String,
    pub node_description: String,
    pub features: &'static [&'static str],
    pub upstream: Upstream,
}

/// The API's origin. A widespread client library rejects unknown software without it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Upstream {
    pub name: &'static str,
    pub version: &'static str,
}

impl NodeInfo {
    /// The current state of this server.
    pub async fn render(cx: &Cx, of: NodeInfoVersion) -> Result<Self> {
        let source = || cx.config.server.source_url.as_ref().map(|url| url.as_str().to_owned());
        let (number, repository) = match of {
            NodeInfoVersion::V20 => ("2.0", None),
            NodeInfoVersion::V21 => ("2.1", source()),
        };
        let (settings, usage) = (cx.settings(), instance::usage(cx).await?);
        // A server that announces another name also announces that API's version.
        let (name, version) = match settings.compat_nodeinfo_name.as_str() {
            "" => (SOFTWARE, env!("CARGO_PKG_VERSION")),
            other => (other, VERSION),
        };
        Ok(Self {
            version: number,
            software: Software { name: name.to_owned(), version, repository },
            protocols: ["activitypub"],
            services: Services::default(),
            usage: NodeUsage {
                users: NodeUsers {
                    total: usage.users,
                    active_month: usage.active_month,
                    active_halfyear: usage.active_half_year,
                },
                local_posts: usage.statuses,
            },
            open_registrations: registration::mode(cx).await? != RegistrationsMode::None,
            metadata: Metadata {
                node_name: settings.site_title.clone(),
                node_description: settings.site_short_description.clone(),
                features: FEATURES,
                upstream: Upstream { name: "Mastodon", version: UPSTREAM_VERSION },
            },
        })
    }
}
