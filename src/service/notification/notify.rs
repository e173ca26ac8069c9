//! Telling people what happened: who is told is decided here and nowhere else.
//!
//! A use case hands over everything it would tell, of whomever, in one batch and in its own transaction; the facts about
//! all of it are one statement, the decision is [`verdict`], the rows are one statement more. What plugins are to judge
//! waits for [`judge`](super::judge): none is asked while a transaction is open.

use std::collections::HashMap;

use crate::app::App;
use crate::error::Result;
use crate::event::Event;
use crate::plugins::hooks;
use model::notification::Kind;
use model::{AccountId, NotificationId, NotificationType, Permissions, StatusId, Time};
use store::Tx;
use store::notification::make::{self, Facts, New, Question};

/// A group takes in what happens within so many hours of its first notification.
const GROUP_HOURS: i64 = 12;
const HOUR_SECONDS: i64 = 3600;

/// Something that someone might be told.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Who would be told. Anyone but a local person is passed over.
    pub receiver: AccountId,
    /// Whose doing it is.
    pub from: AccountId,
    /// What it is.
    pub kind: Kind,
    /// The id of the row that stands for it: the favourite, follow, follow request, mention or reblog; the status itself
    /// for `status`, `update` and `poll`. Nobody is told of the same one twice, and [`retract`](super::retract) finds it by this.
    pub activity: i64,
    /// The status to show; for a reblog the original.
    pub status: Option<StatusId>,
}

/// Notifications that were made in a transaction which is not committed yet.
#[derive(Debug, Default)]
#[must_use = "publish it after the commit"]
pub struct Notified(Vec<(AccountId, NotificationId)>);

impl Notified {
    /// How many receivers are told at once.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when nobody is told.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells the rest of the server. Call it after the commit.
    pub fn publish(self, app: &App) {
        for (account, notification) in self.0 {
            app.events.publish(Event::Notified { account, notification });
        }
    }
}

/// What becomes of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Told.
    Accept,
    /// Kept, and shown only to whoever asks for such.
    Filter,
    /// Never mentioned.
    Drop,
}

/// Makes a notification of every notice that its receiver is to hear of, or lets it wait for the judgement of plugins: at
/// most three statements for all of them, five where some wait.
///
/// # Errors
/// When the database does.
pub async fn notify(app: &App, tx: &mut Tx, notices: &[Notice]) -> Result<Notified> {
    let proper = proper(app, tx, notices).await?;
    let (judged, new): (Vec<_>, Vec<_>) = proper.into_iter().partition(|(_, row)| hooks::is_judged(app, &row.kind));
    super::judge::put_off(app, tx, judged.into_iter().map(|(place, _)| &notices[place]).collect()).await?;
    insert(app, tx, new.into_iter().map(|(_, row)| row).collect()).await
}

/// The places of the notices that their receivers are to hear of, each with what it would be.
///
/// # Errors
/// When the database does.
pub(super) async fn proper(app: &App, tx: &mut Tx, notices: &[Notice]) -> Result<Vec<(usize, New)>> {
    let now = app.clock.now();
    let asked = |(number, notice)| question(number, notice, traits(app, notice)?, now);
    let questions: Vec<Question> = notices.iter().enumerate().filter_map(asked).collect();
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let facts = make::facts(&mut *tx, questions, now).await?;
    let proper = facts.iter().filter_map(|facts| {
        let place = usize::try_from(facts.number).ok()?;
        Some((place, row(app, notices.get(place)?, facts, now)?))
    });
    Ok(proper.collect())
}

/// What the type of a notice is like; none for one that nobody declares (any more).
fn traits(app: &App, notice: &Notice) -> Option<Traits> {
    match &notice.kind {
        Kind::Core(kind) => Some(Traits {
            groupable: matches!(
                kind,
                NotificationType::Favourite | NotificationType::Reblog | NotificationType::Follow
            ),
            filterable: kind.is_filterable(),
            from_self: kind.may_come_from_self(),
        }),
        Kind::Plugin(name) => {
            let registry = app.plugins.current();
            let declared = registry.hooks.notification(name)?;
            Some(Traits { groupable: declared.groupable, filterable: declared.filterable, from_self: false })
        }
    }
}

/// What a type of notifications is like.
#[derive(Clone, Copy, Debug)]
struct Traits {
    groupable: bool,
    filterable: bool,
    from_self: bool,
}

/// The question about a notice; none for what one does not hear of oneself.
fn question(number: usize, notice: &Notice, traits: Traits, now: Time) -> Option<Question> {
    if notice.receiver == notice.from && !traits.from_self {
        return None;
    }
    let hour = now.timestamp() / HOUR_SECONDS;
    let key = |hour| group(notice, traits).map(|group| format!("{group}-{hour}"));
    Some(Question {
        number,
        kind: notice.kind.clone(),
        receiver: notice.receiver,
        sender: notice.from,
        status: notice.status,
        first_key: key(hour - GROUP_HOURS + 1),
        last_key: key(hour),
    })
}

