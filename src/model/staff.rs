//! Staff: the permissions of roles, and the member of staff or operator who acts.
//!
//! Spec: docs/contract/extensions.md#13-admin-api, docs/contract/rules.md#2-authentication

use super::AccountId;

/// The position of an account without a role.
pub const NO_POSITION: i64 = -1;

/// The id of the role that every user has.
pub const DEFAULT_ROLE: i64 = -99;

/// The id of the role of the owners of the server.
pub const OWNER_ROLE: i64 = 3;

/// The permission bits of a role (docs/contract/rules.md#2-authentication).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions(pub i64);

macro_rules! permissions {
    ($($constant:ident = $bit:literal),+ $(,)?) => {
        impl Permissions {
            $(
                #[doc = concat!("Bit ", stringify!($bit), ".")]
                pub const $constant: i64 = 1 << $bit;
            )+
            /// Every bit of the core.
            pub const ALL: i64 = $((1 << $bit))|+;
        }

        /// The bits with their constants, by bit.
        const BITS: &[(&str, i64)] = &[$((stringify!($constant), 1 << $bit)),+];
    };
}

permissions! {
    ADMINISTRATOR = 0,
    VIEW_DEVOPS = 1,
    VIEW_AUDIT_LOG = 2,
    VIEW_DASHBOARD = 3,
    MANAGE_REPORTS = 4,
    MANAGE_FEDERATION = 5,
    MANAGE_SETTINGS = 6,
    MANAGE_BLOCKS = 7,
    MANAGE_TAXONOMIES = 8,
    MANAGE_APPEALS = 9,
    MANAGE_USERS = 10,
    MANAGE_INVITES = 11,
    MANAGE_RULES = 12,
    MANAGE_ANNOUNCEMENTS = 13,
    MANAGE_CUSTOM_EMOJIS = 14,
    MANAGE_WEBHOOKS = 15,
    INVITE_USERS = 16,
    MANAGE_ROLES = 17,
    MANAGE_USER_ACCESS = 18,
    DELETE_USER_DATA = 19,
    VIEW_FEEDS = 20,
    MANAGE_PLUGINS = 28,
    MANAGE_SENSITIVE_WORDS = 29,
    MANAGE_NG_WORDS = 30,
}

impl Permissions {
    /// The bits that concern moderation: 2 to 5, 7 to 11, 18 and 19.
    const MODERATION: i64 = 0b1100_0000_1111_1011_1100;

    /// The bit of the permission with the name `name` in roles, such as `manage_users`; `None` for an unknown name.
    #[must_use]
    pub fn named(name: &str) -> Option<i64> {
        let known = BITS.iter().find(|(constant, _)| constant.to_ascii_lowercase() == name);
        known.map(|(_, bit)| *bit)
    }

    /// The names of the permissions among `bits`, by bit; unknown bits have none.
    #[must_use]
    pub fn names(bits: i64) -> Vec<String> {
        let set = BITS.iter().filter(|(_, bit)| bits & bit != 0);
        set.map(|(constant, _)| constant.to_ascii_lowercase()).collect()
    }

    /// The bits of a role combined with the bits of the default role; an administrator has all bits.
    #[must_use]
    pub fn effective(role: i64, everyone: i64) -> Self {
        let bits = role | everyone;
        Self(if bits & Self::ADMINISTRATOR == 0 { bits } else { Self::ALL })
    }

    /// True when the set includes any moderation permission.
    #[must_use]
    pub fn moderates(self) -> bool {
        self.0 & (Self::MODERATION | Self::ADMINISTRATOR) != 0
    }

    /// True when the set includes `bit`.
    #[must_use]
    pub fn has(self, bit: i64) -> bool {
        self.0 & bit == bit
    }

    /// True when the set includes one of `bits`.
    #[must_use]
    pub fn has_any(self, bits: i64) -> bool {
        self.0 & bits != 0
    }
}

/// Who acts for the server: a member of staff, or an operator at the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staff {
    /// `None` for an operator.
    pub account: Option<AccountId>,
    /// The user name, or `operator`: what the audit log shows when the account no longer exists.
    pub name: String,
    /// The position of the role.
    pub position: i64,
    pub permissions: Permissions,
}

impl Staff {
    /// An operator: whoever can run commands on the machine of the server. Has every permission and outranks every
    /// role.
    #[must_use]
    pub fn operator() -> Self {
        Self {
            account: None,
            name: "operator".to_owned(),
            position: i64::MAX,
            permissions: Permissions(Permissions::ALL),
        }
    }

    /// True when this is an operator, not a person of the server.
    #[must_use]
    pub fn is_operator(&self) -> bool {
        self.account.is_none()
    }

    /// True when the role is strictly above the position `position`: then this may act on its holder.
    #[must_use]
    pub fn outranks(&self, position: i64) -> bool {
        self.position > position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permission_is_found_by_its_name() {
        assert_eq!(Permissions::named("manage_users"), Some(1024));
        assert_eq!(Permissions::named("manage_ng_words"), Some(1 << 30));
        assert_eq!(Permissions::named("MANAGE_USERS"), None);
        assert_eq!(
            Permissions::names(1308),
            ["view_audit_log", "view_dashboard", "manage_reports", "manage_taxonomies", "manage_users"]
        );
    }

    #[test]
    fn equal_position_does_not_outrank() {
        let staff = Staff { account: Some(AccountId::from(1)), position: 10, ..Staff::operator() };
        assert!(staff.outranks(NO_POSITION));
        assert!(!staff.outranks(10));
        assert!(Staff::operator().outranks(1000));
    }
}
