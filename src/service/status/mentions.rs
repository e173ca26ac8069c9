//! Mentions of a status, including the silent ones of its audience, and its hashtags.
//!
//! Reached from publishing and editing, in their transactions, which also notify the mentioned accounts. An audience
//! is stored as silent mentions. Spec: docs/contract/rules.md#10-statuses.

use std::collections::BTreeSet;

use super::address::Reach;
use crate::notification;
use context::Cx;
use context::error::Result;
use context::extension::Notice;
use database::{Executor, Tx};
use model::status::Visibility;
use model::{AccountId, Actor, ConversationId, NotificationType, RowId, Status, StatusId, TagId};

/// Saves the mentions and the audience of `new`, a status of `actor` in reply to `parent`, and notifies the mentioned
/// accounts. Returns all accounts with a mention.
pub(super) async fn address(
    cx: &Cx,
    tx: &mut Tx,
    actor: &Actor,
    new: &Status,
    parent: Option<&Status>,
    mentions: Vec<AccountId>,
    reach: Reach,
) -> Result<Vec<AccountId>> {
    let mut mentioned = save(cx, tx, new.id, &mentions, false).await?;
    let audience = reach.audience.into_iter().filter(|account| !mentions.contains(account));
    // Deduplicated.
    let audience: Vec<AccountId> = audience.collect::<BTreeSet<AccountId>>().into_iter().collect();
    let silent = save(cx, tx, new.id, &audience, true).await?;
    let answered = parent.map(|parent| parent.account_id).filter(|_| !reach.new_conversation);
    let told = notified(&mut *tx, new.conversation_id, answered, &audience).await?;
    mentioned.extend(silent.into_iter().filter(|(_, account)| told.contains(account)));
    notify(cx, tx, actor, new.id, &mentioned).await?;
    Ok(audience.into_iter().chain(mentions).collect())
}

/// Replaces the mentions in the text of the status by `mentions`, and notifies the new ones. Returns all accounts
/// that may see it by a mention, and whether the accounts mentioned in the text changed.
pub(crate) async fn replace(
    cx: &Cx,
    tx: &mut Tx,
    actor: &Actor,
    id: StatusId,
    mentions: &[AccountId],
) -> Result<(Vec<AccountId>, bool)> {
    let known = store::mention::list(&mut *tx, id).await?;
    store::mention::silence(tx, id, mentions).await?;
    let loud: Vec<AccountId> = known.iter().filter(|(_, _, silent)| !silent).map(|(_, account, _)| *account).collect();
    for (mention, ..) in known.iter().filter(|(_, account, silent)| !silent && !mentions.contains(account)) {
        notification::retract(tx, NotificationType::Mention, *mention).await?;
    }
    let new: Vec<AccountId> = mentions.iter().copied().filter(|account| !loud.contains(account)).collect();
    save(cx, tx, id, &new, false).await?;
    let all = store::mention::list(&mut *tx, id).await?;
    let mentioned =
        all.iter().filter(|(_, account, _)| new.contains(account)).map(|(row, account, _)| (*row, *account));
    let mentioned: Vec<_> = mentioned.collect();
    notify(cx, tx, actor, id, &mentioned).await?;
    let readdressed = !(new.is_empty() && loud.iter().all(|id| mentions.contains(id)));
    Ok((all.into_iter().map(|(_, account, _)| account).collect(), readdressed))
}

/// Stores mentions; returns their ids, for notifications.
pub(crate) async fn save(
    cx: &Cx,
    tx: &mut Tx,
    status: StatusId,
    mentions: &[AccountId],
    silent: bool,
) -> Result<Vec<(RowId, AccountId)>> {
    let saved: Vec<(RowId, AccountId)> = mentions.iter().map(|account| (cx.ids.next(), *account)).collect();
    if !saved.is_empty() {
        store::mention::upsert(tx, status, &saved, silent).await?;
    }
    Ok(saved)
}

/// Lets `accounts` see a status that does not mention them yet.
pub(crate) async fn show_to(cx: &Cx, tx: &mut Tx, status: StatusId, accounts: &[AccountId]) -> Result<()> {
    if accounts.is_empty() {
        return Ok(());
    }
    let known = store::mention::list(&mut *tx, status).await?;
    let new = accounts.iter().copied().filter(|account| !known.iter().any(|(_, known, _)| known == account));
    save(cx, tx, status, &new.collect::<Vec<_>>(), true).await.map(drop)
}

/// The accounts of the audience that are notified without a visible mention: earlier authors in the conversation, if
/// it continues one. Includes authors of its limited statuses, and `answered`, the author of the status replied to;
/// other statuses are not looked up by their conversation.
async fn notified(
    db: impl Executor,
    conversation: Option<ConversationId>,
    answered: Option<AccountId>,
    audience: &[AccountId],
) -> Result<BTreeSet<AccountId>> {
    let mut told: BTreeSet<AccountId> = answered.into_iter().collect();
    if let Some(conversation) = conversation.filter(|_| !audience.is_empty()) {
        told.extend(store::mention::list_limited_authors(db, conversation, audience).await?);
    }
    Ok(told)
}

/// Notifies the mentioned accounts, in the transaction that mentions them.
pub(crate) async fn notify(
    cx: &Cx,
    tx: &mut Tx,
    actor: &Actor,
    status: StatusId,
    mentioned: &[(RowId, AccountId)],
) -> Result<()> {
    let notice = |(mention, receiver): &(RowId, AccountId)| Notice {
        receiver: *receiver,
        from: actor.id,
        kind: NotificationType::Mention.into(),
        activity: i64::from(*mention),
        status: Some(status),
    };
    let notices: Vec<Notice> = mentioned.iter().map(notice).collect();
    notification::notify(cx, tx, &notices).await.map(drop)
}

/// Stores hashtags and links them to `status`, which has none yet. They can be found when the visibility of the
/// status allows anyone to read it.
pub(crate) async fn save_tags(
    cx: &Cx,
    tx: &mut Tx,
    status: StatusId,
    author: AccountId,
    visibility: Visibility,
    tags: &[(String, String)],
) -> Result<()> {
    if tags.is_empty() {
        return Ok(());
    }
    let now = cx.clock.now();
    let names: Vec<String> = tags.iter().map(|(name, _)| name.clone()).collect();
    let known = store::tag::list_for_status(tx, &names).await?;
    let new = tags.iter().filter(|(name, _)| !known.iter().any(|(_, known, _)| known == name));
    let new: Vec<_> = new.map(|(name, display)| (cx.ids.next(), name.as_str(), display.as_str())).collect();
    if !new.is_empty() {
        store::tag::insert(tx, new, visibility.is_anonymous(), now).await?;
    }
    let known = if known.len() == tags.len() { known } else { store::tag::list_for_status(tx, &names).await? };
    let ids: Vec<TagId> = known.iter().map(|(id, ..)| *id).collect();
    if visibility.is_anonymous() && known.iter().any(|(.., public)| !public) {
        let hidden = tags.iter().filter(|(name, _)| known.iter().any(|(_, known, public)| known == name && !public));
        store::tag::publish(tx, hidden.map(|(name, display)| (name.as_str(), display.as_str())).collect()).await?;
    }
    store::tag::insert_for_status(tx, status, author, &ids).await?;
    Ok(())
}
