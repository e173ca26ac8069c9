//! Interactions with a status, who may do each of them, and the decisions of its author.
//!
//! A policy states for each kind of interaction who may do it without and with the approval of the author. The author may
//! do everything. Who belongs to a group is decided in `service::interaction_policy`.
//!
//! Spec: docs/contract/rules.md#10-statuses, docs/contract/federation.md#15-who-may-interact

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::id::integer_column;
use super::text_enum;

text_enum! {
    /// What others do with a status.
    InteractionKind {
        Quote = "quote",
        Reply = "reply",
        Favourite = "favourite",
        Reblog = "reblog",
    }
}

text_enum! {
    /// The decision about an interaction.
    RequestState {
        /// The author has not decided.
        Pending = "pending",
        Accepted = "accepted",
        Rejected = "rejected",
        /// It was accepted before.
        Revoked = "revoked",
    }
}

text_enum! {
    /// Who may quote a status without approval. Its author always may.
    QuotePolicy {
        /// Everyone.
        Public = "public",
        /// Followers of the author.
        Followers = "followers",
        /// The author alone.
        Nobody = "nobody",
    }
}

text_enum! {
    /// The state of the quote of a status.
    QuoteState {
        /// The author of the quoted status has not decided.
        Pending = "pending",
        Accepted = "accepted",
        Rejected = "rejected",
        /// It was accepted before.
        Revoked = "revoked",
        /// The quoted status is gone.
        Deleted = "deleted",
    }
}

text_enum! {
    /// Why a reply or a reblog is shown to its author alone.
    Approval {
        /// The author of the other status has not decided; that author sees it as well.
        Pending = "pending",
        Rejected = "rejected",
        /// It was taken out of the thread.
        Removed = "removed",
    }
}

text_enum! {
    /// The accounts that a policy names.
    Group {
        /// Everyone who may see the status.
        Public = "public",
        /// Followers of the author.
        Followers = "followers",
        /// Accounts that the author follows.
        Following = "following",
        /// Accounts that the status mentions.
        Mentioned = "mentioned",
    }
}

/// A set of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Groups(u8);

impl Groups {
    /// Accounts named one by one by another server, which are not kept.
    const OTHERS: u8 = 1 << 4;

    /// The set of `groups`.
    #[must_use]
    pub fn of(groups: &[Group]) -> Self {
        groups.iter().fold(Self::default(), |all, group| all.with(*group))
    }

    /// With `group`.
    #[must_use]
    pub fn with(self, group: Group) -> Self {
        Self(self.0 | 1 << group as u8)
    }

    /// With accounts that are not kept one by one.
    #[must_use]
    pub fn and_others(self) -> Self {
        Self(self.0 | Self::OTHERS)
    }

    #[must_use]
    pub fn contains(self, group: Group) -> bool {
        self.0 & (1 << group as u8) != 0
    }

    /// True when it contains accounts that are not kept one by one.
    #[must_use]
    pub fn has_others(self) -> bool {
        self.0 & Self::OTHERS != 0
    }

    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its groups, in the order of their declaration.
    pub fn iter(self) -> impl Iterator<Item = Group> {
        Group::ALL.iter().copied().filter(move |group| self.contains(*group))
    }
}

impl Serialize for Groups {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Groups {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(&Vec::<Group>::deserialize(deserializer)?))
    }
}

/// Who may do one kind of interaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Rule {
    /// Without approval.
    pub always: Groups,
    /// With approval.
    pub with_approval: Groups,
}

/// The rules that a person chose, for one status or as a preference; the ones that are left out are the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyRules {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_quote: Option<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_reply: Option<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_favourite: Option<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_reblog: Option<Rule>,
}

impl PolicyRules {
    /// The rule for each kind that has one.
    pub fn iter(self) -> impl Iterator<Item = (InteractionKind, Rule)> {
        let rules = [
            (InteractionKind::Quote, self.can_quote),
            (InteractionKind::Reply, self.can_reply),
            (InteractionKind::Favourite, self.can_favourite),
            (InteractionKind::Reblog, self.can_reblog),
        ];
        rules.into_iter().filter_map(|(kind, rule)| Some((kind, rule?)))
    }
}

impl Rule {
    /// Everyone, without approval.
    #[must_use]
    pub fn everyone() -> Self {
        Self { always: Groups::of(&[Group::Public]), with_approval: Groups::default() }
    }

    /// The permission of an account with this standing.
    #[must_use]
    pub fn permission(self, standing: Standing) -> Permission {
        if standing.author || standing.is_among(self.always) {
            Permission::Automatic
        } else if standing.is_among(self.with_approval) {
            Permission::Manual
        } else if self.always.has_others() || self.with_approval.has_others() {
            Permission::Unknown
        } else {
            Permission::Denied
        }
    }
}

impl From<QuotePolicy> for Rule {
    fn from(policy: QuotePolicy) -> Self {
        let always = match policy {
            QuotePolicy::Public => Groups::of(&[Group::Public]),
            QuotePolicy::Followers => Groups::of(&[Group::Followers]),
            QuotePolicy::Nobody => Groups::default(),
        };
        Self { always, with_approval: Groups::default() }
    }
}

/// The standing of an account towards a status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// It is the author.
    pub author: bool,
    /// It follows the author.
    pub follower: bool,
    /// The author follows it.
    pub followed: bool,
    /// The status mentions it.
    pub mentioned: bool,
}

