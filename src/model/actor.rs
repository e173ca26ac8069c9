//! The actor of a request: the account, user and token behind it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::account::Searchability;
use super::interaction::{InteractionKind, InteractionPolicy, PolicyRules};
use super::notification::NotificationType;
use super::staff::{NO_POSITION, Permissions, Staff};
use super::status::{QuotePolicy, Visibility};
use super::{Account, AccountId, AppId, Json, Scopes, Time, TokenId};

/// The signed-in account: the columns of account, user and token that authorisation needs, read in one row.
#[derive(Clone, Debug)]
pub struct Actor {
    pub id: AccountId,
    /// The account's version: grows with its public profile, its relationships and its settings.
    pub version: i64,
    /// Incremented whenever the account's follows, blocks or mutes change, or another account blocks or unblocks it.
    pub relations_version: i64,
    /// Its absolute value increases whenever the account's filters change; 0 or negative while there are none.
    pub filters_version: i64,
    pub username: String,
    /// The id of its ActivityPub actor.
    pub uri: String,
    /// An account of another server.
    pub remote: bool,
    pub locked: bool,
    pub limited: bool,
    pub permissions: Permissions,
    /// The position of its role; -1 without one. A higher role may act on lower ones.
    pub role_position: i64,
    pub locale: Option<String>,
    pub preferences: Preferences,
    pub last_active_at: Option<Time>,
    /// False while the home feed must be rebuilt, after weeks of absence.
    pub feed_live: bool,
    /// The token of an API request; `None` in a browser session.
    pub token: Option<TokenId>,
    pub app: Option<AppId>,
    pub scopes: Scopes,
}

impl Actor {
    /// `account` of another server as the actor of what its server says that it did: without permissions, token or home
    /// feed. `relations_version`: as in its row.
    #[must_use]
    pub fn remote(account: &Account, relations_version: i64) -> Self {
        Self {
            id: account.id,
            version: account.version,
            relations_version,
            filters_version: 0,
            username: account.username.clone(),
            uri: account.uri.clone(),
            remote: true,
            locked: account.locked,
            limited: account.is_limited(),
            permissions: Permissions::default(),
            role_position: NO_POSITION,
            locale: None,
            preferences: Preferences::default(),
            last_active_at: None,
            feed_live: false,
            token: None,
            app: None,
            scopes: Scopes::default(),
        }
    }
}

impl From<&Actor> for Staff {
    fn from(actor: &Actor) -> Self {
        Self {
            account: Some(actor.id),
            name: actor.username.clone(),
            position: actor.role_position,
            permissions: actor.permissions,
        }
    }
}

/// Why an existing account cannot be used (docs/contract/rules.md#2-authentication).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    Suspended,
    Disabled,
    Unconfirmed,
    Pending,
    Memorial,
    Moved,
}

/// The attributes that decide whether an account may be used.
#[derive(Clone, Copy, Debug)]
pub struct Membership {
    pub suspended: bool,
    pub confirmed: bool,
    pub approved: bool,
    pub disabled: bool,
    pub memorial: bool,
    pub moved: bool,
}

impl Membership {
    /// The predicate "may use this server" (docs/contract/rules.md#2-authentication): `None` when the account may,
    /// otherwise the first reason in the order of the checks. Used for tokens, browser sessions and files alike.
    #[must_use]
    pub fn unusable(self) -> Option<Unusable> {
        let checks = [
            (self.suspended, Unusable::Suspended),
            (!self.confirmed, Unusable::Unconfirmed),
            (!self.approved, Unusable::Pending),
            (self.disabled, Unusable::Disabled),
            (self.memorial, Unusable::Memorial),
            (self.moved, Unusable::Moved),
        ];
        checks.into_iter().find(|(applies, _)| *applies).map(|(_, why)| why)
    }
}

impl Unusable {
    /// Why the account of `user` cannot be used; `None` when it can.
    #[must_use]
    pub fn of(account: &Account, user: &User) -> Option<Self> {
        let membership = Membership {
            suspended: account.is_suspended(),
            confirmed: user.confirmed_at.is_some(),
            approved: user.approved,
            disabled: user.disabled,
            memorial: account.memorial,
            moved: account.moved_to_account_id.is_some(),
        };
        membership.unusable()
    }
}

