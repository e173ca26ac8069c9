//! <https://docs.joinmastodon.org/entities/Instance/>, its version 1, and related entities.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::instance_configuration::{self as configuration, Configuration};
use crate::rule::{Rule, rules};
use crate::server_pictures as pictures;
use context::Cx;
use context::error::{Error, Result};
use model::instance::{DomainBlock as Block, Severity, Usage, Week};
use model::settings::RegistrationsMode;
use model::{AccountId, Permissions};
use service::{instance, registration};

use text::language::LANGUAGES;

/// The version string from which clients derive features: the API version, then the server's own.
pub const VERSION: &str = concat!("4.4.0 (compatible; Rookery ", env!("CARGO_PKG_VERSION"), ")");

/// The API version alone: `metadata.upstream` of NodeInfo.
pub const UPSTREAM_VERSION: &str = "4.4.0";

/// Features beyond the reference implementation, by the names that clients look for
/// (docs/contract/extensions.md#11-instance-document-additions).
const CAPABILITIES: &[&str] = &[
    "enable_wide_emoji",
    "kmyblue_searchability",
    "searchability",
    "full_text_search",
    "kmyblue_searchability_limited",
    "kmyblue_searchability_public_unlisted",
    "kmyblue_visibility_login",
    "kmyblue_visibility_public_unlisted",
    "kmyblue_server_features",
    "visibility_mutual",
    "visibility_limited",
    "kmyblue_limited_scope",
    "kmyblue_list_notification",
    "emoji_keywords",
    "status_reference",
    "kmyblue_quote",
    "kmyblue_markdown",
];

/// `GET /api/v2/instance`
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Instance {
    pub domain: String,
    pub title: String,
    pub version: &'static str,
    pub source_url: String,
    pub description: String,
    pub usage: UsageV2,
    pub thumbnail: Thumbnail,
    pub icon: Vec<Icon>,
    pub languages: Vec<String>,
    pub configuration: Configuration,
    pub registrations: Registrations,
    pub api_versions: ApiVersions,
    pub contact: Contact,
    pub rules: Vec<Rule>,
    /// The year of which people may get an annual report at this time.
    pub wrapstodon: Option<i32>,
    pub fedibird_capabilities: &'static [&'static str],
}

/// `GET /api/v1/instance`
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InstanceV1 {
    pub uri: String,
    pub title: String,
    pub short_description: String,
    pub description: String,
    pub email: String,
    pub version: &'static str,
    pub urls: UrlsV1,
    pub stats: Stats,
    pub thumbnail: String,
    pub languages: Vec<String>,
    pub registrations: bool,
    pub approval_required: bool,
    pub invites_enabled: bool,
    pub configuration: Configuration,
    pub contact_account: Option<Box<RawValue>>,
    pub rules: Vec<Rule>,
    pub fedibird_capabilities: &'static [&'static str],
}

/// Accounts active in the last month.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsageV2 {
    pub users: ActiveUsers,
}

/// Accounts active in the last month.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ActiveUsers {
    pub active_month: i64,
}

/// The server's thumbnail image.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Thumbnail {
    pub url: String,
    /// For people who do not see it; empty when there is none.
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blurhash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<ThumbnailVersions>,
}

/// The thumbnail that the staff chose, in two sizes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ThumbnailVersions {
    #[serde(rename = "@1x")]
    pub single: String,
    #[serde(rename = "@2x")]
    pub double: String,
}

/// The server's icon in one size.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Icon {
    pub src: String,
    pub size: String,
}

/// URLs of the streaming API.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UrlsV1 {
    pub streaming_api: String,
}

/// Registration policy.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Registrations {
    pub enabled: bool,
    pub approval_required: bool,
    /// Whether people must say why they want to join; null unless the staff approves sign-ups.
    pub reason_required: Option<bool>,
    pub limit_reached: bool,
    pub message: Option<String>,
    /// The youngest age that may sign up, in years.
    pub min_age: Option<i64>,
    pub url: Option<String>,
}

/// API versions, each raised only when all of that version is implemented.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ApiVersions {
    pub mastodon: u32,
    pub kmyblue: u32,
    pub rookery: u32,
}

/// Contact address and account.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Contact {
    pub email: String,
    pub account: Option<Box<RawValue>>,
}

/// Statistics of the whole server.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stats {
    pub user_count: i64,
    pub status_count: i64,
    pub domain_count: i64,
}

