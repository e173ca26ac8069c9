//! Mentions of a status, including the silent ones of its audience, and its hashtags.
//!
//! Reached from publishing and editing, in their transactions, which also notify the mentioned accounts. An audience
//! is stored as silent mentions. Spec: docs/contract/rules.md#10-statuses.

use std::collections::BTreeSet;

use super::address::Audience;
use crate::notification;
use context::Cx;
use context::error::Result;
use context::extension::Notice;
use database::{Conn, Tx};
use model::{AccountId, Actor, ConversationId, NotificationType, RowId, Status, StatusId, TagId};

/// Saves the mentions and the audience of `new`, a status of `actor` that continues `thread`, and notifies the mentioned
/// accounts. Returns all accounts with a mention.
pub(super) async fn address(
    cx: &Cx,
    tx: &mut Tx,
    actor: &Actor,
    new: &Status,
    thread: Option<&Status>,
    mentions: Vec<AccountId>,
    reach: Audience,
) -> Result<Vec<AccountId>> {
    let mut mentioned = save(cx, tx, new.id, &mentions, false).await?;
    let audience = reach.audience.into_iter().filter(|account| !mentions.contains(account));
    // Deduplicated.
    let audience: Vec<AccountId> = audience.collect::<BTreeSet<AccountId>>().into_iter().collect();
    let silent = save(cx, tx, new.id, &audience, true).await?;
    let answered = thread.map(|parent| parent.account_id);
    let receivers = notified(&mut *tx, new.conversation_id, answered, &audience).await?;
    mentioned.extend(silent.into_iter().filter(|(_, account)| receivers.contains(account)));
    if new.approval.is_none() {
        notify(cx, tx, actor, new.id, &mentioned).await?;
    }
    Ok(audience.into_iter().chain(mentions).collect())
}

/// Replaces the mentions in the text of the status by `mentions`, and notifies the new ones. Returns all accounts
/// that may see it by a mention, and whether the accounts mentioned in the text changed. `strangers_max`: as in
/// [`notifiable`], earlier mentions included; `None` for a status of this server.
pub(crate) async fn replace(
    cx: &Cx,
    tx: &mut Tx,
    actor: &Actor,
    id: StatusId,
    mentions: &[AccountId],
    strangers_max: Option<usize>,
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
    let mut mentioned: Vec<(RowId, AccountId)> = all.iter().map(|(row, account, _)| (*row, *account)).collect();
    if let Some(most) = strangers_max.filter(|_| !new.is_empty()) {
        mentioned = notifiable(tx, actor.id, mentioned, most).await?;
    }
    mentioned.retain(|(_, account)| new.contains(account));
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
#[model::boxed]
async fn notified(
    db: Conn<'_>,
    conversation: Option<ConversationId>,
    answered: Option<AccountId>,
    audience: &[AccountId],
) -> Result<BTreeSet<AccountId>> {
    let mut receivers: BTreeSet<AccountId> = answered.into_iter().collect();
    if let Some(conversation) = conversation.filter(|_| !audience.is_empty()) {
        receivers.extend(store::mention::list_limited_authors(db, conversation, audience).await?);
    }
    Ok(receivers)
}

/// The mentions in a status of `author` that notify their accounts: of its followers, and the first `strangers_max` of
/// other accounts of this server, so that a stranger cannot notify everyone by one status. No statement unless there are
/// more mentions.
pub(crate) async fn notifiable(
    tx: &mut Tx,
    author: AccountId,
    mut mentioned: Vec<(RowId, AccountId)>,
    strangers_max: usize,
) -> Result<Vec<(RowId, AccountId)>> {
    if mentioned.len() <= strangers_max {
        return Ok(mentioned);
    }
    let accounts: Vec<AccountId> = mentioned.iter().map(|(_, account)| *account).collect();
    let strangers: BTreeSet<AccountId> =
        store::follow::list_strangers_among(&mut *tx, author, &accounts).await?.into_iter().collect();
    let mut count = 0;
    mentioned.retain(|(_, account)| {
        count += usize::from(strangers.contains(account));
        count <= strangers_max || !strangers.contains(account)
    });
    Ok(mentioned)
}

/// Notifies the mentioned accounts, in the transaction that mentions them.
pub(crate) async fn notify(
    cx: &Cx,
    tx: &mut Tx,
    actor: &Actor,
    status: StatusId,
    mentioned: &[(RowId, AccountId)],
) -> Result<()> {
    notify_from(cx, tx, actor.id, status, mentioned).await
}

/// As [`notify`], of a status of `author`.
pub(crate) async fn notify_from(
    cx: &Cx,
    tx: &mut Tx,
    author: AccountId,
    status: StatusId,
    mentioned: &[(RowId, AccountId)],
) -> Result<()> {
    let notice = |(mention, receiver): &(RowId, AccountId)| Notice {
        receiver: *receiver,
        from: author,
        kind: NotificationType::Mention.into(),
        activity: i64::from(*mention),
        status: Some(status),
    };
    let notices: Vec<Notice> = mentioned.iter().map(notice).collect();
    notification::notify(cx, tx, &notices).await.map(drop)
}

/// Stores hashtags and links them to `status`, which has none yet. They can be found when the status is `open`: anyone
/// may read it, also on other servers.
pub(crate) async fn save_tags(
    cx: &Cx,
    tx: &mut Tx,
    status: StatusId,
    author: AccountId,
    open: bool,
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
        store::tag::insert(tx, new, open, now).await?;
    }
    let known = if known.len() == tags.len() { known } else { store::tag::list_for_status(tx, &names).await? };
    let ids: Vec<TagId> = known.iter().map(|(id, ..)| *id).collect();
    if open && known.iter().any(|(.., public)| !public) {
        let hidden = tags.iter().filter(|(name, _)| known.iter().any(|(_, known, public)| known == name && !public));
        store::tag::publish(tx, hidden.map(|(name, display)| (name.as_str(), display.as_str())).collect()).await?;
    }
    store::tag::insert_for_status(tx, status, author, &ids).await?;
    Ok(())
}
