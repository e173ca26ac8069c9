//! Removes entries that the file of an overwriting import does not contain, with the use cases that a client would
//! call.

use std::collections::HashSet;

use super::entry::{Entry, status_key};
use super::export;
use crate::{domain_block, filter, follow, interaction, list, relationship};
use context::Cx;
use context::error::{Error, Result};
use model::transfer::TransferKind;
use model::{AccountId, Actor, RowId};
use store::transfer::{Import, Related};

/// Removes, among the next `limit` entries of `actor` after `after`, the ones that the file does not contain; for
/// lists, members of one list. Returns where to continue, `None` at the end.
pub(super) async fn remove_batch(
    cx: &Cx,
    actor: &Actor,
    import: &Import,
    after: i64,
    limit: i64,
) -> Result<Option<i64>> {
    let after = RowId::from(after);
    match import.kind {
        TransferKind::Lists => from_list(cx, actor, import, after).await,
        TransferKind::Filters => filters(cx, actor, import).await,
        TransferKind::Bookmarks => bookmarks(cx, actor, import, after, limit).await,
        TransferKind::Follows | TransferKind::Blocks | TransferKind::Mutes => {
            accounts(cx, actor, import, after, limit).await
        }
        TransferKind::DomainBlocks => domains(cx, actor, import, after, limit).await,
    }
}

/// The `keys` that the file does not contain.
async fn unnamed(cx: &Cx, import: &Import, list: &str, keys: Vec<String>) -> Result<HashSet<String>> {
    let named = store::transfer::list_named_among(&cx.db, import.id, list, &keys).await?;
    let named: HashSet<String> = named.into_iter().collect();
    Ok(keys.into_iter().filter(|key| !named.contains(key)).collect())
}

async fn accounts(cx: &Cx, actor: &Actor, import: &Import, after: RowId, limit: i64) -> Result<Option<i64>> {
    let page = related(cx, actor.id, import.kind, after, limit).await?;
    let Some(last) = page.last().map(|row| i64::from(row.row_id)) else { return Ok(None) };
    let gone = unnamed(cx, import, "", page.iter().map(|row| key(cx, row)).collect()).await?;
    for row in page.iter().filter(|row| gone.contains(&key(cx, row))) {
        let ended = match import.kind {
            TransferKind::Blocks => relationship::unblock(cx, actor, row.account_id).await,
            TransferKind::Mutes => relationship::unmute(cx, actor, row.account_id).await,
            TransferKind::Follows
            | TransferKind::DomainBlocks
            | TransferKind::Lists
            | TransferKind::Bookmarks
            | TransferKind::Filters => follow::unfollow(cx, actor, row.account_id).await,
        };
        forgive_missing(ended)?;
    }
    Ok(Some(last))
}

async fn related(cx: &Cx, account: AccountId, kind: TransferKind, after: RowId, limit: i64) -> Result<Vec<Related>> {
    Ok(match kind {
        TransferKind::Blocks => store::transfer::list_blocks(&cx.db, account, after, limit).await?,
        TransferKind::Mutes => {
            let mutes = store::transfer::list_mutes(&cx.db, account, after, cx.clock.now(), limit).await?;
            mutes.into_iter().map(|row| row.related).collect()
        }
        TransferKind::Follows
        | TransferKind::DomainBlocks
        | TransferKind::Lists
        | TransferKind::Bookmarks
        | TransferKind::Filters => {
            let follows = store::transfer::list_follows(&cx.db, account, after, limit).await?;
            follows.into_iter().map(|row| row.related).collect()
        }
    })
}

async fn domains(cx: &Cx, actor: &Actor, import: &Import, after: RowId, limit: i64) -> Result<Option<i64>> {
    let page = store::transfer::list_domains(&cx.db, actor.id, after, limit).await?;
    let Some(last) = page.last().map(|(id, _)| i64::from(*id)) else { return Ok(None) };
    for domain in unnamed(cx, import, "", page.into_iter().map(|(_, domain)| domain).collect()).await? {
        domain_block::unblock(cx, actor, &domain).await?;
    }
    Ok(Some(last))
}

async fn bookmarks(cx: &Cx, actor: &Actor, import: &Import, after: RowId, limit: i64) -> Result<Option<i64>> {
    let page = store::transfer::list_bookmarks(&cx.db, actor.id, after, limit).await?;
    let Some(last) = page.last().map(|row| i64::from(row.row_id)) else { return Ok(None) };
    let key = |row: &store::transfer::Bookmarked| status_key(row.local.then_some(row.status_id), &row.uri);
    let gone = unnamed(cx, import, "", page.iter().map(key).collect()).await?;
    for row in page.iter().filter(|row| gone.contains(&key(row))) {
        forgive_missing(interaction::unbookmark(cx, actor, row.status_id).await.map(drop))?;
    }
    Ok(Some(last))
}

/// Deletes the next list if the file does not contain it, else removes the members that the file does not contain.
async fn from_list(cx: &Cx, actor: &Actor, import: &Import, after: RowId) -> Result<Option<i64>> {
    let lists = list::list(cx, actor).await?;
    let Some(next) = lists.into_iter().find(|list| list.id > after) else { return Ok(None) };
    if store::transfer::names_list(&cx.db, import.id, &next.title).await? {
        let members = store::transfer::list_members(&cx.db, next.id).await?;
        let gone = unnamed(cx, import, &next.title, members.iter().map(|row| key(cx, row)).collect()).await?;
        let gone: Vec<AccountId> =
            members.iter().filter(|row| gone.contains(&key(cx, row))).map(|row| row.account_id).collect();
        forgive_missing(list::remove_members(cx, actor, next.id, &gone).await)?;
    } else {
        forgive_missing(list::delete(cx, actor, next.id).await)?;
    }
    Ok(Some(next.id.into()))
}

async fn filters(cx: &Cx, actor: &Actor, import: &Import) -> Result<Option<i64>> {
    let existing = export::filters(cx, actor.id).await?;
    let gone = unnamed(cx, import, "", existing.iter().map(|(_, entry)| entry.key()).collect()).await?;
    for (row, _) in existing.iter().filter(|(_, entry)| gone.contains(&entry.key())) {
        forgive_missing(filter::delete(cx, actor, row.id).await)?;
    }
    Ok(None)
}

/// The key of the rows about an account.
fn key(cx: &Cx, row: &Related) -> String {
    Entry::Block { acct: export::related(cx, row) }.key(cx)
}

/// Entries that are deleted or hidden meanwhile need no removal.
fn forgive_missing(result: Result<()>) -> Result<()> {
    match result {
        Err(Error::NotFound) => Ok(()),
        result => result,
    }
}
