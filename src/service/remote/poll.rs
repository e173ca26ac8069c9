//! Polls of accounts of other servers, and votes of remote accounts in polls of this server.
//!
//! The server of a poll counts its votes: its counts replace the ones here, which include the votes of local accounts until
//! then.

use crate::poll;
use context::Cx;
use context::error::{Error, Result};
use database::Tx;
use model::{AccountId, Poll, StatusId, Time};

/// Most options that are kept.
const OPTIONS_MAX: usize = 20;
/// Longest option that is kept, in characters.
const OPTION_MAX: usize = 500;

/// Largest number of votes or voters that is believed: a thousand million, of which all options together are far from the
/// largest number that is stored.
const VOTES_MAX: i64 = 1_000_000_000;

/// A poll as its server states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemotePoll {
    /// Texts, as received, each with its number of votes.
    pub options: Vec<(String, i64)>,
    pub multiple: bool,
    /// When it ends or ended; `None`: it has no end.
    pub expires_at: Option<Time>,
    /// Number of voters, if it is stated.
    pub voters_count: Option<i64>,
}

impl RemotePoll {
    /// The options as they are shown.
    fn titles(&self) -> Vec<String> {
        let shown = |(title, _): &(String, i64)| text::plain(title).chars().take(OPTION_MAX).collect();
        self.options.iter().take(OPTIONS_MAX).map(shown).collect()
    }

    fn votes(&self) -> Vec<i64> {
        self.options.iter().take(OPTIONS_MAX).map(|(_, votes)| believed(*votes)).collect()
    }

    fn voters(&self) -> Option<i64> {
        self.voters_count.map(believed)
    }
}

fn believed(count: i64) -> i64 {
    count.clamp(0, VOTES_MAX)
}

/// Inserts the poll of a new status, and queues its end.
pub(super) async fn insert(cx: &Cx, tx: &mut Tx, status: StatusId, new: &RemotePoll) -> Result<()> {
    let row = Poll {
        id: cx.ids.next(),
        status_id: status,
        multiple: new.multiple,
        hide_totals: false,
        voters_count: new.voters(),
        expires_at: new.expires_at,
        created_at: cx.clock.now(),
    };
    store::poll::insert(tx, &row, &new.titles()).await?;
    store::poll::set_counts(tx, row.id, &new.votes(), row.voters_count).await?;
    match new.expires_at.filter(|_| !row.has_ended(cx.clock.now())) {
        Some(end) => poll::end_later(cx, tx, row.id, end).await,
        None => Ok(()),
    }
}

/// Replaces the poll of an edited status, whose row is locked; votes are kept unless its options or their kind changed.
/// Returns whether they changed, and the options before.
pub(super) async fn replace(
    cx: &Cx,
    tx: &mut Tx,
    status: StatusId,
    new: Option<&RemotePoll>,
) -> Result<(bool, Vec<String>)> {
    let old = store::poll::lock_of_status(tx, status).await?;
    let before = store::poll::list_titles(&mut *tx, status).await?;
    match (old, new) {
        (None, None) => return Ok((false, before)),
        (None, Some(new)) => insert(cx, tx, status, new).await?,
        (Some(old), None) => store::poll::delete(tx, old.id).await?,
        (Some(old), Some(new)) if old.multiple == new.multiple && before == new.titles() => {
            return Ok((false, before));
        }
        (Some(old), Some(new)) => store::poll::reset(tx, old.id, new.multiple, &new.titles()).await?,
    }
    Ok((true, before))
}

/// Takes over the counts and the end of the poll of the status `uri` of the remote account `author`. False when there is
/// no such poll, or it has other options.
///
/// # Errors
/// [`Error::Forbidden`] when the status is another account's.
#[model::use_case]
pub async fn tally(cx: &Cx, author: AccountId, uri: &str, new: &RemotePoll) -> Result<bool> {
    let mut tx = cx.db.begin().await?;
    let Some(status) = store::remote::find_status(&mut tx, uri).await? else { return Ok(false) };
    if status.account_id != author {
        return Err(Error::forbidden("the status is someone else's"));
    }
    let Some(old) = store::poll::lock_of_status(&mut tx, status.id).await? else { return Ok(false) };
    let titles = store::poll::list_titles(&mut tx, status.id).await?;
    if old.multiple != new.multiple || titles != new.titles() {
        return Ok(false);
    }
    store::poll::set_counts(&mut tx, old.id, &new.votes(), new.voters()).await?;
    if old.expires_at != new.expires_at {
        store::poll::update(&mut tx, old.id, old.hide_totals, new.expires_at).await?;
        if let Some(end) = new.expires_at {
            poll::end_later(cx, &mut tx, old.id, end).await?;
        }
    }
    tx.commit().await?;
    Ok(true)
}

/// Votes as the remote account `voter` for the option `title` of the poll of `status`. False when it has no such option.
///
/// # Errors
/// As [`poll::vote`]: the poll is hidden from the voter, or has ended, or the voter has voted before.
#[model::use_case]
pub async fn vote(cx: &Cx, voter: AccountId, status: StatusId, title: &str) -> Result<bool> {
    let actor = super::actor(cx, voter).await?;
    let options = store::poll::list(&cx.db, &[status], None).await?;
    let Some(chosen) = options.iter().find(|option| option.title == title.trim()) else { return Ok(false) };
    poll::vote(cx, &actor, chosen.poll.id, &[chosen.position]).await?;
    Ok(true)
}
