//! <https://docs.joinmastodon.org/entities/Instance/>, the older form of version 1, and what stands beside them.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::app::App;
use crate::entity;
use crate::error::{Error, Result};
use crate::service::instance::{self, Usage, Week};
use crate::service::registration;
use config::Scheme;
use media::SUPPORTED_MIME_TYPES;
use model::instance::{DomainBlock as Block, Rule as RuleModel, Severity};
use model::settings::RegistrationsMode;
use model::{AccountId, RuleId, Settings};

/// What clients read a server's abilities from: the version of the API, then ours.
pub const VERSION: &str = concat!("4.4.0 (compatible; Rookery ", env!("CARGO_PKG_VERSION"), ")");

/// The version of the API alone: `metadata.upstream` of NodeInfo.
pub const UPSTREAM_VERSION: &str = "4.4.0";

/// Where the source is.
const SOURCE_URL: &str = env!("CARGO_PKG_REPOSITORY");

/// What the core can do beyond the reference, by the names that clients look for (contract: extensions).
const CAPABILITIES: &[&str] = &[
    "enable_wide_emoji",
    "kmyblue_searchability",
    "searchability",
    "kmyblue_searchability_limited",
    "kmyblue_searchability_public_unlisted",
    "kmyblue_visibility_login",
    "kmyblue_visibility_public_unlisted",
    "kmyblue_server_features",
];

/// Sides, in pixels, of the icons there are.
const ICON_SIZES: &[u32] = &[32, 180, 512];

/// Most frames in a second, and pixels in a frame, of a video.
const VIDEO_FRAME_RATE_LIMIT: u32 = 120;
const VIDEO_MATRIX_LIMIT: u64 = media::MAX_ANIMATION_PIXELS;

/// Media taken of a status from another server.
const MEDIA_FROM_ACTIVITYPUB: i64 = 16;

/// `GET /api/v2/instance`
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Instance {
    pub domain: String,
    pub title: String,
    pub version: &'static str,
    pub source_url: &'static str,
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
    pub fedibird_capabilities: &'static [&'static str],
}

/// `GET /api/v1/instance`
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
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

/// People of the last month.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct UsageV2 {
    pub users: ActiveUsers,
}

/// People of the last month.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct ActiveUsers {
    pub active_month: i64,
}

/// The server's picture.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Thumbnail {
    pub url: String,
}

/// The server's icon in one size.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Icon {
    pub src: String,
    pub size: String,
}

/// Limits and abilities; version 1 has fewer of them.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Configuration {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urls: Option<UrlsV2>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vapid: Option<Vapid>,
    pub accounts: AccountLimits,
    pub statuses: StatusLimits,
    pub media_attachments: MediaLimits,
    pub polls: PollLimits,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translation: Option<Enabled>,
    pub search: Enabled,
}

/// Where streaming is.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct UrlsV2 {
    pub streaming: String,
    pub status: Option<String>,
}

/// Where streaming is.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct UrlsV1 {
    pub streaming_api: String,
}

/// The key of web push.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Vapid {
    pub public_key: Option<String>,
}

/// Whether something is there.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Enabled {
    pub enabled: bool,
}

/// Limits of profiles.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct AccountLimits {
    pub max_featured_tags: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pinned_statuses: Option<i64>,
}

/// Limits of statuses.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct StatusLimits {
    pub max_characters: i64,
    pub max_media_attachments: i64,
    pub max_media_attachments_with_poll: i64,
    pub max_media_attachments_from_activitypub: i64,
    pub characters_reserved_per_url: usize,
}

/// Limits of media.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct MediaLimits {
    pub supported_mime_types: &'static [&'static str],
    pub description_limit: i64,
    pub image_size_limit: u64,
    pub image_matrix_limit: u64,
    pub video_size_limit: u64,
    pub video_frame_rate_limit: u32,
    pub video_matrix_limit: u64,
}

/// Limits of polls (contract rules, section 18).
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct PollLimits {
    pub max_options: u32,
    pub max_characters_per_option: u32,
    pub min_expiration: u32,
    pub max_expiration: u32,
    pub allow_image: bool,
}

/// Who may sign up.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Registrations {
    pub enabled: bool,
    pub approval_required: bool,
    pub limit_reached: bool,
    pub message: Option<String>,
    pub url: Option<String>,
}

