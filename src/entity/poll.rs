//! <https://docs.joinmastodon.org/entities/Poll/>

use std::collections::HashMap;

use serde::Serialize;

use super::emoji::{CustomEmoji, Palette};
use context::Cx;
use context::by_id::ById;
use context::error::{Error, Result};
use context::json::Fragment;
use model::{AccountId, Actor, PollId, StatusId, Time};
use store::poll::OptionRow;
use store::status::Head;

/// A poll as its viewer sees it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Poll<'a> {
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PollOption<'a> {
    title: &'a str,
    votes_count: Option<i64>,
}

/// Renders the polls of `heads`, by status. One statement for all, or none when no status has a poll.
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
    let parts = Parts::load(cx, authors, viewer.map(|actor| actor.id)).await?;
    Ok(parts.write(cx, viewer.map(|actor| actor.id), &parts.rows)?.into())
}

/// The polls of a page.
struct Parts {
    /// By status.
    authors: HashMap<StatusId, AccountId>,
    /// By author.
    domains: HashMap<StatusId, Option<String>>,
    palette: Palette,
    rows: Vec<OptionRow>,
}

impl Parts {
    async fn load(cx: &Cx, authors: HashMap<StatusId, AccountId>, viewer: Option<AccountId>) -> Result<Self> {
        let statuses: Vec<StatusId> = authors.keys().copied().collect();
        let rows = store::poll::list(&cx.db, &statuses, viewer).await?;
        let of_authors = domains(cx, &rows, &authors).await?;
        let domain = |row: &OptionRow| of_authors.get(authors.get(&row.poll.status_id)?)?.clone();
        let domains: Vec<Option<String>> = rows.iter().map(domain).collect();
        let titles = rows.iter().zip(&domains).map(|(row, domain)| (domain.as_deref(), row.title.as_str()));
        let palette = Palette::load(cx, &titles.collect::<Vec<_>>()).await?;
        let domains = rows.iter().zip(domains).map(|(row, domain)| (row.poll.status_id, domain)).collect();
        Ok(Self { authors, domains, palette, rows })
    }

    /// Renders the polls of `rows`, the rows of the page with the votes of `viewer`.
    fn write(&self, cx: &Cx, viewer: Option<AccountId>, rows: &[OptionRow]) -> Result<Vec<(StatusId, Fragment)>> {
        let polls = rows.chunk_by(|one, other| one.poll.id == other.poll.id).map(|options| {
            let titles: Vec<&str> = options.iter().map(|option| option.title.as_str()).collect();
            let status = options[0].poll.status_id;
            let domain = self.domains.get(&status).and_then(Option::as_deref);
            let emojis = self.palette.of(&cx.urls, domain, &titles);
            let own = viewer.map(|viewer| self.authors.get(&status) == Some(&viewer));
            Ok((status, Fragment::of(&Poll::new(options, emojis, own, cx.clock.now()))?))
        });
        polls.collect()
    }
}

/// The polls of a status for many viewers: rendered for each voter and the author, and once for everyone else.
pub(super) struct EachPoll {
    others: Vec<(StatusId, Fragment)>,
    by_viewer: HashMap<AccountId, Vec<(StatusId, Fragment)>>,
}

impl EachPoll {
    /// The polls as `viewer` sees them.
    pub(super) fn of(&self, viewer: AccountId) -> Vec<(StatusId, Fragment)> {
        self.by_viewer.get(&viewer).unwrap_or(&self.others).clone()
    }
}

/// Renders the polls of `heads` for `viewers`, with two statements; `None` when no status has a poll.
pub(super) async fn render_each(
    cx: &Cx,
    viewers: impl Iterator<Item = AccountId> + Clone + Send,
    heads: impl Iterator<Item = &Head> + Send,
) -> Result<Option<EachPoll>> {
    let authors: HashMap<StatusId, AccountId> =
        heads.filter(|head| head.has_poll).map(|head| (head.id, head.account_id)).collect();
    if authors.is_empty() {
        return Ok(None);
    }
    let statuses: Vec<StatusId> = authors.keys().copied().collect();
    let mut votes: HashMap<AccountId, HashMap<(PollId, i64), i64>> =
        authors.values().map(|author| (*author, HashMap::new())).collect();
    let voters: Vec<AccountId> = viewers.clone().collect();
    for (poll, position, voter, place) in store::poll::votes_of(&cx.db, &statuses, &voters).await? {
        votes.entry(voter).or_default().insert((poll, position), place);
    }
    let parts = Parts::load(cx, authors, None).await?;
    // No account has the id 0: it represents all viewers who did not vote.
    let others = parts.write(cx, Some(AccountId::from(0)), &parts.rows)?;
    let mut by_viewer = HashMap::new();
    for (viewer, votes) in votes {
        let seen =
            |row: &OptionRow| OptionRow { vote_place: votes.get(&(row.poll.id, row.position)).copied(), ..row.clone() };
        let rows: Vec<OptionRow> = parts.rows.iter().map(seen).collect();
        by_viewer.insert(viewer, parts.write(cx, Some(viewer), &rows)?);
    }
    Ok(Some(EachPoll { others, by_viewer }))
}

/// Renders the poll of the status of `head`.
///
/// # Errors
/// [`Error::NotFound`] when it has no poll (any more).
pub async fn render_one(cx: &Cx, viewer: Option<&Actor>, head: &Head) -> Result<Fragment> {
    // The head may have been read before the poll was added.
    let head = Head { has_poll: true, ..*head };
    render(cx, viewer, std::iter::once(&head)).await?.get(&head.id).cloned().ok_or(Error::NotFound)
}

/// The domains of the authors, to look up custom emojis. Not read if no option contains a shortcode.
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

/// The number of votes for all `options`.
pub(crate) fn total(options: &[OptionRow]) -> i64 {
    options.iter().fold(0, |total, option| total.saturating_add(option.votes_count))
}

impl<'a> Poll<'a> {
    /// `options`: all options of one poll; `own`: whether the viewer is the author, `None` for an anonymous viewer.
    fn new(options: &'a [OptionRow], emojis: Vec<CustomEmoji>, own: Option<bool>, now: Time) -> Self {
        let poll = &options[0].poll;
        let expired = poll.has_ended(now);
        let shown = expired || !poll.hide_totals;
        let mut cast: Vec<(i64, i64)> =
            options.iter().filter_map(|option| Some((option.vote_place?, option.position))).collect();
        cast.sort_unstable();
        let own_votes: Vec<i64> = cast.into_iter().map(|(_, position)| position).collect();
        Self {
            id: poll.id,
            expires_at: poll.expires_at.map(Time::to_api),
            expired,
            multiple: poll.multiple,
            votes_count: total(options),
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
