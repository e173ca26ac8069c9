//! Limits, features and addresses that instance documents contain: the member `configuration`.
//!
//! Spec: <https://docs.joinmastodon.org/entities/Instance/#configuration>, docs/contract/rules.md#27-instance

use serde::Serialize;

use context::Cx;
use model::Settings;
use model::settings::ServerFeed;
use service::{poll, profile, terms, translation};

/// Limits of a video: frames per second, pixels per frame.
const VIDEO_FRAME_RATE_LIMIT: u64 = media::MAX_FRAME_RATE;
const VIDEO_MATRIX_LIMIT: u64 = media::MAX_VIDEO_PIXELS;

/// Most media attachments accepted from a remote status.
const MEDIA_FROM_ACTIVITYPUB: i64 = 16;

/// Limits and features; version 1 has fewer of them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timelines_access: Option<TimelinesAccess>,
    /// True when only allowed domains federate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_federation: Option<bool>,
    pub search: Enabled,
}

/// Addresses of the streaming API and of pages about the server; null for a page that does not exist.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UrlsV2 {
    pub streaming: String,
    pub status: Option<String>,
    pub about: String,
    pub privacy_policy: Option<String>,
    pub terms_of_service: Option<String>,
}

/// The public VAPID key of web push.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Vapid {
    pub public_key: Option<String>,
}

/// Whether a feature is enabled.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Enabled {
    pub enabled: bool,
}

/// Who may read the feeds of the whole server: `public`, `authenticated` or `disabled`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimelinesAccess {
    pub live_feeds: PartsAccess,
    pub hashtag_feeds: PartsAccess,
    pub trending_link_feeds: PartsAccess,
}

/// Who may read statuses of this server and of other servers in a feed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PartsAccess {
    pub local: &'static str,
    pub remote: &'static str,
}

impl TimelinesAccess {
    fn new(settings: &Settings) -> Self {
        let of = |feed| PartsAccess {
            local: settings.feed_access(feed, true).as_str(),
            remote: settings.feed_access(feed, false).as_str(),
        };
        Self {
            live_feeds: of(ServerFeed::Live),
            hashtag_feeds: of(ServerFeed::Topic),
            trending_link_feeds: of(ServerFeed::Topic),
        }
    }
}

/// Limits of profiles; version 1 has only the first.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AccountLimits {
    pub max_featured_tags: i64,
    #[serde(flatten)]
    pub more: Option<ProfileLimits>,
}

/// Limits of pinned statuses, and of the texts of a profile in characters.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProfileLimits {
    pub max_pinned_statuses: i64,
    pub max_display_name_length: usize,
    pub max_note_length: usize,
    pub max_avatar_description_length: usize,
    pub max_header_description_length: usize,
    pub max_profile_fields: usize,
    pub profile_field_name_limit: usize,
    pub profile_field_value_limit: usize,
}

/// Limits of statuses.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusLimits {
    pub max_characters: i64,
    pub max_media_attachments: i64,
    pub max_media_attachments_with_poll: i64,
    pub max_media_attachments_from_activitypub: i64,
    pub characters_reserved_per_url: usize,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MediaLimits {
    pub supported_mime_types: Vec<&'static str>,
    pub description_limit: i64,
    pub image_size_limit: u64,
    pub image_matrix_limit: u64,
    pub video_size_limit: u64,
    pub video_frame_rate_limit: u64,
    pub video_matrix_limit: u64,
}

/// Limits of polls (docs/contract/rules.md#18-polls).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PollLimits {
    pub max_options: usize,
    pub max_characters_per_option: usize,
    pub min_expiration: i64,
    pub max_expiration: i64,
    pub allow_image: bool,
}

impl Configuration {
    pub(crate) fn new(cx: &Cx, settings: &Settings) -> Self {
        Self {
            urls: None,
            vapid: None,
            accounts: AccountLimits { max_featured_tags: settings.max_featured_tags, more: None },
            statuses: StatusLimits {
                max_characters: settings.max_characters,
                max_media_attachments: settings.max_media_attachments,
                max_media_attachments_with_poll: settings.max_media_attachments,
                max_media_attachments_from_activitypub: MEDIA_FROM_ACTIVITYPUB,
                characters_reserved_per_url: text::URL_LENGTH,
            },
            media_attachments: MediaLimits {
                supported_mime_types: media::supported_mime_types(&cx.converter),
                description_limit: settings.media_description_limit,
                image_size_limit: cx.config.media.image_size_limit_bytes,
                image_matrix_limit: media::MAX_IMAGE_PIXELS,
                video_size_limit: cx.config.media.video_size_limit_bytes,
                video_frame_rate_limit: VIDEO_FRAME_RATE_LIMIT,
                video_matrix_limit: VIDEO_MATRIX_LIMIT,
            },
            polls: PollLimits {
                max_options: poll::MAX_OPTIONS,
                max_characters_per_option: poll::MAX_OPTION_CHARACTERS,
                min_expiration: poll::MIN_EXPIRATION_SECONDS,
                max_expiration: poll::MAX_EXPIRATION_SECONDS,
                allow_image: true,
            },
            translation: None,
            timelines_access: None,
            limited_federation: None,
            search: Enabled { enabled: true },
        }
    }

    /// Adds the members of version 2.
    pub(crate) fn with_urls(mut self, cx: &Cx, settings: &Settings) -> Self {
        self.urls = Some(UrlsV2 {
            streaming: streaming(cx),
            status: Some(settings.status_page_url.clone()).filter(|url| !url.is_empty()),
            about: cx.urls.path("/about"),
            privacy_policy: Some(cx.urls.path("/privacy-policy")),
            terms_of_service: terms::exist(cx).then(|| cx.urls.path("/terms-of-service")),
        });
        self.vapid = Some(Vapid { public_key: cx.vapid.as_ref().map(|vapid| vapid.public_key().to_owned()) });
        self.translation = Some(Enabled { enabled: translation::is_enabled(cx) });
        self.timelines_access = Some(TimelinesAccess::new(settings));
        self.limited_federation = Some(cx.config.access.limited_federation);
        self.accounts.more = Some(ProfileLimits {
            max_pinned_statuses: settings.max_pinned_statuses,
            max_display_name_length: profile::DISPLAY_NAME_MAX,
            max_note_length: profile::NOTE_MAX,
            max_avatar_description_length: profile::DESCRIPTION_MAX,
            max_header_description_length: profile::DESCRIPTION_MAX,
            max_profile_fields: profile::FIELDS_MAX,
            profile_field_name_limit: profile::FIELD_MAX,
            profile_field_value_limit: profile::FIELD_MAX,
        });
        self
    }
}

/// URL of the streaming API: `ws` or `wss`.
pub(crate) fn streaming(cx: &Cx) -> String {
    let base = cx.config.streaming.url.as_ref().map_or(cx.urls.origin.as_str(), |url| url.as_str());
    base.trim_end_matches('/').replacen("http", "ws", 1)
}
