//! The poll of a note.

use model::Time;
use service::remote::poll::RemotePoll;

use crate::vocabulary::{Choice, Closed, Note};

/// The poll of a question; `None` for anything else.
pub(crate) fn poll(note: &Note, now: Time) -> Option<RemotePoll> {
    let multiple = note.one_of.is_empty();
    let choices = if multiple { &note.any_of } else { &note.one_of };
    if choices.is_empty() {
        return None;
    }
    let votes = |choice: &Choice| choice.replies.as_ref().map_or(0, |replies| replies.total_items);
    let end = note.end_time.as_deref().and_then(Time::parse_rfc3339);
    let closed = note.closed.as_ref().and_then(|closed| match closed {
        Closed::State(closed) => closed.then_some(now),
        Closed::At(time) => Time::parse_rfc3339(time),
    });
    Some(RemotePoll {
        options: choices.iter().map(|choice| (choice.name.clone(), votes(choice))).collect(),
        multiple,
        expires_at: end.into_iter().chain(closed).min(),
        voters_count: note.voters_count.0,
    })
}
