//! Telling plugins what happened: rows of an outbox, written in the transaction that makes them true.
//!
//! Every use case that does one of the contract's kinds calls [`record`]. Where no plugin asked for it, that is a look
//! at a table in memory. A command beside the server knows no plugins: what it does is a job for the server.

use serde::{Deserialize, Serialize};

use super::table::Hooks;
use super::when::Traits;
use crate::app::App;
use crate::error::{Error, Result};
use crate::jobs;
use crate::jobs::record_changes::RecordChanges;
use crate::plugins::origin::Origin;
use model::{AccountId, RowId, Status, StatusId, text_enum};
use store::Tx;
use store::plugin_event::NewEvent;

/// How many events of a plugin are handled beside each other; those of one account always one after the other.
pub const SHARDS: i64 = 16;
/// The stream of events.
pub const EVENTS: &str = "events";
/// The stream of statuses that are looked for a place in feeds.
pub const FANOUT: &str = "fanout";

text_enum! {
    /// What may happen, in the contract's words.
    Kind {
        /// A status or a reblog was published.
        StatusCreated = "status.created",
        /// A status was edited.
        StatusUpdated = "status.updated",
        /// A status or a reblog is gone.
        StatusDeleted = "status.deleted",
        /// An account can be used from now on.
        AccountCreated = "account.created",
        /// A profile changed.
        AccountUpdated = "account.updated",
        /// Moderators suspended an account.
        AccountSuspended = "account.suspended",
        /// An account is gone.
        AccountPurged = "account.purged",
        /// Someone blocked someone.
        AccountBlocked = "account.blocked",
        /// Someone muted someone.
        AccountMuted = "account.muted",
        /// Someone follows someone.
        FollowCreated = "follow.created",
        /// Someone follows someone no more.
        FollowDeleted = "follow.deleted",
        /// A status was marked as a favourite.
        FavouriteCreated = "favourite.created",
        /// It no longer is one.
        FavouriteDeleted = "favourite.deleted",
        /// A status was bookmarked.
        BookmarkCreated = "bookmark.created",
        /// It no longer is.
        BookmarkDeleted = "bookmark.deleted",
        /// An emoji is gone, or cannot be used any more.
        EmojiDeleted = "emoji.deleted",
        /// A list is gone.
        ListDeleted = "list.deleted",
    }
}

impl Kind {
    /// True when a plugin is shown the status.
    pub(super) fn has_status(self) -> bool {
        matches!(self, Self::StatusCreated | Self::StatusUpdated)
    }

    /// True when a plugin is shown the account.
    pub(super) fn has_account(self) -> bool {
        matches!(self, Self::AccountCreated | Self::AccountUpdated | Self::AccountSuspended)
    }
}

/// Something that happened in a transaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Change {
    kind: Kind,
    /// Whose events it is in order with.
    account: AccountId,
    actor: Option<AccountId>,
    subject: Option<i64>,
    payload: Option<String>,
    traits: Option<Traits>,
}

/// One account did something to another.
#[derive(Serialize)]
struct Pair {
    account: AccountId,
    target: AccountId,
}

/// An account did something to a status.
#[derive(Serialize)]
struct Mark {
    account: AccountId,
    status: StatusId,
}

/// An emoji that is gone.
#[derive(Serialize)]
struct Gone<'a> {
    id: String,
    shortcode: &'a str,
}

impl Change {
    /// A status was published, edited or deleted by its author.
    #[must_use]
    pub fn status(kind: Kind, id: StatusId, author: AccountId, traits: Traits) -> Self {
        Self {
            kind,
            account: author,
            actor: Some(author),
            subject: Some(id.into()),
            payload: None,
            traits: Some(traits),
        }
    }

    /// As [`Change::status`], of a status that was read.
    #[must_use]
    pub fn of(kind: Kind, status: &Status) -> Self {
        Self::status(kind, status.id, status.account_id, Traits::from(status))
    }

    /// Something became of an account, by its own doing or `actor`'s.
    #[must_use]
    pub fn account(kind: Kind, id: AccountId, actor: Option<AccountId>) -> Self {
        Self { kind, account: id, actor, subject: Some(id.into()), payload: None, traits: None }
    }

    /// An emoji of this server is gone. Nobody's: all of these are in order with each other.
    ///
    /// # Errors
    /// [`Error::Internal`], which is a bug.
    pub fn emoji_deleted(id: RowId, shortcode: &str) -> Result<Self> {
        let gone = Gone { id: i64::from(id).to_string(), shortcode };
        Ok(Self { actor: None, ..Self::payload(Kind::EmojiDeleted, AccountId::from(0), &gone)? })
    }

