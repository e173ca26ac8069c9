//! Accounts, local and remote.

use serde::{Deserialize, Serialize};

use super::{AccountId, Json, Time, text_enum};

text_enum! {
    /// The actor type of an account (ActivityStreams 2.0 vocabulary, section 3.2).
    ActorType {
        Person = "Person",
        /// A bot: shown as `bot: true`.
        Service = "Service",
        /// A group: shown as `group: true`.
        Group = "Group",
        /// This server or another server.
        Application = "Application",
        Organization = "Organization",
    }
}

text_enum! {
    /// Who may find a status by searching (kmyblue's `searchability`).
    Searchability {
        /// Anyone who may see it.
        Public = "public",
        /// Like public, but only on this server and its friend servers.
        PublicUnlisted = "public_unlisted",
        /// Followers.
        Private = "private",
        /// Accounts that reacted to it.
        Direct = "direct",
        /// The author alone.
        Limited = "limited",
    }
}

/// A row of the accounts table. `domain` is `None` for a local account.
#[derive(Clone, Debug, crate::Row)]
#[row(table = "accounts", alias = "a")]
pub struct Account {
    pub id: AccountId,
    pub username: String,
    pub domain: Option<String>,
    pub uri: String,
    pub url: Option<String>,
    pub actor_type: ActorType,
    pub display_name: String,
    /// Plain text as written; empty for a remote account.
    pub note: String,
    /// HTML, rendered from `note` when it was written, or sanitised when it was received.
    pub note_html: String,
    pub fields: Json<Vec<Field>>,
    /// Storage key of the file; `None` means the default image.
    pub avatar: Option<String>,
    pub avatar_static: Option<String>,
    pub avatar_remote_url: Option<String>,
    pub header: Option<String>,
    pub header_static: Option<String>,
    pub header_remote_url: Option<String>,
    /// Alternative text of the avatar; blank when there is none.
    pub avatar_description: String,
    /// Alternative text of the header; blank when there is none.
    pub header_description: String,
    /// The profile has a tab with media.
    pub show_media: bool,
    /// That tab includes the media of replies.
    pub show_media_replies: bool,
    /// The profile has a tab with featured accounts and hashtags.
    pub show_featured: bool,
    pub locked: bool,
    pub discoverable: Option<bool>,
    pub indexable: bool,
    pub hide_collections: Option<bool>,
    pub searchability: Searchability,
    pub memorial: bool,
    pub suspended_at: Option<Time>,
    pub limited_at: Option<Time>,
    /// When moderators marked all its media as sensitive.
    pub sensitized_at: Option<Time>,
    pub moved_to_account_id: Option<AccountId>,
    pub other_settings: Json<OtherSettings>,
    /// Domains of sites that may name it as the author of their pages, in lower-case ASCII; each includes its
    /// subdomains.
    pub attribution_domains: Json<Vec<String>>,
    pub followers_count: i64,
    pub following_count: i64,
    pub statuses_count: i64,
    pub last_status_at: Option<Time>,
    pub created_at: Time,
    pub updated_at: Time,
    /// Grows with every change that clients can see; part of the key of cached renderings.
    pub version: i64,
}

impl Account {
    /// An account of type `Person` without a profile, local until its domain is set. Base for struct update syntax;
    /// holds the default of every column.
    #[must_use]
    pub fn new(id: AccountId, username: String, uri: String, created_at: Time) -> Self {
        Self {
            id,
            username,
            domain: None,
            uri,
            url: None,
            actor_type: ActorType::Person,
            display_name: String::new(),
            note: String::new(),
            note_html: String::new(),
            fields: Json(Vec::new()),
            avatar: None,
            avatar_static: None,
            avatar_remote_url: None,
            header: None,
            header_static: None,
            header_remote_url: None,
            avatar_description: String::new(),
            header_description: String::new(),
            show_media: true,
            show_media_replies: true,
            show_featured: true,
            locked: false,
            discoverable: None,
            indexable: false,
            hide_collections: None,
            searchability: Searchability::Direct,
            memorial: false,
            suspended_at: None,
            limited_at: None,
            sensitized_at: None,
            moved_to_account_id: None,
            other_settings: Json(OtherSettings::default()),
            attribution_domains: Json(Vec::new()),
            followers_count: 0,
            following_count: 0,
            statuses_count: 0,
            last_status_at: None,
            created_at,
            updated_at: created_at,
            version: 0,
        }
    }

    #[must_use]
    pub fn is_local(&self) -> bool {
        self.domain.is_none()
    }

    /// `username` for a local account, `username@domain` for a remote one.
    #[must_use]
    pub fn acct(&self) -> String {
        match &self.domain {
            None => self.username.clone(),
            Some(domain) => format!("{}@{domain}", self.username),
        }
    }

    /// True when moderators suspended the account.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        self.suspended_at.is_some()
    }

    /// True when moderators mark all media of the account as sensitive.
    #[must_use]
    pub fn is_sensitized(&self) -> bool {
        self.sensitized_at.is_some()
    }

    /// True when moderators limited (silenced) the account.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.limited_at.is_some()
    }
}

/// True when one of these `attribution_domains` allows a site at `host` to name the account as an author.
#[must_use]
pub fn is_author_at(attribution_domains: &[String], host: &str) -> bool {
    let is_at =
        |domain: &String| host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    attribution_domains.iter().any(is_at)
}

/// A profile field. `value` is plain text as written (empty for remote accounts), `html` is the rendered form shown
/// by clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    pub value: String,
    pub html: String,
    /// When the linked page was verified to link back, in microseconds since the epoch.
    #[serde(default)]
    pub verified_at: Option<i64>,
}

/// Settings that an account publishes beyond the common fields (contract: `Account.other_settings`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherSettings {
    pub noindex: bool,
    pub hide_statuses_count: bool,
    pub hide_following_count: bool,
    pub hide_followers_count: bool,
    pub translatable_private: bool,
    pub allow_quote: bool,
}

impl Default for OtherSettings {
    /// The settings of an account that declares none: it may be quoted.
    fn default() -> Self {
        Self {
            noindex: false,
            hide_statuses_count: false,
            hide_following_count: false,
            hide_followers_count: false,
            translatable_private: false,
            allow_quote: true,
        }
    }
}

/// Filters and pagination of an account search.
#[derive(Clone, Copy, Debug)]
pub struct AccountSearch {
    /// Only accounts that the viewer follows.
    pub following: bool,
    /// Only accounts that follow the viewer.
    pub follower: bool,
    pub limit: i64,
    /// Number of accounts to skip.
    pub offset: i64,
}