/// Activity in one week; numbers are strings.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InstanceActivity {
    pub week: String,
    pub statuses: String,
    pub logins: String,
    pub registrations: String,
}

impl From<&Week> for InstanceActivity {
    fn from(week: &Week) -> Self {
        Self {
            week: week.begins.to_string(),
            statuses: week.statuses.to_string(),
            logins: week.logins.to_string(),
            registrations: week.registrations.to_string(),
        }
    }
}

/// <https://docs.joinmastodon.org/entities/DomainBlock/>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainBlock {
    pub domain: String,
    pub digest: String,
    pub severity: Severity,
    pub severity_ex: Severity,
    pub comment: Option<String>,
}

impl From<Block> for DomainBlock {
    fn from(block: Block) -> Self {
        Self {
            digest: crypto::sha256_hex(block.domain.as_bytes()),
            domain: if block.obfuscate { obfuscated(&block.domain) } else { block.domain },
            // The client API has only two severities.
            severity: match block.severity {
                Severity::Suspend => Severity::Suspend,
                Severity::Noop | Severity::Silence => Severity::Silence,
            },
            severity_ex: block.severity,
            comment: block.public_comment,
        }
    }
}

/// Obfuscates a domain: shows the first and last quarter and all dots, with stars in between.
fn obfuscated(domain: &str) -> String {
    let count = domain.chars().count();
    let shown = count / 4;
    let star = |(index, letter): (usize, char)| match letter {
        '.' => letter,
        _ if index < shown || index >= count - shown => letter,
        _ => '*',
    };
    domain.chars().enumerate().map(star).collect()
}

/// A text written by admins, with its date.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Document {
    pub updated_at: Option<String>,
    pub content: String,
}

/// <https://docs.joinmastodon.org/entities/Instance/#languages>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Language {
    pub code: &'static str,
    pub name: &'static str,
}

impl Language {
    /// All languages that a status may have.
    #[must_use]
    pub fn all() -> Vec<Self> {
        LANGUAGES.iter().map(|language| Self { code: language.code, name: language.name }).collect()
    }
}

impl Thumbnail {
    fn new(cx: &Cx) -> Self {
        let settings = cx.settings();
        let picture = &settings.thumbnail;
        let versions =
            pictures::file(cx, picture, pictures::THUMBNAIL).zip(pictures::file(cx, picture, pictures::LARGE));
        Self {
            url: pictures::thumbnail(cx),
            description: settings.thumbnail_description.clone(),
            blurhash: versions.is_some().then(|| picture.blurhash.clone()),
            versions: versions.map(|(single, double)| ThumbnailVersions { single, double }),
        }
    }
}

impl Instance {
    /// The current state of this server.
    pub async fn render(cx: &Cx) -> Result<Self> {
        let (settings, usage) = (cx.settings(), instance::usage(cx).await?);
        let mode = registration::mode(cx).await?;
        let open = mode != RegistrationsMode::None;
        let message = text::markdown(&settings.registrations_message);
        Ok(Self {
            domain: cx.urls.local_domain.clone(),
            title: settings.site_title.clone(),
            version: VERSION,
            source_url: source_url(cx),
            description: settings.site_short_description.clone(),
            usage: UsageV2 { users: ActiveUsers { active_month: usage.active_month } },
            thumbnail: Thumbnail::new(cx),
            icon: pictures::icons(cx).map(|(size, src)| Icon { src, size }).collect(),
            languages: languages(cx),
            configuration: Configuration::new(cx, &settings).with_urls(cx, &settings),
            registrations: Registrations {
                enabled: open,
                approval_required: mode == RegistrationsMode::Approved,
                reason_required: (mode == RegistrationsMode::Approved).then_some(settings.require_invite_text),
                limit_reached: false,
                min_age: Some(settings.min_age).filter(|age| *age > 0),
                message: (!open && !message.is_empty()).then_some(message),
                url: None,
            },
            api_versions: ApiVersions { mastodon: 11, kmyblue: 1, rookery: 1 },
            contact: Contact { email: settings.contact_email.clone(), account: contact_json(cx).await? },
            rules: rules(cx),
            wrapstodon: instance::reported_year(cx),
            fedibird_capabilities: CAPABILITIES,
        })
    }
}

