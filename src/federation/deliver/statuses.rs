//! Activities about the end of statuses, reblogs and accounts, and about favourites: made in the transaction of the
//! change, while the rows exist.

use context::{Cx, Result};
use database::Tx;
use entity::activity::PUBLIC;
use model::{AccountId, RowId, Status, StatusId, Visibility};
use serde::Serialize;

use super::activity::{Activity, CONTEXT, Inner};
use super::follows::{actor, inbox};
use super::queue::{Outgoing, is_local, send};
use super::relays;

/// Most rebloggers, favouriters and repliers among the recipients, of each.
pub(super) const PARTICIPANTS_MAX: i64 = 1_000;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
struct Tombstone<'a> {
    id: &'a str,
    atom_uri: &'a str,
}

/// The inboxes of the audience of `status`, and of the accounts that interacted with it; none for a status that stays on
/// this server.
pub(super) async fn recipients(tx: &mut Tx, status: &Status) -> Result<Vec<String>> {
    if status.local_only {
        return Ok(Vec::new());
    }
    let mut inboxes = match status.visibility {
        Visibility::Direct | Visibility::Limited => Vec::new(),
        Visibility::Public
        | Visibility::PublicUnlisted
        | Visibility::Login
        | Visibility::Unlisted
        | Visibility::Private => store::delivery::follower_inboxes(&mut *tx, status.account_id).await?,
    };
    let accounts = match status.visibility {
        Visibility::Public | Visibility::PublicUnlisted | Visibility::Unlisted => {
            store::delivery::participants(&mut *tx, status.id, PARTICIPANTS_MAX).await?
        }
        Visibility::Login | Visibility::Private | Visibility::Direct | Visibility::Limited => {
            let mentions = store::mention::list(&mut *tx, status.id).await?;
            mentions.into_iter().map(|(_, account, _)| account).collect()
        }
    };
    let accounts = match accounts.is_empty() {
        true => accounts,
        false => store::delivery::addressable(&mut *tx, status.account_id, &accounts).await?,
    };
    let personal = status.visibility == Visibility::Limited;
    inboxes.extend(store::delivery::inboxes(&mut *tx, &accounts, personal).await?);
    Ok(inboxes)
}

/// A local status is about to be deleted.
pub(super) async fn deleted(cx: &Cx, tx: &mut Tx, id: StatusId, author: AccountId) -> Result<()> {
    let Some(status) = store::status::find(&mut *tx, id).await? else { return Ok(()) };
    let mut inboxes = recipients(tx, &status).await?;
    inboxes.extend(relays::inboxes(cx, tx, &status, None).await?);
    if inboxes.is_empty() {
        return Ok(());
    }
    let author = actor(tx, author).await?;
    let activity = Activity {
        context: CONTEXT,
        id: format!("{}#delete", status.uri),
        kind: "Delete",
        actor: &author.uri,
        to: &[PUBLIC.to_owned()],
        object: Tombstone { id: &status.uri, atom_uri: &status.uri },
    };
    send(cx, tx, Outgoing::new(author.id, &activity)?, inboxes).await
}

/// A local reblog is about to be deleted.
pub(super) async fn unreblogged(cx: &Cx, tx: &mut Tx, id: StatusId, account: AccountId) -> Result<()> {
    let Some(reblog) = store::status::find(&mut *tx, id).await? else { return Ok(()) };
    let Some(original) = reblog.reblog_of_id else { return Ok(()) };
    let Some(original) = store::status::find(&mut *tx, original).await? else { return Ok(()) };
    let inboxes = recipients(tx, &reblog).await?;
    if inboxes.is_empty() {
        return Ok(());
    }
    let account = actor(tx, account).await?;
    let undo = Activity {
        context: CONTEXT,
        id: format!("{}#announces/{id}/undo", account.uri),
        kind: "Undo",
        actor: &account.uri,
        to: &[PUBLIC.to_owned()],
        object: Inner { id: &reblog.uri, kind: "Announce", actor: &account.uri, object: &original.uri },
    };
    send(cx, tx, Outgoing::new(account.id, &undo)?, inboxes).await
}

/// A local account marked a remote status as a favourite, or no longer does (`undone`).
pub(super) async fn liked(
    cx: &Cx,
    tx: &mut Tx,
    account: AccountId,
    status: StatusId,
    favourite: Option<RowId>,
    undone: bool,
) -> Result<()> {
    if !is_local(cx, tx, account).await? {
        return Ok(());
    }
    let Some(status) = store::status::find(&mut *tx, status).await?.filter(|status| !status.local) else {
        return Ok(());
    };
    let (account, author) = (actor(tx, account).await?, actor(tx, status.account_id).await?);
    let id = format!("{}#likes/{}", account.uri, favourite.unwrap_or_else(|| cx.ids.next()));
    let outgoing = if undone {
        let like = Inner { id: &id, kind: "Like", actor: &account.uri, object: &status.uri };
        let undo = Activity {
            context: CONTEXT,
            id: format!("{id}/undo"),
            kind: "Undo",
            actor: &account.uri,
            to: &[],
            object: like,
        };
        Outgoing::new(account.id, &undo)?
    } else {
        let like =
            Activity { context: CONTEXT, id, kind: "Like", actor: &account.uri, to: &[], object: status.uri.as_str() };
        Outgoing::new(account.id, &like)?
    };
    send(cx, tx, outgoing, inbox(&author)).await
}

/// The removal of a local account began: every known server is sent the deletion while the key exists.
pub(super) async fn account_removed(cx: &Cx, tx: &mut Tx, account: AccountId) -> Result<()> {
    let account = actor(tx, account).await?;
    if account.domain.is_some() {
        return Ok(());
    }
    let inboxes = store::delivery::known_inboxes(&mut *tx).await?;
    let activity = Activity {
        context: CONTEXT,
        id: format!("{}#delete", account.uri),
        kind: "Delete",
        actor: &account.uri,
        to: &[PUBLIC.to_owned()],
        object: account.uri.as_str(),
    };
    let outgoing = Outgoing { private_key: account.private_key.clone(), ..Outgoing::new(account.id, &activity)? };
    send(cx, tx, outgoing, inboxes).await
}
