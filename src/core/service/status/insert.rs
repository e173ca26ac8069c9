//! Writing the row of a status or reblog, with everything that holds for both: its thread, counters and the author's own feed.
//!
//! Publishing and reblogging call it in their transaction, and record the publishing themselves.

use crate::change::{self, Change};
use crate::{Cx, Result};
use model::status::Visibility;
use model::{Actor, ConversationId};
use store::Tx;
use store::feed::HOME;
use store::publish::NewStatus;

/// Inserts `new`, a status or reblog of `actor`; false when it is a reblog that exists already. Rows of accounts are locked
/// before rows of statuses, as wherever both are.
pub(in crate::service) async fn insert(cx: &Cx, tx: &mut Tx, actor: &Actor, mut new: NewStatus) -> Result<bool> {
    let (id, visibility, now) = (new.id, new.visibility, new.now);
    let (original, answered) = (new.reblog_of_id, new.in_reply_to_id);
    if new.conversation_id.is_none() && original.is_none() {
        let conversation: ConversationId = cx.ids.next();
        store::publish::insert_conversation(tx, conversation, actor.id, now).await?;
        new.conversation_id = Some(conversation);
    }
    if !store::publish::insert(tx, new).await? {
        return Ok(false);
    }
    if visibility != Visibility::Direct {
        store::publish::count_for_author(tx, actor.id, 1, Some(now)).await?;
    }
    if let Some(answered) = answered.filter(|_| visibility.is_anonymous()) {
        store::status::add_counts(tx, answered, 1, 0, 0).await?;
    }
    if let Some(original) = original {
        store::status::add_counts(tx, original, 0, 1, 0).await?;
    }
    if actor.feed_live {
        store::feed::insert_own(tx, actor.id, id, original.unwrap_or(id)).await?;
        let entered = Change::FeedEntered { kind: HOME, owners: vec![actor.id.into()], status: id };
        change::record(cx, tx, entered).await?;
    }
    Ok(true)
}
