//! Polls on web pages: their options and, once they may be shown, the share of the votes of each option.

use serde::Serialize;

use super::source::{PollSource, drawn, time};
use context::messages::Language;
use model::Time;

/// The poll of a status.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WebPoll {
    pub id: String,
    pub options: Vec<WebOption>,
    pub votes_count: i64,
    pub voters_count: Option<i64>,
    pub multiple: bool,
    pub ended: bool,
    /// The viewer voted.
    pub voted: bool,
    /// The viewer can vote: it runs, is someone else's, and the viewer has not voted.
    pub open: bool,
    pub ends_at_iso: Option<String>,
    pub ends_at_human: Option<String>,
}

/// An option of a poll.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WebOption {
    pub title_html: String,
    /// Its share of the votes; `None` while the totals are hidden.
    pub percent: Option<i64>,
    /// It has the most votes, or as many as another; false while the totals are hidden.
    pub leads: bool,
    /// The viewer voted for it.
    pub chosen: bool,
}

impl WebPoll {
    /// The poll of the JSON of the API; `is_own`: the viewer's own one.
    pub(super) fn new(source: PollSource, is_own: bool, language: Language) -> Self {
        let votes_count = source.votes_count;
        let percent = |votes: i64| {
            let share = i128::from(votes) * 100 / i128::from(votes_count.max(1));
            i64::try_from(share.clamp(0, 100)).unwrap_or(100)
        };
        let most = source.options.iter().filter_map(|option| option.votes_count).max().unwrap_or_default();
        let chosen = source.own_votes.unwrap_or_default();
        let ends_at = source.expires_at.as_deref().map(time);
        let options = source.options.iter().enumerate().map(|(index, option)| WebOption {
            title_html: drawn(&text::escape(&option.title), &source.emojis),
            percent: option.votes_count.map(percent),
            leads: most > 0 && option.votes_count == Some(most),
            chosen: chosen.contains(&index),
        });
        Self {
            options: options.collect(),
            id: source.id,
            votes_count,
            voters_count: source.voters_count,
            multiple: source.multiple,
            ended: source.expired,
            // Only a viewer has votes, or none.
            open: source.voted == Some(false) && !source.expired && !is_own,
            voted: source.voted.unwrap_or_default(),
            ends_at_iso: ends_at.map(Time::to_api_seconds),
            ends_at_human: ends_at.map(|time| language.minute(&time)),
        }
    }
}
