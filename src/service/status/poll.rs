//! Polls: validating one that is sent with a status, voting, and notifying the participants of its end.
//!
//! Reached from `/api/v1/polls`, from publishing and editing a status, and from the job [`ExpirePoll`]. Votes are
//! shown immediately, without a change of the status, since cached statuses do not contain their poll.
//!
//! Spec: docs/contract/rules.md#10-statuses (Edits) and docs/contract/rules.md#18-polls.

use std::collections::HashSet;

use chrono::Duration;
use serde::{Deserialize, Serialize};

use crate::interaction::refuse_blocked;
use crate::notification;
use crate::visibility::{self, Seen};
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::Notice;
use context::queue::{self, ExpirePoll, Job as _};
use context::{Cx, job};
use database::Tx;
use model::{AccountId, Actor, NotificationType, Poll, PollId, StatusId, Time};

/// Fewest options of a poll.
pub const MIN_OPTIONS: usize = 2;
/// Most options of a poll.
pub const MAX_OPTIONS: usize = 8;
/// Most characters (grapheme clusters) of an option.
pub const MAX_OPTION_CHARACTERS: usize = 50;
/// Shortest poll, in seconds: five minutes.
pub const MIN_EXPIRATION_SECONDS: i64 = 300;
/// Longest poll, in seconds: a month.
pub const MAX_EXPIRATION_SECONDS: i64 = 2_629_746;
/// Most voters notified of the end of a poll in one transaction.
const BATCH: i64 = 256;

/// A poll as sent with a status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollDraft {
    pub options: Vec<String>,
    /// Seconds from the publication or edit of the status.
    pub expires_in: Option<i64>,
    pub multiple: bool,
    pub hide_totals: bool,
}

/// A validated poll.
#[derive(Clone, Debug)]
pub struct CheckedPoll {
    options: Vec<String>,
    lasts: Duration,
    multiple: bool,
    hide_totals: bool,
}

/// The change of the poll of a status by an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollChange {
    /// Nothing.
    None,
    /// Its end or the visibility of its totals changed, which creates no revision of the status.
    Terms,
    /// It was added or removed, or lost its votes because its options or their kind changed.
    Content,
}

/// Trims the options of `draft`, drops blank ones, and validates it.
///
/// # Errors
/// [`Error::Invalid`] naming the parameter.
pub fn check(draft: &PollDraft) -> Result<CheckedPoll> {
    let options = draft.options.iter().map(|option| option.trim()).filter(|option| !option.is_empty());
    let options: Vec<String> = options.map(str::to_owned).collect();
    if !(MIN_OPTIONS..=MAX_OPTIONS).contains(&options.len()) {
        return Err(Error::invalid(format!("poll[options]: a poll has {MIN_OPTIONS} to {MAX_OPTIONS} options")));
    }
    if options.iter().any(|option| text::graphemes(option) > MAX_OPTION_CHARACTERS) {
        let why = format!("poll[options]: an option has at most {MAX_OPTION_CHARACTERS} characters");
        return Err(Error::invalid(why));
    }
    if options.iter().collect::<HashSet<_>>().len() < options.len() {
        return Err(Error::invalid("poll[options]: the options must be different"));
    }
    let seconds = draft.expires_in.ok_or_else(|| Error::invalid("poll[expires_in] is missing"))?;
    if !(MIN_EXPIRATION_SECONDS..=MAX_EXPIRATION_SECONDS).contains(&seconds) {
        let why = format!("poll[expires_in]: from {MIN_EXPIRATION_SECONDS} to {MAX_EXPIRATION_SECONDS} seconds");
        return Err(Error::invalid(why));
    }
    let lasts = Duration::seconds(seconds);
    Ok(CheckedPoll { options, lasts, multiple: draft.multiple, hide_totals: draft.hide_totals })
}

impl CheckedPoll {
    /// The texts of the options.
    pub(super) fn options(&self) -> &[String] {
        &self.options
    }
}

/// Inserts the poll of `status`, and queues its end.
pub(super) async fn insert(cx: &Cx, tx: &mut Tx, status: StatusId, new: &CheckedPoll) -> Result<()> {
    let now = cx.clock.now();
    let poll = Poll {
        id: cx.ids.next(),
        status_id: status,
        multiple: new.multiple,
        hide_totals: new.hide_totals,
        expires_at: Some(now + new.lasts),
        voters_count: Some(0),
        created_at: now,
    };
    store::poll::insert(tx, &poll, &new.options).await?;
    end_later(cx, tx, poll.id, now + new.lasts).await
}

