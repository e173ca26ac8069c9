//! Writes the data of an account to files.
//!
//! Rows are read in pages, and the file is built in memory: a follow takes about 50 bytes of it.

use super::entry::{self, Entry, FilterEntry, KeywordEntry};
use context::Cx;
use context::error::Result;
use model::transfer::TransferKind;
use model::{AccountId, RowId, Time};
use store::filter::{FilterKeywordRow, FilterRow};
use store::transfer::{Followed, MutedAccount, Related};

/// Rows per page.
pub const PAGE: i64 = 1_000;

/// All entries of one kind of `account` as a file, oldest first. Accounts of this server have its domain.
#[model::use_case]
pub async fn export(cx: &Cx, account: AccountId, kind: TransferKind) -> Result<Vec<u8>> {
    let mut entries = Vec::new();
    match kind {
        TransferKind::Lists => {
            let listed = store::transfer::list_listed(&cx.db, account).await?;
            entries.extend(listed.into_iter().map(|row| {
                let acct = acct(cx, &row.username, row.domain.as_deref());
                Entry::Member { list: row.title, acct }
            }));
        }
        TransferKind::Filters => {
            entries.extend(filters(cx, account).await?.into_iter().map(|(_, filter)| Entry::Filter(filter)));
        }
        TransferKind::Follows
        | TransferKind::Blocks
        | TransferKind::Mutes
        | TransferKind::DomainBlocks
        | TransferKind::Bookmarks => {
            let mut after = RowId::from(0);
            loop {
                let page = page(cx, account, kind, after, PAGE).await?;
                let Some((last, _)) = page.last() else { break };
                after = *last;
                entries.extend(page.into_iter().map(|(_, entry)| entry));
            }
        }
    }
    entry::write(kind, entries.into_iter().map(|entry| (entry, None)).collect())
}

/// Up to `limit` entries of a paged kind after the relation `after`, each with its id.
pub(super) async fn page(
    cx: &Cx,
    account: AccountId,
    kind: TransferKind,
    after: RowId,
    limit: i64,
) -> Result<Vec<(RowId, Entry)>> {
    Ok(match kind {
        TransferKind::Follows => {
            let rows = store::transfer::list_follows(&cx.db, account, after, limit).await?;
            rows.into_iter().map(|row| (row.related.row_id, follow(cx, row))).collect()
        }
        TransferKind::Blocks => {
            let rows = store::transfer::list_blocks(&cx.db, account, after, limit).await?;
            rows.into_iter().map(|row| (row.row_id, Entry::Block { acct: related(cx, &row) })).collect()
        }
        TransferKind::Mutes => {
            let rows = store::transfer::list_mutes(&cx.db, account, after, cx.clock.now(), limit).await?;
            rows.into_iter().map(|row| (row.related.row_id, mute(cx, &row))).collect()
        }
        TransferKind::DomainBlocks => {
            let rows = store::transfer::list_domains(&cx.db, account, after, limit).await?;
            rows.into_iter().map(|(id, domain)| (id, Entry::Domain { domain })).collect()
        }
        TransferKind::Bookmarks => {
            let rows = store::transfer::list_bookmarks(&cx.db, account, after, limit).await?;
            rows.into_iter().map(|row| (row.row_id, Entry::Bookmark { uri: row.uri })).collect()
        }
        TransferKind::Lists | TransferKind::Filters => Vec::new(),
    })
}

/// The filters of an account, as in a file.
pub(super) async fn filters(cx: &Cx, account: AccountId) -> Result<Vec<(FilterRow, FilterEntry)>> {
    let keywords = store::filter::list_keywords(&cx.db, account).await?;
    let rows = store::filter::list(&cx.db, account).await?;
    Ok(rows.into_iter().map(|row| (row.clone(), filter(row, &keywords))).collect())
}

fn filter(row: FilterRow, keywords: &[FilterKeywordRow]) -> FilterEntry {
    let own = keywords.iter().filter(|keyword| keyword.filter_id == row.id);
    FilterEntry {
        title: row.title,
        context: row.context.0,
        filter_action: row.action,
        expires_at: row.expires_at.map(Time::to_api),
        exclude_follows: row.exclude_follows,
        exclude_localusers: row.exclude_local_users,
        with_quote: row.with_quote,
        with_profile: row.with_profile,
        keywords: own
            .map(|keyword| KeywordEntry { keyword: keyword.keyword.clone(), whole_word: keyword.whole_word })
            .collect(),
    }
}

fn follow(cx: &Cx, row: Followed) -> Entry {
    Entry::Follow {
        acct: related(cx, &row.related),
        reblogs: Some(row.show_reblogs),
        notify: Some(row.notify),
        languages: row.languages.map(|languages| languages.0),
    }
}

fn mute(cx: &Cx, row: &MutedAccount) -> Entry {
    Entry::Mute { acct: related(cx, &row.related), hide_notifications: row.hide_notifications }
}

/// The handle of `row` in the form of exports.
pub fn related(cx: &Cx, row: &Related) -> String {
    acct(cx, &row.username, row.domain.as_deref())
}

/// With a domain, also for an account of this server.
fn acct(cx: &Cx, username: &str, domain: Option<&str>) -> String {
    format!("{username}@{}", domain.unwrap_or(&cx.urls.local_domain))
}
