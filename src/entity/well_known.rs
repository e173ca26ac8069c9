//! Documents by which other servers and clients find out about this one: WebFinger, host-meta, NodeInfo.
//!
//! Spec: contract federation, section 1; <https://www.rfc-editor.org/rfc/rfc7033>, <http://nodeinfo.diaspora.software/>

use serde::Serialize;

use super::instance::{UPSTREAM_VERSION, VERSION};
use crate::app::App;
use crate::error::Result;
use crate::service::webfinger::Subject;
use crate::service::{instance, registration};
use media::storage::Key;
use model::Account;
use model::settings::RegistrationsMode;

/// What NodeInfo calls this software, unless the setting `compat.nodeinfo_name` says otherwise.
const SOFTWARE: &str = "rookery";

/// Names of the fields that accounts and statuses have beyond the reference, for servers that look for them.
const FEATURES: &[&str] = &["mastodon_api", "kmyblue_searchability", "kmyblue_visibility_login"];

/// A JSON resource descriptor.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "named by RFC 7033")]
pub struct Webfinger {
    pub subject: String,
    pub aliases: Vec<String>,
    pub links: Vec<Link>,
}

/// A link of a [`Webfinger`] or [`HostMeta`].
#[derive(Debug, Default, Serialize)]
#[expect(missing_docs, reason = "named by RFC 7033")]
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
    /// Where `subject` is found.
    #[must_use]
    pub fn new(app: &App, subject: &Subject) -> Self {
        let urls = &app.urls;
        match subject {
            Subject::Server => Self {
                subject: format!("acct:{0}@{0}", urls.local_domain),
                aliases: vec![urls.path("/actor")],
                links: vec![
                    Link::to("http://webfinger.net/rel/profile-page", "text/html", urls.path("/about")),
                    Link::to("self", "application/activity+json", urls.path("/actor")),
                    subscribe(app),
                ],
            },
            Subject::Account(account) => {
                let (page, actor) = (urls.profile(&account.username), urls.actor(&account.username));
                let mut links = vec![
                    Link::to("http://webfinger.net/rel/profile-page", "text/html", page.clone()),
                    Link::to("self", "application/activity+json", actor.clone()),
                    subscribe(app),
                ];
                links.extend(avatar(app, account));
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

fn subscribe(app: &App) -> Link {
    Link {
        rel: "http://ostatus.org/schema/1.0/subscribe",
        template: Some(format!("{}/authorize_interaction?uri={{uri}}", app.urls.origin)),
        ..Link::default()
    }
}

/// Only where strangers may see it.
fn avatar(app: &App, account: &Account) -> Option<Link> {
    let access = &app.config.access;
    if access.disallow_unauthenticated_api || access.limited_federation || account.is_suspended() {
        return None;
    }
    let key: Key = account.avatar.as_deref()?.parse().ok()?;
    Some(Link::to("http://webfinger.net/rel/avatar", key.mime(), app.urls.media(key.as_str())))
}

/// The JSON form of host-meta (RFC 6415).
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "named by RFC 6415")]
pub struct HostMeta {
    pub links: Vec<Link>,
}

impl HostMeta {
    /// Where WebFinger is asked.
    #[must_use]
    pub fn new(app: &App) -> Self {
        Self { links: vec![Link { rel: "lrdd", template: Some(lrdd(app)), ..Link::default() }] }
    }

    /// The same as XRD.
    #[must_use]
    pub fn to_xml(app: &App) -> String {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <XRD xmlns=\"http://docs.oasis-open.org/ns/xri/xrd-1.0\">\n  \
             <Link rel=\"lrdd\" template=\"{}\"/>\n</XRD>\n",
            text::escape(&lrdd(app))
        )
    }
}

fn lrdd(app: &App) -> String {
    format!("{}/.well-known/webfinger?resource={{uri}}", app.urls.origin)
}

/// Where the [`NodeInfo`] document is.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "named by NodeInfo")]
pub struct NodeInfoDiscovery {
    pub links: [NodeInfoLink; 1],
}

/// A version of the document.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "named by NodeInfo")]
pub struct NodeInfoLink {
    pub rel: &'static str,
    pub href: String,
}

impl NodeInfoDiscovery {
    /// Version 2.0 alone: some clients read no later one.
    #[must_use]
    pub fn new(app: &App) -> Self {
        let rel = "http://nodeinfo.diaspora.software/ns/schema/2.0";
        Self { links: [NodeInfoLink { rel, href: app.urls.path("/nodeinfo/2.0") }] }
    }
}

/// The server in the words that every federated software understands, version 2.0.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "named by NodeInfo")]
pub struct NodeInfo {
    pub version: &'static str,
    pub software: Software,
    pub protocols: [&'static str; 1],
    pub services: Services,
    pub usage: NodeUsage,
    pub open_registrations: bool,
    pub metadata: Metadata,
}

/// What the software is called.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "named by NodeInfo")]
pub struct Software {
    pub name: String,
    pub version: &'static str,
}

/// Other networks that are reached: none.
#[derive(Debug, Default, Serialize)]
#[expect(missing_docs, reason = "named by NodeInfo")]
pub struct Services {
    pub inbound: [&'static str; 0],
    pub outbound: [&'static str; 0],
}

/// How much the server is used.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "named by NodeInfo")]
pub struct NodeUsage {
    pub users: NodeUsers,
    pub local_posts: i64,
}

/// How many people use the server.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "named by NodeInfo")]
pub struct NodeUsers {
    pub total: i64,
    pub active_month: i64,
    pub active_halfyear: i64,
}

/// What the schema leaves open.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "named by the contract")]
pub struct Metadata {
    pub node_name: String,
    pub node_description: String,
    pub features: &'static [&'static str],
    pub upstream: Upstream,
}

/// Whose API this is: a widespread client library refuses unknown software without it.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "named by the contract")]
pub struct Upstream {
    pub name: &'static str,
    pub version: &'static str,
}

impl NodeInfo {
    /// This server, now.
    ///
    /// # Errors
    /// When the database does.
    pub async fn render(app: &App) -> Result<Self> {
        let (settings, usage) = (app.settings(), instance::usage(app).await?);
        // Who announces another name is taken by its word: the version is then that of the API.
        let (name, version) = match settings.compat_nodeinfo_name.as_str() {
            "" => (SOFTWARE, env!("CARGO_PKG_VERSION")),
            other => (other, VERSION),
        };
        Ok(Self {
            version: "2.0",
            software: Software { name: name.to_owned(), version },
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
            open_registrations: registration::mode(app) != RegistrationsMode::None,
            metadata: Metadata {
                node_name: settings.site_title.clone(),
                node_description: settings.site_short_description.clone(),
                features: FEATURES,
                upstream: Upstream { name: "Mastodon", version: UPSTREAM_VERSION },
            },
        })
    }
}
