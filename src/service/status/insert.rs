//! Writes the row of a status or reblog, with the parts common to both: its thread, counters and the author's own
//! feed.
//!
//! Publishing and reblogging call it in their transaction, and record the change themselves. Deleting uses the same
//! rules for counters.

use context::change::{self, Change};
use context::{Cx, Error, Result};
use database::Tx;
use model::status::Visibility;
use model::{Actor, ConversationId, Status};
use store::account::AccountCounts;
use store::feed::HOME;

/// Inserts `new`, a status or reblog of `actor`; false when it is a reblog that exists already. The transaction must
/// not be committed then.
pub(crate) async fn insert(cx: &Cx, tx: &mut Tx, actor: &Actor, mut new: Status) -> Result<bool> {
    if new.conversation_id.is_none() && new.reblog_of_id.is_none() {
        let conversation: ConversationId = cx.ids.next();
        store::status::insert_conversation(tx, conversation, new.created_at).await?;
        new.conversation_id = Some(conversation);
    }
    // The author's row is locked before the new row locks the rows that it refers to, in the order of a deletion.
    count_author(tx, &new, 1).await?;
    if !store::status::insert(tx, &new).await.map_err(Error::of_insert)? {
        return Ok(false);
    }
    count_targets(tx, &new, 1).await?;
    if actor.feed_live {
        store::feed::insert_own(tx, actor.id, new.id, new.reblog_of_id).await?;
        let entered = Change::FeedEntered { kind: HOME, owners: vec![actor.id.into()], status: new.id };
        change::record(cx, tx, entered).await?;
    }
    Ok(true)
}

/// Subtracts a status that is about to be deleted from all counters that include it: the counter of its author unless
/// it is direct, of the status replied to if it is visible without signing in, and of the original of a reblog. Rows
/// of accounts are locked before rows of statuses, as wherever both are locked.
pub(super) async fn uncount(tx: &mut Tx, status: &Status) -> Result<()> {
    count_author(tx, status, -1).await?;
    count_targets(tx, status, -1).await
}

async fn count_author(tx: &mut Tx, status: &Status, by: i64) -> Result<()> {
    let last_status_at = (by > 0).then_some(status.created_at);
    if status.visibility != Visibility::Direct {
        let counts = AccountCounts { statuses: by, last_status_at, ..AccountCounts::default() };
        store::account::add_counts(tx, status.account_id, counts).await?;
    }
    Ok(())
}

/// Counts what is shown: nothing for a reply or reblog without approval.
pub(super) async fn count_targets(tx: &mut Tx, status: &Status, by: i64) -> Result<()> {
    if status.approval.is_some() {
        return Ok(());
    }
    if let Some(answered) = status.in_reply_to_id.filter(|_| status.visibility.is_anonymous()) {
        store::status::add_counts(tx, answered, by, 0, 0).await?;
    }
    if let Some(original) = status.reblog_of_id {
        store::status::add_counts(tx, original, 0, by, 0).await?;
    }
    Ok(())
}
