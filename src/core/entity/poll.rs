//! <https://docs.joinmastodon.org/entities/Poll/>

use std::collections::HashMap;

use serde::Serialize;

use super::Fragment;
use super::emoji::{CustomEmoji, Palette};
use crate::Cx;
use crate::by_id::ById;
use crate::error::{Error, Result};
use model::{AccountId, Actor, PollId, StatusId, Time};
use store::poll::OptionRow;
use store::status::Head;

/// A poll as its viewer sees it.
#[derive(Debug, Serialize)]
struct Poll<'a> {
    id: PollId,
    expires_at: Option<String>,
    expired: bool,
    multiple: bool,
    votes_count: i64,
    voters_count: Option<i64>,
    options: Vec<PollOption<'a>>,
    emojis: Vec<CustomEmoji>,
    #[serde(skip_serializing_if = "Option::is_none")]
    voted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    own_votes: Option<Vec<i64>>,
}

/// <https://docs.joinmastodon.org/entities/Poll/#Option>
#[derive(Debug, Serialize)]
struct PollOption<'a> {
    title: &'a str,
    votes_count: Option<i64>,
}

/// Renders the polls of those `heads` that have one, by status: a statement for all, or none when none has.
pub(super) async fn render(
    cx: &Cx,
    viewer: Option<&Actor>,
    heads: impl Iterator<Item = &Head> + Send,
) -> Result<ById<StatusId, Fragment>> {
    let authors: HashMap<StatusId, AccountId> =
        heads.filter(|head| head.has_poll).map(|head| (head.id, head.account_id)).collect();
    if authors.is_empty() {
        return Ok(Vec::new().into());
    }
    let statuses: Vec<StatusId> = authors.keys().copied().collect();
    let rows = store::poll::list(&cx.db, &statuses, viewer.map(|actor| actor.id)).await?;
    let domains = domains(cx, &rows, &authors).await?;
    let domain = |row: &OptionRow| domains.get(authors.get(&row.poll.status_id)?)?.as_deref();
    let palette =
        Palette::load(cx, &rows.iter().map(|row| (domain(row), row.title.as_str())).collect::<Vec<_>>()).await?;
    let polls = rows.chunk_by(|one, other| one.poll.id == other.poll.id).map(|options| {
        let titles: Vec<&str> = options.iter().map(|option| option.title.as_str()).collect();
        let emojis = palette.of(&cx.urls, domain(&options[0]), &titles);
        let status = options[0].poll.status_id;
        let own = viewer.map(|actor| authors.get(&status) == Some(&actor.id));
        Ok((status, Fragment::of(&Poll::new(options, emojis, own, cx.clock.now()))?))
    });
    Ok(polls.collect::<Result<Vec<_>>>()?.into())
}

/// Renders the poll of the status of `head`.
///
/// # Errors
/// [`Error::NotFound`] when it has none (any more).
pub async fn render_one(cx: &Cx, viewer: Option<&Actor>, head: &Head) -> Result<Fragment> {
    // The head may be of before the poll was added.
    let head = Head { has_poll: true, ..*head };
    render(cx, viewer, std::iter::once(&head)).await?.get(&head.id).cloned().ok_or(Error::NotFound)
}

/// The domains of the authors, by which custom emojis are found; not read for options without a shortcode.
async fn domains(
    cx: &Cx,
    rows: &[OptionRow],
    authors: &HashMap<StatusId, AccountId>,
) -> Result<HashMap<AccountId, Option<String>>> {
    if rows.iter().all(|row| text::emoji_shortcodes(&row.title).is_empty()) {
        return Ok(HashMap::new());
    }
    let authors: Vec<AccountId> = authors.values().copied().collect();
    Ok(store::account::domains(&cx.db, &authors).await?.into_iter().collect())
}

impl<'a> Poll<'a> {
    /// `options` are those of one poll; `own`: whether it is the viewer's, who is `None` when nobody is signed in.
    fn new(options: &'a [OptionRow], emojis: Vec<CustomEmoji>, own: Option<bool>, now: Time) -> Self {
        let poll = &options[0].poll;
        let expired = poll.has_ended(now);
        let shown = expired || !poll.hide_totals;
        let own_votes: Vec<i64> = options.iter().filter(|option| option.chosen).map(|option| option.position).collect();
        Self {
            id: poll.id,
            expires_at: poll.expires_at.map(Time::to_api),
            expired,
            multiple: poll.multiple,
            votes_count: options.iter().map(|option| option.votes_count).sum(),
            voters_count: poll.voters_count,
            options: options
                .iter()
                .map(|option| PollOption { title: &option.title, votes_count: shown.then_some(option.votes_count) })
                .collect(),
            emojis,
            voted: own.map(|own| own || !own_votes.is_empty()),
            own_votes: own.map(|_| own_votes),
        }
    }
}
