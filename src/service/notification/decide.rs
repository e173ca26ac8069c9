//! Decides whether a notification is created, and whether it is filtered: from the facts about receiver and sender,
//! and the receiver's policy.
//!
//! Reached from [`notify`](super::notify()). Makes no query. Spec: docs/contract/rules.md#13-notifications.

use chrono::TimeDelta;

use model::notification::{NotificationKind, PolicyAction};
use model::{NotificationType, Permissions, Time};
use store::notification::make::{CandidateFacts, Since};

/// An account that has followed for less than this does not count as a follower yet.
const NEW_FOLLOWER: TimeDelta = TimeDelta::days(3);
/// How long an account counts as new.
const NEW_ACCOUNT: TimeDelta = TimeDelta::days(30);

/// The reference times of the policy.
pub(super) fn since(now: Time) -> Since {
    Since { now, follower: now - NEW_FOLLOWER, account: now - NEW_ACCOUNT }
}

/// The decision of the receiver about a notice. `filterable`: the policy applies to its type. `answer`: it is a private
/// mention in reply to one by the receiver.
pub(super) fn decide(kind: &NotificationKind, filterable: bool, facts: &CandidateFacts, answer: bool) -> PolicyAction {
    let mention = kind.core() == Some(NotificationType::Mention);
    if facts.domain_blocked && !facts.following {
        return PolicyAction::Drop;
    }
    // A mention by staff is delivered even to someone who blocks them.
    let from_staff = mention && facts.staff_permissions.is_some_and(|bits| Permissions(bits).moderates());
    if !from_staff && (facts.blocked || facts.muted || facts.thread_muted || (mention && facts.passing)) {
        return PolicyAction::Drop;
    }
    if !filterable || from_staff || facts.permitted { PolicyAction::Accept } else { by_policy(facts, answer) }
}

/// The strictest value of the policy that applies to this sender.
fn by_policy(facts: &CandidateFacts, answer: bool) -> PolicyAction {
    let policy = facts.policy.or_default();
    let stranger = !facts.following;
    let applying = [
        (policy.for_not_following, stranger),
        (policy.for_not_followers, !facts.follower),
        (policy.for_new_accounts, stranger && facts.sender_new),
        (policy.for_private_mentions, stranger && facts.private_mention && !answer),
        (policy.for_limited_accounts, stranger && facts.sender_limited),
    ];
    let applying = applying.into_iter().filter(|(_, applies)| *applies).map(|(action, _)| action);
    applying.max().unwrap_or(PolicyAction::Accept)
}

/// True when it matters whether a private mention is a reply.
pub(super) fn may_be_answer(facts: &CandidateFacts) -> bool {
    let policy = facts.policy.or_default();
    let strict = policy.for_private_mentions != PolicyAction::Accept;
    strict && facts.private_mention && !facts.following && !facts.permitted
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::notification::policy::PolicyRow;

    fn decide(kind: NotificationType, facts: &CandidateFacts) -> PolicyAction {
        super::decide(&kind.into(), kind.is_filterable(), facts, false)
    }

    /// About an established account without a relationship to the receiver.
    fn facts() -> CandidateFacts {
        CandidateFacts {
            number: 0,
            following: false,
            blocked: false,
            muted: false,
            domain_blocked: false,
            thread_muted: false,
            passing: false,
            sender_limited: false,
            follower: false,
            sender_new: false,
            private_mention: false,
            permitted: false,
            policy: PolicyRow::default(),
            staff_permissions: None,
            group_key: None,
            preferences: None,
        }
    }

    #[test]
    fn each_reason_suffices() {
        let kind = NotificationType::Favourite;
        assert_eq!(decide(kind, &facts()), PolicyAction::Accept);
        assert_eq!(decide(kind, &CandidateFacts { blocked: true, ..facts() }), PolicyAction::Drop);
        assert_eq!(decide(kind, &CandidateFacts { muted: true, ..facts() }), PolicyAction::Drop);
        assert_eq!(decide(kind, &CandidateFacts { thread_muted: true, ..facts() }), PolicyAction::Drop);
        assert_eq!(decide(kind, &CandidateFacts { domain_blocked: true, ..facts() }), PolicyAction::Drop);
        assert_eq!(
            decide(kind, &CandidateFacts { domain_blocked: true, following: true, ..facts() }),
            PolicyAction::Accept
        );
        assert_eq!(decide(kind, &CandidateFacts { passing: true, ..facts() }), PolicyAction::Accept);
        assert_eq!(decide(NotificationType::Mention, &CandidateFacts { passing: true, ..facts() }), PolicyAction::Drop);
    }

    #[test]
    fn mentions_by_limited_accounts_are_filtered_unless_followed() {
        let limited = CandidateFacts { sender_limited: true, ..facts() };
        assert_eq!(decide(NotificationType::Mention, &limited), PolicyAction::Filter);
        assert_eq!(decide(NotificationType::Update, &limited), PolicyAction::Accept);
        let permitted = CandidateFacts { permitted: true, ..limited.clone() };
        assert_eq!(decide(NotificationType::Mention, &permitted), PolicyAction::Accept);
        let followed = CandidateFacts { following: true, ..limited };
        assert_eq!(decide(NotificationType::Mention, &followed), PolicyAction::Accept);
    }

    #[test]
    fn moderator_above_recipient_passes_blocks_by_mentions() {
        let moderator = CandidateFacts { blocked: true, staff_permissions: Some(1308), ..facts() };
        assert_eq!(decide(NotificationType::Mention, &moderator), PolicyAction::Accept);
        assert_eq!(decide(NotificationType::Favourite, &moderator), PolicyAction::Drop);
        let inviter = CandidateFacts { staff_permissions: Some(Permissions::INVITE_USERS), ..moderator };
        assert_eq!(decide(NotificationType::Mention, &inviter), PolicyAction::Drop);
    }

    #[test]
    fn strictest_applicable_value_wins() {
        let policy = PolicyRow {
            for_not_following: Some(PolicyAction::Filter),
            for_new_accounts: Some(PolicyAction::Drop),
            ..PolicyRow::default()
        };
        let stranger = CandidateFacts { policy, ..facts() };
        let kind = NotificationType::Reblog;
        assert_eq!(decide(kind, &stranger), PolicyAction::Filter);
        assert_eq!(decide(kind, &CandidateFacts { sender_new: true, ..stranger.clone() }), PolicyAction::Drop);
        let followed = CandidateFacts { sender_new: true, following: true, ..stranger };
        assert_eq!(decide(kind, &followed), PolicyAction::Accept);
    }

    #[test]
    fn followers_of_a_few_days_do_not_count() {
        let policy = PolicyRow { for_not_followers: Some(PolicyAction::Filter), ..PolicyRow::default() };
        let new = CandidateFacts { policy, following: true, ..facts() };
        assert_eq!(decide(NotificationType::Follow, &new), PolicyAction::Filter);
        assert_eq!(decide(NotificationType::Follow, &CandidateFacts { follower: true, ..new }), PolicyAction::Accept);
    }

    #[test]
    fn private_mention_passes_as_a_reply() {
        let private = CandidateFacts { private_mention: true, ..facts() };
        assert!(may_be_answer(&private));
        assert_eq!(decide(NotificationType::Mention, &private), PolicyAction::Filter);
        let kind = NotificationType::Mention.into();
        assert_eq!(super::decide(&kind, true, &private, true), PolicyAction::Accept);
        assert!(!may_be_answer(&CandidateFacts { following: true, ..private }));
    }
}
