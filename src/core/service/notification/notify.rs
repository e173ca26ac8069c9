//! Creating notifications: the single place that decides who is notified.
//!
//! A use case passes all its notices in one batch, in its own transaction: one statement reads the facts, [`decide`]
//! decides, one statement inserts the rows. Notices that plugins are to judge are left to [`judge`](super::judge): no
//! plugin is called while a transaction is open.

use std::collections::HashMap;

use crate::Cx;
use crate::change::{self, Change};
use crate::error::Result;
use crate::extension::NotificationTraits;
use model::notification::NotificationKind;
use model::{AccountId, NotificationId, NotificationType, Permissions, StatusId, Time};
use store::Tx;
use store::notification::make::{self, Candidate, CandidateFacts, NewNotification};

/// A notification group collects what happens within so many hours of its first notification.
const GROUP_HOURS: i64 = 12;
const HOUR_SECONDS: i64 = 3600;

/// A possible notification.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Who would be notified; ignored unless a local person.
    pub receiver: AccountId,
    /// The account that caused it.
    pub from: AccountId,
    /// The notification type.
    pub kind: NotificationKind,
    /// The id of the row it is about: the favourite, follow, follow request, mention or reblog; the status itself for
    /// `status`, `update` and `poll`. Works as an idempotency key, and [`retract`](super::retract) finds notifications
    /// by it.
    pub activity: i64,
    /// The status shown; for a reblog the original.
    pub status: Option<StatusId>,
}

/// The decision about a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    /// Created.
    Accept,
    /// Created as filtered: listed only on request.
    Filter,
    /// Not created.
    Drop,
}

/// Creates a notification for every notice its receiver accepts, or stores it as pending for the judgement of plugins:
/// at most three statements for all of them, five with pending ones. Returns how many were created that are neither
/// filtered nor silent.
pub async fn notify(cx: &Cx, tx: &mut Tx, notices: &[Notice]) -> Result<usize> {
    let proper = proper(cx, tx, notices).await?;
    let (judged, new): (Vec<_>, Vec<_>) =
        proper.into_iter().partition(|(_, row)| cx.extensions().judges(&row.kind, cx.origin()));
    super::judge::put_off(cx, tx, judged.into_iter().map(|(place, _)| &notices[place]).collect()).await?;
    insert(cx, tx, new.into_iter().map(|(_, row)| row).collect()).await
}

/// The indexes of the accepted notices, each with the row to insert.
pub(super) async fn proper(cx: &Cx, tx: &mut Tx, notices: &[Notice]) -> Result<Vec<(usize, NewNotification)>> {
    let now = cx.clock.now();
    let asked = |(number, notice)| question(number, notice, traits(cx, notice)?, now);
    let questions: Vec<Candidate> = notices.iter().enumerate().filter_map(asked).collect();
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let facts = make::facts(&mut *tx, questions, now).await?;
    let proper = facts.iter().filter_map(|facts| {
        let place = usize::try_from(facts.number).ok()?;
        Some((place, row(cx, notices.get(place)?, facts, now)?))
    });
    Ok(proper.collect())
}

/// The properties of a notice's type; `None` for one that nobody declares (any more).
fn traits(cx: &Cx, notice: &Notice) -> Option<NotificationTraits> {
    match &notice.kind {
        NotificationKind::Core(kind) => Some(NotificationTraits {
            groupable: matches!(
                kind,
                NotificationType::Favourite | NotificationType::Reblog | NotificationType::Follow
            ),
            filterable: kind.is_filterable(),
            from_self: kind.may_come_from_self(),
        }),
        NotificationKind::Plugin(name) => cx.extensions().notification_type(name),
    }
}

/// The facts to query for a notice; `None` when receiver and cause are the same account.
fn question(number: usize, notice: &Notice, traits: NotificationTraits, now: Time) -> Option<Candidate> {
    if notice.receiver == notice.from && !traits.from_self {
        return None;
    }
    let hour = now.timestamp() / HOUR_SECONDS;
    let key = |hour| group(notice, traits).map(|group| format!("{group}-{hour}"));
    Some(Candidate {
        number,
        kind: notice.kind.clone(),
        receiver: notice.receiver,
        sender: notice.from,
        status: notice.status,
        first_key: key(hour - GROUP_HOURS + 1),
        last_key: key(hour),
    })
}

/// The group key of a notice without the hour (contract rules, section 13); `None` when it is never grouped.
fn group(notice: &Notice, traits: NotificationTraits) -> Option<String> {
    if !traits.groupable {
        return None;
    }
    Some(match notice.status {
        Some(status) => format!("{}-{status}", notice.kind),
        None => notice.kind.to_string(),
    })
}