/// Versions of the APIs, each raised only when the whole of it is there.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct ApiVersions {
    pub mastodon: u32,
    pub kmyblue: u32,
    pub rookery: u32,
}

/// Whom to ask.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Contact {
    pub email: String,
    pub account: Option<Box<RawValue>>,
}

/// Figures of the whole server.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Stats {
    pub user_count: i64,
    pub status_count: i64,
    pub domain_count: i64,
}

/// <https://docs.joinmastodon.org/entities/Rule/>
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Rule {
    pub id: RuleId,
    pub text: String,
    pub hint: String,
}

impl From<&RuleModel> for Rule {
    fn from(rule: &RuleModel) -> Self {
        Self { id: rule.id, text: rule.text.clone(), hint: rule.hint.clone() }
    }
}

/// One week; numbers are strings.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Activity {
    pub week: String,
    pub statuses: String,
    pub logins: String,
    pub registrations: String,
}

impl From<&Week> for Activity {
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
#[expect(missing_docs, reason = "documented by the entity")]
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
            // Clients know two severities.
            severity: match block.severity {
                Severity::Suspend => Severity::Suspend,
                Severity::Noop | Severity::Silence => Severity::Silence,
            },
            severity_ex: block.severity,
            comment: block.public_comment,
        }
    }
}

/// The first and last quarter of a name; stars between, dots kept.
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

/// A text of the admins, and when it was written.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entities ExtendedDescription and PrivacyPolicy")]
pub struct Document {
    pub updated_at: Option<String>,
    pub content: String,
}

/// <https://docs.joinmastodon.org/entities/Instance/#languages>
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the contract")]
pub struct Language {
    pub code: &'static str,
    pub name: &'static str,
}

impl Instance {
    /// This server, now.
    ///
    /// # Errors
    /// When the database does.
    pub async fn render(app: &App) -> Result<Self> {
        let (settings, usage) = (app.settings(), instance::usage(app).await?);
        let mode = registration::mode(app);
        let open = mode != RegistrationsMode::None;
        let message = text::markdown(&settings.registrations_message);
        Ok(Self {
            domain: app.urls.local_domain.clone(),
            title: settings.site_title.clone(),
            version: VERSION,
            source_url: SOURCE_URL,
            description: settings.site_short_description.clone(),
            usage: UsageV2 { users: ActiveUsers { active_month: usage.active_month } },
            thumbnail: Thumbnail { url: thumbnail(app) },
            icon: icons(app),
            languages: languages(app),
            configuration: Configuration::new(app, &settings).with_urls(app, &settings),
            registrations: Registrations {
                enabled: open,
                approval_required: mode == RegistrationsMode::Approved,
                limit_reached: false,
                message: (!open && !message.is_empty()).then_some(message),
                url: None,
            },
            api_versions: ApiVersions { mastodon: 2, kmyblue: 1, rookery: 1 },
            contact: Contact { email: settings.contact_email.clone(), account: contact(app).await? },
            rules: rules(app),
            fedibird_capabilities: CAPABILITIES,
        })
    }
}

impl InstanceV1 {
    /// This server, now, for older clients.
    ///
    /// # Errors
    /// When the database does.
    pub async fn render(app: &App) -> Result<Self> {
        let (settings, usage) = (app.settings(), instance::usage(app).await?);
        let mode = registration::mode(app);
        Ok(Self {
            uri: app.urls.local_domain.clone(),
            title: settings.site_title.clone(),
            short_description: settings.site_short_description.clone(),
            description: text::markdown(&settings.site_extended_description),
            email: settings.contact_email.clone(),
            version: VERSION,
            urls: UrlsV1 { streaming_api: streaming(app) },
            stats: Stats::from(*usage),
            thumbnail: thumbnail(app),
            languages: languages(app),
            registrations: mode != RegistrationsMode::None,
            approval_required: mode == RegistrationsMode::Approved,
            invites_enabled: false,
            configuration: Configuration::new(app, &settings),
            contact_account: contact(app).await?,
            rules: rules(app),
            fedibird_capabilities: CAPABILITIES,
        })
    }
}

impl From<Usage> for Stats {
    fn from(usage: Usage) -> Self {
        Self { user_count: usage.users, status_count: usage.statuses, domain_count: usage.domains }
    }
}

