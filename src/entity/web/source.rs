//! The JSON of the API, as far as web pages show it.

use serde::{Deserialize, Serialize};

use model::filter::{FilterAction, FilterContext};
use model::media::MediaKind;
use model::{AccountId, StatusId, Time};

/// The preview of a link.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct WebCard {
    pub url: String,
    pub title: String,
    pub description: String,
    pub provider_name: String,
    pub author_name: String,
    pub image: Option<String>,
    pub image_description: String,
}

/// A status in JSON, as far as pages show it.
#[derive(Debug, Deserialize)]
pub(super) struct Source {
    pub(super) id: StatusId,
    pub(super) created_at: String,
    pub(super) in_reply_to_id: Option<StatusId>,
    pub(super) in_reply_to_account_id: Option<AccountId>,
    pub(super) sensitive: bool,
    pub(super) spoiler_text: String,
    pub(super) visibility: String,
    #[serde(default)]
    pub(super) visibility_ex: Option<String>,
    #[serde(default)]
    pub(super) local_only: bool,
    pub(super) language: Option<String>,
    pub(super) uri: String,
    pub(super) url: Option<String>,
    pub(super) replies_count: i64,
    pub(super) reblogs_count: i64,
    pub(super) favourites_count: i64,
    pub(super) quotes_count: i64,
    pub(super) edited_at: Option<String>,
    pub(super) content: String,
    pub(super) media_attachments: Vec<MediaSource>,
    pub(super) mentions: Vec<MentionSource>,
    pub(super) tags: Vec<TagSource>,
    pub(super) emojis: Vec<EmojiSource>,
    pub(super) card: Option<WebCard>,
    pub(super) poll: Option<PollSource>,
    pub(super) account: AccountSource,
    pub(super) reblog: Option<Box<Source>>,
    #[serde(default)]
    pub(super) quote: Option<QuoteSource>,
    pub(super) quote_approval: ApprovalSource,
    #[serde(default)]
    pub(super) interaction_policy: Option<PolicySource>,
    #[serde(default)]
    pub(super) approval: Option<String>,
    #[serde(default)]
    pub(super) application: Option<NameSource>,
    #[serde(default)]
    pub(super) favourited: bool,
    #[serde(default)]
    pub(super) reblogged: bool,
    #[serde(default)]
    pub(super) muted: bool,
    #[serde(default)]
    pub(super) bookmarked: bool,
    #[serde(default)]
    pub(super) pinned: Option<bool>,
    #[serde(default)]
    pub(super) filtered: Vec<FilterSource>,
}

/// An account in JSON, as far as lists show it.
#[derive(Debug, Deserialize)]
pub(super) struct AccountSource {
    pub(super) id: AccountId,
    pub(super) username: String,
    pub(super) acct: String,
    pub(super) display_name: String,
    pub(super) url: Option<String>,
    pub(super) uri: String,
    pub(super) avatar: String,
    pub(super) emojis: Vec<EmojiSource>,
    #[serde(default)]
    pub(super) noindex: bool,
    #[serde(default)]
    pub(super) limited: bool,
    #[serde(default)]
    pub(super) suspended: bool,
    pub(super) indexable: bool,
    pub(super) locked: bool,
    pub(super) bot: bool,
    pub(super) group: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct EmojiSource {
    pub(super) shortcode: String,
    pub(super) url: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct NameSource {
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct MentionSource {
    pub(super) id: AccountId,
    pub(super) url: Option<String>,
    pub(super) acct: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct TagSource {
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct MediaSource {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: MediaKind,
    pub(super) url: Option<String>,
    pub(super) preview_url: Option<String>,
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) meta: Option<MetaSource>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MetaSource {
    pub(super) small: Option<SizeSource>,
    pub(super) original: Option<SizeSource>,
    pub(super) focus: Option<FocusSource>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SizeSource {
    pub(super) width: Option<f64>,
    pub(super) height: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FocusSource {
    pub(super) x: f64,
    pub(super) y: f64,
}

#[derive(Debug, Deserialize)]
pub(super) struct QuoteSource {
    pub(super) state: String,
    pub(super) quoted_status: Option<Box<Source>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ApprovalSource {
    #[serde(default)]
    pub(super) current_user: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PolicySource {
    pub(super) can_reply: ApprovalSource,
    pub(super) can_favourite: ApprovalSource,
    pub(super) can_reblog: ApprovalSource,
}

#[derive(Debug, Deserialize)]
pub(super) struct FilterSource {
    pub(super) filter: FilterNameSource,
}

#[derive(Debug, Deserialize)]
pub(super) struct FilterNameSource {
    pub(super) title: String,
    pub(super) context: Vec<FilterContext>,
    pub(super) filter_action_ex: FilterAction,
}

/// A poll in JSON.
#[derive(Debug, Deserialize)]
pub(super) struct PollSource {
    pub(super) id: String,
    pub(super) expires_at: Option<String>,
    pub(super) expired: bool,
    pub(super) multiple: bool,
    pub(super) votes_count: i64,
    pub(super) voters_count: Option<i64>,
    pub(super) options: Vec<PollOptionSource>,
    pub(super) emojis: Vec<EmojiSource>,
    #[serde(default)]
    pub(super) voted: Option<bool>,
    #[serde(default)]
    pub(super) own_votes: Option<Vec<usize>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PollOptionSource {
    pub(super) title: String,
    pub(super) votes_count: Option<i64>,
}

/// `html` with the images of `emojis` in place of their shortcodes.
pub(super) fn drawn(html: &str, emojis: &[EmojiSource]) -> String {
    if emojis.is_empty() {
        return html.to_owned();
    }
    text::emojify(html, |name| emojis.iter().find(|emoji| emoji.shortcode == name).map(|emoji| emoji.url.as_str()))
}

/// The date in the JSON of the API.
pub(super) fn time(json: &str) -> Time {
    Time::parse_rfc3339(json).unwrap_or_else(|| Time::from_micros(0))
}
