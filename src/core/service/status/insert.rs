//! Writing the row of a status or reblog, with everything that holds for both: its thread, counters and the author's own feed.
//!
//! Publishing and reblogging call it in their transaction, and record the change themselves.

use crate::{Cx, Result};
use model::status::Visibility;
use model::{Actor, ConversationId, Status};
use store::Tx;

/// Inserts `new`, a status or reblog of `actor`; false when it is a reblog that exists already.
pub(in crate::service) async fn insert(cx: &Cx, tx: &mut Tx, actor: &Actor, mut new: Status) -> Result<bool> {
    if new.conversation_id.is_none() && new.reblog_of_id.is_none() {
        let conversation: ConversationId = cx.ids.next();
        store::publish::insert_conversation(tx, conversation, actor.id, new.created_at).await?;
        new.conversation_id = Some(conversation);
    }
    if !store::status::insert(tx, &new).await? {
        return Ok(false);
    }
    if new.visibility != Visibility::Direct {
        store::publish::count_for_author(tx, actor.id, 1, Some(new.created_at)).await?;
    }
    if let Some(answered) = new.in_reply_to_id.filter(|_| new.visibility.is_anonymous()) {
        store::status::add_counts(tx, answered, 1, 0, 0).await?;
    }
    if let Some(original) = new.reblog_of_id {
        store::status::add_counts(tx, original, 0, 1, 0).await?;
    }
    if actor.feed_live {
        store::feed::insert(tx, actor.id, new.id, actor.id, new.reblog_of_id.unwrap_or(new.id)).await?;
    }
    Ok(true)
}
