//! Conversations: the direct statuses of a thread with the same people, as each of them sees them.
//!
//! Reached from the conversations routes, and from publishing, editing and deleting a direct status, which update
//! conversations in their transaction. An account that does not receive a mention, because of a block, a mute or the
//! notification policy, has no conversation for it. Following a thread is in [`timeline`](crate::timeline).
//!
//! Spec: docs/contract/rules.md#24-conversations; <https://docs.joinmastodon.org/methods/conversations/>

use std::sync::Arc;

use crate::visibility::{self, Place, Seen};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use database::Tx;
use model::{AccountId, Actor, Cursor, RowId, StatusId};
use store::conversation::{self, Conversation, NewConversation, Participant, Participants};

/// A conversation with its last status, which may have become hidden.
#[derive(Clone, Debug)]
pub struct VisibleConversation {
    pub conversation: Conversation,
    pub last_status: Option<Seen>,
}

/// A page of the conversations of `viewer`, newest status first: the ids of the last statuses, for the cursors, and the
/// conversations.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: &Actor, cursor: &Cursor) -> Result<(Vec<i64>, Vec<VisibleConversation>)> {
    let rows = conversation::page(&cx.db, viewer.id, cursor).await?;
    let ids = rows.iter().map(|row| row.last_status_id.into()).collect();
    Ok((ids, with_statuses(cx, viewer, rows).await?))
}

/// One of the conversations of `viewer`.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn show(cx: &Cx, viewer: &Actor, id: RowId) -> Result<VisibleConversation> {
    let row = conversation::find(&cx.db, viewer.id, id).await?.ok_or(Error::NotFound)?;
    with_statuses(cx, viewer, vec![row]).await?.pop().ok_or(Error::NotFound)
}

/// The conversations among `ids` of one of `owners`, with their owners. One statement for all of them, and as many as
/// [`visibility::seen_each`] for their statuses.
#[model::use_case]
pub async fn show_each(
    cx: &Cx,
    owners: &[Arc<Actor>],
    ids: &[RowId],
) -> Result<Vec<(Arc<Actor>, VisibleConversation)>> {
    let mut found = Vec::with_capacity(ids.len());
    for row in conversation::list_each(&cx.db, ids).await? {
        if let Some(owner) = owners.iter().find(|owner| owner.id == row.account_id) {
            found.push((Arc::clone(owner), row));
        }
    }
    let wanted: Vec<_> = found.iter().map(|(owner, row)| (Arc::clone(owner), row.last_status_id)).collect();
    let seen = visibility::seen_each(cx, Place::Notification, &wanted).await?;
    let shown = found.into_iter().zip(seen);
    Ok(shown
        .map(|((owner, conversation), last_status)| (owner, VisibleConversation { conversation, last_status }))
        .collect())
}

/// Marks a conversation of `actor` as unread or read.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn set_unread(cx: &Cx, actor: &Actor, id: RowId, unread: bool) -> Result<VisibleConversation> {
    let mut tx = cx.db.begin().await?;
    if !conversation::set_unread(&mut tx, actor.id, id, unread).await? {
        return Err(Error::NotFound);
    }
    change::record(cx, &mut tx, Change::ConversationsUpdated { conversations: vec![(actor.id, id)] }).await?;
    tx.commit().await?;
    show(cx, actor, id).await
}

/// Hides a conversation from `actor`, its owner, until its next status. Its statuses stay.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn hide(cx: &Cx, actor: &Actor, id: RowId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    if !conversation::delete(&mut tx, actor.id, id).await? {
        return Err(Error::NotFound);
    }
    Ok(tx.commit().await?)
}

async fn with_statuses(cx: &Cx, viewer: &Actor, rows: Vec<Conversation>) -> Result<Vec<VisibleConversation>> {
    let ids: Vec<StatusId> = rows.iter().map(|row| row.last_status_id).collect();
    let seen = visibility::statuses(cx, Some(viewer), Place::Notification, &ids).await?;
    let find = |id: StatusId| seen.iter().find(|seen| seen.head().id == id).copied();
    let visible = |conversation: Conversation| VisibleConversation {
        last_status: find(conversation.last_status_id),
        conversation,
    };
    Ok(rows.into_iter().map(visible).collect())
}