impl Standing {
    fn is_among(self, groups: Groups) -> bool {
        groups.contains(Group::Public)
            || (self.follower && groups.contains(Group::Followers))
            || (self.followed && groups.contains(Group::Following))
            || (self.mentioned && groups.contains(Group::Mentioned))
    }
}

text_enum! {
    /// Whether an account may do something with a status: <https://docs.joinmastodon.org/entities/QuoteApproval/>.
    Permission {
        Denied = "denied",
        /// The policy names accounts one by one: the server of the author decides.
        Unknown = "unknown",
        /// After approval by the author.
        Manual = "manual",
        Automatic = "automatic",
    }
}

/// Who may interact with a status: a [`Rule`] for each kind that its author states, in 12 bits each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InteractionPolicy(i64);

integer_column!(InteractionPolicy);

/// Bits of a rule.
const BITS: u32 = 12;
/// Bits of a set of groups.
const GROUP_BITS: u32 = 5;
const GROUP_MASK: i64 = (1 << GROUP_BITS) - 1;
/// The rule is stated.
const STATED: i64 = 1 << (2 * GROUP_BITS);

impl InteractionPolicy {
    /// The rule that the author states for `kind`.
    #[must_use]
    pub fn stated(self, kind: InteractionKind) -> Option<Rule> {
        let bits = self.0 >> (BITS * kind as u32);
        let groups = |bits: i64| Groups(u8::try_from(bits & GROUP_MASK).unwrap_or_default());
        (bits & STATED != 0).then(|| Rule { always: groups(bits), with_approval: groups(bits >> GROUP_BITS) })
    }

    /// The rule for `kind`: everyone may do what the author states nothing about.
    #[must_use]
    pub fn rule(self, kind: InteractionKind) -> Rule {
        self.stated(kind).unwrap_or_else(Rule::everyone)
    }

    /// With `rules` in place of its own.
    #[must_use]
    pub fn with_rules(self, rules: PolicyRules) -> Self {
        rules.iter().fold(self, |policy, (kind, rule)| policy.with(kind, rule))
    }

    /// With a stated rule for `kind`.
    #[must_use]
    pub fn with(self, kind: InteractionKind, rule: Rule) -> Self {
        let shift = BITS * kind as u32;
        let bits = i64::from(rule.always.0) | i64::from(rule.with_approval.0) << GROUP_BITS | STATED;
        Self(self.0 & !(((1 << BITS) - 1) << shift) | bits << shift)
    }

    /// The rule for quotes of a status that anyone may read (`open`): others quote nothing else.
    #[must_use]
    pub fn quotes(self, open: bool) -> Rule {
        if open { self.rule(InteractionKind::Quote) } else { Rule::default() }
    }

    /// True when everyone may do everything without approval.
    #[must_use]
    pub fn is_open(self) -> bool {
        let open = |kind: &InteractionKind| self.rule(*kind).always.contains(Group::Public);
        self.0 == 0 || InteractionKind::ALL.iter().all(open)
    }

    /// True when a rule names `group`.
    #[must_use]
    pub fn names(self, group: Group) -> bool {
        let named = |rule: Rule| rule.always.contains(group) || rule.with_approval.contains(group);
        self.0 != 0 && InteractionKind::ALL.iter().any(|kind| named(self.rule(*kind)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_kept_beside_each_other() {
        let followers = Rule { always: Groups::of(&[Group::Followers]), with_approval: Groups::of(&[Group::Public]) };
        let nobody = Rule::default();
        let policy = InteractionPolicy::default()
            .with(InteractionKind::Reblog, nobody)
            .with(InteractionKind::Quote, Rule::everyone())
            .with(InteractionKind::Quote, followers);
        assert_eq!(policy.stated(InteractionKind::Quote), Some(followers));
        assert_eq!(policy.stated(InteractionKind::Reblog), Some(nobody));
        assert_eq!(policy.stated(InteractionKind::Reply), None);
        assert_eq!(policy.rule(InteractionKind::Reply), Rule::everyone());
        // As the migration of older statuses writes them.
        let of = |policy: QuotePolicy| InteractionPolicy::default().with(InteractionKind::Quote, policy.into()).0;
        assert_eq!((of(QuotePolicy::Followers), of(QuotePolicy::Nobody)), (1026, 1024));
    }

    #[test]
    fn permission_is_the_widest_that_fits() {
        let rule = Rule {
            always: Groups::of(&[Group::Followers]),
            with_approval: Groups::of(&[Group::Following, Group::Mentioned]),
        };
        let stranger = Standing::default();
        assert_eq!(rule.permission(stranger), Permission::Denied);
        assert_eq!(rule.permission(Standing { mentioned: true, ..stranger }), Permission::Manual);
        assert_eq!(rule.permission(Standing { followed: true, ..stranger }), Permission::Manual);
        assert_eq!(rule.permission(Standing { followed: true, follower: true, ..stranger }), Permission::Automatic);
        assert_eq!(rule.permission(Standing { author: true, ..stranger }), Permission::Automatic);
        let others = Rule { always: rule.always.and_others(), ..Rule::default() };
        assert_eq!(others.permission(stranger), Permission::Unknown);
    }
}