pub(crate) async fn end_later(cx: &Cx, tx: &mut Tx, poll: PollId, at: Time) -> Result<()> {
    let job = ExpirePoll { poll, after: AccountId::from(0) };
    queue::enqueue_at(cx, tx, &job, at).await?;
    // One that is queued for a later end runs earlier now, and one that runs too early queues itself again.
    let key = job.key().unwrap_or_default();
    Ok(store::job::make_due(tx, ExpirePoll::LANE, ExpirePoll::KIND, &key, at).await?)
}

/// Replaces the poll of `status`, which the transaction has locked, by `new`. Also returns the previous options, if
/// it had a poll. Votes are kept unless the options or their kind change.
pub(super) async fn replace(
    cx: &Cx,
    tx: &mut Tx,
    status: StatusId,
    new: Option<&CheckedPoll>,
) -> Result<(PollChange, Option<Vec<String>>)> {
    let Some(old) = store::poll::lock_of_status(tx, status).await? else {
        let Some(new) = new else { return Ok((PollChange::None, None)) };
        insert(cx, tx, status, new).await?;
        return Ok((PollChange::Content, None));
    };
    let options = store::poll::list_titles(&mut *tx, status).await?;
    let change = match new {
        None => {
            notification::retract(tx, NotificationType::Poll, status).await?;
            store::poll::delete(tx, old.id).await?;
            PollChange::Content
        }
        Some(new) => adapt(cx, tx, &old, &options, new).await?,
    };
    Ok((change, Some(options)))
}

/// Updates the poll `old` with `options` to `new`.
async fn adapt(cx: &Cx, tx: &mut Tx, old: &Poll, options: &[String], new: &CheckedPoll) -> Result<PollChange> {
    let now = cx.clock.now();
    let end = now + new.lasts;
    let mut change = PollChange::None;
    if (old.hide_totals, old.expires_at) != (new.hide_totals, Some(end)) {
        store::poll::update(tx, old.id, new.hide_totals, Some(end)).await?;
        change = PollChange::Terms;
    }
    if old.has_ended(now) {
        // It runs again, and its voters will be notified of its end again.
        notification::retract(tx, NotificationType::Poll, old.status_id).await?;
    }
    if old.expires_at != Some(end) {
        end_later(cx, tx, old.id, end).await?;
    }
    if (old.multiple, options) != (new.multiple, new.options.as_slice()) {
        store::poll::reset(tx, old.id, new.multiple, &new.options).await?;
        change = PollChange::Content;
    }
    Ok(change)
}

/// The status of the poll `id`, if `viewer` may see it.
///
/// # Errors
/// [`Error::NotFound`] when the poll is missing or its status hidden; [`Error::Unauthorized`] for an anonymous viewer
/// when the status is not public.
#[model::use_case]
pub async fn find(cx: &Cx, viewer: Option<&Actor>, id: PollId) -> Result<Seen> {
    let poll = store::poll::find(&cx.db, id).await?.ok_or(Error::NotFound)?;
    match visibility::status(cx, viewer, poll.status_id).await {
        Err(Error::NotFound) if viewer.is_none() => {
            let status = store::status::find(&cx.db, poll.status_id).await?;
            if status.is_some_and(|status| status.local_only || !status.visibility.is_anonymous()) {
                return Err(Error::Unauthorized("This poll is not public: sign in to see it".into()));
            }
            Err(Error::NotFound)
        }
        found => found,
    }
}