/// Adds the direct status `status`, whose mentions were notified, to the conversations of its author and of the
/// notified accounts, and records the update. Does nothing for a status that is not direct, or was added already.
pub async fn receive(cx: &Cx, tx: &mut Tx, status: StatusId) -> Result<()> {
    let participants = conversation::participants(&mut *tx, status).await?;
    add(cx, tx, status, &participants, |one| one.notified).await
}

/// As [`receive`], for the accounts among `receivers` whose notification was created later. The others may have
/// hidden their conversations since.
pub(crate) async fn receive_late(cx: &Cx, tx: &mut Tx, status: StatusId, receivers: &[AccountId]) -> Result<()> {
    let participants = conversation::participants(&mut *tx, status).await?;
    add(cx, tx, status, &participants, |one| one.notified && receivers.contains(&one.account_id)).await
}

/// Moves a direct status whose mentions were edited: accounts that have it in a conversation, and accounts mentioned
/// now, get it in a conversation with its current participants. For accounts no longer mentioned it stays in its
/// conversation.
pub(crate) async fn rearrange(cx: &Cx, tx: &mut Tx, status: StatusId) -> Result<()> {
    let participants = conversation::participants(&mut *tx, status).await?;
    if participants.is_empty() {
        return Ok(());
    }
    let stays = |account: AccountId| participants.iter().any(|one| one.account_id == account);
    let held = conversation::lock_with_status(tx, status).await?;
    let (ids, holders): (Vec<RowId>, Vec<AccountId>) = held.into_iter().filter(|(_, account)| stays(*account)).unzip();
    let left = conversation::remove_status(tx, status, &ids).await?;
    record(cx, tx, left).await?;
    let has = |one: &Participant| holders.contains(&one.account_id) || (!one.is_author && one.notified);
    add(cx, tx, status, &participants, has).await
}

/// Removes a direct status that is about to be deleted from the conversations of all its participants. Records an
/// update for conversations whose last status changes.
pub(crate) async fn remove_status(cx: &Cx, tx: &mut Tx, status: StatusId) -> Result<()> {
    let held = conversation::lock_with_status(tx, status).await?;
    if held.is_empty() {
        return Ok(());
    }
    let ids: Vec<RowId> = held.into_iter().map(|(id, _)| id).collect();
    let left = conversation::remove_status(tx, status, &ids).await?;
    record(cx, tx, left).await
}

async fn add(
    cx: &Cx,
    tx: &mut Tx,
    status: StatusId,
    participants: &[Participant],
    has: impl Fn(&Participant) -> bool,
) -> Result<()> {
    let new = rows(cx, participants, has);
    let updated = insert(tx, status, participants, new).await?;
    record(cx, tx, updated).await
}

/// Records the update of conversations with another last status, in the order of their ids.
async fn record(cx: &Cx, tx: &mut Tx, mut updated: Vec<(RowId, AccountId)>) -> Result<()> {
    updated.sort_unstable_by_key(|(conversation, account)| (*account, *conversation));
    if updated.is_empty() {
        return Ok(());
    }
    let conversations = updated.into_iter().map(|(conversation, account)| (account, conversation)).collect();
    change::record(cx, tx, Change::ConversationsUpdated { conversations }).await
}

async fn insert(
    tx: &mut Tx,
    status: StatusId,
    participants: &[Participant],
    new: Vec<NewConversation>,
) -> Result<Vec<(RowId, AccountId)>> {
    let thread = participants.iter().find_map(|one| one.conversation_id);
    match thread {
        Some(thread) if !new.is_empty() => Ok(conversation::add_status(tx, thread, status, new).await?),
        Some(_) | None => Ok(Vec::new()),
    }
}

/// The conversations of the local accounts among `participants` that have the status, in their order.
fn rows(cx: &Cx, participants: &[Participant], has: impl Fn(&Participant) -> bool) -> Vec<NewConversation> {
    let others = |owner: AccountId| {
        Participants(participants.iter().map(|one| one.account_id).filter(|account| *account != owner).collect())
    };
    let row = |owner: &Participant| NewConversation {
        id: cx.ids.next(),
        account: owner.account_id,
        participants: others(owner.account_id).to_string(),
        unread: !owner.is_author,
    };
    participants.iter().filter(|one| one.local && has(one)).map(row).collect()
}