impl InstanceV1 {
    /// The current state of this server, for older clients.
    pub async fn render(cx: &Cx) -> Result<Self> {
        let (settings, usage) = (cx.settings(), instance::usage(cx).await?);
        let mode = registration::mode(cx).await?;
        Ok(Self {
            uri: cx.urls.local_domain.clone(),
            title: settings.site_title.clone(),
            short_description: settings.site_short_description.clone(),
            description: text::markdown(&settings.site_extended_description),
            email: settings.contact_email.clone(),
            version: VERSION,
            urls: UrlsV1 { streaming_api: configuration::streaming(cx) },
            stats: Stats::from(*usage),
            thumbnail: pictures::thumbnail(cx),
            languages: languages(cx),
            registrations: mode != RegistrationsMode::None,
            approval_required: mode == RegistrationsMode::Approved,
            invites_enabled: invites_enabled(cx).await?,
            configuration: Configuration::new(cx, &settings),
            contact_account: contact_json(cx).await?,
            rules: rules(cx),
            fedibird_capabilities: CAPABILITIES,
        })
    }
}

/// Everyone may invite people, and an extension handles invitations.
async fn invites_enabled(cx: &Cx) -> Result<bool> {
    if cx.extensions().sign_up_params().is_empty() {
        return Ok(false);
    }
    let everybody = store::role::permissions_of_everybody(&cx.db).await?;
    Ok(Permissions::effective(0, everybody).has(Permissions::INVITE_USERS))
}

impl From<Usage> for Stats {
    fn from(usage: Usage) -> Self {
        Self { user_count: usage.users, status_count: usage.statuses, domain_count: usage.domains }
    }
}

impl Document {
    /// The extended description; empty and undated when unset.
    #[must_use]
    pub fn extended_description(cx: &Cx) -> Self {
        let settings = cx.settings();
        Self {
            updated_at: Some(settings.site_extended_description_updated_at.clone()).filter(|at| !at.is_empty()),
            content: text::markdown(&settings.site_extended_description),
        }
    }

    /// The privacy policy: the text of the admins, or the default in `language`.
    #[must_use]
    pub fn privacy_policy(cx: &Cx, language: context::Language) -> Self {
        let settings = cx.settings();
        if settings.privacy_policy.trim().is_empty() {
            let policy = default_privacy_policy(language).replace("{domain}", &cx.urls.local_domain);
            return Self { updated_at: Some(PRIVACY_POLICY_DATE.to_owned()), content: text::markdown(&policy) };
        }
        Self {
            updated_at: Some(settings.privacy_policy_updated_at.clone()),
            content: text::markdown(&settings.privacy_policy),
        }
    }
}

/// URL of the source code: the configured one, else the page that describes this server.
fn source_url(cx: &Cx) -> String {
    let configured = cx.config.server.source_url.as_ref().map(|url| url.as_str().to_owned());
    configured.unwrap_or_else(|| cx.urls.path("/about"))
}

/// The default privacy policy; `{domain}` is a placeholder.
const fn default_privacy_policy(language: context::Language) -> &'static str {
    match language {
        context::Language::English => include_str!("privacy_policy.md"),
        context::Language::German => include_str!("privacy_policy.de.md"),
        context::Language::Japanese => include_str!("privacy_policy.ja.md"),
    }
}

/// Date of the default privacy policy, as in the contract.
const PRIVACY_POLICY_DATE: &str = "2022-10-07T00:00:00Z";

/// The contact account as rendered, if there is one.
pub(super) async fn contact(cx: &Cx) -> Result<Option<Arc<str>>> {
    let Some(account) = instance::contact(cx).await? else { return Ok(None) };
    let versions: [(AccountId, i64); 1] = [(account.id, account.version)];
    let rendered = crate::account::render_versions(cx, &versions).await?;
    Ok(rendered.get(&account.id).cloned())
}

async fn contact_json(cx: &Cx) -> Result<Option<Box<RawValue>>> {
    let text = contact(cx).await?.map(|text| RawValue::from_string(text.to_string()));
    text.transpose().map_err(Error::internal)
}

fn languages(cx: &Cx) -> Vec<String> {
    vec![cx.config.server.locale.as_str().to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_of_obfuscated_domain_is_hidden() {
        assert_eq!(obfuscated("bad.example.com"), "bad.*******.com");
        assert_eq!(obfuscated("x.y"), "*.*");
        assert_eq!(obfuscated(""), "");
    }
}