impl Configuration {
    fn new(app: &App, settings: &Settings) -> Self {
        Self {
            urls: None,
            vapid: None,
            accounts: AccountLimits { max_featured_tags: settings.max_featured_tags, max_pinned_statuses: None },
            statuses: StatusLimits {
                max_characters: settings.max_characters,
                max_media_attachments: settings.max_media_attachments,
                max_media_attachments_with_poll: settings.max_media_attachments,
                max_media_attachments_from_activitypub: MEDIA_FROM_ACTIVITYPUB,
                characters_reserved_per_url: text::URL_LENGTH,
            },
            media_attachments: MediaLimits {
                supported_mime_types: &SUPPORTED_MIME_TYPES,
                description_limit: settings.media_description_limit,
                image_size_limit: app.config.media.image_size_limit_bytes,
                image_matrix_limit: media::MAX_IMAGE_PIXELS,
                video_size_limit: app.config.media.video_size_limit_bytes,
                video_frame_rate_limit: VIDEO_FRAME_RATE_LIMIT,
                video_matrix_limit: VIDEO_MATRIX_LIMIT,
            },
            polls: PollLimits {
                max_options: 8,
                max_characters_per_option: 50,
                min_expiration: 300,
                max_expiration: 2_629_746,
                allow_image: true,
            },
            translation: None,
            search: Enabled { enabled: false },
        }
    }

    /// What version 2 adds.
    fn with_urls(mut self, app: &App, settings: &Settings) -> Self {
        self.urls = Some(UrlsV2 { streaming: streaming(app), status: None });
        self.vapid = Some(Vapid { public_key: None });
        self.translation = Some(Enabled { enabled: false });
        self.accounts.max_pinned_statuses = Some(settings.max_pinned_statuses);
        self
    }
}

impl Document {
    /// The extended description; empty and undated while there is none.
    #[must_use]
    pub fn extended_description(app: &App) -> Self {
        let settings = app.settings();
        Self {
            updated_at: Some(settings.site_extended_description_updated_at.clone()).filter(|at| !at.is_empty()),
            content: text::markdown(&settings.site_extended_description),
        }
    }

    /// The privacy policy: the admins' own, or the one that comes with the server.
    #[must_use]
    pub fn privacy_policy(app: &App) -> Self {
        let settings = app.settings();
        if settings.privacy_policy.trim().is_empty() {
            let policy = PRIVACY_POLICY.replace("{domain}", &app.urls.local_domain);
            return Self { updated_at: Some(PRIVACY_POLICY_DATE.to_owned()), content: text::markdown(&policy) };
        }
        Self {
            updated_at: Some(settings.privacy_policy_updated_at.clone()),
            content: text::markdown(&settings.privacy_policy),
        }
    }
}

/// What a server that says nothing of its own says about privacy.
const PRIVACY_POLICY: &str = include_str!("privacy_policy.md");
/// The date of that text, as the contract dates a default.
const PRIVACY_POLICY_DATE: &str = "2022-10-07T00:00:00Z";

async fn contact(app: &App) -> Result<Option<Box<RawValue>>> {
    let Some(account) = instance::contact(app).await? else { return Ok(None) };
    let versions: [(AccountId, i64); 1] = [(account.id, account.version)];
    let rendered = entity::account::render_versions(app, &versions).await?;
    let text = rendered.get(&account.id).map(|text| RawValue::from_string(text.to_string()));
    text.transpose().map_err(Error::internal)
}

/// The rules, in order.
#[must_use]
pub fn rules(app: &App) -> Vec<Rule> {
    app.rules().iter().map(Rule::from).collect()
}

fn languages(app: &App) -> Vec<String> {
    vec![app.config.server.locale.as_str().to_owned()]
}

fn thumbnail(app: &App) -> String {
    app.urls.path("/assets/thumbnail.png")
}

fn icons(app: &App) -> Vec<Icon> {
    let icon =
        |side: &u32| Icon { src: app.urls.path(&format!("/assets/icon-{side}.png")), size: format!("{side}x{side}") };
    ICON_SIZES.iter().map(icon).collect()
}

fn streaming(app: &App) -> String {
    let scheme = match app.config.server.scheme {
        Scheme::Https => "wss",
        Scheme::Http => "ws",
    };
    format!("{scheme}://{}", app.urls.web_domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_an_obfuscated_domain_is_hidden() {
        assert_eq!(obfuscated("bad.example.com"), "bad.*******.com");
        assert_eq!(obfuscated("x.y"), "*.*");
        assert_eq!(obfuscated(""), "");
    }
}
