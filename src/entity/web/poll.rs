//! Polls on web pages: their options and, once they may be shown, the share of the votes of each option. These pages
//! do not accept votes.

use std::collections::HashMap;

use serde::Serialize;

use crate::poll::total;
use context::Cx;
use context::error::Result;
use context::messages::Language;
use model::{StatusId, Time};
use service::visibility::Seen;
use store::poll::OptionRow;

/// The poll of a status.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WebPoll {
    pub options: Vec<WebOption>,
    pub votes_count: i64,
    pub ended: bool,
    pub ends_at_iso: Option<String>,
    pub ends_at_human: Option<String>,
}

/// An option of a poll.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WebOption {
    pub title: String,
    /// Its share of the votes; `None` while the totals are hidden.
    pub percent: Option<i64>,
    /// It has the most votes, or as many as another; false while the totals are hidden.
    pub leads: bool,
}

/// The polls of a page, by status. One statement, or none when no status has a poll.
pub(super) async fn of_page(cx: &Cx, page: &[Seen]) -> Result<HashMap<StatusId, WebPoll>> {
    let statuses: Vec<StatusId> =
        page.iter().map(Seen::proper).filter(|head| head.has_poll).map(|head| head.id).collect();
    if statuses.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = store::poll::list(&cx.db, &statuses, None).await?;
    let polls = rows.chunk_by(|one, other| one.poll.id == other.poll.id);
    Ok(polls.map(|options| (options[0].poll.status_id, WebPoll::new(options, cx.language(), cx.clock.now()))).collect())
}

impl WebPoll {
    fn new(options: &[OptionRow], language: Language, now: Time) -> Self {
        let poll = &options[0].poll;
        let ended = poll.has_ended(now);
        let votes_count = total(options);
        let percent = |votes: i64| {
            let share = i128::from(votes) * 100 / i128::from(votes_count.max(1));
            i64::try_from(share.clamp(0, 100)).unwrap_or(100)
        };
        let most = options.iter().map(|option| option.votes_count).max().unwrap_or_default();
        let shown = ended || !poll.hide_totals;
        Self {
            options: options
                .iter()
                .map(|option| WebOption {
                    title: option.title.clone(),
                    percent: shown.then(|| percent(option.votes_count)),
                    leads: shown && option.votes_count == most && most > 0,
                })
                .collect(),
            votes_count,
            ended,
            ends_at_iso: poll.expires_at.map(Time::to_api_seconds),
            ends_at_human: poll.expires_at.map(|time| language.minute(&time)),
        }
    }
}
