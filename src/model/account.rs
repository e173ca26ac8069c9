//! Accounts, local and remote.

use serde::{Deserialize, Serialize};

use super::{AccountId, Json, Time, text_enum};

text_enum! {
    /// What kind of actor stands behind an account (ActivityStreams 2.0 vocabulary, section 3.2).
    ActorType {
        /// A person.
        Person = "Person",
        /// A bot: shown as `bot: true`.
        Service = "Service",
        /// A group: shown as `group: true`.
        Group = "Group",
        /// The server itself, or another one.
        Application = "Application",
        /// An organisation.
        Organization = "Organization",
    }
}

text_enum! {
    /// Who may find a status by searching (kmyblue's `searchability`).
    Searchability {
        /// Anyone who sees it.
        Public = "public",
        /// As public, on this server and its friends.
        PublicUnlisted = "public_unlisted",
        /// Followers.
        Private = "private",
        /// Who reacted to it.
        Direct = "direct",
        /// The author alone.
        Limited = "limited",
    }
}

/// An account as its table has it. `domain` is `None` for a local one.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "the columns are named by the Account entity, whose document explains them")]
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
    /// HTML, made from `note` when it was written, or sanitised on arrival.
    pub note_html: String,
    pub fields: Json<Vec<Field>>,
    /// Storage key of the file; `None` shows the default image.
    pub avatar: Option<String>,
    pub avatar_static: Option<String>,
    pub avatar_remote_url: Option<String>,
    pub header: Option<String>,
    pub header_static: Option<String>,
    pub header_remote_url: Option<String>,
    pub locked: bool,
    pub discoverable: Option<bool>,
    pub indexable: bool,
    pub hide_collections: Option<bool>,
    pub searchability: Searchability,
    pub memorial: bool,
    pub suspended_at: Option<Time>,
    pub limited_at: Option<Time>,
    pub moved_to_account_id: Option<AccountId>,
    pub other_settings: Json<OtherSettings>,
    pub followers_count: i64,
    pub following_count: i64,
    pub statuses_count: i64,
    pub last_status_at: Option<Time>,
    pub created_at: Time,
    pub updated_at: Time,
    /// Grows with every change that a client can see; the key of cached renderings.
    pub version: i64,
}

impl Account {
    /// True for an account of this server.
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

    /// True when moderators suspended it.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        self.suspended_at.is_some()
    }

    /// True when moderators limited (silenced) it.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.limited_at.is_some()
    }
}

/// One row of a profile's table. `value` is plain text as written (empty for remote accounts), `html` what is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named by the Field entity")]
pub struct Field {
    pub name: String,
    pub value: String,
    pub html: String,
    /// Microseconds since the epoch; when the link was found to point back.
    #[serde(default)]
    pub verified_at: Option<i64>,
}

/// What an account declares about itself beyond the common fields (contract: `Account.other_settings`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "named by the contract")]
pub struct OtherSettings {
    pub noindex: bool,
    pub hide_statuses_count: bool,
    pub hide_following_count: bool,
    pub hide_followers_count: bool,
    pub translatable_private: bool,
    pub allow_quote: bool,
}

/// Which of the accounts that a search finds, and how many.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Only whom the viewer follows.
    pub following: bool,
    /// Only who follows the viewer.
    pub follower: bool,
    /// At most so many.
    pub limit: i64,
    /// How many to skip.
    pub offset: i64,
}
