//! Statuses.

use super::account::Searchability;
use super::interaction::{Approval, InteractionPolicy, QuoteState};

pub use super::interaction::QuotePolicy;
use super::{AccountId, AppId, ConversationId, StatusId, Time, text_enum};

text_enum! {
    /// Who may see a status. In the Mastodon API, `public_unlisted` and `login` appear as public, `limited` as private.
    Visibility {
        /// Everyone; shown on public timelines.
        Public = "public",
        /// Like public on this server, like unlisted elsewhere.
        PublicUnlisted = "public_unlisted",
        /// Everyone who is signed in.
        Login = "login",
        /// Everyone, but not on public timelines.
        Unlisted = "unlisted",
        /// Followers and mentioned accounts.
        Private = "private",
        /// An explicit list of accounts.
        Limited = "limited",
        /// Mentioned accounts.
        Direct = "direct",
    }
}

impl Visibility {
    /// The visibility in the Mastodon API, which has fewer values.
    #[must_use]
    pub fn coarse(self) -> &'static str {
        match self {
            Self::Public | Self::PublicUnlisted | Self::Login => "public",
            Self::Unlisted => "unlisted",
            Self::Private | Self::Limited => "private",
            Self::Direct => "direct",
        }
    }

    /// True when it may appear on public timelines, for viewers who may see it.
    #[must_use]
    pub fn is_listed(self) -> bool {
        matches!(self, Self::Public | Self::PublicUnlisted | Self::Login)
    }

    /// True when not only followers and mentioned accounts may see it.
    #[must_use]
    pub fn is_wider_than_followers(self) -> bool {
        self.is_anonymous() || self == Self::Login
    }

    /// True when it is visible without signing in.
    #[must_use]
    pub fn is_anonymous(self) -> bool {
        matches!(self, Self::Public | Self::PublicUnlisted | Self::Unlisted)
    }
}

text_enum! {
    /// How the audience of a limited status was chosen.
    LimitedScope {
        /// Mutual followers of the author.
        Mutual = "mutual",
        Circle = "circle",
        /// The author alone.
        Personal = "personal",
        /// The audience of the status that it replies to.
        Reply = "reply",
    }
}

/// A row of the statuses table.
#[derive(Clone, Debug, crate::Row)]
#[row(table = "statuses", alias = "s")]
pub struct Status {
    pub id: StatusId,
    pub account_id: AccountId,
    pub uri: String,
    pub url: Option<String>,
    pub local: bool,
    /// It stays on this server: no other server receives it, and no account of one sees it.
    pub local_only: bool,
    /// Source text of a local author; empty for a remote status.
    pub text: String,
    /// HTML, rendered from `text` when it was written, or sanitised when it was received.
    pub content: String,
    /// `text` is Markdown.
    pub markdown: bool,
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
    /// Shown on public timelines: listed visibility, not a reblog, not a reply to someone else.
    pub listed: bool,
    pub has_media: bool,
    pub has_poll: bool,
    /// It refers to other statuses, or did before they were deleted.
    pub has_references: bool,
    /// The referenced status of its quote, whose state is in `quote_state`.
    pub quote_id: Option<StatusId>,
    /// `None`: it quotes nothing.
    pub quote_state: Option<QuoteState>,
    /// Who may interact with it.
    pub interaction_policy: InteractionPolicy,
    /// Why its author alone sees it; `None`: it needs no approval, or has it.
    pub approval: Option<Approval>,
    pub replies_count: i64,
    pub reblogs_count: i64,
    pub favourites_count: i64,
    /// Number of statuses visible to everyone that refer to it.
    pub referred_by_count: i64,
    /// Number of statuses visible to everyone that quote it with the author's approval.
    pub quotes_count: i64,
    pub created_at: Time,
    pub edited_at: Option<Time>,
    /// When it is deleted, as set in its text.
    pub expires_at: Option<Time>,
    /// Grows with every change that clients can see; part of the key of cached renderings.
    pub version: i64,
}

impl Status {
    /// An empty status of this server, visible only to its author. Base for struct update syntax; holds the default
    /// of every column.
    #[must_use]
    pub fn new(id: StatusId, account_id: AccountId, uri: String, created_at: Time) -> Self {
        Self {
            id,
            account_id,
            uri,
            url: None,
            local: true,
            local_only: false,
            text: String::new(),
            content: String::new(),
            markdown: false,
            spoiler_text: String::new(),
            sensitive: false,
            visibility: Visibility::Direct,
            limited_scope: None,
            searchability: Searchability::Direct,
            language: None,
            conversation_id: None,
            in_reply_to_id: None,
            in_reply_to_account_id: None,
            reblog_of_id: None,
            app_id: None,
            listed: false,
            has_media: false,
            has_poll: false,
            has_references: false,
            quote_id: None,
            quote_state: None,
            interaction_policy: InteractionPolicy::default(),
            approval: None,
            replies_count: 0,
            reblogs_count: 0,
            favourites_count: 0,
            referred_by_count: 0,
            quotes_count: 0,
            created_at,
            edited_at: None,
            expires_at: None,
            version: 0,
        }
    }

    /// The status that it quotes, as its author allowed.
    #[must_use]
    pub fn quoted(&self) -> Option<StatusId> {
        self.quote_id.filter(|_| self.quote_state == Some(QuoteState::Accepted))
    }

    /// True when everyone may read it, on this server and on others.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.visibility.is_anonymous() && !self.local_only
    }
}
