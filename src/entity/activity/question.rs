//! Polls as the members of a question, and collections of which only the size is shown.

use context::Cx;
use model::Time;
use serde::Serialize;
use store::poll::OptionRow;

/// A collection that contains only its size.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) struct Collection {
    /// Where it is served, unless it is a part of the document alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    pub(super) total_items: i64,
}

/// The members that a question has beyond a note.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Question<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    one_of: Vec<Choice<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    any_of: Vec<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed: Option<String>,
    voters_count: i64,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "Note")]
struct Choice<'a> {
    name: &'a str,
    replies: Collection,
}

/// The options of a poll, without votes that are hidden until it ends.
pub(super) fn question<'a>(cx: &Cx, options: &'a [OptionRow]) -> Option<Question<'a>> {
    let poll = &options.first()?.poll;
    let ended = poll.has_ended(cx.clock.now());
    let hidden = poll.hide_totals && !ended;
    let choice = |option: &'a OptionRow| Choice {
        name: &option.title,
        replies: Collection { id: None, total_items: if hidden { 0 } else { option.votes_count } },
    };
    let choices: Vec<Choice<'a>> = options.iter().map(choice).collect();
    let (one_of, any_of) = if poll.multiple { (Vec::new(), choices) } else { (choices, Vec::new()) };
    let end_time = poll.expires_at.map(Time::to_api);
    let closed = end_time.clone().filter(|_| ended);
    Some(Question { one_of, any_of, end_time, closed, voters_count: poll.voters_count.unwrap_or_default() })
}
