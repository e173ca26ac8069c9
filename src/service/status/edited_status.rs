//! Storing an edit of a status, local or remote.
//!
//! Edits on this server ([`edit`](super::edit())) and on others (`remote::edit`) end here, in the transaction of each, with
//! the status and the references locked, and after its attachments and its poll were replaced.

use super::reference::{self, References, Referring};
use super::{mentions, revision};
use crate::conversation;
use crate::notification;
use crate::search::index;
use context::Cx;
use context::change::{self, Change, StatusTraits};
use context::error::Result;
use context::extension::Notice;
use database::Tx;
use model::{AccountId, Actor, MediaAttachment, NotificationType, Status, StatusId, Time, Visibility};
use store::status_edit::Revision;

/// An edit that is about to be stored.
pub(crate) struct EditedStatus<'a> {
    pub(crate) author: &'a Actor,
    /// The status before, as it is kept as a revision, with its attachments and the options of its poll.
    pub(crate) old: Status,
    pub(crate) media: &'a [MediaAttachment],
    pub(crate) poll_options: Option<Vec<String>>,
    /// Its search terms before anything was replaced: [`index::terms`].
    pub(crate) indexed: &'a [i64],
    pub(crate) new: Revision,
    pub(crate) at: Time,
    /// Hashtags: normalised, and as written.
    pub(crate) tags: &'a [(String, String)],
    /// The accounts that the text mentions.
    pub(crate) mentions: &'a [AccountId],
    /// Most strangers that are notified; `None` for a status of this server.
    pub(crate) strangers_max: Option<usize>,
    pub(crate) references: References,
}

impl EditedStatus<'_> {
    /// Stores the edit, notifies the accounts that it concerns, and records the change.
    pub(crate) async fn write(self, cx: &Cx, tx: &mut Tx) -> Result<()> {
        let (author, id, visibility) = (self.author, self.old.id, self.old.visibility);
        let open = self.old.is_open();
        let traits = StatusTraits { media: self.new.has_media, ..StatusTraits::from(&self.old) };
        let referring = Referring::from(&self.old);
        store::status_edit::insert(tx, &revision::kept(cx, self.old, self.media, self.poll_options)?).await?;
        store::status_edit::update(tx, id, self.new, self.at).await?;
        store::tag::clear_for_status(tx, id, author.id).await?;
        mentions::save_tags(cx, tx, id, author.id, open, self.tags).await?;
        let (addressed, readdressed) = mentions::replace(cx, tx, author, id, self.mentions, self.strangers_max).await?;
        reference::replace(cx, tx, referring, self.references, &addressed).await?;
        if visibility == Visibility::Direct && readdressed {
            conversation::rearrange(cx, tx, id).await?;
        }
        index::update(tx, id, self.indexed).await?;
        notify(cx, tx, author.id, id).await?;
        change::record(cx, tx, Change::StatusEdited { status: id, author: author.id, traits }).await
    }
}

/// Notifies the local accounts that reblogged the status, quote it or refer to it.
async fn notify(cx: &Cx, tx: &mut Tx, author: AccountId, id: StatusId) -> Result<()> {
    let quoting = store::reference::list_local_quoting(&mut *tx, id).await?;
    let mut receivers = store::reblog::list_local_rebloggers(&mut *tx, id).await?;
    receivers.extend(store::reference::list_local_referring(&mut *tx, id).await?);
    receivers.sort_unstable();
    receivers.dedup();
    let update = |receiver| Notice {
        receiver,
        from: author,
        kind: if quoting.contains(&receiver) { NotificationType::QuotedUpdate } else { NotificationType::Update }
            .into(),
        activity: i64::from(id),
        status: Some(id),
    };
    let notices: Vec<Notice> = receivers.into_iter().map(update).collect();
    notification::notify(cx, tx, &notices).await.map(drop)
}