/// Votes as `actor` for the options at `choices` of the poll `id`, and returns the status of the poll. In a
/// multiple-choice poll further choices may be added later.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden, [`Error::Forbidden`] when `actor` blocks its author,
/// [`Error::BadRequest`] without choices; [`Error::Invalid`] when the poll has ended or is the actor's own, for a
/// choice that is not one of its options, and for more choices than allowed.
#[model::use_case]
pub async fn vote(cx: &Cx, actor: &Actor, id: PollId, choices: &[i64]) -> Result<Seen> {
    let seen = find(cx, Some(actor), id).await?;
    refuse_blocked(&seen)?;
    let mut known = HashSet::new();
    let choices: Vec<i64> = choices.iter().copied().filter(|choice| known.insert(*choice)).collect();
    if choices.is_empty() {
        return Err(Error::missing("choices"));
    }
    let refused = |why: &'static str| Err(Error::invalid(format!("Validation failed: {why}")));
    if seen.head().account_id == actor.id {
        return refused("You cannot vote in your own poll");
    }
    let mut tx = cx.db.begin().await?;
    let poll = store::poll::lock(&mut tx, id).await?.ok_or(Error::NotFound)?;
    if poll.has_ended(cx.clock.now()) {
        return refused("The poll has already ended");
    }
    let before = store::poll::list_choices(&mut tx, id, actor.id).await?;
    let chosen: HashSet<i64> = before.iter().chain(&choices).copied().collect();
    if chosen.len() < before.len() + choices.len() || (!poll.multiple && chosen.len() > 1) {
        return refused("You have already voted on this poll");
    }
    let counted = store::poll::vote(&mut tx, id, actor.id, &choices, before.len()).await;
    if counted.map_err(Error::of_insert)? != choices.len() as u64 {
        return refused("choices: The chosen vote option does not exist");
    }
    change::record(cx, &mut tx, Change::Voted { account: actor.id, status: poll.status_id, choices }).await?;
    tx.commit().await?;
    Ok(seen)
}

/// Notifies the author and the first voters after `job.after` of the end of a poll, and queues the job again for the
/// others, or for the new end if that was moved.
#[model::use_case]
#[job]
async fn end(cx: &Cx, tx: &mut Tx, job: ExpirePoll) -> Result<()> {
    let Some(poll) = store::poll::find(&mut *tx, job.poll).await? else { return Ok(()) };
    let Some(status) = store::status::find(&mut *tx, poll.status_id).await? else { return Ok(()) };
    let Some(end) = poll.expires_at else { return Ok(()) };
    if !poll.has_ended(cx.clock.now()) {
        return end_later(cx, tx, poll.id, end).await;
    }
    if job.after == AccountId::from(0) {
        change::record(cx, tx, Change::PollEnded { status: status.id }).await?;
    }
    let voters = store::poll::list_local_voters(&mut *tx, poll.id, job.after, BATCH).await?;
    let author = (job.after == AccountId::from(0)).then_some(status.account_id);
    let notice = |receiver| Notice {
        receiver,
        from: status.account_id,
        kind: NotificationType::Poll.into(),
        activity: i64::from(status.id),
        status: Some(status.id),
    };
    let notices: Vec<Notice> = author.into_iter().chain(voters.iter().copied()).map(notice).collect();
    notification::notify(cx, tx, &notices).await?;
    match voters.last() {
        Some(last) if i64::try_from(voters.len()).is_ok_and(|count| count == BATCH) => {
            queue::enqueue(cx, tx, &ExpirePoll { poll: poll.id, after: *last }).await
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(options: &[&str], expires_in: Option<i64>) -> PollDraft {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        PollDraft { options, expires_in, ..PollDraft::default() }
    }

    #[test]
    fn bounds_of_a_poll_are_inclusive() {
        let (fifty, over) = ("ö".repeat(50), "ö".repeat(51));
        let eight: Vec<String> = (0..8).map(|number| number.to_string()).collect();
        let mut eight: Vec<&str> = eight.iter().map(String::as_str).collect();
        for good in [
            draft(&["a", " b "], Some(MIN_EXPIRATION_SECONDS)),
            draft(&["a", &fifty, "  "], Some(MAX_EXPIRATION_SECONDS)),
            draft(&eight, Some(600)),
        ] {
            assert!(check(&good).is_ok(), "{good:?}");
        }
        eight.push("nine");
        for bad in [
            draft(&["a"], Some(600)),
            draft(&["a", " "], Some(600)),
            draft(&["a", "a "], Some(600)),
            draft(&["a", &over], Some(600)),
            draft(&eight, Some(600)),
            draft(&["a", "b"], None),
            draft(&["a", "b"], Some(MIN_EXPIRATION_SECONDS - 1)),
            draft(&["a", "b"], Some(MAX_EXPIRATION_SECONDS + 1)),
        ] {
            assert!(check(&bad).is_err(), "{bad:?}");
        }
        let checked = check(&draft(&[" a ", "", "b"], Some(600))).expect("a poll");
        assert_eq!(checked.options, ["a", "b"]);
    }
}
