//! Statuses.

use super::account::Searchability;
use super::{AccountId, AppId, ConversationId, StatusId, Time, text_enum};

text_enum! {
    /// Who may see a status. Clients of the plain API see `public_unlisted` and `login` as public, `limited` as private.
    Visibility {
        /// Everyone; stands on public timelines.
        Public = "public",
        /// As public on this server, as unlisted elsewhere.
        PublicUnlisted = "public_unlisted",
        /// Everyone who is signed in.
        Login = "login",
        /// Everyone, but not on public timelines.
        Unlisted = "unlisted",
        /// Followers and whoever is mentioned.
        Private = "private",
        /// An audience that is listed by name.
        Limited = "limited",
        /// Whoever is mentioned.
        Direct = "direct",
    }
}

impl Visibility {
    /// The word of the plain API.
    #[must_use]
    pub fn coarse(self) -> &'static str {
        match self {
            Self::Public | Self::PublicUnlisted | Self::Login => "public",
            Self::Unlisted => "unlisted",
            Self::Private | Self::Limited => "private",
            Self::Direct => "direct",
        }
    }

    /// True when it may stand on public timelines, for whoever may see it.
    #[must_use]
    pub fn is_listed(self) -> bool {
        matches!(self, Self::Public | Self::PublicUnlisted | Self::Login)
    }

    /// True when someone who is not signed in may see it.
    #[must_use]
    pub fn is_anonymous(self) -> bool {
        matches!(self, Self::Public | Self::PublicUnlisted | Self::Unlisted)
    }
}

text_enum! {
    /// How the audience of a limited status came about.
    LimitedScope {
        /// Mutual followers of the author.
        Mutual = "mutual",
        /// A circle.
        Circle = "circle",
        /// The author alone.
        Personal = "personal",
        /// The audience of the status it answers.
        Reply = "reply",
    }
}

/// A status as its table has it.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "the columns are named by the Status entity, whose document explains them")]
pub struct Status {
    pub id: StatusId,
    pub account_id: AccountId,
    pub uri: String,
    pub url: Option<String>,
    pub local: bool,
    /// What a local author wrote; empty for a remote status.
    pub text: String,
    /// HTML, made from `text` when it was written, or sanitised on arrival.
    pub content: String,
    pub spoiler_text: String,
    pub sensitive: bool,
    pub visibility: Visibility,
    pub limited_scope: Option<LimitedScope>,
    pub searchability: Searchability,
    pub language: Option<String>,
    pub conversation_id: Option<ConversationId>,
    pub in_reply_to_id: Option<StatusId>,
    pub in_reply_to_account_id: Option<AccountId>,
    pub reblog_of_id: Option<StatusId>,
    pub app_id: Option<AppId>,
    /// Stands on public timelines: listed visibility, no reblog, no reply to someone else.
    pub listed: bool,
    pub has_media: bool,
    pub replies_count: i64,
    pub reblogs_count: i64,
    pub favourites_count: i64,
    pub created_at: Time,
    pub edited_at: Option<Time>,
    /// Grows with every change that a client can see; the key of cached renderings.
    pub version: i64,
}