/// A user's preferences. Stored as one document, so that a new preference needs no migration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// `None`: private for a locked account, otherwise public.
    pub default_visibility: Option<Visibility>,
    /// Values of `visibility`, including values of plugins, that this person never wants to post with.
    pub disabled_visibilities: Vec<String>,
    pub default_sensitive: bool,
    pub default_language: Option<String>,
    /// `None`: direct.
    pub default_searchability: Option<Searchability>,
    /// Who may quote new statuses.
    pub default_quote_policy: QuotePolicy,
    /// Who may interact with new statuses, by their visibility; the rule for quotes goes before `default_quote_policy`.
    pub interaction_policies: BTreeMap<Visibility, PolicyRules>,
    /// Clients may keep the visibility of the last status for the next one.
    pub keep_visibility: bool,
    pub show_application: bool,
    /// `default`, `show_all` or `hide_all`.
    pub expand_media: String,
    pub expand_spoilers: bool,
    pub autoplay_gifs: bool,
    /// Languages to show on public timelines; empty: by locale.
    pub chosen_languages: Vec<String>,
    /// The types of notifications sent to this person by mail: a subset of [`NotificationType::MAILED`].
    pub mail_notifications: Vec<NotificationType>,
    /// The notifications of staff that this person switched off.
    pub muted_staff_notifications: Vec<NotificationType>,
}

impl Preferences {
    /// The visibility of new statuses: the preference, otherwise private for a locked account and public for others.
    #[must_use]
    pub fn visibility(&self, locked: bool) -> Visibility {
        self.default_visibility.unwrap_or(if locked { Visibility::Private } else { Visibility::Public })
    }

    /// Who may interact with a new status of this visibility.
    #[must_use]
    pub fn policy(&self, visibility: Visibility) -> InteractionPolicy {
        let rules = self.interaction_policies.get(&visibility).copied().unwrap_or_default();
        InteractionPolicy::default().with(InteractionKind::Quote, self.default_quote_policy.into()).with_rules(rules)
    }

    #[must_use]
    pub fn searchability(&self) -> Searchability {
        self.default_searchability.unwrap_or(Searchability::Direct)
    }
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            default_visibility: None,
            disabled_visibilities: Vec::new(),
            default_sensitive: false,
            default_language: None,
            default_searchability: None,
            default_quote_policy: QuotePolicy::Public,
            interaction_policies: BTreeMap::new(),
            keep_visibility: false,
            show_application: true,
            expand_media: "default".to_owned(),
            expand_spoilers: false,
            autoplay_gifs: true,
            chosen_languages: Vec::new(),
            mail_notifications: NotificationType::MAILED_BY_DEFAULT.to_vec(),
            muted_staff_notifications: Vec::new(),
        }
    }
}

/// The private data of a local account: sign-in and preferences.
#[derive(Clone, Debug, crate::Row)]
#[row(table = "users", alias = "u")]
pub struct User {
    pub account_id: AccountId,
    pub email: String,
    pub unconfirmed_email: Option<String>,
    pub password_hash: Option<String>,
    pub confirmed_at: Option<Time>,
    pub approved: bool,
    pub disabled: bool,
    pub role_id: Option<i64>,
    pub locale: Option<String>,
    pub time_zone: Option<String>,
    pub sign_up_app_id: Option<AppId>,
    pub sign_up_reason: Option<String>,
    /// The account that invited the user.
    pub invited_by_account_id: Option<AccountId>,
    pub preferences: Json<Preferences>,
    pub last_active_at: Option<Time>,
    pub created_at: Time,
}

impl User {
    /// A user with an unconfirmed address and without approval, with default preferences. Base for struct update
    /// syntax; holds the default of every column.
    #[must_use]
    pub fn new(account_id: AccountId, email: String, created_at: Time) -> Self {
        Self {
            account_id,
            email,
            unconfirmed_email: None,
            password_hash: None,
            confirmed_at: None,
            approved: false,
            disabled: false,
            role_id: None,
            locale: None,
            time_zone: None,
            sign_up_app_id: None,
            sign_up_reason: None,
            invited_by_account_id: None,
            preferences: Json(Preferences::default()),
            last_active_at: None,
            created_at,
        }
    }
}