/// What a notice may share a group with, without the hour (contract rules, section 13); `None` when it stands alone.
fn group(notice: &Notice, traits: Traits) -> Option<String> {
    if !traits.groupable {
        return None;
    }
    Some(match notice.status {
        Some(status) => format!("{}-{status}", notice.kind),
        None => notice.kind.to_string(),
    })
}

fn row(app: &App, notice: &Notice, facts: &Facts, now: Time) -> Option<New> {
    let traits = traits(app, notice)?;
    let filtered = match verdict(&notice.kind, traits.filterable, facts) {
        Verdict::Drop => return None,
        Verdict::Filter => true,
        Verdict::Accept => false,
    };
    let new_group = || group(notice, traits).map(|group| format!("{group}-{}", now.timestamp() / HOUR_SECONDS));
    let group_key = if filtered { None } else { facts.group_key.clone().or_else(new_group) };
    Some(New {
        id: app.ids.next(),
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

/// Whether the receiver hears of it (contract rules, section 13). A notification policy of one's own comes with the
/// routes that set it; until then everybody has the defaults for limited accounts, and accepts all else.
fn verdict(kind: &Kind, filterable: bool, facts: &Facts) -> Verdict {
    let mention = kind.core() == Some(NotificationType::Mention);
    if facts.domain_blocked && !facts.following {
        return Verdict::Drop;
    }
    // A moderator's word reaches also whoever blocks them.
    let from_staff = mention && facts.staff_permissions.is_some_and(|bits| Permissions(bits).moderates());
    if !from_staff && (facts.blocked || facts.muted || facts.thread_muted || (mention && facts.passing)) {
        return Verdict::Drop;
    }
    if filterable && facts.sender_limited && !facts.following && !from_staff {
        return Verdict::Filter;
    }
    Verdict::Accept
}

/// Makes these notifications, but one about the same activity for the same receiver.
///
/// # Errors
/// When the database does.
pub(super) async fn insert(app: &App, tx: &mut Tx, new: Vec<New>) -> Result<Notified> {
    if new.is_empty() {
        return Ok(Notified::default());
    }
    let replacing = |row: &&New| row.kind.core().is_some_and(NotificationType::replaces);
    if let Some(kind) = new.iter().find(replacing).and_then(|row| row.kind.core()) {
        let older = new.iter().filter(replacing).map(|row| (row.receiver, row.activity)).collect();
        make::delete_older(tx, kind, older).await?;
    }
    let told: HashMap<NotificationId, AccountId> =
        new.iter().filter(|row| !row.filtered && !row.silent).map(|row| (row.id, row.receiver)).collect();
    let inserted = make::insert(tx, new, app.clock.now()).await?;
    Ok(Notified(inserted.into_iter().filter_map(|id| Some((*told.get(&id)?, id))).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(kind: NotificationType, facts: &Facts) -> Verdict {
        super::verdict(&kind.into(), kind.is_filterable(), facts)
    }

    fn facts() -> Facts {
        Facts {
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
        assert_eq!(verdict(kind, &facts()), Verdict::Accept);
        assert_eq!(verdict(kind, &Facts { blocked: true, ..facts() }), Verdict::Drop);
        assert_eq!(verdict(kind, &Facts { muted: true, ..facts() }), Verdict::Drop);
        assert_eq!(verdict(kind, &Facts { thread_muted: true, ..facts() }), Verdict::Drop);
        assert_eq!(verdict(kind, &Facts { domain_blocked: true, ..facts() }), Verdict::Drop);
        assert_eq!(verdict(kind, &Facts { domain_blocked: true, following: true, ..facts() }), Verdict::Accept);
        assert_eq!(verdict(kind, &Facts { passing: true, ..facts() }), Verdict::Accept);
        assert_eq!(verdict(NotificationType::Mention, &Facts { passing: true, ..facts() }), Verdict::Drop);
    }

    #[test]
    fn limited_accounts_are_held_back_from_whoever_does_not_follow_them() {
        let limited = Facts { sender_limited: true, ..facts() };
        assert_eq!(verdict(NotificationType::Mention, &limited), Verdict::Filter);
        assert_eq!(verdict(NotificationType::Update, &limited), Verdict::Accept);
        assert_eq!(verdict(NotificationType::Mention, &Facts { following: true, ..limited }), Verdict::Accept);
    }

    #[test]
    fn a_moderator_above_the_receiver_passes_blocks_by_mentions_alone() {
        let moderator = Facts { blocked: true, staff_permissions: Some(1308), ..facts() };
        assert_eq!(verdict(NotificationType::Mention, &moderator), Verdict::Accept);
        assert_eq!(verdict(NotificationType::Favourite, &moderator), Verdict::Drop);
        let inviter = Facts { staff_permissions: Some(Permissions::INVITE_USERS), ..moderator };
        assert_eq!(verdict(NotificationType::Mention, &inviter), Verdict::Drop);
    }
}
