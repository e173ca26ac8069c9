//! The place of a note in its thread.

use context::Cx;
use model::StatusId;

use super::known::{is_foreign, known};
use crate::Failure;
use crate::address::{URL_MAX, same_host};
use crate::vocabulary::Note;

/// Where a note is in its thread.
pub(super) struct Thread {
    /// The status replied to, if it is known here.
    pub(super) parent: Option<StatusId>,
    /// The URI of the status replied to, if it is one of another server that is not known here.
    pub(super) missing_parent: Option<String>,
    /// The URL of the collection of replies.
    pub(super) replies: Option<String>,
    /// The URI of the thread.
    pub(super) conversation: Option<String>,
}

/// The place of `note` in its thread.
pub(super) async fn thread(cx: &Cx, note: &Note) -> Result<Thread, Failure> {
    let named = note.in_reply_to.first().map(|parent| parent.0.as_str());
    let parent = match named {
        Some(parent) => known(cx, parent).await?,
        None => None,
    };
    let missing = named.filter(|uri| parent.is_none() && is_foreign(cx, uri));
    Ok(Thread {
        parent,
        missing_parent: missing.map(str::to_owned),
        replies: note.replies.as_ref().map(|url| url.0.clone()).filter(|url| same_host(url, &note.id)),
        conversation: conversation(cx, note),
    })
}

/// The URI of the thread, unless it is one of this server: those are found by the status replied to.
fn conversation(cx: &Cx, note: &Note) -> Option<String> {
    let named = note.context.as_ref().or(note.conversation.as_ref()).map(|id| id.0.as_str())?;
    let own = named.starts_with(&cx.urls.path("/")) || named.starts_with(&format!("tag:{},", cx.urls.local_domain));
    (!own && named.len() <= URL_MAX).then(|| named.to_owned())
}