    /// `account` did something to `target`.
    ///
    /// # Errors
    /// [`Error::Internal`], which is a bug.
    pub fn pair(kind: Kind, account: AccountId, target: AccountId) -> Result<Self> {
        Self::payload(kind, account, &Pair { account, target })
    }

    /// `account` did something to `status`.
    ///
    /// # Errors
    /// [`Error::Internal`], which is a bug.
    pub fn mark(kind: Kind, account: AccountId, status: StatusId) -> Result<Self> {
        Self::payload(kind, account, &Mark { account, status })
    }

    fn payload<T: Serialize>(kind: Kind, account: AccountId, payload: &T) -> Result<Self> {
        let payload = serde_json::to_string(payload).map_err(Error::internal)?;
        Ok(Self { kind, account, actor: Some(account), subject: None, payload: Some(payload), traits: None })
    }

    fn row(&self, plugin: i64, stream: &'static str, origin: &Origin) -> NewEvent {
        NewEvent {
            plugin,
            stream,
            shard: if stream == FANOUT { 0 } else { shard(self.account) },
            kind: self.kind.as_str(),
            actor: self.actor.map(i64::from),
            subject: self.subject,
            payload: self.payload.clone(),
            origin: origin.to_json(),
        }
    }

    fn is_placed(&self) -> bool {
        self.kind.has_status()
    }
}

/// Where the events of `account` stand in line. Ids of one server hardly differ in their last bits, so all bits count.
fn shard(account: AccountId) -> i64 {
    let mixed = i64::from(account).cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    mixed.cast_signed().rem_euclid(SHARDS)
}

/// True when a plugin hears of `kind`: what is needed only for telling it may be left undone otherwise.
#[must_use]
pub fn is_heard(app: &App, kind: Kind) -> bool {
    let registry = app.plugins.current();
    registry.hooks.listeners().iter().any(|one| one.stream == EVENTS && one.has_kind(kind.as_str()))
}

/// Keeps `change` for the plugins that asked for it: one statement for all of them, or none.
///
/// # Errors
/// When the database does.
pub async fn record(app: &App, tx: &mut Tx, change: Change) -> Result<()> {
    record_all(app, tx, std::slice::from_ref(&change)).await
}

/// As [`record`], for several that happen together: still one statement.
///
/// # Errors
/// When the database does.
pub async fn record_all(app: &App, tx: &mut Tx, changes: &[Change]) -> Result<()> {
    if app.plugins.are_elsewhere() {
        return jobs::enqueue(app, tx, &RecordChanges { changes: changes.to_vec() }).await;
    }
    let registry = app.plugins.current();
    if registry.hooks.listeners().is_empty() {
        return Ok(());
    }
    let origin = Origin::current();
    let rows: Vec<NewEvent> = changes.iter().flat_map(|change| rows(&registry.hooks, change, &origin)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    Ok(store::plugin_event::insert(tx, rows, app.clock.now()).await?)
}

/// One row for each plugin and stream that hears of `change`: none for a plugin that is behind it, so that no plugin goes
/// on and on because of itself, and none at all where too many are.
fn rows(hooks: &Hooks, change: &Change, origin: &Origin) -> Vec<NewEvent> {
    let mut rows: Vec<NewEvent> = Vec::new();
    for listener in hooks.listeners() {
        let stream = listener.stream;
        let told = if stream == FANOUT { change.is_placed() } else { listener.has_kind(change.kind.as_str()) };
        let wanted = told && change.traits.is_none_or(|traits| listener.when.admits(&traits));
        // A plugin with two hooks for the same hears of it once.
        let known = rows.iter().any(|row| row.plugin == listener.plugin && row.stream == stream);
        if wanted && !known && origin.allows(listener.plugin) {
            rows.push(change.row(listener.plugin, stream, origin));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn accounts_made_second_by_second_stand_in_many_lines() {
        let ids = (0..200).map(|second| (1_768_478_400_000 + second * 1000) << 16 | 7);
        let shards: HashSet<i64> = ids.map(|id| shard(AccountId::from(id))).collect();
        assert_eq!(shards.len(), 16);
        assert!(shards.iter().all(|shard| (0..SHARDS).contains(shard)));
    }
}
