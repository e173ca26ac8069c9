//! Creating notifications: the single place that decides who is notified.
//!
//! A use case passes all its notices in one batch, in its own transaction: one statement reads the facts,
//! [`decide()`] decides, one statement inserts the rows. Notices that plugins may veto are passed to
//! [`judge`](super::judge), since plugins are not called while a transaction is open.

use std::collections::HashSet;

use super::by_mail;
use super::decide::{decide, may_be_answer, since};
use context::Cx;
use context::change::{self, Change, CreatedNotification};
use context::error::Result;
use context::extension::{Notice, NotificationTraits};
use context::queue::{self, MergeNotifications};
use database::Tx;
use model::notification::{NotificationKind, PolicyAction};
use model::{NotificationId, NotificationType, Time, boxed};
use store::notification::groups::{self, GROUP_HOURS, NewMember};
use store::notification::make::{self, Candidate, CandidateFacts, NewNotification, PrivateMention};
use store::notification::requests::{self, Filtered};

const HOUR_SECONDS: i64 = 3600;

/// Creates a notification for every notice its receiver accepts, or stores it as pending for plugins: at most four
/// statements for all of them, one more for private mentions and for mailed types, two each for filtered mentions and
/// pending ones. Returns the number of created notifications that are neither filtered nor silent.
#[model::use_case]
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
    let facts = make::facts(&mut *tx, questions, since(now)).await?;
    let answers = answers(tx, notices, &facts).await?;
    let proper = facts.iter().filter_map(|facts| {
        let place = usize::try_from(facts.number).ok()?;
        Some((place, row(cx, notices.get(place)?, facts, answers.contains(&facts.number), now)?))
    });
    Ok(proper.collect())
}

/// The numbers of the private mentions in reply to one by their receiver. No statement when it does not matter for
/// any.
async fn answers(tx: &mut Tx, notices: &[Notice], facts: &[CandidateFacts]) -> Result<HashSet<i64>> {
    let asked = facts.iter().filter(|facts| may_be_answer(facts)).filter_map(|facts| {
        let number = usize::try_from(facts.number).ok()?;
        let notice = notices.get(number)?;
        Some(PrivateMention { number, receiver: notice.receiver, sender: notice.from, status: notice.status? })
    });
    let asked: Vec<PrivateMention> = asked.collect();
    if asked.is_empty() {
        return Ok(HashSet::new());
    }
    Ok(make::answers(tx, asked).await?.into_iter().collect())
}

/// The properties of a notice's type; `None` for a type that is not declared (any more).
fn traits(cx: &Cx, notice: &Notice) -> Option<NotificationTraits> {
    match &notice.kind {
        NotificationKind::Core(kind) => Some(NotificationTraits {
            groupable: kind.is_groupable(),
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

/// The group key of a notice without the hour (docs/contract/rules.md#13-notifications); `None` when it is never
/// grouped.
fn group(notice: &Notice, traits: NotificationTraits) -> Option<String> {
    if !traits.groupable {
        return None;
    }
    Some(match notice.status {
        Some(status) => format!("{}-{status}", notice.kind),
        None => notice.kind.to_string(),
    })
}

fn row(cx: &Cx, notice: &Notice, facts: &CandidateFacts, answer: bool, now: Time) -> Option<NewNotification> {
    let traits = traits(cx, notice)?;
    let filterable = traits.filterable && notice.receiver != notice.from;
    let filtered = match decide(&notice.kind, filterable, facts, answer) {
        PolicyAction::Drop => return None,
        PolicyAction::Filter => true,
        PolicyAction::Accept => false,
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
        mailed: by_mail::wants(&notice.kind, facts),
    })
}

/// Inserts these notifications, and skips duplicates for the same activity and receiver.
#[boxed]
pub(super) async fn insert(cx: &Cx, tx: &mut Tx, new: Vec<NewNotification>) -> Result<usize> {
    if new.is_empty() {
        return Ok(0);
    }
    let replacing = |row: &&NewNotification| row.kind.core().is_some_and(NotificationType::replaces);
    if let Some(kind) = new.iter().find(replacing).and_then(|row| row.kind.core()) {
        let older = new.iter().filter(replacing).map(|row| (row.receiver, row.activity)).collect();
        make::delete_older(tx, kind, older).await?;
    }
    let inserted: HashSet<NotificationId> = make::insert(tx, new.clone(), cx.clock.now()).await?.into_iter().collect();
    let new: Vec<NewNotification> = new.into_iter().filter(|row| inserted.contains(&row.id)).collect();
    groups::join(tx, new.iter().filter_map(member).collect()).await?;
    request(cx, tx, &new).await?;
    let visible = new.iter().filter(|row| !row.filtered && !row.silent);
    let made = |row: &NewNotification| CreatedNotification {
        receiver: row.receiver,
        notification: row.id,
        kind: row.kind.to_string(),
    };
    let made: Vec<CreatedNotification> = visible.map(made).collect();
    let count = made.len();
    if count > 0 {
        change::record(cx, tx, Change::Notified { made }).await?;
    }
    let mailed = new.iter().filter(|row| row.mailed && !row.filtered && !row.silent);
    by_mail::queue(cx, tx, mailed.map(|row| (row.receiver, row.id))).await?;
    Ok(count)
}

fn member(row: &NewNotification) -> Option<NewMember> {
    let group_key = row.group_key.clone()?;
    Some(NewMember { id: row.id, account: row.receiver, group_key, kind: row.kind.clone(), status: row.status })
}

/// Creates or renews the requests of senders whose mentions were filtered. A sender who was permitted while this
/// transaction was open needs none: their filtered notifications are merged.
async fn request(cx: &Cx, tx: &mut Tx, new: &[NewNotification]) -> Result<()> {
    let mention = |row: &&NewNotification| row.filtered && row.kind.core() == Some(NotificationType::Mention);
    let filtered: Vec<Filtered> =
        new.iter().filter(mention).map(|row| Filtered { receiver: row.receiver, sender: row.sender }).collect();
    if filtered.is_empty() {
        return Ok(());
    }
    let requests = filtered.iter().map(|pair| (cx.ids.next(), *pair)).collect();
    requests::insert(tx, requests, cx.clock.now()).await?;
    for (account, from) in requests::delete_permitted(tx, &filtered).await? {
        queue::enqueue(cx, tx, &MergeNotifications { account, from }).await?;
    }
    Ok(())
}
