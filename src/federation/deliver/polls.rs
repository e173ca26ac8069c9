//! Activities about polls: votes of local accounts in polls of other servers, and the votes of local polls.

use chrono::TimeDelta;
use context::queue::{self, Distribute, Distribution};
use context::{Cx, Result};
use database::Tx;
use model::{AccountId, RowId, StatusId};
use serde::Serialize;

use super::activity::{Activity, CONTEXT};
use super::follows::{actor, inbox};
use super::queue::{Outgoing, is_local, send};

/// Pause between a vote and the update with the counts, so that one update is about many votes
/// (docs/contract/federation.md#3-documents-sent).
const TALLY_PAUSE: TimeDelta = TimeDelta::minutes(3);

/// A vote for one option.
#[derive(Serialize)]
#[serde(tag = "type", rename = "Note", rename_all = "camelCase")]
struct Vote<'a> {
    id: &'a str,
    name: &'a str,
    attributed_to: &'a str,
    in_reply_to: &'a str,
    to: &'a str,
}

/// Someone voted: in a local poll, whose counts are sent later, or a local account in a remote poll.
pub(super) async fn voted(cx: &Cx, tx: &mut Tx, voter: AccountId, status: StatusId, choices: &[i64]) -> Result<()> {
    let Some(status) = store::status::find(&mut *tx, status).await? else { return Ok(()) };
    if status.local {
        let poll = store::poll::lock_of_status(tx, status.id).await?;
        return match poll.filter(|poll| !poll.hide_totals) {
            Some(_) => {
                let tally = Distribute { what: Distribution::Tally(status.id) };
                queue::enqueue_at(cx, tx, &tally, cx.clock.now() + TALLY_PAUSE).await
            }
            None => Ok(()),
        };
    }
    if !is_local(cx, tx, voter).await? {
        return Ok(());
    }
    let (voter, author) = (actor(tx, voter).await?, actor(tx, status.account_id).await?);
    let titles = store::poll::list_titles(&mut *tx, status.id).await?;
    let chosen = choices.iter().filter_map(|choice| titles.get(usize::try_from(*choice).ok()?));
    for name in chosen {
        let id = format!("{}#votes/{}", voter.uri, cx.ids.next::<RowId>());
        let object = Vote { id: &id, name, attributed_to: &voter.uri, in_reply_to: &status.uri, to: &author.uri };
        let to = [author.uri.clone()];
        let create = Activity {
            context: CONTEXT,
            id: format!("{id}/activity"),
            kind: "Create",
            actor: &voter.uri,
            to: &to,
            object,
        };
        send(cx, tx, Outgoing::new(voter.id, &create)?, inbox(&author)).await?;
    }
    Ok(())
}

/// A poll ended: the final counts of a local one are sent.
pub(super) async fn ended(cx: &Cx, tx: &mut Tx, status: StatusId) -> Result<()> {
    let local = store::status::find(&mut *tx, status).await?.is_some_and(|status| status.local);
    if !local {
        return Ok(());
    }
    queue::enqueue(cx, tx, &Distribute { what: Distribution::Tally(status) }).await
}