fn row(cx: &Cx, notice: &Notice, facts: &CandidateFacts, now: Time) -> Option<NewNotification> {
    let traits = traits(cx, notice)?;
    let filtered = match decide(&notice.kind, traits.filterable, facts) {
        Decision::Drop => return None,
        Decision::Filter => true,
        Decision::Accept => false,
    };
    let new_group = || group(notice, traits).map(|group| format!("{group}-{}", now.timestamp() / HOUR_SECONDS));
    let group_key = if filtered { None } else { facts.group_key.clone().or_else(new_group) };
    Some(NewNotification {
        id: cx.ids.next(),
        receiver: notice.receiver,
        sender: notice.from,
        kind: notice.kind.clone(),
        activity: notice.activity,
        status: notice.status,
        group_key,
        filtered,
        silent: false,
    })
}

/// Whether the receiver accepts a notice (contract rules, section 13). Notification policies arrive with the routes
/// that set them; until then everybody has the defaults for limited accounts and accepts everything else.
fn decide(kind: &NotificationKind, filterable: bool, facts: &CandidateFacts) -> Decision {
    let mention = kind.core() == Some(NotificationType::Mention);
    if facts.domain_blocked && !facts.following {
        return Decision::Drop;
    }
    // A mention by staff is delivered even to someone who blocks them.
    let from_staff = mention && facts.staff_permissions.is_some_and(|bits| Permissions(bits).moderates());
    if !from_staff && (facts.blocked || facts.muted || facts.thread_muted || (mention && facts.passing)) {
        return Decision::Drop;
    }
    if filterable && facts.sender_limited && !facts.following && !from_staff {
        return Decision::Filter;
    }
    Decision::Accept
}

/// Inserts these notifications, except one about the same activity for the same receiver.
pub(super) async fn insert(cx: &Cx, tx: &mut Tx, new: Vec<NewNotification>) -> Result<usize> {
    if new.is_empty() {
        return Ok(0);
    }
    let replacing = |row: &&NewNotification| row.kind.core().is_some_and(NotificationType::replaces);
    if let Some(kind) = new.iter().find(replacing).and_then(|row| row.kind.core()) {
        let older = new.iter().filter(replacing).map(|row| (row.receiver, row.activity)).collect();
        make::delete_older(tx, kind, older).await?;
    }
    let told: HashMap<NotificationId, AccountId> =
        new.iter().filter(|row| !row.filtered && !row.silent).map(|row| (row.id, row.receiver)).collect();
    let inserted = make::insert(tx, new, cx.clock.now()).await?;
    let told =
        inserted.into_iter().filter_map(|id| Some(Change::Notified { receiver: *told.get(&id)?, notification: id }));
    let changes: Vec<Change> = told.collect();
    let count = changes.len();
    change::record_all(cx, tx, &changes).await?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(kind: NotificationType, facts: &CandidateFacts) -> Decision {
        super::decide(&kind.into(), kind.is_filterable(), facts)
    }

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
            staff_permissions: None,
            group_key: None,
        }
    }

    #[test]
    fn each_reason_suffices() {
        let kind = NotificationType::Favourite;
        assert_eq!(decide(kind, &facts()), Decision::Accept);
        assert_eq!(decide(kind, &CandidateFacts { blocked: true, ..facts() }), Decision::Drop);
        assert_eq!(decide(kind, &CandidateFacts { muted: true, ..facts() }), Decision::Drop);
        assert_eq!(decide(kind, &CandidateFacts { thread_muted: true, ..facts() }), Decision::Drop);
        assert_eq!(decide(kind, &CandidateFacts { domain_blocked: true, ..facts() }), Decision::Drop);
        assert_eq!(
            decide(kind, &CandidateFacts { domain_blocked: true, following: true, ..facts() }),
            Decision::Accept
        );
        assert_eq!(decide(kind, &CandidateFacts { passing: true, ..facts() }), Decision::Accept);
        assert_eq!(decide(NotificationType::Mention, &CandidateFacts { passing: true, ..facts() }), Decision::Drop);
    }

    #[test]
    fn limited_accounts_are_held_back_from_whoever_does_not_follow_them() {
        let limited = CandidateFacts { sender_limited: true, ..facts() };
        assert_eq!(decide(NotificationType::Mention, &limited), Decision::Filter);
        assert_eq!(decide(NotificationType::Update, &limited), Decision::Accept);
        assert_eq!(decide(NotificationType::Mention, &CandidateFacts { following: true, ..limited }), Decision::Accept);
    }

    #[test]
    fn a_moderator_above_the_receiver_passes_blocks_by_mentions_alone() {
        let moderator = CandidateFacts { blocked: true, staff_permissions: Some(1308), ..facts() };
        assert_eq!(decide(NotificationType::Mention, &moderator), Decision::Accept);
        assert_eq!(decide(NotificationType::Favourite, &moderator), Decision::Drop);
        let inviter = CandidateFacts { staff_permissions: Some(Permissions::INVITE_USERS), ..moderator };
        assert_eq!(decide(NotificationType::Mention, &inviter), Decision::Drop);
    }
}
