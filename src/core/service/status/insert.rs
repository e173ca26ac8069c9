//! Writing the row of a status or reblog, with everything that holds for both: its thread, counters and the author's own feed.
//!
//! Publishing and reblogging call it in their transaction, and record the change themselves. Deleting counts by the same
//! rules.

use crate::change::{self, Change};
use crate::{Cx, Result};
use model::status::Visibility;
use model::{Actor, ConversationId, Status};
use store::Tx;
use store::account::AccountCounts;
use store::feed::HOME;

/// Inserts `new`, a status or reblog of `actor`; false when it is a reblog that exists already.
pub(in crate::service) async fn insert(cx: &Cx, tx: &mut Tx, actor: &Actor, mut new: Status) -> Result<bool> {
    if new.conversation_id.is_none() && new.reblog_of_id.is_none() {
        let conversation: ConversationId = cx.ids.next();
        store::publish::insert_conversation(tx, conversation, new.created_at).await?;
        new.conversation_id = Some(conversation);
    }
    if !store::status::insert(tx, &new).await? {
        return Ok(false);
    }
    count(tx, &new, 1).await?;
    if actor.feed_live {
        store::feed::insert_own(tx, actor.id, new.id, new.reblog_of_id).await?;
        let entered = Change::FeedEntered { kind: HOME, owners: vec![actor.id.into()], status: new.id };
        change::record(cx, tx, entered).await?;
    }
    Ok(true)
}

/// Adds `by` to every counter that counts `status`, 1 when it was inserted and -1 when it is about to be deleted: that of
/// its author unless it is direct, of the status replied to if it is visible without signing in, and of the original of a
/// reblog. Rows of accounts are locked before rows of statuses, as wherever both are.
pub(super) async fn count(tx: &mut Tx, status: &Status, by: i64) -> Result<()> {
    let last_status_at = (by > 0).then_some(status.created_at);
    if status.visibility != Visibility::Direct {
        let counts = AccountCounts { statuses: by, last_status_at, ..AccountCounts::default() };
        store::account::add_counts(tx, status.account_id, counts).await?;
    }
    if let Some(answered) = status.in_reply_to_id.filter(|_| status.visibility.is_anonymous()) {
        store::status::add_counts(tx, answered, by, 0, 0).await?;
    }
    if let Some(original) = status.reblog_of_id {
        store::status::add_counts(tx, original, 0, by, 0).await?;
    }
    Ok(())
}
