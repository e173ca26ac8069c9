//! Storing a new status, local or remote.
//!
//! Statuses of this server ([`ready`](super::ready)) and of others (`remote::status`) end here, in the
//! transaction of each, with the references already locked. What differs between them are their [`Parts`].

use super::reference::{self, References, Referring};
use super::{insert, mentions};
use crate::conversation;
use crate::search::index;
use context::Cx;
use context::error::Result;
use database::Tx;
use model::{AccountId, Actor, Status, Visibility};

/// A status that is about to be stored.
pub(crate) struct NewStatus<'a> {
    pub(crate) author: &'a Actor,
    /// The row; what follows from the other members is filled in.
    pub(crate) row: Status,
    /// The status that it continues; `None` for one that opens a conversation.
    pub(crate) thread: Option<&'a Status>,
    pub(crate) references: References,
    /// Hashtags: normalised, and as written.
    pub(crate) tags: Vec<(String, String)>,
}

/// What belongs to a status beside its row, which depends on the server that it is from.
pub(crate) trait Parts {
    /// Stores attachments, the poll and what else is only there for the status `new`.
    fn attach(&mut self, cx: &Cx, tx: &mut Tx, new: &Status) -> impl Future<Output = Result<()>> + Send;

    /// Stores the mentions and the audience, and notifies the mentioned accounts of this server; returns all of them.
    fn address(
        self,
        cx: &Cx,
        tx: &mut Tx,
        author: &Actor,
        new: &Status,
    ) -> impl Future<Output = Result<Vec<AccountId>>> + Send;
}

impl NewStatus<'_> {
    /// Stores the status with its `parts`; the change is recorded by the caller, who knows when it is published.
    pub(crate) async fn write(self, cx: &Cx, tx: &mut Tx, mut parts: impl Parts) -> Result<Status> {
        let row = self.derived();
        let Self { author, references, tags, .. } = self;
        insert::insert(cx, tx, author, row.clone()).await?;
        parts.attach(cx, tx, &row).await?;
        index::insert(tx, &row).await?;
        mentions::save_tags(cx, tx, row.id, author.id, row.is_open(), &tags).await?;
        let addressed = parts.address(cx, tx, author, &row).await?;
        reference::insert(cx, tx, Referring::from(&row), &references, &addressed).await?;
        if row.visibility == Visibility::Direct && row.approval.is_none() {
            conversation::receive(cx, tx, row.id).await?;
        }
        Ok(row)
    }

    /// The row with what follows from thread, warning and references.
    fn derived(&self) -> Status {
        let (row, thread) = (&self.row, self.thread);
        let in_reply_to_account_id = thread.map(|parent| answered(parent, row.account_id));
        let to_someone_else = in_reply_to_account_id.is_some_and(|account| account != row.account_id);
        Status {
            conversation_id: row.conversation_id.or_else(|| thread.and_then(|parent| parent.conversation_id)),
            in_reply_to_account_id,
            sensitive: row.sensitive || !row.spoiler_text.is_empty(),
            listed: row.visibility.is_listed() && !to_someone_else,
            has_references: self.references.exist(),
            quote_id: self.references.quote().map(|quote| quote.target),
            quote_state: self.references.quote().map(|quote| quote.state),
            ..row.clone()
        }
    }
}

/// The account that a reply of `author` to `parent` addresses: a reply to one's own reply still addresses the same person.
fn answered(parent: &Status, author: AccountId) -> AccountId {
    match parent.in_reply_to_account_id {
        Some(answered) if parent.account_id == author => answered,
        _ => parent.account_id,
    }
}
